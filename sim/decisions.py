"""sim: convert the outputs of a prediction to a class label and its margin.

A label is the index of a class; the number of classes, used as a label, means *unknown*. The outputs are
integers of the device, or real numbers of the float reference.

===============  ===================================  ==========================================  ==========
decision         outputs                              label                                       margin
===============  ===================================  ==========================================  ==========
sign             one                                  1 if f > 0, else 0                          ``|f|``
argmax           one per class                        largest output; if tied, lowest label       see below
vote             one per pair of classes, i < j       most votes; if tied, lowest label           see below
vote_confidence  one per pair of classes, i < j       most votes; if tied, largest sum            see below
===============  ===================================  ==========================================  ==========

The margin of argmax is the difference between the largest and the second largest output.

The output of a pair i < j is a vote for i if it is above 0, otherwise a vote for j, as in C.-C. Chang and
C.-J. Lin, "LIBSVM: A Library for Support Vector Machines" (2011). With vote_confidence, an output of 0 is a
vote for i, as in scikit-learn's decision function of shape ovr, and ties are decided by the sum of the
outputs in favour of a class. The margin of a vote is the smallest output in favour of the chosen class, over
all of its pairs; it is negative if one of the pairs votes against this class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Array, Words
from .choices import ARGMAX, SIGN, VOTE_CONFIDENCE


def pair_slots(classes: int) -> Words:
    """Return the indices of the outputs to which a center of each class contributes.

    The result has shape (classes, classes - 1). Column c of row i is the index of the output for the pair of
    class i and the c-th of the other classes.
    """
    pairs = {pair: at for at, pair in enumerate(
        (i, j) for i in range(classes) for j in range(i + 1, classes))}
    return np.array([[pairs[min(i, j), max(i, j)] for j in range(classes) if j != i]
                     for i in range(classes)], dtype=np.int64)


def spread(alpha: NDArray[Any], groups: tuple[int, ...]) -> NDArray[Any]:
    """Return the coefficients of all outputs, shape (N, C), including zeros.

    Parameters
    ----------
    alpha : ndarray, shape (N, classes - 1)
        One row per center, with the columns of :func:`pair_slots`.
    groups : tuple of int
        Number of centers of each class; empty if `alpha` has one column per output already, in which case it
        is returned unchanged.
    """
    if not groups:
        return alpha
    slots = pair_slots(len(groups))[np.repeat(np.arange(len(groups)), groups)]
    dense = np.zeros((len(alpha), len(groups) * (len(groups) - 1) // 2), dtype=alpha.dtype)
    np.put_along_axis(dense, slots, alpha, axis=1)
    return dense


def members(decision: str, labels: Words, classes: int) -> NDArray[np.bool_]:
    """Return a mask, shape (m, C), of the output that belongs to each sample's class.

    With decision sign, the only output belongs to the second class.
    """
    classes_of = np.array([1]) if decision == SIGN else np.arange(classes)
    return np.asarray(labels[:, np.newaxis] == classes_of)


def decide(decision: str, f: NDArray[Any], classes: int,
           min_margin: float | None = None) -> tuple[Words, NDArray[Any]]:
    """Convert outputs to labels (m,) and margins (m,).

    Parameters
    ----------
    decision : str
        One of :data:`.choices.DECISIONS`.
    f : ndarray, shape (m, C), or (m,) for one output
        The outputs.
    classes : int
        Number of classes.
    min_margin : float, optional
        Minimum margin, in units of f.  If the margin is smaller, the label is unknown.
    """
    rows = np.arange(len(f))
    if decision == SIGN:
        labels, margins = (f > 0).astype(np.int64), np.abs(f)
    elif decision == ARGMAX:
        labels = np.argmax(f, axis=1)
        others = np.where(np.arange(classes) == labels[:, None], np.iinfo(np.int64).min
                          if f.dtype.kind == "i" else -np.inf, f)
        margins = f[rows, labels] - others.max(axis=1)
    else:
        favour = _favour(f, classes)
        labels = _most_votes(favour, decision == VOTE_CONFIDENCE)
        margins = np.array([np.delete(favour[m, a], a).min() for m, a in enumerate(labels)], dtype=f.dtype)
    if min_margin is not None:
        labels = np.where(margins < min_margin, classes, labels)
    return labels.astype(np.int64), margins


def _favour(f: NDArray[Any], classes: int) -> NDArray[Any]:
    """Return the outputs in favour of class a against class b.

    The result has shape (m, classes, classes) with indices (sample, a, b). The diagonal, a = b, is 0.
    """
    first, second = np.triu_indices(classes, 1)
    favour = np.zeros((len(f), classes, classes), dtype=f.dtype)
    favour[:, first, second], favour[:, second, first] = f, -f
    return favour


def _most_votes(favour: NDArray[Any], confident: bool) -> Words:
    """Return the class with the most votes, shape (m,).

    `confident` selects the rules of vote_confidence for outputs of 0 and for ties.
    """
    classes = favour.shape[1]
    wins_at_0 = np.triu(np.ones((classes, classes), dtype=bool), 1) if confident else np.tril(
        np.ones((classes, classes), dtype=bool), -1)
    votes = np.where(wins_at_0, favour >= 0, favour > 0).sum(axis=2)
    if not confident:
        return np.asarray(np.argmax(votes, axis=1), dtype=np.int64)
    tied = votes == votes.max(axis=1, keepdims=True)
    sums = favour.sum(axis=2)
    lowest = np.iinfo(np.int64).min if favour.dtype.kind == "i" else -np.inf
    return np.asarray(np.argmax(np.where(tied, sums, lowest), axis=1), dtype=np.int64)


def recalls(confusion: Words) -> Array:
    """Return the recall of each class, shape (classes,).

    The recall of a class without samples is NaN.
    """
    counts = confusion.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.diag(confusion) / counts, dtype=np.float64)


def confusion_matrix(truth: Words, labels: Words, classes: int) -> Words:
    """Count the samples by true class and label; shape (classes, classes + 1).

    The last column counts unknown labels.
    """
    found = np.zeros((classes, classes + 1), dtype=np.int64)
    np.add.at(found, (truth, labels), 1)
    return found
