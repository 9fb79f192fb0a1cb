"""sim.reference: Toeplitz systems in O(n^2) time and O(n) memory, float64.

S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by
Toeplitz Matrix", appendix (Levinson-Trench-Zohar); B. R. Musicus, RLE TR 538, MIT 1988.
The pseudo-code in print has three errors: x and alpha are one vector with x(0) = y(0)/eps, and
the last delta loop and the update of x start at i = 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import finite_array
from ..errors import fail
from .solution import Solution, Status

Array = NDArray[np.float64]

METHODS = ("auto", "levinson")

# An answer whose residual is a larger part of |y| than this is no answer.
_RESIDUAL_LIMIT = 1e-6


def solve_toeplitz(r: ArrayLike, Y: ArrayLike, method: str = "auto",
                   r_row: ArrayLike | None = None) -> Solution:
    """Solve A x = y for a symmetric positive definite Toeplitz matrix A, never forming it.

    Parameters
    ----------
    r : array_like of shape (n,)
        First column of A; for RLS that of T + lambda I, so lambda is already in r[0].
    Y : array_like of shape (n,) or (n, m)
        Right-hand sides, solved in one pass.
    method : {"auto", "levinson"}
        Both run the symmetric Levinson recursion.
    r_row : array_like of shape (n,), optional
        First row of A.  Only symmetric matrices are solved, so it must equal `r`.

    Returns
    -------
    Solution
        With `xi` of shape (n-1,) and `eps` of the recursion.  Its `x` is all zero where the
        status is ``not_positive_definite`` or ``breakdown``.

    Raises
    ------
    KerncastError
        E225 data of the wrong shape or not finite, E226 unknown method, E227 not symmetric.

    Notes
    -----
    Levinson is stable for positive definite A only (G. Cybenko, 1980), with errors that grow
    as the conditioning does.  The recursion therefore stops at the first |xi| >= 1, where A
    has a leading minor that is not positive, and an answer is checked against the system
    before it is called ok.  From n of a few thousand up, preconditioned conjugate gradients with
    products by FFT need less time than O(n^2).

    Examples
    --------
    >>> solve_toeplitz([2, 1, .5, .25], [1, 2, 3, 4]).x.round(6) + 0.0
    array([0.      , 0.333333, 0.5     , 1.666667])
    """
    if method not in METHODS:
        raise fail("E226", "there is no such method for Toeplitz systems", where="method",
                   value=repr(method), allowed=", ".join(METHODS), remedy="use auto")
    r, Y = _check_system(r, Y)
    if r_row is not None and not np.array_equal(finite_array(r_row, "r_row", "E225"), r):
        raise fail("E227", "the Toeplitz matrix is not symmetric", where="r_row",
                   allowed="r_row equal to r, or left out",
                   remedy="a kernel matrix is symmetric; for others use scipy.linalg.solve_toeplitz")
    return levinson(r, Y)


def levinson(r: Array, Y: Array) -> Solution:
    """Symmetric Levinson recursion with guard; arguments as :func:`solve_toeplitz`, unchecked.

    Of the paper's vectors only `a` is kept: A is symmetric, so b is `a` reversed and nu = xi.
    """
    n = len(r)
    x = np.zeros_like(Y)
    xi = np.zeros(n - 1)
    a = np.zeros(n)
    a[0] = 1.0
    eps = float(r[0])
    status = Status.OK if eps > 0.0 else Status.NOT_POSITIVE_DEFINITE
    m = 0
    with np.errstate(all="ignore"):  # what overflows here is caught by _judged
        if status is Status.OK:
            x[0] = Y[0] / eps
        while status is Status.OK and m + 1 < n:
            m += 1
            gamma = r[m:0:-1]                                   # gamma_i = k_{m-i}
            xi[m - 1] = -float(gamma @ a[:m]) / eps             # xi = -delta / eps
            if not abs(xi[m - 1]) < 1.0:                        # also catches NaN
                status = Status.NOT_POSITIVE_DEFINITE
                break
            a[: m + 1] += xi[m - 1] * a[m::-1]                  # a_i += xi a_{m-i}
            eps *= (1.0 - xi[m - 1]) * (1.0 + xi[m - 1])        # eps (1 - xi nu)
            mu = Y[m] - gamma @ x[:m]                           # mu = y_m - delta
            x[: m + 1] += np.multiply.outer(a[m::-1], mu / eps)  # x_i += (mu / eps) b_i
        return _judged(r, Y, x, status, xi[:m], eps)


def residual_norm(r: Array, x: Array, Y: Array) -> float:
    """|Y - A x|_2, the largest over the columns, one row of A at a time.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First row of the symmetric Toeplitz matrix A.
    x, Y : ndarray of shape (n,) or (n, m)
    """
    n = len(r)
    mirrored = np.concatenate((r[:0:-1], r))  # row i of A is mirrored[n-1-i : 2n-1-i]
    difference = np.array([Y[i] - mirrored[n - 1 - i: 2 * n - 1 - i] @ x for i in range(n)])
    return float(np.max(np.linalg.norm(difference, axis=0)))


def _judged(r: Array, Y: Array, x: Array, status: Status, xi: Array, eps: float) -> Solution:
    """Return `x` if it really solves the system, else zeros and the reason."""
    residual = residual_norm(r, x, Y) if status is Status.OK else float("inf")
    size = float(np.max(np.linalg.norm(Y, axis=0)))
    if status is Status.OK and not residual <= _RESIDUAL_LIMIT * size < np.inf:  # also catches NaN
        status = Status.BREAKDOWN
    if status is not Status.OK:
        x, residual = np.zeros_like(Y), size
    return Solution(x, status, residual, len(xi), "levinson", xi.copy(), float(eps))


def _check_system(r: ArrayLike, Y: ArrayLike) -> tuple[Array, Array]:
    r, Y = finite_array(r, "r", "E225"), finite_array(Y, "Y", "E225")
    if r.ndim != 1 or len(r) == 0:
        raise fail("E225", "the first column of a Toeplitz matrix has one axis", where="r",
                   value=r.shape, allowed="shape (n,), n >= 1", remedy="pass one column, not the matrix")
    if Y.ndim not in (1, 2) or len(Y) != len(r) or Y.size == 0:
        raise fail("E225", "the right-hand side does not fit the matrix", where="Y", value=Y.shape,
                   allowed=f"shape ({len(r)},) or ({len(r)}, m)", remedy="one value per equation")
    return r, Y
