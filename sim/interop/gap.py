"""sim.interop: the gap between fixed-point predictions and the estimator's own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..data.raw import Words
from ..plan import Plan

#: Largest number of samples compared; from more samples, evenly spaced ones.
_MAX_SAMPLES = 512


def prediction_gap(plan: Plan, x_raw: Words, f: NDArray[np.float64]) -> float:
    """Return the largest prediction error of a plan.

    It is relative to the range of the predictions.

    Parameters
    ----------
    plan : Plan
        Of a model trained elsewhere.
    x_raw : ndarray of int64, shape (m, D)
        The samples as ADC counts.
    f : ndarray of float64, shape (m,)
        The estimator's predictions for them, in units of y.

    Returns
    -------
    float
        ``max|f_model - f| / (max f - min f)``; divided by ``max|f|`` if all f are equal.
    """
    from ..model import open_model  # not at import: it loads the engine

    at = np.unique(np.linspace(0, len(f) - 1, _MAX_SAMPLES).astype(np.int64))
    words = open_model(plan).predict(x_raw[at])["f"]
    difference = np.abs(words * float(Fraction(plan.units["y"])) - f[at]).max()
    size = np.ptp(f[at]) or np.abs(f[at]).max()
    return float(difference / size) if size else 0.0
