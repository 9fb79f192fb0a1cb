"""codegen: the delay line of a plan in C, its sums of readings, and its cost."""

from __future__ import annotations

from typing import Any

from ...sim.plan import Plan


def delay_context(plan: Plan) -> dict[str, Any]:
    """Return the template parameters for the sums of readings in a delay line.

    The limits of a sum hold for all values of the C type of a reading. A sum beyond them is damaged.
    """
    if not plan.delay:
        return {}
    raw = plan.signals["x_raw"].format
    low = -(1 << raw.c_bits - 1) if raw.signed else 0
    high = (1 << raw.c_bits - raw.signed) - 1
    most = max(-low, high) * plan.decimate
    wide = most >= 1 << 31
    limit = "INT64_C({})" if wide else "INT32_C({})"
    return {"line": {
        "sum_type": "int64_t" if wide else "int32_t",
        "least": limit.format(low * plan.decimate), "largest": limit.format(high * plan.decimate),
        "half": plan.decimate // 2, "shift": plan.decimate.bit_length() - 1}}


def delay_cost(plan: Plan, kind: str) -> str:
    """Return the cost of a function of the delay line that only moves samples."""
    if kind == "delay_window":
        return "four comparisons"
    if kind == "delay_init":
        return f"writes {2 if plan.decimate == 1 else 3 + plan.channels} members"
    stored = "one sample" if plan.channels == 1 else f"{plan.channels} values"
    added = f"{plan.channels} additions, " if plan.decimate > 1 else ""
    return f"{added}stores {stored} twice"
