"""sim.reference.selection: solutions and leave-one-out errors for many lambda.

All classes except CholeskyPath use a single factorisation for all lambda.

The formulas are those of R. Rifkin, "Regularized Least Squares", lecture notes of MIT course 9.520, 2006.
With G = K + lambda I and c = G^-1 y, the leave-one-out error is c_i / (G^-1)_ii. If the model has the bias of
an LS-SVM, the system has an additional row and column of ones: with eta = G^-1 1, c is replaced by c - eta b,
and (G^-1)_ii by (G^-1)_ii - eta_i^2 / 1'eta.

=============  ============================  =========================  =====================
path           factorisation                 time of factorisation      time for each lambda
=============  ============================  =========================  =====================
CholeskyPath   G = R'R for each lambda                                  O(n^3)
EigenPath      K = Q Lambda Q'               O(n^3), 9 Cholesky         O(n^2)
                                             factorisations
SvdPath        X = U S V', K = X X'          O(n d^2)                   O(n d)
GramPath       X'X = V Lambda V'             O(n d^2)                   O(n d^2)
=============  ============================  =========================  =====================
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..._arrays import Array
from ...errors import fail
from ..solvers.cholesky import lapack

# The largest relative error of w from rounding X'X.
_GRAM_ERROR = 1e-6


class RidgePath(ABC):
    """Base class of regularisation paths: solutions as a function of lambda.

    The samples and the targets are fixed.

    Parameters
    ----------
    Y : ndarray of shape (n,) or (n, m)
        Targets.
    """

    def __init__(self, Y: Array) -> None:
        self._Y = Y
        self._1Y = np.column_stack((np.ones(len(Y)), Y))  # ones for the bias

    @property
    @abstractmethod
    def largest(self) -> float:
        """Return the largest eigenvalue of K, or an upper bound on it."""

    @abstractmethod
    def inverse(self, lam: float) -> tuple[Array, Array]:
        """Return G^-1 [1 Y] of shape (n, 1 + m), and the diagonal of G^-1, shape (n,)."""

    def coefficients(self, lam: float, fit_intercept: bool = False) -> tuple[Array, Array]:
        """Solve for one lambda.

        Parameters
        ----------
        lam : float
            lambda > 0.
        fit_intercept : bool
            Whether to solve G alpha + b 1 = y and 1'alpha = 0 instead of G alpha = y.

        Returns
        -------
        alpha : ndarray of the shape of `Y`
            The coefficients.
        b : ndarray of shape () or (m,)
            The bias; 0 without `fit_intercept`.
        """
        alpha, b = _without_bias(self.inverse(lam)[0], fit_intercept)
        return alpha.reshape(self._Y.shape), b.reshape(self._Y.shape[1:])

    def loo_errors(self, lam: float, fit_intercept: bool = False) -> Array:
        """Return y_i - f_i(x_i), where f_i is trained without sample i; shape of `Y`."""
        C, d = self.inverse(lam)
        alpha, _ = _without_bias(C, fit_intercept)
        if fit_intercept:
            d = d - C[:, 0] * (C[:, 0] / C[:, 0].sum())
        return np.asarray((alpha / d[:, np.newaxis]).reshape(self._Y.shape))


def _without_bias(C: Array, fit_intercept: bool) -> tuple[Array, Array]:
    """Return alpha, shape (n, m), and b, shape (m,), from C = G^-1 [1 Y]."""
    eta, nu = C[:, 0], C[:, 1:]
    if not fit_intercept:
        return nu, np.zeros(nu.shape[1])
    b = nu.sum(axis=0) / eta.sum()
    return nu - np.outer(eta, b), b


class CholeskyPath(RidgePath):
    """Regularisation path with a Cholesky factorisation G = R'R for each lambda.

    The diagonal of G^-1 is computed from the rows of R^-1.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    Y : ndarray of shape (n,) or (n, m)
    """

    def __init__(self, K: Array, Y: Array) -> None:
        super().__init__(Y)
        self._K = K

    @property
    def largest(self) -> float:
        """Return the trace of K, which bounds its largest eigenvalue."""
        return float(self._K.trace())

    def inverse(self, lam: float) -> tuple[Array, Array]:
        """Return G^-1 [1 Y] and the diagonal of G^-1.

        Raise E239 if G is not positive definite in float64.
        """
        linalg = lapack()
        G = self._K.copy()
        G[np.diag_indices_from(G)] += lam
        try:
            R = linalg.cholesky(G, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError as error:
            raise fail("E239", "K + lambda I is not positive definite in float64", where="lams", value=lam,
                       allowed="lambda above n eps |K|, the rounding error of the smallest eigenvalue",
                       remedy='use a larger lambda, or method="eigh"') from error
        C = linalg.cho_solve((R, False), self._1Y, check_finite=False)
        inverse = linalg.lapack.dtrtri(R, overwrite_c=True)[0]
        return np.asarray(C), np.einsum("ij,ij->i", inverse, inverse)


class EigenPath(RidgePath):
    """Regularisation path by an eigendecomposition K = Q Lambda Q'.

    The formulas are c = Q (Lambda + lambda)^-1 Q'y and (G^-1)_ii = sum_k Q_ik^2 / (Lambda_k + lambda).

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semidefinite kernel matrix; eigenvalues below 0 are treated as rounding errors.
    Y : ndarray of shape (n,) or (n, m)

    Attributes
    ----------
    eigenvalues : ndarray of shape (n,)
        The eigenvalues Lambda in ascending order.

    Examples
    --------
    >>> path = EigenPath(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, 2.0]))
    >>> for lam in (0.5, 1.5):
    ...     print(path.coefficients(lam)[0].round(4), path.loo_errors(lam).round(4))
    [0.25 1.25] [0.3333 1.6667]
    [0.25 0.75] [0.6 1.8]
    """

    def __init__(self, K: Array, Y: Array) -> None:
        super().__init__(Y)
        values, self._Q = np.linalg.eigh(K)
        self.eigenvalues: Array = np.maximum(values, 0.0)
        self._QtY = self._Q.T @ self._1Y
        self._squares = self._Q**2

    @property
    def largest(self) -> float:
        """Return the largest eigenvalue of K."""
        return float(self.eigenvalues[-1])

    def inverse(self, lam: float) -> tuple[Array, Array]:
        """Return G^-1 [1 Y] and diag G^-1."""
        scale = 1.0 / (self.eigenvalues + lam)
        return self._Q @ (scale[:, np.newaxis] * self._QtY), self._squares @ scale


class SvdPath(RidgePath):
    """Regularisation path for the linear kernel by the SVD X = U S V'.

    The formula is G^-1 = U (S^2 + lambda)^-1 U' + lambda^-1 (I - U U').

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Samples, or the values of d features at the samples, so that K = X X'.
    Y : ndarray of shape (n,) or (n, m)
    """

    def __init__(self, X: Array, Y: Array) -> None:
        super().__init__(Y)
        self._U, self._S, self._Vt = np.linalg.svd(X, full_matrices=False)
        self._UtY = self._U.T @ self._1Y
        self._squares = self._U**2
        self._outside, self._outside_squares = np.zeros_like(self._1Y), np.zeros(len(Y))  # (I - U U') of both
        if len(Y) > len(self._S):
            self._outside = self._1Y - self._U @ self._UtY
            self._outside_squares = np.maximum(1.0 - self._squares.sum(axis=1), 0.0)

    @property
    def largest(self) -> float:
        """Return the square of the largest singular value."""
        return float(np.max(self._S, initial=0.0) ** 2)

    def inverse(self, lam: float) -> tuple[Array, Array]:
        """Return G^-1 [1 Y] and diag G^-1."""
        scale = 1.0 / (self._S**2 + lam)
        C = self._U @ (scale[:, np.newaxis] * self._UtY) + self._outside / lam
        return C, self._squares @ scale + self._outside_squares / lam

    def weights(self, lam: float, b: Array | float = 0.0) -> Array:
        """Return weights w = V S (S^2 + lambda)^-1 U'(y - b): shape (d,) or (d, m).

        X
        """
        right = self._UtY[:, 1:] - np.outer(self._UtY[:, 0], b)
        w = self._Vt.T @ ((self._S / (self._S**2 + lam))[:, np.newaxis] * right)
        return np.asarray(w.reshape(-1, *self._Y.shape[1:]))


class GramPath(RidgePath):
    """Regularisation path for the linear kernel by X'X = V Lambda V'.

    The formulas are w = V (Lambda + lambda)^-1 V'X'y and h = diag X (X'X + lambda I)^-1 X', and the
    leave-one-out errors are (y - X w) / (1 - h). The condition number of X'X is the square of that of X, so
    this path can fail where the SVD succeeds (:meth:`why_not`).

    Parameters
    ----------
    X : ndarray of shape (n, d)
    Y : ndarray of shape (n,) or (n, m)
    """

    def __init__(self, X: Array, Y: Array) -> None:
        super().__init__(Y)
        self._X = X
        values, self._V = np.linalg.eigh(X.T @ X)
        self._values: Array = np.maximum(values, 0.0)
        self._squares = (X @ self._V) ** 2

    @property
    def largest(self) -> float:
        """Return the largest eigenvalue of X'X."""
        return float(self._values[-1])

    def why_not(self, lam: float) -> str:
        """Return the reason why w has fewer than six correct digits; empty if it has more."""
        condition = (self._values[-1] + lam) / (self._values[0] + lam)
        if condition * np.finfo(np.float64).eps <= _GRAM_ERROR:
            return ""
        return f"the condition number of X'X + lambda I is {condition:.1e}, too large for float64"

    def loo_errors(self, lam: float, fit_intercept: bool = False) -> Array:
        """Return the leave-one-out errors; raise E239 if X'X is too ill-conditioned."""
        if reason := self.why_not(lam):
            raise fail("E239", reason, where="lams", value=lam,
                       allowed=f"a condition number of at most {_GRAM_ERROR / np.finfo(np.float64).eps:.1e}",
                       remedy='use a larger lambda, or method="linear_svd"')
        return super().loo_errors(lam, fit_intercept)

    def weights(self, lam: float, right: Array) -> Array:
        """Return the weights w = (X'X + lambda I)^-1 X'right, shape (d, q).

        `right` has shape (n, q).
        """
        scale = 1.0 / (self._values + lam)
        return np.asarray(self._V @ (scale[:, np.newaxis] * (self._V.T @ (self._X.T @ right))))

    def inverse(self, lam: float) -> tuple[Array, Array]:
        """Return G^-1 [1 Y] and diag G^-1."""
        C = (self._1Y - self._X @ self.weights(lam, self._1Y)) / lam
        rest = self._1Y - lam * C - self._X @ (self._X.T @ C)  # the error of the squared condition number
        C += (rest - self._X @ self.weights(lam, rest)) / lam
        h = self._squares @ (1.0 / (self._values + lam))
        return C, (1.0 - h) / lam
