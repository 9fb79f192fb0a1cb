"""sim.reference.solvers: Nystrom approximation of the kernel matrix.

The approximation is K_TR K_RR^-1 K_RT = F F' (R. Rifkin, "Regularized Least Squares", lecture notes of MIT
course 9.520, 2006), where T are all samples, R is a subset of them, K_RR = G G' and F = K_TR G^-t. F is
computed column by column, by a Cholesky factorisation of K with the pivots R. This is numerically stable:
K_RR is not inverted, and linearly dependent rows are skipped. Pivots are drawn at random with probabilities
proportional to the residual diagonal: Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber, "Randomly pivoted
Cholesky", Comm. Pure Appl. Math. 78(5), 2025.
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
    """Factor F of shape (n, s), with the indices R (s,) of its pivot rows.

    The matrix G = F[R] is lower triangular.
    """

    F: Array
    R: IntArray


def partial_cholesky(system: System, landmarks: Landmarks = None, seed: int = 0) -> PartialFactor:
    """Factorise K = A - lambda I approximately by a partial Cholesky factorisation.

    The factorisation needs O(n s^2) time and O(n s) memory.

    Parameters
    ----------
    system : System
        A of n rows; lambda is its regulariser.
    landmarks : int, sequence of int, or None
        Maximum number of pivot rows R, which are drawn at random with probabilities proportional to the
        residual diagonal; or the indices of these rows.
    seed : int
        Random seed.

    Returns
    -------
    PartialFactor
        Factor with at most `landmarks` columns; rows that are linearly dependent on earlier ones, within
        rounding errors, are omitted.

    Raises
    ------
    KerncastError
        E237 if F does not fit in memory, E238 if the landmarks are too many or are not distinct rows.
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
    """Return the default number of landmarks of a preconditioner.

    With this number, the preconditioner is effective, and it is computed in less time than a few products
    with K.
    """
    return min(n, max(50, min(500, 4 * int(n**0.5))))


def checked_landmarks(landmarks: Landmarks, n: int, seed: int) -> tuple[IntArray | None, int]:
    """Check the option landmarks; return the rows, or None, and their maximum number.

    Raise E238 if the option is not valid.
    """
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

    With F = U S V', the preconditioner is U (S^2 + lambda) U' + (s_min^2 + lambda) (I - U U'), because the
    part of K outside the span of the landmarks is between 0 and about s_min^2 (Z. Frangella, J. A. Tropp, M.
    Udell, "Randomized Nystrom preconditioning", SIAM J. Matrix Anal. Appl. 44(2), 2023, (1.3)). U is
    orthonormal, so that no cancellation occurs for a small lambda, unlike in the Sherman-Morrison-Woodbury
    identity.

    Parameters
    ----------
    system : System
        The system A to precondition.
    landmarks : int, sequence of int, or None
        As for :func:`partial_cholesky`.
    seed : int
        Random seed.
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
        """Return C^-1 V up to a positive factor, for `V` of shape (n, m)."""
        return np.asarray(V + self._U @ (self._gain * (self._U.T @ V)))
