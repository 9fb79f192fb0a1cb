"""sim.interop: convert classifiers with more than two classes.

====================================  ==============================================================
SVC, NuSVC                            one output per pair of classes; the pairs vote as in
                                      scikit-learn, with confidences if ``break_ties`` is set
OneVsRestClassifier                   one output per class; the estimators must have the same kernel
====================================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays import Array
from ..choices import ARGMAX, VOTE, VOTE_CONFIDENCE
from ..data.predictor_file import TrainedModel
from ..errors import fail

#: Largest number of classes with an output per pair, of which 32 classes have 496.
MOST_PAIRWISE = 32


def pairwise(estimator: Any, kernel: dict[str, Any], vectors: Array, dual: Array,
             intercept: Array) -> TrainedModel:
    """Convert a one-vs-one support vector machine with several classes.

    Parameters
    ----------
    estimator : SVC or NuSVC
        The fitted estimator.
    kernel : dict
        The keys of [kernel] of a spec.
    vectors : ndarray of shape (N, D)
        Support vectors in the order of their classes.
    dual : ndarray of shape (classes - 1, N)
        Coefficients of the support vectors. For a vector of class i, row r contains its coefficient for the
        pair of class i and the r-th of the other classes.
    intercept : ndarray of shape (classes * (classes - 1) / 2,)
        Intercept of each pair of classes.
    """
    classes = tuple(np.asarray(estimator.classes_).tolist())
    if len(classes) > MOST_PAIRWISE:
        raise fail("E273", "the estimator has too many classes for one output per pair",
                   where=type(estimator).__name__, value=f"{len(classes)} classes",
                   allowed=f"up to {MOST_PAIRWISE}",
                   remedy=f"fit OneVsRestClassifier({type(estimator).__name__}()) and export that")
    confident = bool(estimator.break_ties) and estimator.decision_function_shape == "ovr"
    return TrainedModel(kernel, vectors, np.ascontiguousarray(dual.T), intercept, classes,
                        decision=VOTE_CONFIDENCE if confident else VOTE,
                        groups=tuple(np.asarray(estimator.n_support_).tolist()))


def one_vs_rest(estimator: Any, read: Callable[[Any], TrainedModel]) -> TrainedModel:
    """Convert a fitted OneVsRestClassifier.

    Support vectors that several of its estimators share are stored once. `read` converts one estimator.

    Raise E270 if it is not fitted. Raise E273 if its estimators have different kernels or scales, if it
    predicts several labels per sample, or if a class has no samples.
    """
    members = getattr(estimator, "estimators_", None)
    if members is None:
        raise fail("E270", "the estimator is not fitted", where="OneVsRestClassifier", value="no estimators_",
                   allowed="an estimator after fit(X, y)", remedy="fit the estimator first")
    if estimator.multilabel_:
        raise _unlike("several labels per sample", "one label per sample", "fit one classifier per label")
    constant = [type(member).__name__ for member in members if type(member).__name__ == "_ConstantPredictor"]
    if constant:
        raise _unlike("a class without samples", "samples of every class",
                      "fit it with samples of every class")
    models = [read(member) for member in members]
    classes = tuple(np.asarray(estimator.classes_).tolist())
    first = models[0]
    if any(model.alpha.ndim != 1 for model in models):
        raise _unlike("estimators with several outputs", "estimators with one output", "fit binary "
                                                                                       "estimators")
    if any(model.kernel != first.kernel or not np.array_equal(model.scales, first.scales)
           for model in models):
        raise _unlike("estimators with different kernels or scales", "one kernel for all classes",
                      "set gamma to a number, and scale the columns before OneVsRestClassifier")
    if len(models) == 1:
        return TrainedModel(first.kernel, first.vectors, first.alpha, first.bias, classes, first.scale)
    vectors, places = np.unique(np.concatenate([model.vectors for model in models]), axis=0,
                                return_inverse=True)
    alpha, start = np.zeros((len(vectors), len(models))), 0
    for column, model in enumerate(models):
        np.add.at(alpha[:, column], places.ravel()[start:start + len(model.alpha)], model.alpha)
        start += len(model.alpha)
    bias = np.array([model.bias for model in models], dtype=np.float64)
    return TrainedModel(first.kernel, vectors, alpha, bias, classes, first.scale, decision=ARGMAX)


def _unlike(value: str, allowed: str, remedy: str) -> Exception:
    return fail("E273", "the estimators of a OneVsRestClassifier cannot be exported together",
                where="OneVsRestClassifier", value=value, allowed=allowed, remedy=remedy)
