"""sim.interop: how far a predictor's words lie from what the estimator that it was made of predicts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..data.raw import Words
from ..plan import Plan

#: Samples that are compared; of more some, evenly.
_MOST = 512


def apart(plan: Plan, x_raw: Words, f: NDArray[np.float64]) -> float:
    """``max|f_words - f| / (max f - min f)`` of samples; over ``max|f|`` where all f are the same.

    Parameters
    ----------
    plan : Plan
        Of a model that was trained elsewhere.
    x_raw : ndarray of int64, shape (m, D)
        Raw words of the samples.
    f : ndarray of float64, shape (m,)
        What the estimator predicts for them, in units of y.
    """
    from ..model import open_model  # not at import: it loads the engine

    at = np.unique(np.linspace(0, len(f) - 1, _MOST).astype(np.int64))
    words = open_model(plan).predict(x_raw[at])["f"]
    difference = np.abs(words * float(Fraction(plan.units["y"])) - f[at]).max()
    size = np.ptp(f[at]) or np.abs(f[at]).max()
    return float(difference / size) if size else 0.0
