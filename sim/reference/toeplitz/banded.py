"""sim.reference.toeplitz: L D L' of a banded Toeplitz matrix in O(n b) time.

If r_j = 0 beyond a lag b, Schur's recursion on the generators (u, v) gives column i of L as u / u_0, and d_i
= u_0, in 2 b multiplications:

    k = v_1 / u_0;    (u_j, v_j) <- (u_j - k v_{j+1}, v_{j+1} - k u_j)

v decays geometrically, and the columns converge to the spectral factor of the symbol (F. L. Bauer, "Ein
direktes Iterationsverfahren zur Hurwitz-Zerlegung eines Polynoms", 1955; J. Rissanen, "Algorithms for
triangular decomposition of block Hankel and Toeplitz matrices", 1973). Therefore only the first columns are
stored, and most of the solution consists of one recursive filter, applied forward and then backward.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._arrays import Array
from ...errors import fail
from ..check import check_solution
from ..compiled import compiled
from ..result import Solution, Status
from ..systems.system import REAL_BYTES, ToeplitzSystem, refuse_beyond_memory
from .product import largest_norm

#: The entries beyond the band together move no eigenvalue by more than this part of r_0: the rounding of r_0.
NEGLIGIBLE = 2.0**-53
# A later column differs by the product of two entries of v / u_0: below the rounding at this square.
_SETTLED = 2.0**-58
# Zeros on either side of the coefficients of the compiled loops.
_PADDING = 3


class Factor(NamedTuple):
    """Factor L D L' of a banded Toeplitz matrix.

    Attributes
    ----------
    columns : ndarray of shape (rows, b)
        Entry (i, j - 1) is L[i + j, i]; all later columns of L are equal to the last row of this array.
    pivots : ndarray of shape (rows,)
        Diagonal of D; all later pivots are equal to the last one.
    positive : bool
        Whether the matrix is positive definite; if not, the factor is incomplete.
    """

    columns: Array
    pivots: Array
    positive: bool


def bandwidth(r: Array) -> int:
    """Return the lag b beyond which the first column is zero or negligible.

    If r_{b+1}, ... are omitted, the eigenvalues change by at most 2 sum |r_j|. For this b, that is at most
    2**-53 r_0, the rounding error of r_0.
    """
    tails = 2.0 * np.cumsum(np.abs(r[:0:-1]))
    return len(r) - 1 - int(np.searchsorted(tails, NEGLIGIBLE * abs(r[0]), side="right"))


def factorise(r: Array, n: int) -> Factor:
    """Factorise the positive definite Toeplitz matrix of n rows by Schur's recursion.

    Parameters
    ----------
    r : ndarray of shape (b + 1,)
        The first column, up to the last lag of the band.
    n : int
        Number of rows.

    Raises
    ------
    KerncastError
        E237 if the columns do not fit in memory before they converge.
    """
    u, v = r.copy(), np.append(r[1:], 0.0)  # v[j] is v_{j+1}
    advance = _generator_step
    if compiled(n):
        from .banded_loops import generator_step as advance
    columns, pivots, rest = [], [], float(v @ v)
    while u[0] > 0.0:
        columns.append(u[1:] / u[0])
        pivots.append(float(u[0]))
        if len(pivots) == n or rest <= _SETTLED * u[0] * u[0]:
            return Factor(np.array(columns), np.array(pivots), True)
        if len(pivots) % 1024 == 0:
            refuse_beyond_memory(REAL_BYTES * len(pivots) * len(r) * 2, f"a factor of {len(r) - 1} diagonals")
        k = v[0] / u[0]
        if not abs(k) < 1.0:  # also if NaN
            break
        rest = advance(u, v, k)
    return Factor(np.array(columns).reshape(len(pivots), len(r) - 1), np.array(pivots), False)


def _generator_step(u: Array, v: Array, k: float) -> float:
    """Advance the generators by one column; see :func:`.banded_loops.generator_step`."""
    following = v - k * u
    u -= k * v
    v[:-1] = following[1:]
    return float(v @ v)


def log_det(factor: Factor, n: int) -> float:
    """Return the logarithm of the determinant of the matrix of n rows."""
    logs = np.log(factor.pivots)
    return float(np.sum(logs) + (n - len(logs)) * logs[-1])


def banded(r: Array, Y: Array) -> Solution:
    """Solve a symmetric positive definite banded Toeplitz system of bandwidth b.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of A; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        Solution with `eps`, which is the last pivot, and `log_det`. The status is ``not_positive_definite``
        if a pivot is not positive.

    Raises
    ------
    KerncastError
        E226 if the matrix is not banded, because the first column is not negligible at its last lag.
    """
    n, b = len(r), bandwidth(r)
    if 0 < b == n - 1:
        raise fail("E226", "the matrix is not banded", where="method", value="banded",
                   allowed="a first column that is zero, or negligible, beyond some lag",
                   remedy="use method \"auto\" or \"levinson\"")
    with np.errstate(all="ignore"):  # check_solution rejects overflow
        factor = factorise(r[: b + 1], n)
        rows, sides = len(factor.pivots), Y.size // n
        if not factor.positive:
            return check_solution(ToeplitzSystem(r), Y, np.zeros_like(Y), Status.NOT_POSITIVE_DEFINITE,
                                  method="banded", iterations=rows, bytes=factor.columns.nbytes,
                                  why=f"the leading minor of order {rows + 1} is not positive")
        x = np.empty((sides, n))
        rest = np.array(Y.reshape(n, sides).T, order="C")
        for side in range(sides):
            x[side] = substitute(factor, rest[side])
            subtract_product(r[: b + 1], x[side], rest[side])
        return check_solution(
            ToeplitzSystem(r), Y, x.T.reshape(Y.shape), Status.OK, method="banded", iterations=rows,
            found=largest_norm(rest.T), eps=float(factor.pivots[-1]), log_det=log_det(factor, n),
            bytes=factor.columns.nbytes + x.nbytes,
            why=f"{b} diagonals on either side; {rows} columns of the factor differ",
            operations=2 * rows * b + sides * n * (2 * b + 1))


def substitute(factor: Factor, y: Array) -> Array:
    """Solve L D L' x = y for one right-hand side of shape (n,)."""
    columns, (rows, b), n = factor.columns, factor.columns.shape, len(y)
    if b == 0:
        return np.asarray(y / factor.pivots[-1])
    z = np.concatenate((np.zeros(b), y))  # z[b + i] is row i: the rows above the first are zero
    edge = min(n, rows - 1 + b)           # from here on the row of L no longer changes
    _first_rows(z, columns, edge)
    _recur(z, b + edge, b + n, columns[-1])
    z = z[b:]
    z[:rows] /= factor.pivots[:n]
    z[rows:] /= factor.pivots[-1]
    x = np.concatenate((np.zeros(b), z[::-1]))
    _recur(x, b, b + n - (rows - 1), columns[-1])
    x = x[::-1].copy()                    # rows beyond the last are zero
    _last_rows(x, columns)
    return np.asarray(x[:n])


