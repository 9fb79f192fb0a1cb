"""sim.reference.online: the Gram matrix of an expansion and its inverse.

Each update needs O(N^2) operations.

K of equation (7) in B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", 2003.  K^-1
gives the metric of **all** candidates at once, for which the report inverts N matrices: by the inverse of a
partitioned matrix (8), with p = K^-1 e_N,

    kappa_N = k_NN - K_NR K_RR^-1 K_RN = 1 / p_N            K_RR^-1 K_RN = -p_R / p_N
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array

#: Added to the diagonal: dependent vectors make K_RR singular in float64.
JITTER = 1e-10
# Error of K K^-1 = I above which the inverse is recomputed.  A column of it is the error of a projection in
# units of the discrepancy kappa_N alpha_N that the removal causes anyway.
_DRIFT = 1e-3


class Gram:
    """The matrices K and K^-1 by slot; rows and columns of free slots are 0.

    Parameters
    ----------
    capacity : int
        Number of slots.

    Attributes
    ----------
    K : ndarray of shape (capacity, capacity)
        Kernel values of the vectors, without jitter.
    """

    def __init__(self, capacity: int) -> None:
        self.K: Array = np.zeros((capacity, capacity))
        self._inverse: Array = np.zeros((capacity, capacity))
        self._held = np.zeros(capacity)
        self._random = np.random.default_rng(0).normal(size=capacity)
        self._stale, self._checked = True, False

    @property
    def inverse(self) -> Array:
        """Return (K + jitter I)^-1 of the used slots.

        The inverse is computed on demand, updated, and checked.

        For a random vector w, K K^-1 w = w holds only if K K^-1 = I (R. Freivalds, "Fast probabilistic
        algorithms", 1979).
        """
        if not (self._stale or self._checked):
            w = self._held * self._random
            self._stale = not np.abs(self._times(self._inverse @ w) - w).max() <= _DRIFT  # or NaN
        self._checked = True
        if self._stale:
            held = np.flatnonzero(self._held)
            some = np.ix_(held, held)
            fresh = np.linalg.inv(self.K[some] + JITTER * np.eye(len(held)))
            self._inverse[:] = 0.0
            self._inverse[some] = 0.5 * (fresh + fresh.T)
            self._stale = False
        return self._inverse

    def insert(self, slot: int, k: Array) -> None:
        """Border K by the new vector's kernel values `k`, shape (capacity,).

        The values of free slots are 0.
        """
        self._checked = False
        if not self._stale:
            self._border(slot, k)
        self.K[slot], self.K[:, slot] = k, k
        self.K[slot, slot] = 1.0
        self._held[slot] = 1.0

    def remove(self, slot: int) -> None:
        """Remove row and column `slot`."""
        self._checked = False
        if not self._stale:
            p = self._inverse[:, slot].copy()
            self._inverse -= np.multiply.outer(p, p / p[slot])
            self._inverse[slot] = self._inverse[:, slot] = 0.0
        self.K[slot] = self.K[:, slot] = 0.0
        self._held[slot] = 0.0

    def grow(self, capacity: int) -> None:
        """Increase the number of slots to `capacity`."""
        more = capacity - len(self.K)
        self.K, self._inverse = (np.pad(a, (0, more)) for a in (self.K, self._inverse))
        self._held = np.pad(self._held, (0, more))
        self._random = np.random.default_rng(0).normal(size=capacity)

    def _times(self, u: Array) -> Array:
        """Return (K + jitter I) u."""
        return np.asarray(self.K @ u + JITTER * u)

    def _border(self, slot: int, k: Array) -> None:
        """Update the inverse for the bordered matrix."""
        u = self._inverse @ k
        u += self._inverse @ (k - self._times(u))
        s = 1.0 + JITTER - float(k @ u)  # Schur complement: kappa of the new vector
        if not s > 0.0:
            self._stale = True
            return
        u[slot] = -1.0
        self._inverse += np.multiply.outer(u, u / s)
