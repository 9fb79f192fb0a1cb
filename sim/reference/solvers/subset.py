"""sim.reference.solvers: subset of regressors, s expansion vectors for n samples.

The system is (K_RT K_TR + lambda K_RR) c = K_RT y (R. Rifkin, "Regularized Least Squares", lecture notes of
MIT course 9.520, 2006), where T are all samples and R are the regressors. With K_RR = G G' and F = K_TR G^-t
(:func:`~.nystrom.partial_cholesky`), this is a linear kernel on the features F with the weights w = G'c. One
factorisation therefore gives the solutions and the leave-one-out errors for every lambda. It does not square
the condition number of K_TR, and does not invert K_RR.
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
    """Regularisation path of the subset of regressors.

    The method `inverse` uses G = F F' + lambda I. Therefore, if a sample that is left out is also a
    regressor, it remains a regressor in the leave-one-out errors.

    Parameters
    ----------
    factor : PartialFactor
        Factor F with its pivot rows R.
    Y : ndarray of shape (n,) or (n, m)
        Targets.
    """

    def __init__(self, factor: PartialFactor, Y: Array) -> None:
        super().__init__(factor.F, Y)
        self.G = factor.F[factor.R]

    def regressors(self, lam: float, b: Array | float = 0.0) -> Array:
        """Return the coefficients c = G^-t w for the targets y - b, shape (s,) or (s, m)."""
        return np.asarray(np.linalg.solve(self.G.T, self.weights(lam, b)))


def subset(system: System, Y: Array, landmarks: Landmarks = None, seed: int = 0,
           fit_intercept: bool = False) -> Solution:
    """Solve for s coefficients on n samples, in O(n s^2) time and O(n s) memory.

    Parameters
    ----------
    system : KernelSystem
    Y : ndarray of shape (n,) or (n, m)
        Finite targets.
    landmarks : int, sequence of int, or None
        Maximum number of regressors R, which are drawn at random with probabilities proportional to the
        residual diagonal; or the indices of these samples.
    seed : int
        Random seed.
    fit_intercept : bool
        Fit an unregularised bias, as the least squares support vector machine (LS-SVM) does.

    Returns
    -------
    Solution
        `x` is c, of shape (s,) or (s, m), and `support` is R.  `residual` is that of the normal equations.

    Raises
    ------
    KerncastError
        E238 for landmarks, or if the system does not consist of samples and a kernel.
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
