"""sim.reference.online: a kernel expansion stored in slots, and its evaluation.

Equation (1) of B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models",
ACSE Research Report 836, University of Sheffield, 2003; equation (3) of S. Decherchi, P. Gastaldo,
R. Zunino, "Efficient Approximate Regularized Least Squares by Toeplitz Matrix".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array as Array
from ...kernels import DistanceKernel, Kernel
from ..systems.kernel_blocks import KernelBlocks
from .gram import Gram

IntArray = NDArray[np.int64]

# The kernel matrix is computed in blocks of about this many values (8 MB of float64).
_BLOCK_VALUES = 1 << 20
# Blocks of near vectors only are smaller, so that fewer of their values are 0.
_WINDOW_VALUES = 1 << 16
_FREE = -1  # rank of a free slot


def expand(kernel: Kernel, X: Array, V: Array, alpha: Array) -> Array:
    """Evaluate f(x) = sum_i alpha_i k(v_i, x), equation (1), for all rows of `X`.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (m, D)
        Points of evaluation.
    V : ndarray of shape (N, D)
        Expansion vectors.
    alpha : ndarray of shape (N,) or (N, K)
        Coefficients, one column per output.

    Returns
    -------
    f : ndarray of shape (m,) or (m, K)

    Notes
    -----
    The kernel matrix is computed in strips of rows: O(N) memory in addition to the result.  For samples of
    one column only pairs with nonzero kernel value are computed.
    """
    f = np.zeros((len(X), *alpha.shape[1:]))
    if X.shape[1] == 1 and kernel.support_radius < np.inf:
        _expand_within_reach(kernel, X, V, alpha, f)
        return f
    if len(X) * len(V) <= _BLOCK_VALUES:
        f[:] = kernel(X, V) @ alpha
        return f
    blocks, vectors = KernelBlocks(kernel, np.concatenate((V, X))), slice(0, len(V))
    rows = max(1, _BLOCK_VALUES // len(V))
    for start in range(0, len(X), rows):
        stop = min(start + rows, len(X))
        f[start:stop] = blocks.tile(slice(len(V) + start, len(V) + stop), vectors) @ alpha
    return f


def _expand_within_reach(kernel: Kernel, X: Array, V: Array, alpha: Array, f: Array) -> None:
    """Evaluate :func:`expand` for one column.

    The samples are sorted, and the rows are halved until a block is small.
    """
    order, V_order = np.argsort(X[:, 0], kind="stable"), np.argsort(V[:, 0], kind="stable")
    X, V, alpha = X[order], V[V_order], alpha[V_order]
    waiting = [(0, len(X))]
    while waiting:
        start, stop = waiting.pop()
        ends = X[start, 0] - kernel.support_radius, X[stop - 1, 0] + kernel.support_radius
        near = slice(*np.searchsorted(V[:, 0], ends))
        if stop - start > 1 and (stop - start) * (near.stop - near.start) > _WINDOW_VALUES:
            middle = (start + stop) // 2
            waiting += [(start, middle), (middle, stop)]
        else:
            f[order[start:stop]] = kernel(X[start:stop], V[near]) @ alpha[near]


class Expansion:
    """Model of an online learner: vectors and coefficients in slots.

    Slots are filled from 0 upwards.  The next vector fills the slot of a removed one, so vectors are never
    moved; `rank` is their order of insertion.

    Parameters
    ----------
    capacity : int
        Initial number of slots.
    columns : int
        D.
    kernel : DistanceKernel
    outputs : tuple of int
        () for one output, (K,) for several that share the vectors.
    gram : bool
        Whether to maintain the Gram matrix.

    Attributes
    ----------
    V : ndarray of shape (capacity, D)
        Expansion vectors v_i.
    alpha : ndarray of shape (capacity,) or (capacity, K)
        Coefficients alpha_i; 0 in free slots.
    rank : ndarray of int64, shape (capacity,)
        0 for the oldest vector, count-1 for the newest, -1 for a free slot.
    born : ndarray of int64, shape (capacity,)
        Value of `presented` when the vector was inserted.
    presented : int
        p, the number of presented samples; the learner counts them.
    count : int
        N, the number of vectors.
    kernel : DistanceKernel
        Kernel whose distances are used.
    gram : Gram or None
    """

    def __init__(self, capacity: int, columns: int, kernel: DistanceKernel,
                 outputs: tuple[int, ...] = (), gram: bool = False) -> None:
        self.V: Array = np.zeros((capacity, columns))
        self.alpha: Array = np.zeros((capacity, *outputs))
        self.rank: IntArray = np.full(capacity, _FREE, dtype=np.int64)
        self.born: IntArray = np.zeros(capacity, dtype=np.int64)
        self.presented = 0
        self.count = 0
        self.kernel = kernel
        self.gram = Gram(capacity) if gram else None

    @property
    def capacity(self) -> int:
        """Return the number of slots."""
        return len(self.V)

    @property
    def held(self) -> IntArray:
        """Return the slots in use, in ascending order."""
        return np.flatnonzero(self.rank >= 0)

    @property
    def free(self) -> int:
        """Return the first free slot, or `capacity` if there is none."""
        return int(np.argmin(self.rank)) if self.count < self.capacity else self.capacity

    def oldest_of(self, slots: IntArray) -> int:
        """Return the oldest of `slots`."""
        return int(slots[np.argmin(self.rank[slots])])

    def newest_of(self, slots: IntArray) -> int:
        """Return the newest of `slots`."""
        return int(slots[np.argmax(self.rank[slots])])

    def distances(self, x: Array) -> Array:
        """Return the distance of `x` (D,) to each slot's vector; infinite for free slots."""
        return np.where(self.rank >= 0, self.kernel.pair_distances(self.V, x), np.inf)

    def insert(self, slot: int, x: Array, alpha: Array, d2: Array) -> None:
        """Insert `x` into the free `slot` as the newest vector: (3), (4), (6)."""
        self.V[slot], self.alpha[slot] = x, alpha
        self.rank[slot], self.born[slot] = self.count, self.presented
        self.count += 1
        if self.gram is not None:
            self.gram.insert(slot, self.kernel.of_distance(d2))

    def remove(self, slot: int) -> None:
        """Free `slot`: set its coefficient to 0, and decrease the rank of newer vectors."""
        self.alpha[slot] = 0.0
        self.rank[self.rank > self.rank[slot]] -= 1
        self.rank[slot] = _FREE
        self.count -= 1
        if self.gram is not None:
            self.gram.remove(slot)

    def grow(self) -> None:
        """Double the number of slots."""
        more = self.capacity
        self.V, self.alpha = (np.pad(a, ((0, more), *((0, 0),) * (a.ndim - 1)))
                              for a in (self.V, self.alpha))
        self.rank = np.pad(self.rank, (0, more), constant_values=_FREE)
        self.born = np.pad(self.born, (0, more))
        if self.gram is not None:
            self.gram.grow(self.capacity)
