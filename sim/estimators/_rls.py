"""sim.estimators: base classes of the regularised least squares estimators."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from .._arrays import Array
from ..kernels import Kernel
from ..reference.online.expansion import expand
from ..reference.result import Solution
from ..reference.systems.system import KernelSystem, System
from ..reference.toeplitz.product import largest_norm
from ._common import check_classes, check_inputs, check_training_data, labels, one_vs_rest


class RLS(BaseEstimator):
    """Base class of kernel machines that are trained by one linear solve.

    Subclasses define the parameters.
    """

    @abstractmethod
    def _fit_targets(self, X: Array, Y: Array) -> None:
        """Train on `Y` of shape (n,) or (n, K) and store the fitted attributes."""

    def _publish(self, kernel: Kernel, X: Array, system: System, Y: Array, solution: Solution) -> None:
        """Set the fitted attributes from the solution of `system` with targets `Y`."""
        support, with_bias = solution.support, self.fit_intercept
        self.dual_coef_ = solution.x
        self.X_fit_ = X if support is None else X[support]
        self.intercept_: Any = 0.0
        if with_bias:
            self.intercept_ = float(solution.bias) if solution.bias.ndim == 0 else solution.bias
        self.status_, self.solver_, self.why_ = solution.status, solution.method, solution.why
        self.residual_ = solution.residual
        if with_bias and support is None:  # the solver's residual is that of two systems, for 1 and for y
            rest = Y - self.intercept_ - _product(system, solution.x) if solution.ok else Y
            self.residual_ = largest_norm(np.asarray(rest))
        self._set_expansion(kernel, self.X_fit_, self.dual_coef_)

    def _set_expansion(self, kernel: Kernel, centers: Array, coefficients: Array) -> None:
        """Set the kernel, the centers and the coefficients for predictions."""
        self._expansion = kernel, centers, coefficients

    def _output(self, X: ArrayLike) -> Array:
        """Evaluate f(x) = sum_i alpha_i k(x_i, x) + b, shape (m,) or (m, K)."""
        X = check_inputs(self, X)
        kernel, centers, coefficients = self._expansion
        return np.asarray(expand(kernel, X, centers, coefficients) + self.intercept_)

    def _warn(self, what: str, advice: str) -> None:
        """Issue a warning that states the problem and the advice."""
        warnings.warn(f"{type(self).__name__}: {what}. {advice}", LinAlgWarning, stacklevel=5)

    def _no_solution(self, solution: Solution) -> str:
        """Return a text that states why the system has no solution."""
        return f"no solution, status {solution.status} ({solution.method}: {solution.why})"


def _product(system: System, alpha: Array) -> Array:
    """Multiply the matrix of a system by alpha.

    For a kernel system, the product is computed as a kernel expansion, which skips kernel values of 0.
    """
    if isinstance(system, KernelSystem):
        return np.asarray(expand(system.kernel, system.X, system.X, alpha) + system.lam * alpha)
    return system @ alpha


class RLSRegressor(RegressorMixin):
    """Mixin that adds the methods of a regressor to :class:`RLS`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train the model on samples and targets.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Training samples.
        y : array_like of shape (n,) or (n, K)
            Targets, with one column per output.

        Returns
        -------
        self : estimator

        Raises
        ------
        KerncastError
            E233 for the data; invalid parameters raise the codes named in their descriptions.
        """
        X, y = check_training_data(self, X, y, multi_output=True, y_numeric=True)
        self._fit_targets(X, y.astype(np.float64))
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict the targets of each row of `X`, shape (m, D).

        The result has shape (m,) or (m, K).
        """
        f: Array = self._output(X)
        return f

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class RLSClassifier(ClassifierMixin):
    """Mixin that adds the methods of a one-vs-rest classifier to :class:`RLS`.

    The targets are +1 and -1.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train the model on samples and labels.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Training samples.
        y : array_like of shape (n,)
            Labels of any type, with at least two classes.

        Returns
        -------
        self : estimator

        Raises
        ------
        KerncastError
            E232 for the labels, E233 for the data; invalid parameters raise the codes named in their
            descriptions.
        """
        X, y = check_training_data(self, X, y)
        self.classes_ = check_classes(y)
        self._fit_targets(X, one_vs_rest(y, self.classes_))
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Evaluate f: the result has shape (m,) for two classes, (m, K) for more.

        For two classes, a positive value means the second class.
        """
        f: Array = self._output(X)
        return f

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row of `X`, shape (m,)."""
        return labels(self._output(X), self.classes_)
