"""sim.interop: compare predictions with the original estimator."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.raw import Words
from ..diagnostics.classes import labels_of
from ..plan import Plan
from ..planner.warnings import MAX_RELATIVE_GAP

#: Largest number of samples compared; from more samples, evenly spaced ones.
_MAX_SAMPLES = 512


class Gap(NamedTuple):
    """Gap between two sets of predictions.

    Attributes
    ----------
    share : float
        Largest difference between two predictions, relative to the range of the predictions.
    labels : int
        Number of samples with different labels.
    """

    share: float
    labels: int

    @property
    def is_small(self) -> bool:
        """Return whether the gap is small enough for the plan to replace the estimator."""
        return self.share <= MAX_RELATIVE_GAP and self.labels == 0


def prediction_gap(plan: Plan, x_raw: Words, f: NDArray[np.float64]) -> Gap:
    """Compare the predictions and labels of a plan and of the estimator.

    Parameters
    ----------
    plan : Plan
        Plan of a model trained elsewhere.
    x_raw : ndarray of int64, shape (m, D)
        The samples as ADC counts.
    f : ndarray of float64, shape (m,) or (m, C)
        The estimator's predictions for the samples, in units of y.

    Returns
    -------
    Gap
        `share` is ``max|f_model - f| / (max f - min f)``; if all f are equal, the divisor is ``max|f|``.
    """
    from ..model import open_model  # not at import: it loads the engine

    at = np.unique(np.linspace(0, len(f) - 1, _MAX_SAMPLES).astype(np.int64))
    labels = 0
    if plan.decision:
        labels = int((open_model(plan).predict(x_raw)["label"] != labels_of(plan, f)).sum())
    words = open_model(plan).predict(x_raw[at])["f"]
    difference = np.abs(words * float(Fraction(plan.units["y"])) - f[at]).max()
    size = np.ptp(f[at]) or np.abs(f[at]).max()
    return Gap(float(difference / size) if size else 0.0, labels)
