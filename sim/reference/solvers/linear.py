"""sim.reference.solvers: solvers for the linear kernel, K = X X' of rank d.

The solvers use the singular value decomposition of X, or the d x d matrix X'X (R. Rifkin, "Regularized Least
Squares", lecture notes of MIT course 9.520, 2006, "Linear kernel"). They need O(n d^2) time and O(n d)
memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..._arrays import Array
from ...errors import fail
from ...kernels import Linear
from ..check import check_solution
from ..options import samples_of
from ..result import Solution, Status
from ..selection.path import GramPath, SvdPath
from ..systems.system import System
from ..toeplitz.product import largest_norm


def linear_svd(system: System, Y: Array) -> Solution:
    """Solve (X X' + lambda I) alpha = y by the SVD X = U S V'.

    Parameters
    ----------
    system : KernelSystem
        System with the linear kernel.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        `w` is X'alpha = V S (S^2 + lambda)^-1 U'y, and the residual is |X'y - (X'X + lambda I) w|.

    Raises
    ------
    KerncastError
        E238 for any other kernel.
    """
    X, lam = _samples(system, "linear_svd")
    (n, d), columns = X.shape, Y.size // len(X)
    path = SvdPath(X, Y)
    return _check_weights(system, X, Y, path.weights(lam), path.coefficients(lam)[0], method="linear_svd",
                          lam=lam, bytes=4 * X.nbytes, operations=6 * n * d * min(n, d) + 4 * columns * n * d)


def linear_direct(system: System, Y: Array) -> Solution:
    """Solve (X'X + lambda I) w = X'y, and compute alpha = (y - X w) / lambda.

    The parameters, the result and the errors are those of :func:`linear_svd`. The status is ``breakdown`` if
    X'X + lambda I is so ill-conditioned that w would have fewer than six correct digits.
    """
    X, lam = _samples(system, "linear_direct")
    (n, d), columns = X.shape, Y.size // len(X)
    path = GramPath(X, Y)
    if why := path.why_not(lam):
        return Solution(np.zeros_like(Y), Status.BREAKDOWN, largest_norm(Y), 0, "linear_direct", why=why)
    w = path.weights(lam, Y.reshape(n, -1)).reshape(d, *Y.shape[1:])
    return _check_weights(system, X, Y, w, path.coefficients(lam)[0], method="linear_direct", lam=lam,
                          bytes=X.nbytes + 16 * d * d,
                          operations=2 * n * d * d + 9 * d**3 + 8 * columns * n * d)


def _check_weights(system: System, X: Array, Y: Array, w: Array, alpha: Array, lam: float,
                   **counts: Any) -> Solution:
    """Check the residual of w instead of alpha.

    For a small lambda, rounding errors dominate alpha.
    """
    found = largest_norm(X.T @ (Y - X @ w) - lam * w)
    solution = check_solution(system, X.T @ Y, w, Status.OK, found=found,
                              size=largest_norm(X.reshape(-1, 1)) * largest_norm(Y), **counts)
    return replace(solution, w=solution.x, x=alpha if solution.ok else np.zeros_like(Y))


def _samples(system: System, method: str) -> tuple[Array, float]:
    """Return X and lambda of a system with the linear kernel.

    Raise E238 if the system has any other kernel.
    """
    given = samples_of(system, method)
    if not isinstance(given.kernel, Linear):
        raise fail("E238", f"method {method} needs the linear kernel", where="method",
                   value=given.kernel.name, allowed="linear", remedy="use method \"cholesky\" or \"cg\"")
    return given.X, given.lam
