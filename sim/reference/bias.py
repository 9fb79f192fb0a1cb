"""sim.reference: compute the bias of an LS-SVM with one more right-hand side.

The method is from T. Schouten, J. A. K. Suykens, B. De Moor, "Multi resolution least squares SVM solver",
MWSCAS 2000, equation (8). To solve Z alpha + b 1 = y and 1'alpha = 0, first solve Z eta = 1 and Z nu = y.
Then s = 1'eta, b = eta'y / s and alpha = nu - eta b. In the printed equation, the vector 1 is missing in Z^-1
1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._arrays import Array
from .result import Solution, Status

# A sum of eta below this part of its terms' magnitudes is rounding.
_NEGLIGIBLE = 1e-12


def solve_with_bias(solve: Callable[[Array], Solution], Y: Array) -> Solution:
    """Solve Z alpha + b 1 = y and 1'alpha = 0 with one call of a solver for Z x = y.

    Parameters
    ----------
    solve : callable
        Function that solves Z x = y for right-hand sides of shape (n, m + 1).
    Y : ndarray of shape (n,) or (n, m)
        Targets.

    Returns
    -------
    Solution
        `x` is alpha, with the shape of `Y`, and `bias` is b, of shape () or (m,). The status is ``breakdown``
        if 1'eta is zero, which is impossible for a positive definite Z. The residual is that of the systems Z
        x = y and Z x = 1.
    """
    solution = solve(np.column_stack((np.ones(len(Y)), Y)))
    nothing, no_bias = np.zeros_like(Y), np.zeros(Y.shape[1:])
    if not solution.ok:
        return replace(solution, x=nothing, bias=no_bias)
    eta, nu = solution.x[:, 0], solution.x[:, 1:].reshape(Y.shape)
    s = eta.sum()
    if not abs(s) > _NEGLIGIBLE * np.abs(eta).sum():
        return replace(solution, x=nothing, bias=no_bias, status=Status.BREAKDOWN,
                       why="the bias is not determined: the sum of Z^-1 1 is zero")
    b = np.asarray(nu.sum(axis=0) / s)  # 1'nu = eta'y, Z being symmetric
    w = solution.w
    if w is not None:
        w = w[:, 1:].reshape(-1, *Y.shape[1:]) - np.multiply.outer(w[:, 0], b)
    return replace(solution, x=nu - np.multiply.outer(eta, b), w=w, bias=b)
