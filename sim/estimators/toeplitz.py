"""sim.estimators: Toeplitz regularized least squares.

S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by
Toeplitz Matrix".
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..checks import positive
from ..reference.bias import solve_with_bias
from ..reference.expansion import expand
from ..reference.first_row import check_scheme, choose_scheme, kernel_first_row
from ..reference.solution import Solution
from ..reference.toeplitz import solve_toeplitz
from ..reference.toeplitz_product import residual_norm
from ..reference.width import grid_or_spread_width
from ._common import checked_classes, checked_inputs, checked_training_data, labels, one_vs_rest, width_or

Array = NDArray[np.float64]


class _ToeplitzRLS(BaseEstimator):
    """What the two estimators share."""

    def __init__(self, sigma: float | str = "auto", lam: float = 1.0, *, scheme: str = "auto",
                 fit_intercept: bool = False, solver: str = "auto") -> None:
        self.sigma = sigma
        self.lam = lam
        self.scheme = scheme
        self.fit_intercept = fit_intercept
        self.solver = solver

    def _fit_targets(self, X: Array, Y: Array) -> None:
        """Solve (T + lambda I) alpha = y (4) and keep the result; `Y` of shape (n,) or (n, K)."""
        lam = positive(self.lam, "lam", "E221", "start with 1")
        kernel = width_or(self.sigma, lambda: grid_or_spread_width(X))
        scheme = choose_scheme(X) if self.scheme == "auto" else check_scheme(self.scheme)
        r = kernel_first_row(X, kernel, scheme)
        r[0] += lam
        solve = partial(solve_toeplitz, r, method=self.solver)
        solution = solve_with_bias(solve, Y) if self.fit_intercept else solve(Y)
        self.dual_coef_ = solution.x
        self.intercept_ = solution.bias if solution.bias.ndim else float(solution.bias)
        self.residual_ = residual_norm(r, self.dual_coef_, Y - self.intercept_)
        self.X_fit_ = X
        self.status_ = solution.status
        self.solver_ = solution.method
        self.why_ = solution.why
        self.scheme_ = scheme
        self.sigma_ = kernel.sigma
        self._kernel = kernel
        self._warn(solution, scheme)

    def _output(self, X: ArrayLike) -> Array:
        """Evaluate (3), shape (m,) or (m, K)."""
        X = checked_inputs(self, X)
        return np.asarray(expand(self._kernel, X, self.X_fit_, self.dual_coef_) + self.intercept_)

    def _warn(self, solution: Solution, scheme: str) -> None:
        """Say what the user did not ask for: no solution, or one of a matrix that is indefinite."""
        advice = "Use scheme='diagonal_mean_biased', or a larger lam, or a smaller sigma."
        if not solution.ok:
            what = f"no solution, status {solution.status} ({solution.method}: {solution.why})"
            advice = f"All multipliers are 0. {advice}"
        elif self.solver == "auto" and solution.method == "lookahead":
            what = f"T + lambda I is not positive definite; solved all the same ({solution.why})"
        else:
            return
        warnings.warn(f"{type(self).__name__}: {what}; scheme {scheme}, lam {self.lam:g}. {advice}",
                      LinAlgWarning, stacklevel=4)


class ToeplitzRLSRegressor(RegressorMixin, _ToeplitzRLS):
    """Regularized least squares with a Toeplitz kernel matrix: O(n) memory, O(n^2) time.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), in the unit of `X`.  "auto"
        is two steps on a uniform grid, else sqrt(D var(X) / 2).
    lam : float, default=1.0
        Regulariser lambda > 0, added to the diagonal.
    scheme : {"auto", "uniform", "diagonal_mean", "diagonal_mean_biased"}, default="auto"
        How the kernel matrix becomes Toeplitz; see :func:`kerncast.first_row`.
    fit_intercept : bool, default=False
        Fit a bias as LS-SVM does, by one more right-hand side.
    solver : {"auto", "levinson", "lookahead", "schur", "pcg"}, default="auto"
        See :func:`kerncast.solve_toeplitz`.  "auto" turns to look-ahead, with a warning, where T +
        lambda I is not positive definite.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, K)
        The multipliers alpha.
    intercept_ : float or ndarray of shape (K,)
        The bias; 0.0 without `fit_intercept`.
    X_fit_ : ndarray of shape (n, D)
        The training samples, which are the expansion vectors.
    status_ : str
        "ok", or "not_positive_definite", "breakdown" or "not_converged": then a warning was given and all
        multipliers and the bias are 0, so that predictions are finite and plainly useless.
    solver_ : str
        The solver that ran; of solver="auto" the one chosen.
    why_ : str
        Why it was chosen, and what made it stop, where it did.
    residual_ : float
        |y - b - (T + lambda I) alpha|_2, the largest over the outputs.
    scheme_ : str
        The scheme that was used.
    sigma_ : float
        The width that was used.
    n_features_in_ : int
        D, the number of columns.

    Notes
    -----
    **Where this shines, and where not.**  On uniformly sampled signals (one column, equal steps) T
    is the kernel matrix itself and the result is exact regularized least squares.  With 1 % of
    sampling jitter alpha is off by about 1 %, with 10 % by about 8 %.  On multivariate samples in
    no particular order T keeps little of the kernel matrix: the machine comes close to a
    kernel-mean (Parzen) classifier, and five steps of conjugate gradients on the true matrix
    cost as much time and memory and do better.  `residual_` says nothing about this: it is
    measured against T, not against the kernel matrix.  Validate on held-out data.

    The result depends on the order of the samples.

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

    def fit(self, X: ArrayLike, y: ArrayLike) -> ToeplitzRLSRegressor:
        """Train.

        Parameters
        ----------
        X : array_like of shape (n, D)
        y : array_like of shape (n,) or (n, K)

        Returns
        -------
        self : ToeplitzRLSRegressor

        Raises
        ------
        KerncastError
            E220 sigma, E221 lam, E222 scheme, E223 not a uniform grid, E226 solver, E233 data.
        """
        X, y = checked_training_data(self, X, y, multi_output=True, y_numeric=True)
        self._fit_targets(X, y.astype(np.float64))
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Evaluate f at all rows of `X`, shape (m, D); result of shape (m,) or (m, K)."""
        return self._output(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True  # on samples without an order: see Notes
        return tags


class ToeplitzRLSClassifier(ClassifierMixin, _ToeplitzRLS):
    """Classifier by regularized least squares with a Toeplitz kernel matrix, one against the rest.

    Parameters and most attributes are those of :class:`ToeplitzRLSRegressor`, whose **Notes say
    where this is a poor choice** (samples of many columns in no particular order).

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the Gaussian kernel, in the unit of `X`.
    lam : float, default=1.0
        Regulariser lambda > 0.
    scheme : {"auto", "uniform", "diagonal_mean", "diagonal_mean_biased"}, default="auto"
        How the kernel matrix becomes Toeplitz.
    fit_intercept : bool, default=False
        Fit a bias.
    solver : {"auto", "levinson", "lookahead", "schur", "pcg"}, default="auto"
        See :func:`kerncast.solve_toeplitz`.  "auto" turns to look-ahead, with a warning, where T +
        lambda I is not positive definite.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The labels, sorted.
    dual_coef_ : ndarray of shape (n,) for two classes, (n, K) for more
        The multipliers alpha, for targets of +1 and -1.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> ToeplitzRLSClassifier:
        """Train.

        Parameters
        ----------
        X : array_like of shape (n, D)
        y : array_like of shape (n,)
            Labels of any kind, two different ones at least.

        Returns
        -------
        self : ToeplitzRLSClassifier

        Raises
        ------
        KerncastError
            E220 sigma, E221 lam, E222 scheme, E223 not a uniform grid, E226 solver, E232 labels,
            E233 data.
        """
        X, y = checked_training_data(self, X, y)
        self.classes_ = checked_classes(y)
        self._fit_targets(X, one_vs_rest(y, self.classes_))
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Evaluate f: shape (m,) for two classes, above 0 for the second; (m, K) for more."""
        return self._output(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row of `X`, shape (m,)."""
        return labels(self._output(X), self.classes_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on samples without an order: see Notes
        return tags
