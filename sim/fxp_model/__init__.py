"""sim.fxp_model: an independent implementation of the algorithms with fxpmath.

It checks the integer model. It is written from the definitions in the docstrings of :mod:`..primitives` and
:mod:`..model`, but does not call them. The integer model computes shifts explicitly; here, numbers have
values, and fxpmath aligns their binary points. Therefore a wrong shift cannot occur in both. The
implementation is slow, and is limited to n <= 32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import fail
from ..plan import Plan

if TYPE_CHECKING:
    from .cg import FxpCg
    from .lms import FxpLms
    from .predictor import FxpPredictor
    from .rls import FxpRls
    from .toeplitz import FxpToeplitz

#: Samples or expansion vectors that it takes.
MOST = 32


def _require_support(plan: Plan) -> None:
    """Raise E250 for a plan that is too large, or has a feature that this model lacks."""
    key = "n" if plan.trains else "N"
    if plan.sizes[key] > MOST:
        raise fail("E250", "the plan is too large for the model in plain fxpmath",
                   where=plan.size_key, value=plan.sizes[key], allowed=f"up to {MOST}",
                   remedy="use the back end `model`, or a smaller spec for this comparison")
    if plan.looks_ahead and plan.solver == "lookahead_f32":
        raise fail("E250", "the model in plain fxpmath does not support float32", where="[toeplitz] solver",
                   value="lookahead_f32", allowed="levinson, schur, lookahead",
                   remedy="use the back end `model`")
    if plan.algorithm == "kernel_lms" and plan.in_float32:
        raise fail("E250", "the model in plain fxpmath does not support float32", where="[online] reduction",
                   value=plan.reduction, allowed="fklms, fmklms, nt, mt, at",
                   remedy="use the back end `model`")


def open_fxp_model(plan: Plan) -> FxpToeplitz | FxpCg | FxpLms | FxpRls | FxpPredictor:
    """Open the fxpmath model of a plan as a back end.

    Parameters
    ----------
    plan : Plan
        A plan with at most 32 training samples or expansion vectors.

    Raises
    ------
    KerncastError
        E250 if the plan is larger or computes in float32; E501 if fxpmath is not installed.
    """
    _require_support(plan)
    if plan.fixed:
        from .predictor import FxpPredictor

        return FxpPredictor(plan)
    if plan.algorithm == "kernel_cg":
        from .cg import FxpCg

        return FxpCg(plan)
    if plan.algorithm == "toeplitz_rls":
        from .toeplitz import FxpToeplitz

        return FxpToeplitz(plan)
    if plan.second_order:
        from .rls import FxpRls

        return FxpRls(plan)
    from .lms import FxpLms

    return FxpLms(plan)
