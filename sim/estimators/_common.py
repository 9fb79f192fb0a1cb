"""sim.estimators: checks of data, and class labels as targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from .._arrays import Array
from ..errors import fail
from ..kernels import Gaussian

_FILL = "remove these samples, or fill the gaps, for example from the neighbours"
#: What to do, by a word of the message that scikit-learn gives.
REMEDIES = {
    "NaN": _FILL,
    "infinity": _FILL,
    "Expected 2D": "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one sample",
    "Complex": "pass the real and the imaginary part as separate columns",
    "Sparse": "pass X.toarray()",
}


def checked_training_data(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, *, reset: bool = True,
                          **options: Any) -> tuple[Array, NDArray[Any]]:
    """Return `X` as float64 of shape (n, D), and `y`, as checked by scikit-learn; E233 if refused.

    Parameters
    ----------
    estimator : BaseEstimator
        Learns `n_features_in_` if `reset`, else the columns must fit it.
    X, y : array_like
    reset : bool
    **options
        For :func:`sklearn.utils.validation.validate_data`.
    """
    with _refusals():
        checked_X, checked_y = validate_data(estimator, X, y, dtype=np.float64, reset=reset, **options)
    if options.get("y_numeric") and checked_y.dtype.kind not in "biuf":
        raise fail("E233", "the targets are not numbers", where="y", value=f"an array of {checked_y.dtype}",
                   allowed="finite numbers", remedy="pass numbers, or use the classifier for labels")
    return checked_X, checked_y


@contextmanager
def unchanged_if_refused(estimator: BaseEstimator) -> Iterator[None]:
    """Give an estimator the attributes back that it had, where the block raises."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def checked_inputs(estimator: BaseEstimator, X: ArrayLike) -> Array:
    """Return `X` for a prediction, as float64 of shape (m, D); E233 if refused."""
    check_is_fitted(estimator)
    with _refusals():
        checked: Array = validate_data(estimator, X, dtype=np.float64, reset=False)
    return checked


def width_or(sigma: float | str, automatic: Callable[[], float]) -> Gaussian:
    """Return the Gaussian kernel of width `sigma`, or of the width that `automatic` finds for "auto"."""
    if isinstance(sigma, str):
        if sigma != "auto":
            raise fail("E220", "the Gaussian kernel needs a width", where="sigma",
                       value=repr(sigma), allowed='a number > 0 or "auto"', remedy="pass a number")
        sigma = automatic()
    return Gaussian(sigma)


def checked_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted class labels in `y`; E232 if they are fewer than two."""
    with _refusals():
        check_classification_targets(y)
    classes: NDArray[Any] = unique_labels(y)
    if len(classes) < 2:
        raise fail("E232", "a classifier needs two classes or more", where="y",
                   value=f"one class, {classes.tolist()[0]!r}", allowed="at least two different labels",
                   remedy="add samples of another class")
    return classes


def one_vs_rest(y: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Turn labels into targets of +1 and -1.

    Parameters
    ----------
    y : ndarray of shape (n,)
    classes : ndarray of shape (K,)
        Sorted, K >= 2.

    Returns
    -------
    targets : ndarray of shape (n,) or (n, K)
        Of two classes the second is +1; of more, column c is +1 where y is class c.

    Raises
    ------
    KerncastError
        E232 where a label is not among the classes.
    """
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise fail("E232", "a label that is not among the classes", where="y",
                   value=repr(unknown.tolist()[0]), allowed=", ".join(map(str, classes)),
                   remedy="name all classes in the first call of partial_fit, or call fit again")
    if len(classes) == 2:
        return np.where(y == classes[1], 1.0, -1.0)
    return np.where(y[:, np.newaxis] == classes, 1.0, -1.0)


def labels(f: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the class of each decision value: shape (m,) for two classes, (m, K) for more."""
    winner = (f > 0.0).astype(int) if f.ndim == 1 else f.argmax(axis=1)
    return np.asarray(classes[winner])


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise as E233 what scikit-learn refuses, but for its own TypeError of objects that are no numbers."""
    try:
        yield
    except (TypeError, ValueError) as error:
        wrong = str(error).splitlines()[0].rstrip(".:")
        if isinstance(error, TypeError) and not wrong.startswith("Sparse"):
            raise
        # Below its first line scikit-learn prints the array, or names other estimators: no help here.
        known = (advice for sign, advice in REMEDIES.items() if sign in wrong)
        raise fail("E233", wrong, where="X, y", allowed="finite numbers with the shape used in training",
                   remedy=next(known, "correct the data named above")) from error
