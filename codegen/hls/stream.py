"""codegen.hls: types, constants and taps of the stream of fitted values."""

from __future__ import annotations

from typing import Any

from ...sim.plan import Plan
from .widths import both, literal


def stream_types(plan: Plan) -> dict[str, str]:
    """Return the types of a pair of samples, and of the sum over the taps."""
    rail, shift = 1 << (plan.word - 1), plan.integer("stream_shift")
    max_sum = sum(map(abs, plan.tables["taps"].values)) * rail
    return {"pair_t": both(2 * rail), "filtered_t": both(max(max_sum, rail) + (1 << shift))}


def stream_constants(plan: Plan) -> list[tuple[str, str, str, str]]:
    """List the type, name, value and meaning of every constant."""
    return [("int", "stream_lag", str(plan.integer("stream_lag")), "L; the filter has 2 L + 1 taps"),
            ("int", "stream_taps", str(plan.stream_taps), ""),
            ("int", "stream_shift", str(plan.integer("stream_shift")), "fraction bits of the taps")]


def stream_context(plan: Plan, lanes: int) -> dict[str, Any]:
    """Return the taps from lag L to 0, and the clocks from one sample to the next."""
    lag = plan.integer("stream_lag")
    return {"fir_lag": lag, "fir_taps": [literal(tap) for tap in plan.tables["taps"].values[:lag + 1]],
            "fir_ii": -(-(lag + 1) // lanes)}
