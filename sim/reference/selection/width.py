"""sim.reference.selection: default widths of the Gaussian kernel."""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ...kernels import Gaussian, squared_distances

_ROWS = 256        # enough samples for a mean over pairs
_BISECTIONS = 60   # of log sigma
_OVERLAP = 2.0
_SIGNAL_WIDTH = 2.0
_ONE_WAY = 0.9     # the mean sign of the steps


def overlap_width(X: Array, budget: int) -> float:
    """Return the sigma at which FKLMS with `budget` vectors drawn from `X` is stable.

    Removing v_r by equation (16) of B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models",
    2003, changes the output at v_r from alpha_r to alpha_r sum_j k_jr^2, summed over the other vectors.  If
    the sum exceeds 2, the error exceeds the removed coefficient, and grows with repeated removals.
    Therefore sigma is chosen so that the **mean** of that sum is 2.

    Parameters
    ----------
    X : ndarray of shape (m, D)
        Training samples, of which at most 256, evenly spaced, are used.
    budget : int
        N_max, limited to the number of samples.

    Returns
    -------
    sigma : float
        Width in the unit of `X`; 1.0 if all samples are equal.
    """
    rows = X[:: -(-len(X) // _ROWS)]
    d2 = squared_distances(rows, rows)
    d2 = d2[(d2 > 0.0) & np.isfinite(d2)]
    if len(d2) == 0:
        return 1.0
    wanted = min(_OVERLAP / min(budget, len(X)), 0.5)  # two or three vectors are always stable
    low, high = 1e-2 * np.sqrt(d2.min()), 1e2 * np.sqrt(d2.max())
    for _ in range(_BISECTIONS):
        sigma = np.sqrt(low) * np.sqrt(high)
        if np.mean(Gaussian(float(sigma)).of_distance(d2) ** 2) < wanted:
            low = sigma
        else:
            high = sigma
    return float(low)


def grid_or_spread_width(X: Array) -> float:
    """Return twice the median step of one sorted column, else sqrt(D var(X) / 2).

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Training samples.  One column whose steps almost all have one sign is a signal; its median step
        excludes repeated samples.  sqrt(D var(X) / 2) is scikit-learn's gamma="scale".

    Returns
    -------
    sigma : float
        Width in the unit of `X`; 1.0 if all samples are equal.
    """
    steps = np.diff(X[:, 0])
    moving = steps[steps != 0.0]
    if X.shape[1] == 1 and len(moving) and abs(float(np.sign(moving).mean())) > _ONE_WAY:
        return _SIGNAL_WIDTH * float(np.median(np.abs(moving)))
    return float(np.sqrt(0.5 * X.shape[1] * X.var())) or 1.0
