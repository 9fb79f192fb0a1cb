"""hw.hls: compute the first row and the certificate of a training on the host."""

from __future__ import annotations

from ...sim.backend import Outputs, Raw
from ...sim.model.bound import bound_from_norm
from ...sim.model.certify import accurate
from ...sim.model.toeplitz.refine import compute_residual
from ...sim.model.toeplitz.trainer import ToeplitzModel, certified_accurate
from ...sim.plan import Plan
from ...sim.primitives import Words


def first_row(plan: Plan, x_raw: Raw | None) -> tuple[Raw, Raw]:
    """Return the first row (n,) divided by 1 + lambda, and x (n D,), as in the model."""
    model = ToeplitzModel(plan)
    model._first_row(x_raw)
    members = model._members()
    return members["r"].copy(), members["centers"].ravel()


def certified(plan: Plan, y: Words, r: Words, state: Outputs) -> bool:
    """Return whether the bound of a trained model is within the tolerance.

    Parameters
    ----------
    plan : Plan
    y : ndarray of int64, shape (n,)
        Fixed-point targets.
    r : ndarray of int64, shape (n,)
        First row, divided by 1 + lambda.
    state : dict
        The trained model structure, with its intercept if the plan has one.
    """
    if not plan.bias:
        return certified_accurate(plan, y, state)
    model = ToeplitzModel(plan)
    model._r[:] = r
    k, alpha = model._refine, state["alpha"]
    found = compute_residual(y, int(state["bias"][0]), alpha, int(state["alpha_exp"][0]), True, model._arrays,
                             k)
    return bool(accurate(alpha, bound_from_norm(found.squares, found.shift, k.certify.bound), k.certify))
