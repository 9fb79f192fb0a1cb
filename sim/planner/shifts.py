"""sim.planner: check that every shift of a plan is at most 62 bits.

The spec determines the formats, and the formats determine the shifts. If the LSBs of two formats differ too
much, a shift removes all bits of one of the values.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import fail
from ..formats import MAX_SHIFT
from ..plan import Plan
from ..spec.keys import TABLE_OF
from .log2 import ceil_log2

#: Shifts that may go left too: those of the primitives `align` and `narrow`.
_BOTH_WAYS = ("row_shift", "lambda_shift", "kernel_out_shift")


def check_shifts(plan: Plan) -> None:
    """Raise an error if a shift of a plan is out of range.

    Raises
    ------
    KerncastError
        E204 if a shift is out of range. The shift of a prediction depends on the exponent of alpha, and is
        checked at both ends of the range of that exponent.
    """
    wrong = [f"{name} = {shift}" for name, shift, least in _shifts(plan) if not least <= shift <= MAX_SHIFT]
    if not wrong:
        return
    kernel = plan.signals["kernel"]
    if plan.fixed:
        raise fail("E278", "the scales of coefficients and kernel values differ too much "
                           f"({', '.join(wrong)})",
                   where="[predictor] file", value=plan.kernel,
                   allowed=f"shifts of at most {MAX_SHIFT} bits", remedy="scale the inputs with [input] gain")
    most = ceil_log2(kernel.format.value(max(-kernel.lo, kernel.hi)))
    key = "lambda" if plan.trains else "eta"
    raise fail("E204", f"the kernel values, which are up to 2^{most}, and {key} differ too much in scale "
                       f"({', '.join(wrong)})", where=f"[{TABLE_OF[plan.algorithm]}] {key}",
                       value=plan.options[key],
               allowed=f"a {key} closer to the kernel values: shifts of at most {MAX_SHIFT} bits",
               remedy="scale the inputs with [input] gain, or the kernel with gamma, so that kernel values "
                      f"are near 1; or set {key} closer to the kernel values")


def _shifts(plan: Plan) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the value and the smallest allowed value of every shift.

    If alpha has a block exponent, a prediction is shifted by `f_shift` minus this exponent. `bound_shift` can
    have any value, because the device checks the sum of `bound_shift` and the shift of the residual.
    """
    for name in plan.constants:
        if name.endswith("_shift") and name not in ("f_shift", "bound_shift"):
            yield name, plan.integer(name), -MAX_SHIFT if name in _BOTH_WAYS else 0
    if plan.second_order:
        return
    if not plan.trains:
        yield "f_shift", plan.integer("f_shift"), 0
        return
    for end in ("alpha_exp_min", "alpha_exp_max"):
        yield f"f_shift - {end}", plan.integer("f_shift") - plan.integer(end), -MAX_SHIFT
