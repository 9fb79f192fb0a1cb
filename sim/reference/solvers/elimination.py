"""sim.reference.solvers: Gaussian elimination with partial pivoting.

Elimination needs O(n^3) time and O(n^2) memory, and it requires only a nonsingular matrix. It is the baseline
in Table 1 of S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by
Toeplitz Matrix".
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..check import check_solution
from ..result import Solution, Status
from ..systems.system import System


def elimination(system: System, Y: Array) -> Solution:
    """Solve A x = y by Gaussian elimination.

    Parameters
    ----------
    system : System
        A of n rows, which is nonsingular and can be indefinite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        The status is ``breakdown`` if a pivot is zero, or if the residual is too large.

    Raises
    ------
    KerncastError
        E237 if the matrix does not fit in memory.
    """
    n, columns = system.n, Y.size // system.n
    A = system.dense(2)
    x, status, why = np.zeros_like(Y), Status.OK, ""
    try:
        x = np.asarray(np.linalg.solve(A, Y), dtype=np.float64)
    except np.linalg.LinAlgError:
        status, why = Status.BREAKDOWN, "the matrix is singular"
    return check_solution(system, Y, x, status, method="elimination", bytes=2 * A.nbytes, why=why,
                          kernel_values=n * n * system.values_per_entry,
                          operations=n * (n - 1) * (2 * n - 1) // 6 + n * (n - 1) // 2 + columns * n * n)
