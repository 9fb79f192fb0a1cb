"""sim.reference.toeplitz: L D L' of a matrix with a geometric row, in O(n).

The first row is ``r_j = c rho^j`` for j >= 1, as that of a Laplacian kernel on a uniform grid. With
``lambda = r_0 / c - 1``, the matrix is c times ``K + lambda I``, where ``K_ij = rho^|i-j|`` has a tridiagonal
inverse. The matrix is therefore semiseparable (R. Vandebril, M. Van Barel, N. Mastronardi, "Matrix
Computations and Semiseparable Matrices", vol. 1, 2008, chapter 4): below its diagonal, column j of L is
``g_j rho^(i-j)``. In units of c:

    e_0 = 1;    d_i = e_i + lambda;    g_i = e_i / d_i;    e_{i+1} = 1 - rho^2 + lambda rho^2 g_i

Each substitution is a recursion with one running value, for example ``p <- rho (p + g_i z_i)``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from ..._arrays import Array
from ...errors import fail
from ..check import check_solution
from ..compiled import compiled
from ..result import Solution, Status
from ..systems.system import ToeplitzSystem

#: Largest mean deviation from a geometric sequence, relative to |r|: roundings of r and of rho. An entry has
#: that of rho as often as the recursions multiply by rho.
_ROUNDING = 2 * 2.0**-53
# Multiplications per row and right-hand side, without the residual.
_MULTIPLICATIONS = 5


class Geometric(NamedTuple):
    """First row of a Toeplitz matrix, ``r_j = scale * rho^j`` for j >= 1."""

    first: float
    scale: float
    rho: float


def geometric_row(r: Array) -> Geometric | None:
    """Return the parameters of a geometric first row, or None if r is not geometric.

    Entries may deviate by their rounding errors.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of the matrix; r[0] may have any value.
    """
    n, first = len(r), float(r[0])
    if n < 3 or r[1] == 0.0:
        ratio = float(r[1]) / first if n == 2 and first else 0.0
        few = n < 3 and abs(ratio) <= 1.0
        return Geometric(first, first, ratio) if few or not np.any(r[1:]) else None
    small = np.abs(r[2:]) < np.exp(-1.0) * abs(r[1])
    last = 2 + int(np.argmax(small)) if small.any() else n - 1  # a rounding error there changes rho least
    sign = np.copysign(1.0, r[2] * r[1])
    rho = float(sign * np.abs(r[last] / r[1]) ** (1.0 / (last - 1)))
    if not 0.0 < abs(rho) <= 1.0:
        return None
    scale = float(r[1]) / rho
    deviation = float(np.sum(np.abs(scale * rho ** np.arange(1.0, n) - r[1:])))
    limit = _ROUNDING * min(n, 1.0 / max(1.0 - abs(rho), 2.0**-53)) * float(np.sum(np.abs(r[1:])))
    return Geometric(first, scale, rho) if deviation <= limit else None


class Factor(NamedTuple):
    """Factor L D L' of a Toeplitz matrix with a geometric first row.

    Attributes
    ----------
    generators : ndarray of shape (rows,)
        g_j; entry (i, j) of L is ``g_j rho^(i-j)``. All later ones are equal to the last one.
    pivots : ndarray of shape (rows,)
        Diagonal of D; all later pivots are equal to the last one.
    positive : bool
        Whether the matrix is positive definite; if not, the factor is incomplete.
    """

    generators: Array
    pivots: Array
    positive: bool


def factorise(row: Geometric, n: int) -> Factor:
    """Factorise the matrix of n rows until the pivots no longer change."""
    lam, square = row.first - row.scale, row.rho * row.rho  # lambda times the scale
    own, excess = row.scale * (1.0 - row.rho) * (1.0 + row.rho), row.scale
    excesses, pivots = list[float](), list[float]()
    positive = row.first > 0.0
    while positive:
        d = excess + lam
        excesses.append(excess)
        pivots.append(d)
        excess = own + lam * square * excesses[-1] / d
        positive = excess + lam > 0.0
        if len(pivots) == n or abs(excess - excesses[-1]) <= 2.0**-60 * min(d, abs(excess)):
            return Factor(np.array(excesses) / np.array(pivots), np.array(pivots), True)
    return Factor(np.zeros(len(pivots)), np.array(pivots), False)


def geometric(r: Array, Y: Array, row: Geometric | None = None) -> Solution:
    """Solve a positive definite Toeplitz system whose first row is geometric.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.
    row : Geometric, optional
        Result of :func:`geometric_row`.

    Returns
    -------
    Solution
        Solution with `eps`, which is the last pivot, and `log_det`. The status is ``not_positive_definite``
        if a pivot is not positive.

    Raises
    ------
    KerncastError
        E226 if the first row is not geometric.
    """
    n, row = len(r), row or geometric_row(r)
    if row is None:
        raise fail("E226", "the first column is not a geometric sequence", where="method", value="geometric",
                   allowed="r[j] = c rho^j for j >= 1, such as that of a Laplacian kernel",
                   remedy="use method \"auto\" or \"levinson\"")
    with np.errstate(all="ignore"):  # check_solution rejects overflow
        factor = factorise(row, n)
        rows, sides = len(factor.pivots), Y.size // n
        if not factor.positive:
            return check_solution(ToeplitzSystem(r), Y, np.zeros_like(Y), Status.NOT_POSITIVE_DEFINITE,
                                  method="geometric", iterations=rows, bytes=factor.pivots.nbytes,
                                  why=f"the leading minor of order {rows + 1} is not positive")
        x = np.array(Y.reshape(n, sides).T, order="C")
        substitute = _substitute if not compiled(n) else _compiled_loop()
        for side in range(sides):
            substitute(x[side], factor.generators, factor.pivots, row.rho)
        logs = np.log(factor.pivots)
        return check_solution(
            ToeplitzSystem(r), Y, x.T.reshape(Y.shape), Status.OK, method="geometric", iterations=rows,
            eps=float(factor.pivots[-1]),
            log_det=float(np.sum(logs) + (n - rows) * logs[-1]), bytes=2 * factor.pivots.nbytes + x.nbytes,
            why=f"the first row is geometric; {rows} columns of the factor differ",
            operations=3 * rows + sides * n * _MULTIPLICATIONS)


@cache
def _compiled_loop() -> Callable[..., None]:
    """Return the compiled loop."""
    from ...jit import jit_sums

    return jit_sums(_substitute)


def _substitute(x: Array, generators: Array, pivots: Array, rho: float) -> None:
    """Solve L D L' x = y in place, for one right-hand side of shape (n,)."""
    n, last = x.shape[0], pivots.shape[0] - 1
    p = 0.0
    for i in range(n):
        z = x[i] - p
        p = rho * (p + generators[min(i, last)] * z)
        x[i] = z
    q = 0.0
    for i in range(n - 1, -1, -1):
        x[i] = x[i] / pivots[min(i, last)] - generators[min(i, last)] * q
        q = rho * (q + x[i])
