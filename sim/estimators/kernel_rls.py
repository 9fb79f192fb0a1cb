"""sim.estimators: kernel regularised least squares, by every solver of the reference.

R. Rifkin, "Regularized Least Squares", 9.520, 2006: (K + lambda I) c = y, leave-one-out, and the subset of
regressors.
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
from ._common import checked_inputs, width_or
from ._rls import RLS, RLSClassifier, RLSRegressor

# lam="loo" tries these, times the mean of k(x, x): half a power of ten apart.
_LOO_PATH = np.logspace(-8.0, 2.0, 21)


class _KernelRLS(RLS):
    """What the two estimators share."""

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
        """Solve (K + lambda I) alpha = y and keep the result; `Y` of shape (n,) or (n, K)."""
        options = self._chosen_options()
        self.kernel_ = self._chosen_kernel(X)
        self.lam_ = self._chosen_lambda(X, Y, options)
        system = KernelSystem(self.kernel_, X, self.lam_)
        solution = solve_system(system, Y, self.solver, fit_intercept=self.fit_intercept, **options)
        self._keep(self.kernel_, X, system, Y, solution)
        self.coef_ = None
        if isinstance(self.kernel_, Linear):  # X'alpha cancels for small lambda: w where the solver has it
            self.coef_ = self.X_fit_.T @ self.dual_coef_ if solution.w is None else solution.w
        if not solution.ok:
            self._warn(f"{self._no_solution(solution)}; lam {self.lam_:g}",
                       "All coefficients are 0. Use solver='auto', or a larger lam.")

    def _chosen_options(self) -> dict[str, Any]:
        """The options of the solver; E238 where they are no mapping."""
        given: object = self.solver_options
        if given is not None and not isinstance(given, Mapping):
            raise fail("E238", "the options of the solver are not a mapping", where="solver_options",
                       value=repr(given), allowed='a mapping such as {"landmarks": 200}',
                       remedy="omit it")
        return dict(self.solver_options or {})

    def _chosen_kernel(self, X: Array) -> Kernel:
        """The kernel asked for; the Gaussian one by its width."""
        if isinstance(self.kernel, Kernel):
            if not (isinstance(self.sigma, str) and self.sigma == "auto"):
                raise fail("E220", "a kernel passed as an object has its own width", where="sigma",
                           value=repr(self.sigma), allowed='"auto"', remedy="omit sigma")
            return self.kernel
        if self.kernel != "gaussian":
            raise fail("E231", "no such kernel by name", where="kernel",
                       value=repr(self.kernel), allowed='"gaussian", or a Kernel such as Laplacian(2.0)',
                       remedy="pass an object: from kerncast.sim.kernels import Laplacian, Periodic, "
                              "Polynomial, Linear")
        return width_or(self.sigma, lambda: grid_or_spread_width(X))

    def _chosen_lambda(self, X: Array, Y: Array, options: dict[str, Any]) -> float:
        """The regulariser asked for, or of the path the one of least leave-one-out error."""
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
        """Evaluate f, of the linear kernel by its weights: shape (m,) or (m, K)."""
        weights: Array | None = getattr(self, "coef_", None)
        if weights is None:
            return super()._output(X)
        return np.asarray(checked_inputs(self, X) @ weights + self.intercept_)


class KernelRLSRegressor(RLSRegressor, _KernelRLS):
    """Kernel regularised least squares (kernel ridge regression) in float64.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), in the unit of `X`.  "auto" is two
        steps of one column in order, the median counting, else sqrt(D var(X) / 2).  E220.
    lam : float or "loo", default=1.0
        Regulariser lambda > 0, added to the diagonal as it stands, not times n.  "loo" takes the lambda
        of least leave-one-out error among 21 from 1e-8 to 100 times the mean of k(x, x), all from one
        eigendecomposition.  E221.
    kernel : "gaussian" or Kernel, default="gaussian"
        Another kernel is given by its value, such as ``Laplacian(2.0)`` of :mod:`kerncast.sim.kernels`, and
        sigma left out.  E231.
    fit_intercept : bool, default=False
        Fit a bias that is not regularised, as LS-SVM does.
    solver : str, default="auto"
        "auto", which chooses by kernel and memory and tells why in `why_`; or elimination, cholesky, eigh,
        cg, block_gauss_seidel, wavelet, banded, linear_svd, linear_direct, subset.  E238.
    solver_options : mapping, optional
        Options of the solver, such as ``{"landmarks": 200}`` for subset or ``{"tolerance": 1e-6}`` for cg.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, K)
        The multipliers alpha; of subset one row for each regressor.
    intercept_ : float or ndarray of shape (K,)
        The bias; 0.0 without `fit_intercept`.
    X_fit_ : ndarray of shape (n, D)
        The training samples, which are the expansion vectors; of subset only the regressors.
    coef_ : ndarray of shape (D,) or (D, K), or None
        Of the linear kernel: the weights, f(x) = coef_'x + intercept_.
    status_ : str
        "ok", or why there is no solution: then a warning was given and all multipliers and the bias are 0.
    solver_ : str
        The solver that ran; of solver="auto" the one chosen.
    why_ : str
        Why it was chosen, and what made it stop, where it did.
    residual_ : float
        |y - b - (K + lambda I) alpha|_2, the largest over the outputs; of subset that of its normal
        equations.
    kernel_ : Kernel
        The kernel that was used.
    lam_ : float
        The lambda that was used.
    n_features_in_ : int
        D, the number of columns.

    Notes
    -----
    The result is that of :class:`sklearn.kernel_ridge.KernelRidge` with alpha = lam and
    gamma = 1 / (2 sigma^2).  A prediction takes O(n D), one kernel value for each training sample.

    References
    ----------
    R. Rifkin, "Regularized Least Squares", 9.520, 2006.

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
    """Classifier by kernel regularised least squares (RLSC), one against the rest.

    Parameters and most attributes are those of :class:`KernelRLSRegressor`.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel, in the unit of `X`.
    lam : float or "loo", default=1.0
        Regulariser lambda > 0, or chosen by the leave-one-out error of targets of +1 and -1.
    kernel : "gaussian" or Kernel, default="gaussian"
        Another kernel is given by its value.
    fit_intercept : bool, default=False
        Fit a bias, as LS-SVM does.
    solver : str, default="auto"
        As for the regressor.
    solver_options : mapping, optional
        Options of the solver.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    dual_coef_ : ndarray of shape (n,) for two classes, (n, K) for more
        The multipliers alpha, for targets of +1 and -1.
    """
