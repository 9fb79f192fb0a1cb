"""codegen.rtl: the online learner of kernel RLS; it also predicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...sim.backend import Outputs
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ...sim.planner.online.rls import formats
from ..c.context import context
from . import axi
from .axi import Ports
from .common import affine, cast_format, literal, model_tag, primitives, render_files, signed, signed_bits
from .core import RtlCore
from .online import learner_ports, sample_context
from .predictor import framed

#: Bits of a beat of the state.
STATE_BITS = 32
#: Values of the table of directions, and features, at most.
MOST_DIRECTIONS, MOST_FEATURES = 1 << 16, 1 << 10
#: Clock cycles from the largest residual to the end of a descent without a further step.
_DECIDED = 6
_ERROR_BITS = 48  # the plan proves that an error has fewer

_MODULES = ("kc_arithmetic_shift", "kc_shift_round", "kc_shift_sticky", "kc_saturate", "kc_requantise",
            "kc_affine", "kc_bit_length", "kc_mul_signed", "kc_sum_tree", "kc_argmax_tree", "kc_delay",
            "kc_ram", "kc_ram_banked", "kc_ram_lane_of", "kc_ram_word_mask", "kc_ram_wordwise", "kc_rom",
            "kc_rom_banked", "kc_sample_buffer", "kc_rls_kind", "kc_rls_features", "kc_rls_products",
            "kc_rls_predict", "kc_rls_matrix", "kc_rls_residual", "kc_rls_step",
            "kc_rls_control", "kc_rls", "kc_rls_state", "kc_learner_reply", *axi.MODULES)


def _rows(count: int, lanes: int) -> int:
    return -(-count // lanes)


def _blocks(plan: Plan, lanes: int) -> tuple[int, int]:
    """Return the numbers of blocks of `lanes` features.

    The first is that of 1 and the cosines, the second that of the inputs.
    """
    linear = plan.sizes["N"] > 1 + plan.sizes["M"]
    return _rows(1 + plan.sizes["M"], lanes), _rows(plan.sizes["D"], lanes) if linear else 0


def _levels(lanes: int) -> int:
    return lanes.bit_length() - 1


def _features(plan: Plan, lanes: int) -> int:
    """Return the clock cycles from a sample's first beat to its last feature.

    The target is not included.
    """
    first, inputs = _blocks(plan, lanes)
    cosines, columns = plan.sizes["M"], plan.sizes["D"]
    others = lanes * (first + inputs) - cosines
    return columns + 5 + cosines * _rows(columns, lanes) + others + 10 + _levels(lanes)


def prediction_cycles(plan: Plan, lanes: int = 1) -> int:
    """Return the clock cycles from a sample's first beat to its reply, without stalls."""
    return _features(plan, lanes) + 10


def sweep_cycles(plan: Plan, lanes: int = 1) -> int:
    """Return the clock cycles of a step of the descent."""
    first, inputs = _blocks(plan, lanes)
    return first + inputs + (inputs > 0) + 8 + _levels(lanes)


def update_cycles(plan: Plan, lanes: int = 1, steps: int | None = None) -> int:
    """Return the clock cycles from a sample with target to its reply, without stalls.

    Parameters
    ----------
    plan : Plan
    lanes : int
        Entries of R that are processed at a time, a power of two.
    steps : int, optional
        Steps that the descent takes; by default as many as the plan allows. If it takes fewer, it ends when
        it finds that it cannot take another one.
    """
    blocks = sum(_blocks(plan, lanes))
    matrix = lanes * blocks * (blocks + 1) // 2 + 6
    residual = 4 * lanes * blocks + 11
    max_steps = plan.integer("rls_steps")
    taken = max_steps if steps is None else steps
    search = sweep_cycles(plan, lanes) * (taken + 1) + _DECIDED * (taken < max_steps)
    return _features(plan, lanes) + 1 + max(matrix, residual) + search + 2


def _refusal(plan: Plan) -> KerncastError | None:
    """Return the error if the core does not support a plan, otherwise None."""
    if framed(plan):
        return fail("E307", "the SystemVerilog learner of online_kernel_rls has one output and no classes",
                    where="[output]", value=f"{plan.outputs} outputs", allowed="one output",
                    remedy="use kernel_lms, or learn and predict in C")
    if plan.novelty:
        return fail("E307", "the SystemVerilog learner of online_kernel_rls does not compute novelty",
                    where="[rls] novelty", value=plan.options["novelty"], allowed="none",
                    remedy="omit this key, or learn and predict in C")
    values = plan.sizes["M"] * plan.sizes["D"]
    if values > MOST_DIRECTIONS:
        return fail("E306", "the table of directions is too large for the SystemVerilog learner",
                    where="[rls] features", value=f"{plan.sizes['M']} cosines of {plan.sizes['D']} columns",
                    allowed=f"at most {MOST_DIRECTIONS} values in all",
                    remedy="lower this key, or use fewer columns")
    if plan.sizes["N"] > MOST_FEATURES:
        return fail("E306", "R is too large for the SystemVerilog learner", where="[rls] features",
                    value=f"{plan.sizes['N']} features", allowed=f"at most {MOST_FEATURES} features in all",
                    remedy="lower this key, use fewer columns, or set linear = false")
    return None


