"""sim.reference.toeplitz: solve Toeplitz systems that are not symmetric.

The entries of the matrix are c_{i-j} below and r_{j-i} above the diagonal. The algorithm is the
Levinson-Trench-Zohar recursion in the appendix of S. Decherchi, P. Gastaldo, R. Zunino, "Efficient
Approximate Regularized Least Squares by Toeplitz Matrix". It needs O(n^2) time; gamma is computed from the
column, and gamma-bar from the row. The elements of b are not moved in memory: instead the start of b moves,
so that tau_b(i-1) is at the position that b(i) has in the next order.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..check import check_solution
from ..compiled import compiled
from ..result import Solution, Status
from .product import residual

# A prediction error eps below this part of the largest entry has lost all its digits.
_SINGULAR = 1e-15


class GeneralToeplitz:
    """Toeplitz matrix that can be unsymmetric.

    Parameters
    ----------
    column, row : ndarray of shape (n,)
        First column and first row.
    """

    def __init__(self, column: Array, row: Array) -> None:
        self.column, self.row = column, row

    def residual(self, x: Array, Y: Array) -> Array:
        """Return Y - T x, for `x` of shape (n,) or (n, m)."""
        return residual(self.column, x, Y, self.row)


def levinson_general(column: Array, row: Array, Y: Array) -> Solution:
    """Solve T x = y for a Toeplitz matrix T whose leading minors are not zero.

    T can be unsymmetric.

    Parameters
    ----------
    column, row : ndarray of shape (n,)
        First column and first row of T, with the same first entry; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        Solution with `eps`. The status is ``breakdown`` if a leading minor is zero, or so small that the
        residual is too large.

    Notes
    -----
    The recursion is unstable if a leading block has a much larger condition number than T; the residual is
    then large.
    """
    n, columns = len(column), Y.reshape(len(Y), -1)
    x = np.zeros((columns.shape[1], n))
    scale = float(max(np.abs(column).max(), np.abs(row).max()))
    backwards = np.ascontiguousarray(column[::-1])
    a, b, y = np.zeros(n), np.zeros(2 * n), np.ascontiguousarray(columns.T)
    recursion = recursion_by_vectors
    if compiled(n):
        from .levinson_sweeps import recursion_by_entries as recursion
    with np.errstate(all="ignore"):  # check_solution rejects overflow
        m, eps = recursion(backwards, row, y, _SINGULAR * scale, a, b, x)
        status = Status.OK if m == n else Status.BREAKDOWN
        return check_solution(GeneralToeplitz(column, row), Y, x.T.reshape(Y.shape), status,
                              method="levinson", iterations=min(m, n - 1), eps=eps,
                              operations=m * (m - 1) * (2 + columns.shape[1]) + m,
                              bytes=8 * (4 * n + 2 * columns.size),
                              why="" if m == n else f"the leading minor of order {m + 1} is zero, or nearly")


def recursion_by_vectors(c: Array, r: Array, y: Array, least: float, a: Array, b: Array,
                         x: Array) -> tuple[int, float]:
    """Run the recursion over all orders, with NumPy operations on whole vectors.

    Parameters
    ----------
    c, r : ndarray of shape (n,)
        First column, reversed, and first row.
    y, x : ndarray of shape (columns, n)
        Right-hand sides, and zeros that are replaced by the unknowns.
    least : float
        The smallest |eps| that is treated as nonzero.
    a, b : ndarray of shape (n,) and (2 n,)
        Zeros, which are replaced by the vectors of the recursion; b of order m is in b[n-m: n+1].

    Returns
    -------
    m : int
        The number of orders that were solved; n if all were.
    eps : float
        The last eps.
    """
    n, eps = y.shape[1], float(c[-1])
    a[0] = b[n] = 1.0
    for m in range(n):
        gamma, now = c[n - 1 - m: n - 1], b[n - m: n + 1]
        if m > 0:
            xi, nu = -float(gamma @ a[:m]) / eps, -float(r[1: m + 1] @ now[1:]) / eps
            tau = a[: m + 1].copy()
            a[: m + 1] += xi * now                              # a(i) = tau_a(i) + xi tau_b(i-1)
            now += nu * tau                                     # b(i) = tau_b(i-1) + nu tau_a(i)
            eps *= 1.0 - xi * nu
        if not abs(eps) > least:  # also if NaN
            return m, eps
        mu = (y[:, m] - x[:, :m] @ gamma) / eps
        x[:, : m + 1] += np.multiply.outer(mu, now)
    return n, eps
