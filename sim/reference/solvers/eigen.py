"""sim.reference.solvers: solution by an eigendecomposition of the matrix.

The decomposition K = Q Lambda Q' gives c = Q (Lambda + lambda)^-1 Q'y (R. Rifkin, "Regularized Least
Squares", lecture notes of MIT course 9.520, 2006). It needs O(n^3) time and O(n^2) memory. For one lambda, it
takes many times as long as a Cholesky factorisation; :class:`~.path.EigenPath` uses one decomposition for all
lambda.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..check import check_solution
from ..result import Solution, Status
from ..systems.system import System


def eigh(system: System, Y: Array) -> Solution:
    """Solve A x = y by an eigendecomposition of A, which can be indefinite.

    Parameters
    ----------
    system : System
        A of n rows.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        The status is ``breakdown`` if an eigenvalue is zero within rounding errors.

    Raises
    ------
    KerncastError
        E237 if the matrices do not fit in memory.
    """
    n, columns = system.n, Y.size // system.n
    A = system.dense(3)
    values, Q = np.linalg.eigh(A)
    if system.regulariser > 0.0:  # A = K + lambda I, K positive semidefinite: less is rounding
        values = np.maximum(values, system.regulariser)
    sizes = np.abs(values)
    x, status, why = np.zeros_like(Y), Status.OK, ""
    if sizes.min() > (0.0 if system.regulariser else n * np.finfo(np.float64).eps * sizes.max()):
        x = np.asarray(Q @ ((Q.T @ Y).T / values).T)
    else:
        status, why = Status.BREAKDOWN, f"an eigenvalue is zero within rounding: {sizes.min():.1e}"
    return check_solution(system, Y, x, status, method="eigh", bytes=3 * A.nbytes, why=why,
                          kernel_values=n * n * system.values_per_entry,
                          operations=9 * n**3 + columns * n * (2 * n + 1))
