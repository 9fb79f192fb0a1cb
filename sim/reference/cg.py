"""sim.reference: kernel regularised least squares on the true kernel matrix: a few steps, and exactly.

M. R. Hestenes, E. Stiefel, "Methods of conjugate gradients for solving linear systems", J. Res. Nat. Bur.
Standards 49(6), 1952.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from .expansion import expand
from .solution import Solution, Status

Array = NDArray[np.float64]


def kernel_cg(kernel: Kernel, X: Array, y: Array, lam: float, steps: int) -> Solution:
    """So many steps of conjugate gradients on ``(K + lambda I) alpha = y``, from alpha = 0.

    Parameters
    ----------
    kernel : Kernel
        Positive semidefinite.
    X : ndarray of shape (n, D)
    y : ndarray of shape (n,)
    lam : float
        lambda > 0.
    steps : int
        At most; fewer where the residual vanishes.

    Returns
    -------
    Solution
        ``ok`` after the steps, however large the residual; ``not_positive_definite`` where a direction
        with p'(K + lambda I)p <= 0 is met.

    Notes
    -----
    K is made some rows at a time in every step, so memory is O(n) beside the samples.  On a long way
    rounding makes the residual that is updated drift from the true one, which is what is handed back.
    """
    alpha, r = np.zeros_like(y), y.copy()
    p, rr = r.copy(), float(r @ r)
    taken, status = 0, Status.OK
    while taken < steps and rr > 0.0:
        q = expand(kernel, X, X, p) + lam * p
        curvature = float(p @ q)
        if not curvature > 0.0:
            alpha, status = np.zeros_like(y), Status.NOT_POSITIVE_DEFINITE
            break
        step = rr / curvature
        alpha += step * p
        r -= step * q
        old, rr = rr, float(r @ r)
        p = r + (rr / old) * p
        taken += 1
    return Solution(alpha, status, residual_of(kernel, X, y, lam, alpha), taken, "cg")


def kernel_exact(kernel: Kernel, X: Array, y: Array, lam: float) -> Solution:
    """The solution of ``(K + lambda I) alpha = y`` by a factorisation of the whole matrix, O(n^3).

    Parameters
    ----------
    kernel, X, y, lam
        As for :func:`kernel_cg`.
    """
    K = kernel(X, X)
    K[np.diag_indices_from(K)] += lam
    alpha = np.asarray(np.linalg.solve(K, y), dtype=np.float64)
    return Solution(alpha, Status.OK, residual_of(kernel, X, y, lam, alpha), 0, "exact")


def residual_of(kernel: Kernel, X: Array, y: Array, lam: float, alpha: Array) -> float:
    """``|y - (K + lambda I) alpha|_2``; |alpha - alpha*|_2 is at most this over lambda."""
    return float(np.linalg.norm(y - expand(kernel, X, X, alpha) - lam * alpha))
