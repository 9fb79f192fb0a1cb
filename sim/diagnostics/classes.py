"""sim.diagnostics: labels, accuracy, recall and confusion matrix of a classifier."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Raw, Words
from ..backend import Outputs
from ..choices import SIGN
from ..decisions import confusion_matrix, decide, recalls
from ..plan import Plan

#: Name of the label for a margin below [output] min_margin.
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Classes:
    """Predicted labels of a classifier, as indices into the class names.

    Parameters
    ----------
    names : tuple of str
        Class names in the order of the labels; the label `len(names)` means unknown.
    labels, labels_float : ndarray of int64, shape (m,)
        Labels that the integer model and the float reference predict.
    margins : ndarray of float64, shape (m,)
        Margins of the integer model's labels, in units of y; see :mod:`~kerncast.sim.decisions`.
    truth : ndarray of int64, shape (m,), or None
        True classes, if the data have them.
    own : tuple
        Class labels of an exported estimator, which can be of any type; empty for other models.
    """

    names: tuple[str, ...]
    labels: Words
    labels_float: Words
    margins: Array
    truth: Words | None = None
    own: tuple[Any, ...] = ()

    @property
    def confusion(self) -> Words:
        """Return the confusion matrix, of shape (classes, classes + 1).

        Rows are true classes and columns are predicted labels; the last column is the label unknown.
        """
        assert self.truth is not None
        return confusion_matrix(self.truth, self.labels, len(self.names))

    @property
    def accuracy(self) -> float:
        """Return the fraction of correct labels; NaN if there are no samples."""
        assert self.truth is not None
        return float(np.mean(self.labels == self.truth)) if len(self.truth) else float("nan")

    @property
    def majority(self) -> float:
        """Return the share of the most frequent true class; NaN if there are no samples."""
        counts = self.confusion.sum(axis=1)
        return float(counts.max() / counts.sum()) if counts.sum() else float("nan")

    @property
    def recall(self) -> Array:
        """Return the recall of each class, shape (classes,)."""
        return recalls(self.confusion)

    @property
    def differing(self) -> int:
        """Return the number of samples that the float reference labels differently."""
        return int((self.labels != self.labels_float).sum())

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the column names of the confusion matrix.

        The column for unknown is included only if a label is unknown.
        """
        some_unknown = bool((self.labels == len(self.names)).any())
        return (*self.names, UNKNOWN)[:len(self.names) + some_unknown]

    @property
    def named(self) -> list[str]:
        """Return the class name of each predicted label."""
        every = (*self.names, UNKNOWN)
        return [every[label] for label in self.labels]

    @property
    def original(self) -> NDArray[Any]:
        """Return the class label of the exported estimator for each predicted label.

        A label without a class becomes :data:`UNKNOWN`.
        """
        own = self.own or self.names
        if (self.labels < len(own)).all():
            return np.array(own)[self.labels]
        return np.array([*own, UNKNOWN], dtype=object)[self.labels]

    def as_dict(self) -> dict[str, Any]:
        """Return the results as a dictionary for ``--json``."""
        found: dict[str, Any] = {"names": list(self.names), "differing": self.differing}
        if self.truth is None:
            return found
        recall = {name: None if np.isnan(part) else float(part)
                  for name, part in zip(self.names, self.recall, strict=True)}
        return {**found, "accuracy": self.accuracy, "majority": self.majority, "recall": recall,
                "confusion": self.confusion.tolist()}


def classify(plan: Plan, answers: Outputs, f: Array, f_float: Array) -> Classes | None:
    """Return the predicted classes of a classifier; None for a regression model."""
    names = plan.class_names
    if not names:
        return None
    decided, margins = decided_by(plan, f)
    labels = answers.get("label", decided)
    own = tuple(plan.evidence["trained"]["classes"]) if plan.fixed else ()
    return Classes(names, labels, labels_of(plan, f_float), np.asarray(margins), own=own)


def labels_of(plan: Plan, f: Array) -> Words:
    """Convert predictions in units of y to labels (m,)."""
    return decided_by(plan, f)[0]


def decided_by(plan: Plan, f: Array) -> tuple[Words, NDArray[Any]]:
    """Convert predictions in units of y to labels (m,) and their margins (m,)."""
    least = float(plan.options["min_margin"]) if "min_margin" in plan.options else None
    return decide(plan.decision or SIGN, f, len(plan.class_names), least)


def with_truth(plan: Plan, classes: Classes | None, y_raw: Raw | None) -> Classes | None:
    """Add the true classes, taken from the targets `y_raw`.

    The targets are labels. If the device decides by the sign of its output, a target above the offset of y
    means class 1, and any other target means class 0.
    """
    if classes is None or y_raw is None or len(y_raw) != len(classes.labels):
        return classes
    truth = y_raw if plan.decision else (y_raw > plan.integer("y_offset")).astype(np.int64)
    return replace(classes, truth=truth)
