"""sim.estimators: base classes of the estimators that learn sample by sample."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from .._arrays import Array
from .._checks import is_integer
from ..errors import fail
from ._common import check_classes, check_training_data, labels, one_vs_rest, restored_on_error


class OnlineEstimator(BaseEstimator):
    """Base class of estimators that learn sample by sample."""

    presentations: int

    def _create_learner(self, X: Array, outputs: tuple[int, ...]) -> None:
        """Create an untrained learner and store it in `_learner`."""
        raise NotImplementedError

    def _present(self, X: Array, Y: Array, times: int = 1) -> None:
        """Learn the samples in order, `times` times; update the fitted attributes."""
        raise NotImplementedError

    def _output(self, X: ArrayLike) -> Array:
        """Evaluate the model at each row of `X`; the result has shape (m,) or (m, K)."""
        raise NotImplementedError

    def _warn_if_diverged(self) -> None:
        """Warn if the learner diverged and stopped; the base class does nothing."""

    def _fit_targets(self, X: Array, Y: Array) -> None:
        """Reset the learner and learn all samples in order, `presentations` times."""
        if not is_integer(self.presentations) or self.presentations < 1:
            raise fail("E234", "the samples must be presented at least once", where="presentations",
                       value=self.presentations, allowed="an integer >= 1", remedy="set presentations to 10")
        self._create_learner(X, Y.shape[1:])
        self._present(X, Y, self.presentations)


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """Regressor that learns sample by sample."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Reset the model and train it on the samples `presentations` times.

        `X` has shape (n, D), `y` shape (n,).

        Raises
        ------
        KerncastError
            E220 for sigma, E228 for eta or rho, E229 for budget, E230 for reduction, projection or metric,
            E233 for the data, E234 for presentations, E258 for any other parameter.
        """
        with restored_on_error(self):
            X, y = check_training_data(self, X, y, y_numeric=True)
            self._fit_targets(X, y.astype(np.float64))
        self._warn_if_diverged()
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn `X`, shape (m, D), and `y`, shape (m,), once and in order.

        Learning continues from the current model. Parameters that you change after the first call have no
        effect until you call `fit`. The errors are those of `fit`; if the data are rejected, the model is
        unchanged.
        """
        first = not hasattr(self, "_learner")
        with restored_on_error(self):
            X, y = check_training_data(self, X, y, reset=first, y_numeric=True)
            if first:
                self._create_learner(X, ())
            self._present(X, y.astype(np.float64))
        self._warn_if_diverged()
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict the target of each row of `X`, shape (m, D); the result has shape (m,)."""
        return self._output(X)


class OnlineClassifier(ClassifierMixin, OnlineEstimator):
    """One-vs-rest classifier that learns sample by sample, with targets +1 and -1."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Reset the model and train it on the samples `presentations` times.

        `X` has shape (n, D), the labels `y` shape (n,).

        Raises
        ------
        KerncastError
            The errors of the regressor's `fit`, and E232 for fewer than two classes.
        """
        with restored_on_error(self):
            X, y = check_training_data(self, X, y)
            self.classes_ = check_classes(y)
            self._fit_targets(X, one_vs_rest(y, self.classes_))
        self._warn_if_diverged()
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn `X`, shape (m, D), and labels `y`, shape (m,), once and in order.

        Parameters
        ----------
        X, y : array_like
            Samples and labels.
        classes : array_like of shape (K,), optional
            All possible labels. The first call requires them, unless `y` contains all of them. In later
            calls, omit them or pass the same labels.

        Raises
        ------
        KerncastError
            The errors of `fit`, and E232 if the labels or `classes` differ from those of the first call. If
            the data are rejected, the model is unchanged.
        """
        first = not hasattr(self, "_learner")
        with restored_on_error(self):
            X, y = check_training_data(self, X, y, reset=first)
            known = check_classes(y if classes is None else np.asarray(classes)) if first else self.classes_
            if not first and classes is not None and not np.array_equal(np.unique(classes), known):
                raise fail("E232", "the classes differ from the classes of the first call", where="classes",
                           value=str(np.unique(classes).tolist()), allowed=str(known.tolist()),
                           remedy="omit `classes` after the first call, or call fit again")
            targets = one_vs_rest(y, known)
            if first:
                self._create_learner(X, targets.shape[1:])
                self.classes_ = known
            self._present(X, targets)
        self._warn_if_diverged()
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Evaluate f: the result has shape (m,) for two classes, (m, K) for more.

        For two classes, a positive value means the second class.
        """
        return self._output(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each row of `X`, shape (m,)."""
        return labels(self._output(X), self.classes_)
