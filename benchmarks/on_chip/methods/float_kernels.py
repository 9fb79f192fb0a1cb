"""Kernel learners in float64: QKLMS, and RLS with random features."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ....sim.jit import jit
from ....sim.reference.online.kernel_rls import random_directions
from ...papers.common import Array
from ..streams import Samples
from . import FORGETTING, RIDGES, WIDTHS, Method
from .linear import run_rls

CENTERS, FEATURES, NEAR = 100, 100, 0.8


@jit
def _qklms(X: Array, y: Array, sigma: float, eta: float, centers: Array, alpha: Array, k: Array,
           f: Array) -> None:
    """Learn by quantised kernel LMS.

    If the dictionary is full, the center with the smallest coefficient is evicted.
    """
    count = 0
    for m in range(X.shape[0]):
        nearest, slot = 0, count
        for i in range(count):
            d2 = 0.0
            for d in range(X.shape[1]):
                d2 += (X[m, d] - centers[i, d])**2
            k[i] = np.exp(-0.5 * d2 / sigma**2)
            f[m] += alpha[i] * k[i]
            nearest = i if k[i] > k[nearest] else nearest
        step = eta * (y[m] - f[m])
        if count > 0 and k[nearest] >= NEAR:
            alpha[nearest] += step
            continue
        if count == alpha.shape[0]:
            slot = 0
            for i in range(count):
                slot = i if abs(alpha[i]) < abs(alpha[slot]) else slot
        else:
            count += 1
        alpha[slot] = step
        for d in range(X.shape[1]):
            centers[slot, d] = X[m, d]


def _run_qklms(_: Samples, samples: Samples, sigma: float, eta: float) -> Array:
    f = np.zeros(len(samples.y))
    _qklms(samples.X, samples.y, sigma, eta, np.zeros((CENTERS, samples.X.shape[1])), np.zeros(CENTERS),
           np.zeros(CENTERS), f)
    return f


@lru_cache(4)
def _directions(columns: int) -> tuple[Array, Array]:
    return random_directions(columns, FEATURES, 0)


def _run_features(_: Samples, samples: Samples, sigma: float, forgetting: float, ridge: float) -> Array:
    directions, phases = _directions(samples.X.shape[1])
    cosines = np.sqrt(2.0 / FEATURES) * np.cos(samples.X @ directions.T / sigma + phases)
    columns = np.column_stack([samples.X / sigma, np.ones(len(samples.y)), cosines])
    return run_rls(columns, samples.y, forgetting, ridge)


METHODS = [
    Method("QKLMS, float64", _run_qklms, {"eta": 0.2}, ("sigma", WIDTHS), {"eta": (0.1, 0.2, 0.4)}),
    Method("RLS in random features, float64", _run_features, {"forgetting": 0.999, "ridge": 1e-3},
           ("sigma", WIDTHS), {"forgetting": FORGETTING, "ridge": RIDGES})]
