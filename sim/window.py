"""sim: the vectors of a uniform grid that the kernel of a sample reaches.

A kernel that decays is zero beyond some lag.  A prediction then needs only a few neighbouring vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

from .plan import Plan


@dataclass(frozen=True)
class Window:
    """Vectors of a grid within the support of the kernel around a sample.

    Parameters
    ----------
    vectors : int
        The number of vectors in the window.
    low, high : int
        The index of the first vector is x minus `low`, clipped to 0 to `high`, divided by `step`.
    step : int
        The grid step in LSBs of x.
    """

    vectors: int
    low: int
    high: int
    step: int


def grid_window(n: int, step: int, last_lag: int) -> Window | None:
    """Return the window of n vectors, or None if a prediction needs them all.

    If x is between two vectors, the kernel's support contains `last_lag` further vectors on either side.
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
