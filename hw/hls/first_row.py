"""hw.hls: compute the first row of the Toeplitz matrix on the host."""

from __future__ import annotations

from ...sim.backend import Raw
from ...sim.model.toeplitz.trainer import ToeplitzModel
from ...sim.plan import Plan


def first_row(plan: Plan, x_raw: Raw | None) -> tuple[Raw, Raw]:
    """Return the first row (n,) divided by 1 + lambda, and the inputs x (n D,).

    Both are fixed-point values of the plan. `x_raw` are the inputs in ADC counts.
    """
    model = ToeplitzModel(plan)
    model._first_row(x_raw)
    members = model._members()
    return members["r"].copy(), members["centers"].ravel()
