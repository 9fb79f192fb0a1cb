"""sim.estimators: what the estimators by regularised least squares share."""

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
from ._common import checked_classes, checked_inputs, checked_training_data, labels, one_vs_rest


class RLS(BaseEstimator):
    """A kernel machine that a linear system trains; parameters are set by those that inherit."""

    @abstractmethod
    def _fit_targets(self, X: Array, Y: Array) -> None:
        """Train on `Y` of shape (n,) or (n, K) and keep the result."""

    def _keep(self, kernel: Kernel, X: Array, system: System, Y: Array, solution: Solution) -> None:
        """Publish the solution of `system` as fitted attributes."""
        support, with_bias = solution.support, self.fit_intercept
        self.dual_coef_ = solution.x
        self.X_fit_ = X if support is None else X[support]
        self.intercept_: Any = 0.0
        if with_bias:
            self.intercept_ = float(solution.bias) if solution.bias.ndim == 0 else solution.bias
        self.status_, self.solver_, self.why_ = solution.status, solution.method, solution.why
        self.residual_ = solution.residual
        if with_bias and support is None:  # the solver's is that of two systems, of 1 and of y
            rest = Y - self.intercept_ - _product(system, solution.x) if solution.ok else Y
            self.residual_ = largest_norm(np.asarray(rest))
        self._expand_in(kernel, self.X_fit_, self.dual_coef_)

    def _expand_in(self, kernel: Kernel, centres: Array, multipliers: Array) -> None:
        """Predict by the expansion in these vectors from now on."""
        self._expansion = kernel, centres, multipliers

    def _output(self, X: ArrayLike) -> Array:
        """Evaluate f(x) = sum_i alpha_i k(x_i, x) + b, shape (m,) or (m, K)."""
        X = checked_inputs(self, X)
        kernel, centres, multipliers = self._expansion
        return np.asarray(expand(kernel, X, centres, multipliers) + self.intercept_)

    def _warn(self, what: str, advice: str) -> None:
        """Say what the user did not ask for."""
        warnings.warn(f"{type(self).__name__}: {what}. {advice}", LinAlgWarning, stacklevel=5)

    def _no_solution(self, solution: Solution) -> str:
        """Why all multipliers are 0."""
        return f"no solution, status {solution.status} ({solution.method}: {solution.why})"


def _product(system: System, alpha: Array) -> Array:
    """A alpha; of samples of one column as an expansion, which leaves out what is zero."""
    if isinstance(system, KernelSystem):
        return np.asarray(expand(system.kernel, system.X, system.X, alpha) + system.lam * alpha)
    return system @ alpha


class RLSRegressor(RegressorMixin):
    """Fits numbers; to be mixed into an :class:`RLS`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train.

        Parameters
        ----------
        X : array_like of shape (n, D)
        y : array_like of shape (n,) or (n, K)

        Returns
        -------
        self : estimator

        Raises
        ------
        KerncastError
            E233 data; and for the parameters the codes that their descriptions name.
        """
        X, y = checked_training_data(self, X, y, multi_output=True, y_numeric=True)
        self._fit_targets(X, y.astype(np.float64))
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Evaluate f at all rows of `X`, shape (m, D); result of shape (m,) or (m, K)."""
        f: Array = self._output(X)
        return f

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class RLSClassifier(ClassifierMixin):
    """Fits targets of +1 and -1, one class against the rest; to be mixed into an :class:`RLS`."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train.

        Parameters
        ----------
        X : array_like of shape (n, D)
        y : array_like of shape (n,)
            Labels of any kind, two different ones at least.

        Returns
        -------
        self : estimator

        Raises
        ------
        KerncastError
            E232 labels, E233 data; and for the parameters the codes that their descriptions name.
        """
        X, y = checked_training_data(self, X, y)
        self.classes_ = checked_classes(y)
        self._fit_targets(X, one_vs_rest(y, self.classes_))
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Evaluate f: shape (m,) for two classes, above 0 for the second; (m, K) for more."""
        f: Array = self._output(X)
        return f

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row of `X`, shape (m,)."""
        return labels(self._output(X), self.classes_)
