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
    """Return the largest sigma at which FKLMS with `budget` vectors of `X` is stable.

    If FKLMS removes a vector v_r by equation (16) of B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of
    Kernel Models", 2003, its contribution alpha_r at v_r is replaced by alpha_r times the sum of k_jr^2 over
    the other vectors. If the sum exceeds 2, the error exceeds the removed coefficient, and repeated removals
    amplify it. Therefore sigma is chosen so that the **mean** of this sum is 2.

    Parameters
    ----------
    X : ndarray of shape (m, D)
        Training samples; at most 256 of them, evenly spaced, are used.
    budget : int
        Dictionary size N_max; at most the number of samples is used.

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
    """Return the default width of the Gaussian kernel for samples.

    For one sorted column, as in a signal, it is twice the median step. Otherwise it is sqrt(D var(X) / 2),
    which corresponds to scikit-learn's gamma="scale".

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Training samples. A column is treated as sorted if almost all steps have the same sign; repeated
        samples are ignored.

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
