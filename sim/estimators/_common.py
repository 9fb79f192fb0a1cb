"""sim.estimators: validation of training data, and class labels as targets."""

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
#: Remedy, by a word that occurs in scikit-learn's message.
REMEDIES = {
    "NaN": _FILL,
    "infinity": _FILL,
    "Expected 2D": "Reshape your data: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one sample",
    "Complex": "pass the real and the imaginary part as separate columns",
    "Sparse": "pass X.toarray()",
}


def check_training_data(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, *, reset: bool = True,
                        **options: Any) -> tuple[Array, NDArray[Any]]:
    """Validate `X` and `y` with scikit-learn.

    Return `X` as float64 of shape (n, D), and `y`.

    Parameters
    ----------
    estimator : BaseEstimator
        The estimator that is trained.
    X, y : array_like
        Samples and targets.
    reset : bool
        Whether to set `n_features_in_` of the estimator.  If false, `X` must have that number of columns.
    **options
        Passed to :func:`sklearn.utils.validation.validate_data`.

    Raises
    ------
    KerncastError
        E233 if scikit-learn rejects the data, or if `options` require numeric targets and `y` is not numeric.
    """
    with _translated_errors():
        checked_X, checked_y = validate_data(estimator, X, y, dtype=np.float64, reset=reset, **options)
    if options.get("y_numeric") and checked_y.dtype.kind not in "biuf":
        raise fail("E233", "the targets are not numbers", where="y", value=f"an array of {checked_y.dtype}",
                   allowed="finite numbers",
                   remedy="pass numbers, or use the classifier for labels")
    return checked_X, checked_y


def check_training_inputs(estimator: BaseEstimator, X: ArrayLike, *, reset: bool = True) -> Array:
    """Validate the samples of a training without targets.

    Return them as float64 of shape (n, D). `reset` is that of :func:`check_training_data`. Raise E233 if
    scikit-learn rejects the data.
    """
    with _translated_errors():
        checked: Array = validate_data(estimator, X, dtype=np.float64, reset=reset)
    return checked


@contextmanager
def restored_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Restore the estimator's attributes if the ``with`` block raises an exception."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_inputs(estimator: BaseEstimator, X: ArrayLike) -> Array:
    """Validate the samples of a prediction; return them as float64 of shape (m, D).

    Raise E233 if `X` is not valid.
    """
    check_is_fitted(estimator)
    with _translated_errors():
        checked: Array = validate_data(estimator, X, dtype=np.float64, reset=False)
    return checked


def gaussian_kernel(sigma: float | str, automatic: Callable[[], float]) -> Gaussian:
    """Return the Gaussian kernel of width `sigma`.

    If `sigma` is "auto", the function calls `automatic` to compute the width.
    """
    if isinstance(sigma, str):
        if sigma != "auto":
            raise fail("E220", "the width of the kernel is not valid", where="sigma",
                       value=repr(sigma), allowed='a number > 0 or "auto"',
                       remedy="pass a number, or \"auto\"")
        sigma = automatic()
    return Gaussian(sigma)


def check_classes(y: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted class labels in `y`; raise E232 for fewer than two classes."""
    with _translated_errors():
        check_classification_targets(y)
    classes: NDArray[Any] = unique_labels(y)
    if len(classes) < 2:
        raise fail("E232", "a classifier needs two classes or more", where="y",
                   value=f"one class, {classes.tolist()[0]!r}", allowed="at least two different labels",
                   remedy="add samples of at least one other class")
    return classes


def one_vs_rest(y: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Convert labels to targets of +1 and -1.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class label of each sample.
    classes : ndarray of shape (K,)
        The sorted class labels, K >= 2.

    Returns
    -------
    targets : ndarray of shape (n,) or (n, K)
        For two classes, +1 stands for the second class; for more, column c is +1 for the samples of class c.

    Raises
    ------
    KerncastError
        E232 if a label is not among the classes.
    """
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise fail("E232", "the label is not one of the classes", where="y",
                   value=repr(unknown.tolist()[0]), allowed=", ".join(map(str, classes)),
                   remedy="name all classes in the first call of partial_fit, or call fit again")
    if len(classes) == 2:
        return np.where(y == classes[1], 1.0, -1.0)
    return np.where(y[:, np.newaxis] == classes, 1.0, -1.0)


def labels(f: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """Convert decision values to class labels.

    The values have shape (m,) for two classes, and (m, K) for more.
    """
    winner = (f > 0.0).astype(int) if f.ndim == 1 else f.argmax(axis=1)
    return np.asarray(classes[winner])


@contextmanager
def _translated_errors() -> Iterator[None]:
    """Convert scikit-learn's errors about data to E233.

    A TypeError for non-numeric objects is not converted.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        wrong = str(error).splitlines()[0].rstrip(".:")
        if isinstance(error, TypeError) and not wrong.startswith("Sparse"):
            raise
        # Only the first line helps: the rest prints the array or names other estimators.
        known = (advice for sign, advice in REMEDIES.items() if sign in wrong)
        raise fail("E233", wrong, where="X, y", allowed="finite numbers with the shape used in training",
                   remedy=next(known, "correct the data as the message states")) from error
