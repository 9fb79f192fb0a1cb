"""sim.reference.solvers: Nystrom approximation.

It computes in a stable way a factor F with K_TR K_RR^-1 K_RT = F F'.

R. Rifkin, "Regularized Least Squares", 9.520, 2006: R the subset, T all samples, K_RR = G G', F = K_TR G^-t.
Here F grows column by column, as in Cholesky's factorisation of K with the pivots R, so K_RR is never
inverted and dependent rows are skipped.  Pivots are drawn at random in proportion to the residual diagonal:
Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber, "Randomly pivoted Cholesky",
Comm. Pure Appl. Math. 78(5), 2025.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ...errors import fail
from ..options import check_count
from ..systems.system import REAL_BYTES, Cost, System, refuse_beyond_memory

IntArray = NDArray[np.int64]
#: The number of rows to draw, or their indices; None for :func:`default_landmarks`.
Landmarks = int | Sequence[int] | IntArray | None

# A residual diagonal below this part of its largest value is rounding.
_NOTHING_LEFT = 1e-14


class PartialFactor(NamedTuple):
    """Factor F of shape (n, s) and its rows R of shape (s,).

    F[R] = G is lower triangular.
    """

    F: Array
    R: IntArray


def partial_cholesky(system: System, landmarks: Landmarks = None, seed: int = 0) -> PartialFactor:
    """Factorise K = A - lambda I approximately, in O(n s^2) time and O(n s) memory.

    Parameters
    ----------
    system : System
        A of n rows; lambda is its regulariser.
    landmarks : int, sequence of int, or None
        Largest number of rows R, drawn at random in proportion to the residual diagonal, or their indices.
    seed : int
        Random seed.

    Returns
    -------
    PartialFactor
        Factor with s <= `landmarks` columns; rows that depend on earlier ones within rounding are omitted.

    Raises
    ------
    KerncastError
        E237 if F does not fit in memory; E238 if `landmarks` are not distinct rows, or too many.
    """
    n, lam = system.n, system.regulariser
    given, most = checked_landmarks(landmarks, n, seed)
    refuse_beyond_memory(3 * REAL_BYTES * n * most, f"{most} columns of {n} rows")
    random = np.random.default_rng(seed)
    left = system.diagonal() - lam
    nothing = _NOTHING_LEFT * float(np.max(np.abs(left)))
    Ft, R = np.empty((most, n)), np.empty(most, dtype=np.int64)  # rows of F' lie together
    s = 0
    for turn in range(most):
        left[left <= nothing] = 0.0
        if not 0.0 < left.sum() < np.inf:  # nothing is left, or it is not finite
            break
        pivot = int(random.choice(n, p=left / left.sum())) if given is None else int(given[turn])
        if left[pivot] > 0.0:  # else it depends on the rows before
            column = system.block(slice(0, n), slice(pivot, pivot + 1))[:, 0]
            column[pivot] -= lam
            column -= Ft[:s, pivot] @ Ft[:s]
            if column[pivot] > nothing:
                Ft[s], R[s] = column / np.sqrt(column[pivot]), pivot
                left -= Ft[s] ** 2
                s += 1
            left[pivot] = 0.0
    return PartialFactor(Ft[:s].T, R[:s].copy())


def default_landmarks(n: int) -> int:
    """Return a number of landmarks for a good and cheap preconditioner.

    The preconditioner costs less than a few products with K.
    """
    return min(n, max(50, min(500, 4 * int(n**0.5))))


def checked_landmarks(landmarks: Landmarks, n: int, seed: int) -> tuple[IntArray | None, int]:
    """Return the given rows, or None, and their largest number; raise E238 if invalid."""
    check_count(seed, "seed", least=0)
    if landmarks is None:
        return None, default_landmarks(n)
    if isinstance(landmarks, int | np.integer):
        check_count(int(landmarks), "landmarks", most=n)
        return None, int(landmarks)
    rows = np.asarray(landmarks)
    usable = rows.ndim == 1 and rows.size > 0 and np.issubdtype(rows.dtype, np.integer)
    if not usable or rows.min() < 0 or rows.max() >= n or len(np.unique(rows)) != len(rows):
        raise fail("E238", "landmarks is neither a valid number nor a list of distinct rows",
                   where="landmarks",
                   value=f"{type(landmarks).__name__} of shape {rows.shape}",
                   allowed=f"the number of landmarks, from 1 to {n}, or distinct row numbers from 0 to "
                           f"{n - 1}",
                   remedy="pass the number of landmarks")
    return rows.astype(np.int64), len(rows)


class Nystrom:
    """Preconditioner F F' + lambda I of A = K + lambda I, applied in O(n s) time.

    With F = U S V' it is U (S^2 + lambda) U' + (s_min^2 + lambda) (I - U U'): outside the landmarks' span
    the remainder of K is between 0 and about s_min^2 (Z. Frangella, J. A. Tropp, M. Udell, "Randomized
    Nystrom preconditioning", SIAM J. Matrix Anal. Appl. 44(2), 2023, (1.3)).  Because U is
    orthonormal, no cancellation occurs for small lambda, unlike in the Sherman-Morrison-Woodbury identity.

    Parameters
    ----------
    system : System
    landmarks : int, sequence of int, or None
        As for :func:`partial_cholesky`.
    seed : int
    """

    def __init__(self, system: System, landmarks: Landmarks = None, seed: int = 0) -> None:
        F = partial_cholesky(system, landmarks, seed).F
        n, s = F.shape
        self._U, S, _ = np.linalg.svd(F, full_matrices=False)
        lam = system.regulariser
        smallest = float(S[-1] ** 2 + lam) if s else 1.0
        self._gain = (smallest / (S**2 + lam) - 1.0)[:, np.newaxis]
        self.positive = bool(smallest > 0.0)
        self.cost = Cost(2 * n * s, 0, 2 * F.nbytes)
        self.kernel_values = n * s * system.values_per_entry
        self.note = f"preconditioner nystrom, {s} landmarks"

    def solve(self, V: Array) -> Array:
        """Return C^-1 V up to a factor, for `V` of shape (n, m)."""
        return np.asarray(V + self._U @ (self._gain * (self._U.T @ V)))
