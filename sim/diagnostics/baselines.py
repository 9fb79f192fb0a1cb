"""sim.diagnostics: simple baselines with which a model is compared.

The baselines do not use a kernel. Each one uses the training samples and the held-out samples of the model.
The Savitzky-Golay filter uses the window length and the polynomial order that give the smallest held-out
error. The linear model of a stream uses the better of two forgetting factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from .held_out import HeldOut, Judged

#: Lengths and orders of the Savitzky-Golay filters that are tried.
FILTER = "Savitzky-Golay filter"
WINDOWS = (3, 5, 7, 9, 11, 13, 15, 17, 21, 25, 31, 41, 51, 71, 101)
ORDERS = (1, 2, 4, 6)
#: A linear stream is fitted again after each of 200 blocks; its samples fade by one of the factors.
_REFITS, _FADING = 200, (1.0, 0.9)
_RIDGE = 1e-6


@dataclass(frozen=True)
class Baseline:
    """Predictions of one baseline for the held-out samples.

    Attributes
    ----------
    name : str
        Name to print, such as "mean".
    f : ndarray of float64, shape (k,)
        Predictions for the samples of :class:`.HeldOut`, in units of y.
    """

    name: str
    f: Array


def baselines(found: HeldOut, lagged: bool, measure: Callable[[Array], float]) -> list[Baseline]:
    """Compute the baselines for held-out samples.

    Parameters
    ----------
    found : HeldOut
        The held-out samples and the model's predictions for them.
    lagged : bool
        Whether the inputs are previous samples of one signal, in order of time.
    measure : callable
        Function that returns the error of predictions of shape (k,). The parameters of a baseline are those
        with the smallest error.
    """
    simple = [Baseline("majority class" if found.classes else "mean", _constant(found))]
    if found.judged is Judged.CLEAN:
        simple.append(Baseline("noisy samples", found.y_train))
    if found.judged in (Judged.CLEAN, Judged.LEFT_OUT):
        filters = list(_filters(found))
        return [*simple, min(filters, key=lambda each: measure(each.f))] if filters else simple
    if not found.classes and (lagged or found.judged is Judged.AHEAD):
        simple.append(Baseline("previous sample", _previous(found)))
    return [*simple, min((Baseline("linear model", f) for f in _linear(found)),
                         key=lambda each: measure(each.f))]


def _common(y: Array, classes: bool) -> float:
    """Return the mean of the targets, or the most frequent class if they are classes."""
    if not classes:
        return float(np.mean(y))
    values, counts = np.unique(y, return_counts=True)
    return float(values[np.argmax(counts)])


def _constant(found: HeldOut) -> Array:
    """Predict the mean of the training samples, or their majority class."""
    y = found.y_train
    if found.judged is Judged.LEFT_OUT and not found.classes:
        return np.asarray((y.sum() - y) / max(len(y) - 1, 1))
    if found.judged is Judged.AHEAD and not found.classes:
        before = np.cumsum(y) / np.arange(1, len(y) + 1)
        return np.asarray(before[max(found.first - 1, 0):][:len(found.y)])
    f = np.full(len(found.y), _common(y[:found.first or None], found.classes))
    for fold in found.folds:
        f[fold] = _common(np.delete(y, fold), found.classes)
    return f


def _previous(found: HeldOut) -> Array:
    """Predict that each target equals the previous one."""
    before = found.y_train[-1] if found.judged is Judged.TEST else found.y_train[max(found.first - 1, 0)]
    return np.concatenate(([before], found.y[:-1]))


# ---- filters ----
def _filters(found: HeldOut) -> Iterator[Baseline]:
    y, left_out = found.y_train, found.judged is Judged.LEFT_OUT
    for window in WINDOWS:
        for order in ORDERS:
            if order < window - 1 and window <= len(y):
                yield Baseline(f"{FILTER}, {window} points, order {order}",
                               savitzky_golay(y, window, order, left_out=left_out))


def savitzky_golay(y: Array, window: int, order: int, *, left_out: bool = False) -> Array:
    """Smooth a signal with a Savitzky-Golay filter.

    The filter fits a polynomial to the window around each sample, and evaluates it at the sample. Near the
    ends of the signal, the samples use the polynomial of the first or the last full window.

    Parameters
    ----------
    y : ndarray of shape (n,)
        The signal.
    window : int
        Length of the window: an odd number of samples, at most n.
    order : int
        Degree of the polynomial, below window - 1.
    left_out : bool
        Whether the polynomial for a sample is fitted without that sample.

    References
    ----------
    A. Savitzky and M. J. E. Golay, "Smoothing and Differentiation of Data by Simplified Least Squares
    Procedures", Analytical Chemistry 36 (8), 1964.
    """
    half = window // 2
    V = np.vander(np.arange(-half, half + 1) / half, order + 1)
    hat = V @ np.linalg.pinv(V)
    f = np.concatenate(((hat @ y[:window])[:half],
                        np.lib.stride_tricks.sliding_window_view(y, window) @ hat[half],
                        (hat @ y[-window:])[half + 1:]))
    if not left_out:
        return f
    own = np.full(len(y), hat[half, half])
    own[:half], own[len(y) - half:] = np.diagonal(hat)[:half], np.diagonal(hat)[half + 1:]
    return np.asarray(y - (y - f) / (1 - own))


# ---- linear models ----
def _linear(found: HeldOut) -> Iterator[Array]:
    """Yield the predictions of linear models of the inputs.

    If the targets are labels, there is one output per class, and the prediction is the class with the largest
    output.
    """
    labels = np.arange(found.labels)
    y = np.where(found.y_train[:, None] == labels, 1.0, -1.0) if found.labels else found.y_train
    for f in _linear_outputs(found, y):
        yield np.argmax(f, axis=1).astype(np.float64) if found.labels else f


def _linear_outputs(found: HeldOut, y: Array) -> Iterator[Array]:
    """Fit linear models to targets (m,) or (m, C); yield their outputs (k,) or (k, C)."""
    scale = np.std(found.X_train, axis=0)
    scale[scale == 0] = 1.0
    centre = np.mean(found.X_train, axis=0)
    train, at = (_with_one((X - centre) / scale) for X in (found.X_train, found.X))
    if found.judged is Judged.AHEAD:
        yield from (_streamed(train, y, fading)[found.first:] for fading in _FADING)
    elif found.folds:
        f = np.zeros((len(found.y), *y.shape[1:]))
        for fold in found.folds:
            f[fold] = at[fold] @ _fitted(np.delete(train, fold, axis=0), np.delete(y, fold, axis=0))
        yield f
    else:
        yield at @ _fitted(train, y)


def _with_one(X: Array) -> Array:
    return np.hstack([np.ones((len(X), 1)), X])


def _solved(G: Array, b: Array) -> Array:
    """Solve the normal equations ``G w = b`` with a small ridge term."""
    return np.asarray(np.linalg.solve(G + _RIDGE * (1 + np.trace(G) / len(G)) * np.eye(len(G)), b))


def _fitted(A: Array, y: Array) -> Array:
    return _solved(A.T @ A, A.T @ y)


def _streamed(A: Array, y: Array, fading: float) -> Array:
    """Predict each block of a stream with a linear model of all previous blocks.

    At each block, the weights of the previous ones are multiplied by `fading`.
    """
    G, b = np.zeros((A.shape[1], A.shape[1])), np.zeros((A.shape[1], *y.shape[1:]))
    f = np.zeros(y.shape)
    for rows in np.array_split(np.arange(len(y)), min(_REFITS, len(y))):
        f[rows] = A[rows] @ _solved(G, b)
        G = fading * G + A[rows].T @ A[rows]
        b = fading * b + A[rows].T @ y[rows]
    return f
