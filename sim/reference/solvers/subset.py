"""sim.reference.solvers: the subset of regressors.

It trains s expansion vectors on n samples.

R. Rifkin, "Regularized Least Squares", 9.520, 2006: (K_RT K_TR + lambda K_RR) c = K_RT y.  With K_RR = G G'
and F = K_TR G^-t (:func:`~.nystrom.partial_cholesky`) this is the linear kernel on the features F,
with w = G'c. One factorisation then gives the solutions and leave-one-out errors for every lambda
(Rifkin's "Good question"). It neither squares the condition number of K_TR nor divides by K_RR.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._arrays import Array
from ..check import check_solution
from ..options import samples_of
from ..result import Solution, Status
from ..selection.path import SvdPath
from ..systems.system import DenseSystem, System
from ..toeplitz.product import largest_norm
from .nystrom import Landmarks, PartialFactor, partial_cholesky


class SubsetPath(SvdPath):
    """Path of the subset of regressors as a function of lambda.

    The method `inverse` uses G = F F' + lambda I, so the leave-one-out errors apply to models that retain the
    regressor at the omitted sample.

    Parameters
    ----------
    factor : PartialFactor
        Factor F, and its rows R.
    Y : ndarray of shape (n,) or (n, m)
    """

    def __init__(self, factor: PartialFactor, Y: Array) -> None:
        super().__init__(factor.F, Y)
        self.G = factor.F[factor.R]

    def regressors(self, lam: float, b: Array | float = 0.0) -> Array:
        """Return the coefficients c = G^-t w, shape (s,) or (s, m), for targets y - b."""
        return np.asarray(np.linalg.solve(self.G.T, self.weights(lam, b)))


def subset(system: System, Y: Array, landmarks: Landmarks = None, seed: int = 0,
           fit_intercept: bool = False) -> Solution:
    """Train s coefficients on n samples, in O(n s^2) time and O(n s) memory.

    Parameters
    ----------
    system : KernelSystem
    Y : ndarray of shape (n,) or (n, m)
        Finite targets.
    landmarks : int, sequence of int, or None
        Largest number of regressors R, drawn at random in proportion to the residual diagonal, or their
        indices.
    seed : int
        Random seed.
    fit_intercept : bool
        Fit an unregularised bias, as the least squares support vector machine (LS-SVM) does.

    Returns
    -------
    Solution
        `x` is c, of shape (s,) or (s, m); `support` is R.  `residual` is that of the normal equations.

    Raises
    ------
    KerncastError
        E238 for landmarks, or a system without samples.
    """
    given = samples_of(system, "subset")
    lam, n, columns = given.lam, given.n, Y.size // given.n
    # K alone: a large lambda would hide it in rounding
    factor = partial_cholesky(replace(given, lam=0.0), landmarks, seed)
    if not len(factor.R):
        nothing = np.zeros((0, *Y.shape[1:]))
        return Solution(nothing, Status.BREAKDOWN, largest_norm(Y), 0, "subset", support=factor.R,
                        why="the kernel is zero at every sample")
    path = SubsetPath(factor, Y)
    b = path.coefficients(lam, fit_intercept)[1]
    F, G, s = factor.F, path.G, len(factor.R)
    normal = DenseSystem(G @ (F.T @ F + lam * np.eye(s)) @ G.T)  # K_RT K_TR + lambda K_RR
    return check_solution(normal, G @ (F.T @ (Y - b)), path.regressors(lam, b), Status.OK, method="subset",
                          bias=b, size=float(np.linalg.norm(G) * np.linalg.norm(F)) * largest_norm(Y - b),
                          support=factor.R, bytes=4 * F.nbytes, kernel_values=n * s,
                          operations=n * s * s // 2 + 6 * n * s * s + 4 * columns * n * s,
                          why=f"{s} regressors")
