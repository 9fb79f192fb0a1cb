"""sim.reference: Toeplitz systems in O(n^2) time and O(n) memory, float64.

S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by
Toeplitz Matrix", appendix (Levinson-Trench-Zohar); B. R. Musicus, RLE TR 538, MIT 1988.
The pseudo-code in print has three errors: x and alpha are one vector with x(0) = y(0)/eps, and
the last delta loop and the update of x start at i = 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .solution import Solution, Status
from .toeplitz_product import judged

Array = NDArray[np.float64]


def levinson(r: Array, Y: Array) -> Solution:
    """Symmetric Levinson recursion with guard, several right-hand sides in one pass.

    Of the paper's vectors only `a` is kept: A is symmetric, so b is `a` reversed and nu = xi.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of A; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        With `xi` of shape (n-1,) and `eps`; ``not_positive_definite`` at the first |xi| >= 1, where A
        has a leading minor that is not positive, and ``breakdown`` where the residual is too large.

    Notes
    -----
    Levinson is stable for positive definite A only (G. Cybenko, 1980), with errors that grow as the
    conditioning does.
    """
    n = len(r)
    x = np.zeros_like(Y)
    xi = np.zeros(n - 1)
    a = np.zeros(n)
    a[0] = 1.0
    eps = float(r[0])
    status = Status.OK if eps > 0.0 else Status.NOT_POSITIVE_DEFINITE
    m = 0
    with np.errstate(all="ignore"):  # what overflows here is caught by judged
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
        solution = judged(r, Y, x, status)
    return replace(solution, iterations=m, method="levinson", xi=xi[:m].copy(), eps=eps,
                   why=why_not(solution.status, m))


def why_not(status: Status, m: int) -> str:
    """What made a recursion stop at row `m`; empty where nothing did."""
    if status is Status.NOT_POSITIVE_DEFINITE:
        return f"the leading minor of order {m + 1} is not positive"
    return "the residual is too large" if status is Status.BREAKDOWN else ""