# ---- the state ----
def state_frame(plan: Plan, state: Outputs) -> list[int]:
    """Return the frame of a state as unsigned beats of 32 bits.

    It has the tag, whether the learner is trained, R, beta (the low word first), and w.
    """
    beta = [int(v) >> shift for v in state["rls_beta"] for shift in (0, STATE_BITS)]
    words = [int(state["trained"][0]), *state["rls_r"].tolist(), *beta, *state["rls_w"].tolist()]
    return [model_tag(plan, STATE_BITS), *(word & 0xFFFFFFFF for word in words)]


def state_beats(plan: Plan) -> int:
    """Return the number of beats of the frame of a state."""
    n = plan.sizes["N"]
    return 2 + n * (n + 1) // 2 + 3 * n


def state_of(plan: Plan, frame: list[int]) -> Outputs | None:
    """Return the state in a frame; None if the frame belongs to another plan."""
    if len(frame) != state_beats(plan) or frame[0] != model_tag(plan, STATE_BITS):
        return None
    n = plan.sizes["N"]
    words = np.array(frame[2:], dtype=np.int64)
    r, beta, w = np.split(signed(STATE_BITS, words), [n * (n + 1) // 2, n * (n + 1) // 2 + 2 * n])
    low = words[len(r):len(r) + 2 * n:2]
    return {"rls_r": r, "rls_beta": (beta[1::2] << STATE_BITS) | low, "rls_w": w,
            "trained": np.array(frame[1:2], dtype=np.int64)}


# ---- files ----
def _ports(plan: Plan) -> Ports:
    """List the streams in the order of the template."""
    return learner_ports(plan, STATE_BITS, 0, (("read_state", "send the state"),))


def _sum_context(plan: Plan) -> dict[str, Any]:
    """Return the widths of w.phi and of an error."""
    acc = plan.signals["accumulator"]
    target = plan.word + plan.integer("rls_out_shift")
    bits = min(64, max(signed_bits((acc.lo, acc.hi)), target) + 1)
    return {"acc_bits": bits,
            "error_bits": max(2, min(_ERROR_BITS, bits - plan.integer("rls_error_shift")))}


def _context(plan: Plan) -> dict[str, Any]:
    """Build the template context."""
    x = plan.signals["x"]
    f = cast_format(plan, "f")
    kinds = ("one", "cosine", "x")
    constants = {name: {kind: f"32'd{plan.constants.get(f'rls_{name}_{kind}', 0)}" for kind in kinds}
                 for name in ("ridge", "fade")}
    values = context(plan, str(plan.evidence.get("spec", "of no file")))
    return values | affine(plan) | sample_context(plan) | _sum_context(plan) | constants | {
        "formats": values["formats"] | {name: str(member) for name, member in formats(plan).items()},
        "W": plan.word, "framed": False, "raw": plan.signals["x_raw"].format, "x": x.format,
        "rls_inputs": plan.options["inputs"] == "1",
        "x_lo": literal(x.lo, 64), "x_hi": literal(x.hi, 64),
        "f_bits": f.bits, "f_lo": literal(f.lo, 64), "f_hi": literal(f.hi, 64),
        "clip_lo": literal(plan.integer("f_lo"), 64), "clip_hi": literal(plan.integer("f_hi"), 64),
        "rounding": {name: plan.signals[name].rounding.value for name in ("x", "y", "f")},
        "update_cycles": update_cycles(plan), "prediction_cycles": prediction_cycles(plan),
        "learning": {n: [cycles(plan, n) for cycles in (update_cycles, sweep_cycles, prediction_cycles)]
                     for n in (1, 2, 4, 8)},
        "state_beats": state_beats(plan), "modules": _MODULES}


def _render(plan: Plan) -> dict[str, str]:
    """Render the files of the learner."""
    p, values = plan.name, _context(plan) | _ports(plan).context(plan)
    files = primitives(_MODULES) | render_files({
        f"{p}_learner.sv": "rls_learner.sv", f"{p}_learner_axi.sv": "axi.sv",
        f"{p}_learner.f": "rls_learner.f", "README.md": "rls_learner.md"}
        | axi.software_files(p, "learner"), values)
    return files | axi.package_files(p, "learner", values, files)


RLS_LEARNER = RtlCore("learner", _refusal, _render, _ports, update_cycles)
