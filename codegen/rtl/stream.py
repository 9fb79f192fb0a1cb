"""codegen.rtl: the stream core, a symmetric FIR filter of fitted values.

It has AXI4-Stream ports only, and no registers.
"""

from __future__ import annotations

from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ..c.context import context
from .axi import Ports, Stream
from .common import cast_format, literal, primitives, render_files, signed_bits, target_context
from .core import RtlCore

#: Taps of the filter at most: its samples are in registers.
MOST_TAPS = 511
#: What the core is made of; below comes before above.
MODULES = ("kc_shift_round", "kc_shift_sticky", "kc_arithmetic_shift", "kc_saturate", "kc_requantise",
           "kc_mac", "kc_sum_tree", "kc_affine", "kc_symmetric_fir", "kc_queue")
# Clocks of the parts: conversion, line, pairs, product and sum, cast, and queue.
_CONVERT, _LINE, _PAIR, _MAC, _CAST, _QUEUE = 4, 1, 1, 2, 3, 1


def stream_period(plan: Plan, lanes: int = 1) -> int:
    """Return the clock cycles from one sample to the next, ceil((L + 1) / lanes)."""
    return (plan.integer("stream_lag") + lanes) // lanes


def stream_cycles(plan: Plan, lanes: int = 1) -> int:
    """Return the clock cycles from a sample to the value that it completes."""
    rows, levels = stream_period(plan, lanes), lanes.bit_length() - 1
    return _CONVERT + _LINE + _PAIR + _MAC + rows - 1 + levels + _CAST + _QUEUE


def _refusal(plan: Plan) -> KerncastError | None:
    """Return an error if the core does not support a plan; else None."""
    if not plan.stream_taps:
        return fail("E307", "the SystemVerilog stream core needs a lag", where="[toeplitz] stream_lag",
                    value="none", allowed="a lag", remedy="set [toeplitz] stream_lag and scheme = "
                                                          "\"uniform\"")
    if plan.stream_taps > MOST_TAPS:
        return fail("E306", "the filter is too long for the SystemVerilog stream",
                    where="[toeplitz] stream_lag", value=plan.integer("stream_lag"),
                    allowed=f"up to {MOST_TAPS // 2}", remedy="lower stream_lag, or run the stream in C")
    return None


def _ports(plan: Plan) -> Ports:
    """Return the ports of the core."""
    return Ports("stream", (Stream("y", True, plan.signals["y_raw"].format.c_bits),
                            Stream("f", False, plan.word, 3)), ("y", "f"),
                 (("error_y", "a record ended before it had as many samples as the filter has taps"),),
                 lanes=True)


def _render(plan: Plan) -> dict[str, str]:
    p, f, taps = plan.name, plan.signals["f"], plan.tables["taps"].values
    limits = cast_format(plan, "f")
    max_sum = sum(map(abs, taps)) << (plan.word - 1)
    lag, full = plan.integer("stream_lag"), 1 << plan.integer("stream_lag").bit_length()
    mask = (1 << plan.word) - 1
    lanes = sorted({1, 2, 4, full})
    values = context(plan, str(plan.evidence.get("spec", "of no file"))) | target_context(plan) | {
        "W": plan.word, "lag": lag, "full_lanes": full, "modules": MODULES, "tops": ("stream",),
        "taps": [f"{plan.word}'d{tap & mask}" for tap in reversed(taps[lag:])],
        "acc_bits": max(signed_bits((-max_sum, max_sum)), 2 * plan.word + 1),
        "f_bits": limits.bits, "f_lo": literal(limits.lo, 64), "f_hi": literal(limits.hi, 64),
        "f_rounding": f.rounding.value, "cycles": {n: stream_cycles(plan, n) for n in lanes},
        "periods": {n: stream_period(plan, n) for n in lanes}}
    return primitives(MODULES) | render_files(
        {f"{p}_stream.sv": "stream.sv", f"{p}_stream.f": "solver.f", "README.md": "stream.md"}, values)


STREAM = RtlCore("stream", _refusal, _render, _ports, stream_cycles, stream_period)
