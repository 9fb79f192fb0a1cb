"""sim: the vectors of a uniform grid for which the kernel value is not 0.

In fixed point, a decaying kernel is 0 beyond some lag, so a prediction needs only a few neighbouring vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

from .plan import Plan


@dataclass(frozen=True)
class Window:
    """Window of grid vectors that contains the support of the kernel at a sample.

    Parameters
    ----------
    vectors : int
        The number of vectors in the window.
    low, high : int
        The index of the first vector is ``clip(x - low, 0, high) / step``.
    step : int
        Distance between two grid points, in LSBs of x.
    """

    vectors: int
    low: int
    high: int
    step: int


def grid_window(n: int, step: int, last_lag: int) -> Window | None:
    """Return the window for a grid of n vectors; None if a prediction needs them all.

    The kernel value is 0 for lags above `last_lag`. If x is between two grid points, the support contains
    `last_lag` + 1 vectors on each side.
    """
    reached = 2 * last_lag + (1 if step == 1 else 2)
    high = (n - reached) * step
    return Window(reached, last_lag * step, high, step) if high > 0 else None


def window(plan: Plan) -> Window | None:
    """Return the window of a plan, or None if a prediction needs all vectors."""
    if not plan.uniform:
        return None
    lags = plan.integers("candidate_last_lag") if plan.tunes else (plan.integer("last_lag"),)
    return grid_window(plan.sizes["n"], plan.integer("x_step"), max(lags))
