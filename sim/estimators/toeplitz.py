"""sim.estimators: regularised least squares with a Toeplitz kernel matrix.

S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by
Toeplitz Matrix".
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._arrays import Array
from .._checks import positive
from ..errors import fail
from ..kernels import Gaussian
from ..reference.bias import solve_with_bias
from ..reference.first_row import DIAGONAL_MEANS, check_scheme, choose_scheme, kernel_first_row
from ..reference.result import Solution
from ..reference.selection.width import grid_or_spread_width
from ..reference.solvers.auto import solve_system
from ..reference.systems.grid import STEPS_IN_WIDTH, WEIGHTS, GridSystem, Weights, node_count
from ..reference.systems.system import ToeplitzSystem
from ..reference.toeplitz.auto import solve_toeplitz
from ._common import gaussian_kernel
from ._rls import RLS, RLSClassifier, RLSRegressor

_GRIDS: dict[str, Weights] = {f"grid_{weights}": weights for weights in WEIGHTS}
# With more nodes than _FEW_NODES plus this many per sample a grid is mostly gaps; "auto" avoids it.
_NODES_PER_SAMPLE, _FEW_NODES = 64, 4096


class _ToeplitzRLS(RLS):
    """Base class of the two Toeplitz RLS estimators."""

    grid_: Array | None
    grid_coef_: Array | None
    fitted_: Array

    def __init__(self, sigma: float | str = "auto", lam: float = 1.0, *, scheme: str = "auto",
                 fit_intercept: bool = False, solver: str = "auto") -> None:
        self.sigma = sigma
        self.lam = lam
        self.scheme = scheme
        self.fit_intercept = fit_intercept
        self.solver = solver

    def _fit_targets(self, X: Array, Y: Array) -> None:
        """Solve (T + lambda I) alpha = y, equation (4), or interpolate from a grid.

        The fitted attributes are set from the solution.
        """
        lam = positive(self.lam, "lam", "E221", "start with 1")
        kernel = gaussian_kernel(self.sigma, lambda: grid_or_spread_width(X))
        scheme = self._resolve_scheme(X, kernel)
        self.sigma_, self.scheme_ = kernel.sigma, scheme
        if scheme in _GRIDS:
            solution = self._fit_on_grid(X, Y, kernel, lam, _GRIDS[scheme])
        else:
            r = kernel_first_row(X, kernel, scheme)
            r[0] += lam
            solve = partial(solve_toeplitz, r, method=self.solver)
            solution = solve_with_bias(solve, Y) if self.fit_intercept else solve(Y)
            self._publish(kernel, X, ToeplitzSystem(r), Y, solution)
            self.grid_ = self.grid_coef_ = None
        self.fitted_ = Y - lam * solution.x if solution.ok else np.zeros_like(Y)
        self._warn_if_degraded(solution, scheme)

    def _fit_on_grid(self, X: Array, Y: Array, kernel: Gaussian, lam: float, weights: Weights) -> Solution:
        """Solve (W T W' + lambda I) alpha = y, where W interpolates from a uniform grid.

        T is the Toeplitz kernel matrix of the grid nodes.
        """
        if X.shape[1] != 1:
            raise fail("E223", "a grid needs samples of one column", where="X", value=f"{X.shape[1]} columns",
                       allowed="shape (n, 1)", remedy="use scheme diagonal_mean_biased, or KernelRLS")
        if self.solver != "auto":
            raise fail("E226", "this solver requires a Toeplitz matrix, which a grid scheme does not produce",
                       where="solver",
                       value=repr(self.solver), allowed="auto", remedy="omit `solver` with this scheme")
        system = GridSystem(kernel, X[:, 0], lam, _step(kernel, weights), weights)
        solution = solve_system(system, Y, fit_intercept=self.fit_intercept)
        self._publish(kernel, X, system, Y, solution)
        nodes, coefficients = system.nodes, system.at_nodes(self.dual_coef_)
        self.grid_, self.grid_coef_ = nodes, coefficients
        self._set_expansion(kernel, nodes, coefficients)
        return solution

    def _resolve_scheme(self, X: Array, kernel: Gaussian) -> str:
        """Return the scheme, selected from the samples if it is "auto"."""
        if self.scheme != "auto":
            named = isinstance(self.scheme, str) and self.scheme in _GRIDS
            return self.scheme if named else check_scheme(self.scheme, tuple(_GRIDS))
        chosen = choose_scheme(X)
        if chosen == "uniform" or X.shape[1] != 1:
            return chosen
        if self.solver != "auto":
            self._no_grid = f"solver {self.solver} needs a Toeplitz matrix"
            return chosen
        nodes = node_count(X[:, 0], _step(kernel, "cubic"))
        self._no_grid = f"most of the {nodes:,} grid nodes would have no samples near them"
        return "grid_cubic" if nodes <= _FEW_NODES + _NODES_PER_SAMPLE * len(X) else chosen

    def _warn_if_degraded(self, solution: Solution, scheme: str) -> None:
        """Warn if the system has no solution, or if the result is not reliable.

        The result is not reliable if the matrix is indefinite, or if "auto" selected diagonal means for one
        column.
        """
        if self.scheme == "auto" and scheme == DIAGONAL_MEANS and self.X_fit_.shape[1] == 1:
            self._warn(f"the samples do not lie on a uniform grid, and {self._no_grid}; scheme {scheme} "
                       "discards most of the kernel matrix",
                       "Use KernelRLS, which is exact, or pass the scheme explicitly to omit this warning.")
        other = "KernelRLS" if scheme in _GRIDS else "scheme='diagonal_mean_biased'"
        advice = f"Use {other}, or a larger lam, or a smaller sigma."
        if not solution.ok:
            what, advice = self._no_solution(solution), f"All coefficients are 0. {advice}"
        elif self.solver == "auto" and solution.method == "lookahead":
            what = f"T + lambda I is not positive definite; the solution has no error bound ({solution.why})"
        else:
            return
        self._warn(f"{what}; scheme {scheme}, lam {self.lam:g}", advice)


def _step(kernel: Gaussian, weights: Weights) -> float:
    """Return the distance between grid nodes for a kernel."""
    return kernel.sigma / STEPS_IN_WIDTH[weights]


class ToeplitzRLSRegressor(RLSRegressor, _ToeplitzRLS):
    """Regularized least squares with a Toeplitz kernel matrix.

    Training needs O(n) memory and O(n^2) time.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), in the unit of `X`. "auto" means twice the
        median step if `X` is one sorted column, otherwise sqrt(D var(X) / 2). Raises E220.
    lam : float, default=1.0
        Regulariser lambda > 0, added to the diagonal.  Raises E221.
    scheme : str, default="auto"
        Method of approximating the kernel matrix by a Toeplitz matrix. ``uniform``, ``diagonal_mean`` and
        ``diagonal_mean_biased`` are those of :func:`kerncast.first_row`. ``grid_linear`` and ``grid_cubic``
        interpolate samples of one column, in any order, from a uniform grid with 8 or 4 nodes per sigma; the
        kernel matrix is then W T W', where W contains the interpolation weights. "auto" selects uniform if
        the samples are uniform, otherwise grid_cubic for one column and diagonal_mean_biased for several. For
        one column, it selects diagonal_mean_biased, with a warning, if most grid nodes would have no samples
        near them, or if `solver` requires a Toeplitz matrix. Raises E222, E223.
    fit_intercept : bool, default=False
        Fit an unregularised bias, as the least squares support vector machine (LS-SVM) does, with one more
        right-hand side.
    solver : {"auto", "banded", "levinson", "lookahead", "schur", "pcg"}, default="auto"
        See :func:`kerncast.solve_toeplitz`. "auto" switches to look-ahead, with a warning, if T + lambda I is
        not positive definite. A grid scheme accepts only "auto", which uses conjugate gradients, or a
        Cholesky factorisation if it is faster. Raises E226.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, K)
        The coefficients alpha.
    intercept_ : float or ndarray of shape (K,)
        The bias; 0.0 without `fit_intercept`.
    X_fit_ : ndarray of shape (n, D)
        The training samples, which are the expansion vectors.
    fitted_ : ndarray of shape (n,) or (n, K)
        Fitted values at the training samples, computed as y - lambda alpha. This needs n multiplications
        instead of n predictions, and avoids the rounding errors of predictions. With a grid scheme, they are
        the fitted values of the kernel matrix W T W'. All are 0 unless `status_` is "ok".
    grid_, grid_coef_ : ndarray of shape (M, 1), and (M,) or (M, K); or None
        The nodes of the grid and their coefficients W'alpha; None without a grid. Predictions are kernel
        expansions in the nodes, which approximate exact kernel regression better than an expansion in
        `X_fit_`, because alpha is the solution for W T W'.
    status_ : str
        "ok", "not_positive_definite", "breakdown" or "not_converged". Unless it is "ok", `fit` warns, and all
        coefficients and the bias are 0, so predictions are finite but useless.
    solver_ : str
        The solver that was used.
    why_ : str
        Reason for the choice of the solver, and for a failure.
    residual_ : float
        |y - b - (T + lambda I) alpha|_2, the maximum over the outputs.
    scheme_ : str
        The scheme that was used.
    sigma_ : float
        The width of the kernel that was used.
    n_features_in_ : int
        D, the number of columns.

    Notes
    -----
    **When to use it.** For uniformly sampled signals (one column, equal steps), T is the kernel matrix
    itself, and the result is exact regularized least squares. For nonuniformly sampled signals, a grid scheme
    is accurate if lam is .01 or more, and less accurate for a smaller lam (docs/measured/irregular.md:
    jitters of 1 to 30 % of a step, widths of 2 to 20 steps). If the kernel spans few samples,
    KernelRLSRegressor is exact and faster.

    For multivariate samples in arbitrary order, T retains little of the kernel matrix: the result is close to
    that of a kernel-mean (Parzen) classifier. Five steps of conjugate gradients on the exact matrix are more
    accurate, at the same cost in time and memory. `residual_` does not show this, because it is the residual
    of the system with T, not of the system with the kernel matrix. Validate the model on held-out data.

    The result of the diagonal means depends on the order of the samples.

    References
    ----------
    S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by
    Toeplitz Matrix": equations (3), (4), Lemmas 1 and 2, appendix.

    Examples
    --------
    >>> import numpy as np
    >>> from kerncast import ToeplitzRLSRegressor
    >>> t = np.arange(100.0)[:, np.newaxis]
    >>> noisy = np.sin(t[:, 0] / 8) + 0.1 * np.cos(40 * t[:, 0])
    >>> model = ToeplitzRLSRegressor(sigma=4.0, lam=1.0).fit(t, noisy)
    >>> str(model.status_), model.scheme_
    ('ok', 'uniform')
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # on samples without an order: see Notes
        return tags


class ToeplitzRLSClassifier(RLSClassifier, _ToeplitzRLS):
    """One-vs-rest regularized least squares classifier with a Toeplitz kernel matrix.

    Parameters and most attributes are those of :class:`ToeplitzRLSRegressor`. Its **Notes state when this
    method is a poor choice** (for samples of many columns in arbitrary order).

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel, in the unit of `X`.
    lam : float, default=1.0
        Regulariser lambda > 0.
    scheme : {"auto", "uniform", "diagonal_mean", "diagonal_mean_biased", "grid_linear", "grid_cubic"}
        Method of approximating the kernel matrix by a Toeplitz matrix; "auto" by default.
    fit_intercept : bool, default=False
        Fit an unregularised bias.
    solver : {"auto", "banded", "levinson", "lookahead", "schur", "pcg"}, default="auto"
        See :func:`kerncast.solve_toeplitz`.  "auto" switches to look-ahead, with a warning, if T +
        lambda I is not positive definite.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    dual_coef_ : ndarray of shape (n,) for two classes, (n, K) for more
        The coefficients alpha, for targets of +1 and -1.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on samples without an order: see Notes
        return tags
