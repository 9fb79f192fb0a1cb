"""The kernel RLS tracker (KRLS-T) in float64, to compare the accuracy.

S. Van Vaerenbergh, M. Lazaro-Gredilla, I. Santamaria, "Kernel Recursive Least-Squares Tracker for
Time-Varying Regression", IEEE Trans. Neural Networks and Learning Systems 23(8), 2012.
"""

from __future__ import annotations

import numpy as np

from ....sim.jit import jit
from ...papers.common import Array
from ..streams import Samples
from . import FORGETTING, WIDTHS, Method

CENTERS, JITTER = 50, 1e-6


@jit
def _drop(a: Array, i: int, count: int) -> None:
    """Remove row i and column i from the leading (count, count) block, in place."""
    for r in range(count):
        for c in range(i, count - 1):
            a[r, c] = a[r, c + 1]
    for r in range(i, count - 1):
        for c in range(count - 1):
            a[r, c] = a[r + 1, c]


@jit
def _tracker(X: Array, y: Array, sigma: float, forgetting: float, noise: float, K: Array, Q: Array,
             S: Array, mean: Array, centers: Array, vectors: Array, f: Array) -> None:
    """Learn by KRLS-T.

    The mean and the covariance S of f at the centers decay towards the prior. Q is the inverse of the kernel
    matrix K.
    """
    count, columns = 0, X.shape[1]
    k, q, h = vectors[0], vectors[1], vectors[2]
    for m in range(X.shape[0]):
        for i in range(count):
            mean[i] *= np.sqrt(forgetting)
            for j in range(count):
                S[i, j] = forgetting * S[i, j] + (1.0 - forgetting) * K[i, j]
            d2 = 0.0
            for d in range(columns):
                d2 += (X[m, d] - centers[i, d])**2
            k[i] = np.exp(-0.5 * d2 / sigma**2)
        gamma, variance = 1.0 + JITTER, 0.0
        for i in range(count):
            q[i] = 0.0
            for j in range(count):
                q[i] += Q[i, j] * k[j]
            f[m] += q[i] * mean[i]
            gamma -= q[i] * k[i]
        for i in range(count):
            h[i] = 0.0
            for j in range(count):
                h[i] += S[i, j] * q[j]
            variance += q[i] * h[i]
        gamma = max(gamma, 0.0)
        h[count], q[count], k[count] = gamma + variance, -1.0, 1.0 + JITTER
        total = noise + h[count]
        step = (y[m] - f[m]) / total
        mean[count] = f[m]
        for i in range(count + 1):
            mean[i] += h[i] * step
            S[i, count] = S[count, i] = h[i]
            K[i, count] = K[count, i] = k[i]
        for i in range(count + 1):
            for j in range(count + 1):
                S[i, j] -= h[i] * h[j] / total
        if gamma < JITTER:
            continue  # the new center is that of others
        for d in range(columns):
            centers[count, d] = X[m, d]
        for i in range(count + 1):
            Q[i, count] = Q[count, i] = 0.0
        for i in range(count + 1):
            for j in range(count + 1):
                Q[i, j] += q[i] * q[j] / gamma
        count += 1
        if count <= CENTERS:
            continue
        least, gone = np.inf, 0
        for i in range(count):
            loss = 0.0
            for j in range(count):
                loss += Q[i, j] * mean[j]
            loss = (loss / Q[i, i])**2
            if loss < least:
                least, gone = loss, i
        for i in range(count):
            q[i] = Q[i, gone]
        for i in range(count):
            for j in range(count):
                Q[i, j] -= q[i] * q[j] / q[gone]
        for a in (Q, S, K):
            _drop(a, gone, count)
        for i in range(gone, count - 1):
            mean[i] = mean[i + 1]
            for d in range(columns):
                centers[i, d] = centers[i + 1, d]
        count -= 1


def _run(_: Samples, samples: Samples, sigma: float, forgetting: float, noise: float) -> Array:
    size, f = CENTERS + 2, np.zeros(len(samples.y))
    _tracker(samples.X, samples.y, sigma, forgetting, noise, *(np.zeros((size, size)) for _ in range(3)),
             np.zeros(size), np.zeros((size, samples.X.shape[1])), np.zeros((3, size)), f)
    return f


METHODS = [Method("KRLS-T, 50, float64", _run, {"forgetting": 0.999, "noise": 1e-2}, ("sigma", WIDTHS),
                  {"forgetting": (*FORGETTING[2:], 1.0), "noise": (1e-4, 1e-2, 1e-1)})]
