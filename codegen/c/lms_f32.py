"""codegen: build the template context of an online learner in float32."""

from __future__ import annotations

import struct
from typing import Any

from ...sim.plan import Plan

#: Constants that become macros, by title; those of the kernel stand apart.
FLOAT32_MACROS = {
    "Prediction: a sum in steps of 2^-40, shifted by f": ("f_shift",),
    "Learning rule": ("eta_f32", "decay_f32"),
    "Inverse of the kernel matrix plus jitter I": ("one_f32", "jitter_f32"),
}
FLOAT32_KERNEL: dict[str, tuple[str, ...]] = {
    "Kernel: 2^-t with t = (d2 >> d2_shift) * kernel; 0 from d2_end on":
        ("kernel_f32", "kernel_d2_shift", "kernel_d2_end")}


def float_literal(bits: int) -> str:
    """Write a float32 as an exact C literal, from its bits."""
    mantissa, _, exponent = struct.unpack("<f", bits.to_bytes(4, "little"))[0].hex().partition("p")
    return f"{mantissa.rstrip('0').removesuffix('.')}p{exponent}f"


def float_value(plan: Plan, name: str) -> str:
    """Return the real value that a float32 constant represents, or None."""
    return {"eta_f32": f"eta = {plan.options.get('eta')}",
            "decay_f32": f"1 - eta rho, rho = {plan.options.get('rho')}",
            "one_f32": "1 + jitter"}.get(name, "")


def float_context(plan: Plan) -> dict[str, Any]:
    """Extend the ``lms`` context for float32 by ``gram`` and ``weighted`` (MKLMS).

    ``projects`` is false, because it applies to the integer functions only; projection is in float32 here.
    """
    if not plan.in_float32:
        return {"gram": False}
    return {"gram": plan.metric != "fklms", "projects": False, "weighted": plan.metric == "mklms"}
