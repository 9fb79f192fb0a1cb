"""sim.estimators: kernel regularised least squares with any reference solver.

R. Rifkin, "Regularized Least Squares", lecture notes of MIT course 9.520, 2006: the system (K + lambda I) c =
y, leave-one-out errors, and the subset of regressors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import Array
from .._checks import positive
from ..errors import fail
from ..kernels import Kernel, Linear
from ..reference.selection.loo import loo_errors
from ..reference.selection.width import grid_or_spread_width
from ..reference.solvers.auto import solve_system
from ..reference.systems.system import KernelSystem
from ._common import check_inputs, gaussian_kernel
from ._rls import RLS, RLSClassifier, RLSRegressor

# Candidates of lam="loo", in units of the mean of k(x, x): two per decade.
_LOO_PATH = np.logspace(-8.0, 2.0, 21)


class _KernelRLS(RLS):
    """Base class of the two kernel RLS estimators."""

    def __init__(self, sigma: float | str = "auto", lam: float | str = 1.0, *,
                 kernel: str | Kernel = "gaussian", fit_intercept: bool = False, solver: str = "auto",
                 solver_options: Mapping[str, Any] | None = None) -> None:
        self.sigma = sigma
        self.lam = lam
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options

    def _fit_targets(self, X: Array, Y: Array) -> None:
        """Solve (K + lambda I) alpha = y and set the fitted attributes.

        `Y` has shape (n,) or (n, K).
        """
        options = self._resolve_options()
        self.kernel_ = self._resolve_kernel(X)
        self.lam_ = self._resolve_lambda(X, Y, options)
        system = KernelSystem(self.kernel_, X, self.lam_)
        solution = solve_system(system, Y, self.solver, fit_intercept=self.fit_intercept, **options)
        self._publish(self.kernel_, X, system, Y, solution)
        self.coef_ = None
        if isinstance(self.kernel_, Linear):  # X'alpha cancels for small lambda: prefer the solver's w
            self.coef_ = self.X_fit_.T @ self.dual_coef_ if solution.w is None else solution.w
        if not solution.ok:
            self._warn(f"{self._no_solution(solution)}; lam {self.lam_:g}",
                       "All coefficients are 0. Use solver='auto', or a larger lam.")

    def _resolve_options(self) -> dict[str, Any]:
        """Return the solver options as a dictionary; raise E238 if they are not a mapping."""
        given: object = self.solver_options
        if given is not None and not isinstance(given, Mapping):
            raise fail("E238", "the options of the solver are not a mapping", where="solver_options",
                       value=repr(given), allowed='a mapping such as {"landmarks": 200}',
                       remedy="pass a mapping, or omit solver_options")
        return dict(self.solver_options or {})

    def _resolve_kernel(self, X: Array) -> Kernel:
        """Return the kernel passed as an object, or the Gaussian kernel of width `sigma`."""
        if isinstance(self.kernel, Kernel):
            if not (isinstance(self.sigma, str) and self.sigma == "auto"):
                raise fail("E220", "a kernel passed as an object has its own width", where="sigma",
                           value=repr(self.sigma), allowed='"auto"', remedy="omit sigma")
            return self.kernel
        if self.kernel != "gaussian":
            raise fail("E231", "no kernel has this name", where="kernel",
                       value=repr(self.kernel), allowed='"gaussian", or a Kernel such as Laplacian(2.0)',
                       remedy="pass an object: from kerncast.sim.kernels import Laplacian, Periodic, "
                              "Polynomial, Linear")
        return gaussian_kernel(self.sigma, lambda: grid_or_spread_width(X))

    def _resolve_lambda(self, X: Array, Y: Array, options: dict[str, Any]) -> float:
        """Return lambda as passed, or the one with the smallest leave-one-out error."""
        if not isinstance(self.lam, str):
            return positive(self.lam, "lam", "E221", "start with 1")
        if self.lam != "loo":
            raise fail("E221", "lambda is neither a number nor \"loo\"", where="lam",
                       value=repr(self.lam), allowed='a number > 0 or "loo"', remedy='use "loo"')
        lams = _LOO_PATH * (float(self.kernel_.pairs(X, X).mean()) or 1.0)
        subset = {"method": "subset"} | options if self.solver == "subset" else {}
        errors = loo_errors(X, Y, self.kernel_, lams, fit_intercept=self.fit_intercept, **subset)
        return float(lams[np.argmin(np.mean(errors.reshape(len(lams), -1) ** 2, axis=1))])

    def _output(self, X: ArrayLike) -> Array:
        """Evaluate f; the result has shape (m,) or (m, K).

        For a linear kernel, the result is computed from the weights of the inputs.
        """
        weights: Array | None = getattr(self, "coef_", None)
        if weights is None:
            return super()._output(X)
        return np.asarray(check_inputs(self, X) @ weights + self.intercept_)


class KernelRLSRegressor(RLSRegressor, _KernelRLS):
    """Kernel regularised least squares (kernel ridge regression) in float64.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), in the unit of `X`. "auto" means twice the
        median step if `X` is one sorted column, otherwise sqrt(D var(X) / 2). Raises E220.
    lam : float or "loo", default=1.0
        Regulariser lambda > 0, added to the diagonal (not multiplied by n). "loo" selects the lambda with the
        smallest leave-one-out error among 21 values from 1e-8 to 100 times the mean of k(x, x); all errors
        are computed from one eigendecomposition. Raises E221.
    kernel : "gaussian" or Kernel, default="gaussian"
        Pass another kernel as an object, such as ``Laplacian(2.0)`` from :mod:`kerncast.sim.kernels`, and
        omit sigma. Raises E231.
    fit_intercept : bool, default=False
        Fit an unregularised bias, as the least squares support vector machine (LS-SVM) does.
    solver : str, default="auto"
        "auto" chooses a solver that suits the kernel and the available memory; `why_` gives the reason. The
        solvers are elimination, cholesky, eigh, cg, block_gauss_seidel, wavelet, banded, linear_svd,
        linear_direct and subset. Raises E238.
    solver_options : mapping, optional
        Options of the solver, such as ``{"landmarks": 200}`` for subset or ``{"tolerance": 1e-6}`` for cg.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, K)
        The coefficients alpha; solver subset has one row per regressor.
    intercept_ : float or ndarray of shape (K,)
        The bias; 0.0 without `fit_intercept`.
    X_fit_ : ndarray of shape (n, D)
        The expansion vectors: the training samples, or the regressors of solver subset.
    coef_ : ndarray of shape (D,) or (D, K), or None
        Weights of the linear kernel, f(x) = coef_'x + intercept_; None for other kernels.
    status_ : str
        "ok", or the reason why there is no solution. In the latter case `fit` warns, and all coefficients and
        the bias are 0.
    solver_ : str
        The solver that was used.
    why_ : str
        Reason for the choice of the solver, and for a failure.
    residual_ : float
        |y - b - (K + lambda I) alpha|_2, the maximum over the outputs; for solver subset the residual of its
        normal equations.
    kernel_ : Kernel
        The kernel that was used.
    lam_ : float
        The lambda that was used.
    n_features_in_ : int
        D, the number of columns.

    Notes
    -----
    The predictions equal those of :class:`sklearn.kernel_ridge.KernelRidge` with alpha = lam and gamma = 1 /
    (2 sigma^2). A prediction computes one kernel value per training sample, in O(n D) operations.

    References
    ----------
    R. Rifkin, "Regularized Least Squares", lecture notes of MIT course 9.520, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from kerncast import KernelRLSRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KernelRLSRegressor(sigma=1.0, lam="loo").fit(X, np.sin(X[:, 0]) * X[:, 1])
    >>> str(model.status_), model.solver_, round(model.score(X, np.sin(X[:, 0]) * X[:, 1]), 3)
    ('ok', 'cholesky', 1.0)
    """


class KernelRLSClassifier(RLSClassifier, _KernelRLS):
    """One-vs-rest kernel regularised least squares classifier (RLSC).

    Parameters and most attributes are those of :class:`KernelRLSRegressor`.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel, in the unit of `X`.
    lam : float or "loo", default=1.0
        Regulariser lambda > 0; "loo" selects it by the leave-one-out error of the +1 and -1 targets.
    kernel : "gaussian" or Kernel, default="gaussian"
        Pass another kernel as an object.
    fit_intercept : bool, default=False
        Fit an unregularised bias, as LS-SVM does.
    solver : str, default="auto"
        As for the regressor.
    solver_options : mapping, optional
        Options of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    dual_coef_ : ndarray of shape (n,) for two classes, (n, K) for more
        The coefficients alpha, for targets of +1 and -1.
    """
