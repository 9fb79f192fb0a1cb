"""sim.planner: measure the overlap of stored vectors."""

from __future__ import annotations

import numpy as np

from .._arrays import Array
from ..kernels import DistanceKernel

#: Samples and stored vectors that are looked at, at most: enough for a median.
_MOST_SAMPLES, _MOST_VECTORS = 1024, 128


def measure_overlap(kernel: DistanceKernel, x: Array, capacity: int) -> float:
    """Estimate the growth of a contribution when its vector is evicted by projection.

    If the vector v_r is evicted, equation (16) of B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of
    Kernel Models", 2003, adds alpha_r k_jr to every alpha_j. At v_r, the contribution alpha_r of the vector
    is thereby replaced by alpha_r times the sum of k_jr^2 over its neighbours. If the sum exceeds 2, the
    change is larger than the contribution, and the learner amplifies errors.

    Parameters
    ----------
    kernel : DistanceKernel
    x : ndarray of float64, shape (m, D)
        Samples, in the unit of the width of the kernel.
    capacity : int
        Dictionary size.

    Returns
    -------
    float
        Median of these sums over a dictionary of samples that are as far from each other as possible, as the
        metric 1 - max_j k_ij selects them; 0 if the samples do not fill the dictionary.
    """
    rows = np.unique(x[:: -(-len(x) // _MOST_SAMPLES)], axis=0)
    size = min(capacity, _MOST_VECTORS)
    if len(rows) <= size:
        return 0.0
    chosen, distance = [0], kernel.distances(rows, rows[:1])[:, 0]
    while len(chosen) < size:  # the farthest from those chosen (Gonzalez 1985)
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, kernel.distances(rows, rows[chosen[-1:]])[:, 0])
    values = kernel(rows[chosen], rows[chosen])
    return float(np.median(np.sum(values * values, axis=1) - 1.0)) * ((capacity - 1) / max(size - 1, 1))
