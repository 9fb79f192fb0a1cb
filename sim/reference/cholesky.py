"""sim.reference: the whole matrix, factorised: A = R'R, O(n^3) time, O(n^2) memory.

R. Rifkin, "Regularized Least Squares", 9.520, 2006: the direct solution of (K + lambda I) c = y.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .solution import Solution, Status
from .system import System
from .verdict import judged

Array = NDArray[np.float64]


def cholesky(system: System, Y: Array) -> Solution:
    """Solve A x = y by Cholesky's factorisation.

    Parameters
    ----------
    system : System
        A of n rows; K of a :class:`KernelSystem` is made once and held.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        ``not_positive_definite`` where a pivot is not positive.

    Raises
    ------
    KerncastError
        E237 where the matrix does not fit the memory.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    n, columns = system.n, Y.size // system.n
    A = system.dense()
    x, status, why = np.zeros_like(Y), Status.OK, ""
    try:
        x = np.asarray(cho_solve(cho_factor(A, overwrite_a=True, check_finite=False), Y, check_finite=False))
    except LinAlgError as error:
        status, why = Status.NOT_POSITIVE_DEFINITE, str(error)
    return judged(system, Y, x, status, method="cholesky", bytes=A.nbytes, why=why,
                  kernel_values=n * n * system.values_per_entry,
                  operations=n * (n * n + 3 * n + 2) // 6 + columns * n * (n + 1))
