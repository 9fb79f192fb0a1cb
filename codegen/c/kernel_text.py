"""codegen: describe a plan's kernel: its formula, its macros, and their meaning."""

from __future__ import annotations

from typing import Any

from ...sim.plan import Plan
from ...sim.planner.words import WORD_CLASSES
from ...sim.tables import LN2_WORD, THIRD_WORD
from .lms_f32 import FLOAT32_KERNEL

_FORMULAS = {
    "gaussian": "exp(-|u - v|^2 / (2 sigma^2))",
    "laplacian": "exp(-|u - v|_1 / sigma)",
    "matern32": "(1 + x) exp(-x) with x = sqrt(3) |u - v| / sigma",
    "matern52": "(1 + x + x^2 / 3) exp(-x) with x = sqrt(5) |u - v| / sigma",
    "periodic": "exp(-2 sum sin^2(pi (u - v) / period) / sigma^2)",
    "polynomial": "(gamma u.v + coef0)^degree",
    "linear": "u.v",
}
_DISTANCES = {"squares": "(u - v)^2", "absolutes": "|u - v|", "sines": "sin^2(pi (u - v) / period)",
              "products": "u v"}
_SCALES = {"gaussian": "log2(e) / (2 sigma^2), in LSB of x", "laplacian": "log2(e) / sigma, in LSB of x",
           "matern32": "sqrt(3) log2(e) / sigma, in LSB of x",
           "matern52": "sqrt(5) log2(e) / sigma, in LSB of x",
           "periodic": "2 log2(e) / sigma^2 in steps of the distance"}


def _is_polynomial(plan: Plan) -> bool:
    return plan.polynomial


def kernel_context(plan: Plan) -> dict[str, Any]:
    """Build the template context of the kernel.

    Returns
    -------
    dict
        ``kernel``: its name; ``polynomial``: whether it is a function of the dot product u.v;
        ``kernel_formula``; ``kernel_parameters``, as in the spec; ``distance`` and ``distance_term``: the
        contribution of each input column to the distance; ``rooted``: whether the kernel is a function of the
        root of the distance; ``t_frac``: number of fraction bits of t in 2**-t, from which the kernel is
        computed; ``matern_ln2`` and ``matern_third``:
        constants of a Matern kernel.
    """
    kind = plan.kernel
    given = [f"{key} = {plan.options[key]}" for key in ("sigma", "period", "degree", "gamma", "coef0")
             if key in plan.options]
    return {"kernel": kind, "polynomial": _is_polynomial(plan), "kernel_formula": _FORMULAS[kind],
            "kernel_parameters": "".join(f", {text}" for text in given),
            "distance": plan.distance, "distance_term": _DISTANCES[plan.distance], "rooted": plan.rooted,
            "t_frac": WORD_CLASSES[plan.word].t_frac, "matern_ln2": LN2_WORD, "matern_third": THIRD_WORD}


def kernel_macros(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Group the names of the kernel's constants by the title of their macros."""
    if _is_polynomial(plan):
        return {"Kernel: (u.v / 2^dot_shift * c / 2^shift + coef0)^degree / 2^out_shift":
                ("kernel_dot_shift", "kernel_c", "kernel_shift", "kernel_coef0", "kernel_degree",
                 "kernel_out_shift")}
    distance: dict[str, tuple[str, ...]] = {
        "Distance: sines of |u - v| * turn / 2^turn_shift, their squares shifted by sine":
            ("kernel_turn", "kernel_turn_shift", "kernel_sine_shift")}
    if plan.second_order:
        return {}
    if plan.in_float32:
        return distance | FLOAT32_KERNEL
    if plan.matern:
        of = "sqrt(d2)" if plan.rooted else "d2"
        return {f"Kernel: p(t ln 2) 2^-t with t = {of} * c / 2^shift; 0 from d2_end on":
                ("kernel_c", "kernel_shift", "kernel_d2_end", "exp2_bits",
                 *(("matern_cut",) if plan.integer("matern_cut") else ()), "matern_shift")}
    return distance | {
        "Kernel: 2^-t with t = d2 * c / 2^shift; 0 from d2_end on":
            ("kernel_c", "kernel_shift", "kernel_d2_end", "exp2_bits", "exp2_cut"),
    }


def kernel_value(plan: Plan, name: str) -> str:
    """Return the real value that a kernel constant represents, as text.

    The text is empty for constants without a description.
    """
    if name == "kernel_turn":
        return f"2^62 / period, period = {plan.options['period']}, in LSB of x"
    if name == "kernel_c" and not _is_polynomial(plan):
        real = plan.integer(name) * 2.0 ** -(plan.integer("kernel_shift") + WORD_CLASSES[plan.word].t_frac)
        return f"{real!r} = {_SCALES[plan.options['kernel']]}"
    return ""