def _first_rows(z: Array, columns: Array, edge: int) -> None:
    """Perform forward elimination in the first rows; see `banded_loops.first_rows`."""
    rows, b = columns.shape
    if compiled(len(z) - b):
        from .banded_loops import first_rows

        first_rows(z, columns, edge)
        return
    lags = np.arange(1, b + 1)
    for i in range(1, edge):
        of_row = np.clip(i - lags, 0, rows - 1)  # rows of zeros above the first: any column
        z[b + i] -= columns[of_row, lags - 1] @ z[b + i - lags]


def _last_rows(x: Array, columns: Array) -> None:
    """Perform backward elimination in the first rows; see `banded_loops.last_rows`."""
    if compiled(len(x)):
        from .banded_loops import last_rows

        last_rows(x, columns)
        return
    for i in range(len(columns) - 2, -1, -1):
        x[i] -= columns[i] @ x[i + 1: i + 1 + columns.shape[1]]


def subtract_product(r: Array, x: Array, rest: Array) -> None:
    """Subtract T x from `rest`, for a symmetric T with first column r (b + 1,)."""
    b, n = len(r) - 1, len(x)
    if compiled(n):
        from .banded_loops import subtract_band

        subtract_band(np.pad(x, b), np.pad(np.concatenate((r[:0:-1], r)), _PADDING), rest)
        return
    rest -= r[0] * x
    for j in range(1, b + 1):
        rest[j:] -= r[j] * x[:-j]
        rest[:-j] -= r[j] * x[j:]


def _recur(z: Array, first: int, last: int, column: Array) -> None:
    """Perform forward elimination in rows `first` to `last`, in place.

    All of these rows use the same column of L. `last` is exclusive.
    """
    reverse = column[::-1].copy()
    if compiled(last - first):
        from .banded_loops import recur

        recur(z, first, last, np.pad(reverse, _PADDING))
        return
    for i in range(first, last):
        z[i] -= reverse @ z[i - len(reverse): i]
