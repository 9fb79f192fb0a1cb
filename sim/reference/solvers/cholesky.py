"""sim.reference.solvers: direct solution by the Cholesky factorisation A = R'R.

The factorisation needs O(n^3) time and O(n^2) memory. R. Rifkin, "Regularized Least Squares", lecture notes
of MIT course 9.520, 2006, describes this direct solution of (K + lambda I) c = y.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._arrays import Array
from ..._optional import from_package
from ..check import check_solution
from ..result import Solution, Status
from ..systems.system import System


def cholesky(system: System, Y: Array) -> Solution:
    """Solve A x = y by a Cholesky factorisation.

    Parameters
    ----------
    system : System
        A of n rows; K of a :class:`KernelSystem` is computed once and stored.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        The status is ``not_positive_definite`` if a pivot is not positive.

    Raises
    ------
    KerncastError
        E237 if the matrix does not fit in memory, E501 if SciPy is not installed.
    """
    linalg = lapack()
    n, columns = system.n, Y.size // system.n
    A = system.dense()
    x, status, why = np.zeros_like(Y), Status.OK, ""
    try:
        R = linalg.cho_factor(A, overwrite_a=True, check_finite=False)
        x = np.asarray(linalg.cho_solve(R, Y, check_finite=False))
    except np.linalg.LinAlgError as error:
        status, why = Status.NOT_POSITIVE_DEFINITE, str(error)
    return check_solution(system, Y, x, status, method="cholesky", bytes=A.nbytes, why=why,
                          kernel_values=n * n * system.values_per_entry,
                          operations=n * (n * n + 3 * n + 2) // 6 + columns * n * (n + 1))


def lapack() -> Any:
    """Import and return scipy.linalg; raise E501 if SciPy is not installed."""
    return from_package("scipy.linalg", "scipy", lambda module: module, "this method needs", "method")
