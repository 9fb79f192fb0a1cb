"""sim.reference: the Gram matrix of an expansion and its inverse, kept up to date in O(N^2).

K of report 836 (7), with K^-1 from which **every** candidate for removal is judged at once, where the
report inverts N matrices: by the inverse of a partitioned matrix (8), with p = K^-1 e_N,

    kappa_N = k_NN - K_NR K_RR^-1 K_RN = 1 / p_N            K_RR^-1 K_RN = -p_R / p_N

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Added to the diagonal: vectors that the others represent make K_RR singular in float64.
JITTER = 1e-10
# Error of K p = e_N above which the inverse is made afresh.  It is the error of the projection in
# units of the discrepancy kappa_N alpha_N that the removal makes anyway.
_DRIFT = 1e-3


class Gram:
    """K and K^-1 by slot; rows and columns of free slots are 0.

    Parameters
    ----------
    capacity : int
        Number of slots.

    Attributes
    ----------
    K : ndarray of shape (capacity, capacity)
        Kernel values of the held vectors, without jitter.
    """

    def __init__(self, capacity: int) -> None:
        self.K: Array = np.zeros((capacity, capacity))
        self._inverse: Array = np.zeros((capacity, capacity))
        self._held = np.zeros(capacity)
        self._stale = True

    @property
    def inverse(self) -> Array:
        """(K + jitter I)^-1 of the held slots; it is made when first asked for, and updated from then on."""
        if self._stale:
            held = np.flatnonzero(self._held)
            some = np.ix_(held, held)
            fresh = np.linalg.inv(self.K[some] + JITTER * np.eye(len(held)))
            self._inverse[:] = 0.0
            self._inverse[some] = 0.5 * (fresh + fresh.T)
            self._stale = False
        return self._inverse

    def column(self, slot: int) -> Array:
        """Return p = (K + jitter I)^-1 e_slot, shape (capacity,), checked by a product with K."""
        p = self.inverse[:, slot]
        error = self.K @ p + JITTER * p
        error[slot] -= 1.0
        if np.abs(error).max() > _DRIFT:
            self._stale = True
            p = self.inverse[:, slot]
        return p

    def insert(self, slot: int, k: Array) -> None:
        """Border K by `k`, shape (capacity,): the kernel of the new vector and the held ones, 0 elsewhere."""
        if not self._stale:
            self._border(slot, k)
        self.K[slot], self.K[:, slot] = k, k
        self.K[slot, slot] = 1.0
        self._held[slot] = 1.0

    def remove(self, slot: int) -> None:
        """Take row and column `slot` away."""
        if not self._stale:
            p = self._inverse[:, slot].copy()
            self._inverse -= np.multiply.outer(p, p / p[slot])
            self._inverse[slot] = self._inverse[:, slot] = 0.0
        self.K[slot] = self.K[:, slot] = 0.0
        self._held[slot] = 0.0

    def grow(self, capacity: int) -> None:
        """Make room for so many slots."""
        more = capacity - len(self.K)
        self.K, self._inverse = (np.pad(a, (0, more)) for a in (self.K, self._inverse))
        self._held = np.pad(self._held, (0, more))

    def _border(self, slot: int, k: Array) -> None:
        """The inverse of the bordered matrix; stale where rounding would be felt."""
        u = self._inverse @ k
        u += self._inverse @ (k - self.K @ u - JITTER * u)
        s = 1.0 + JITTER - float(k @ u)  # Schur complement: kappa of the new vector
        error = np.abs(k - self.K @ u - JITTER * u).max()
        if not (s > 0.0 and error <= _DRIFT * s):
            self._stale = True
            return
        u[slot] = -1.0
        self._inverse += np.multiply.outer(u, u / s)
