"""Streams with 16-bit samples, on which all methods are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from itertools import islice

import numpy as np

from ...sim._arrays import Raw
from ...sim.data.builtin import equalisation
from ...sim.data.windows import latest_first
from ..drift_data import words as gas_sensor
from ..papers.common import Array
from ..streams.tasks import FIRST, ecg
from .series import lorenz, mackey_glass, narma

#: Seeds that parameters are chosen on, and that are reported; samples of a stream made by a formula.
CHOSEN_ON, REPORTED, SAMPLES = (1001, 1002, 1003), tuple(range(20)), 3000
#: Samples before errors count; largest raw value; room for larger samples than those seen.
SETTLED, FULL_SCALE, ROOM = 1000, 32767, 1.15


@dataclass(frozen=True)
class Source:
    """Definition of a stream, before its samples are rounded to integers.

    Parameters
    ----------
    make : callable
        ``make(seed)`` returns x (m, D) and y (m,).
    lagged : bool
        Whether the columns are a window of one signal. If so, they share one scale.
    counted : callable
        ``counted(m)`` returns a mask of the samples that count in the error.
    """

    make: Callable[[int], tuple[Array, Array]]
    lagged: bool = True
    counted: Callable[[int], Array] = lambda m: np.arange(m) >= SETTLED


@dataclass(frozen=True)
class Samples:
    """Samples of a stream in time order.

    Parameters
    ----------
    name : str
    seed : int
    X : ndarray of float64, shape (m, D)
    y : ndarray of float64, shape (m,)
        Targets. Their mean is 0 and their standard deviation 1 on the realisations for selecting parameters.
    x_raw, y_raw : ndarray of int64, of the same shapes
        The samples as 16-bit integers. X and y are their exact real values.
    gains : ndarray of shape (D + 1,)
        The value of 1 LSB in each column of X and in y.
    unit : float
        The value of 1 in y, in the unit of the stream.
    counted : ndarray of bool, shape (m,)
        Mask of the samples that count in the error.
    """

    name: str
    seed: int
    X: Array
    y: Array
    x_raw: Raw
    y_raw: Raw
    gains: Array
    unit: float
    counted: Array

    def error(self, f: Array) -> float:
        """Return the mean squared error of counted samples, divided by the variance of y."""
        with np.errstate(all="ignore"):
            found = float(np.mean((self.y - f)[self.counted] ** 2) / np.var(self.y[self.counted]))
        return found if np.isfinite(found) else np.inf


# ---- the sources ----
def _windows(signal: Array, columns: int) -> tuple[Array, Array]:
    rows = latest_first(signal, columns + 1)
    return rows[:, 1:].astype(float), rows[:, 0].astype(float)


def _channel(seed: int) -> tuple[Array, Array]:
    return equalisation(SAMPLES, 5, seed)


def _changing(seed: int) -> tuple[Array, Array]:
    return equalisation(SAMPLES, 5, seed, np.where(np.arange(SAMPLES + 4) < SAMPLES // 2, 0.5, -0.5))


def _around_the_change(m: int) -> Array:
    at = np.arange(m)
    return ((at >= m // 2 - 500) & (at < m // 2)) | (at >= m - 500)


def part_of(signal: Array, seed: int, length: int) -> Array:
    """Return a part of a recording, for selecting parameters or for the results.

    Parts of the first third are for selecting parameters.
    """
    first = len(signal) // 3
    start = (seed - CHOSEN_ON[0]) * (first - length) // 2
    if seed not in CHOSEN_ON:
        start = first + seed * ((len(signal) - first - length) // (len(REPORTED) - 1))
    return signal[start:start + length]


@cache
def _heart() -> Array:
    return np.asarray(ecg(1, differences=False).y_raw, dtype=float) - FIRST


def _laser(seed: int) -> tuple[Array, Array]:
    with files("reservoirpy").joinpath("datasets/santafe_laser.npy").open("rb") as stream:
        return _windows(part_of(np.load(stream).ravel().astype(float), seed, SAMPLES), 10)


def _sensor(seed: int) -> tuple[Array, Array]:
    found = gas_sensor(seed + 100).astype(float)
    return found[:, :2], found[:, 2]


def _river(stream: Callable[[int], object]) -> Callable[[int], tuple[Array, Array]]:
    def make(seed: int) -> tuple[Array, Array]:
        rows = list(islice(iter(stream(seed)), SAMPLES))  # type: ignore[call-overload]
        y = np.array([float(target) for _, target in rows])
        return np.array([list(x.values()) for x, _ in rows], dtype=float), y
    return make


def _friedman(seed: int) -> object:
    synth = import_module("river.datasets.synth")
    return synth.FriedmanDrift("gra", (SAMPLES // 2, 2 * SAMPLES // 3), 200, seed=seed)


def _hyperplane(seed: int) -> object:
    synth = import_module("river.datasets.synth")
    return synth.Hyperplane(seed=seed, n_features=10, n_drift_features=4, mag_change=0.003)


def _clusters(seed: int) -> object:
    synth = import_module("river.datasets.synth")
    return synth.RandomRBFDrift(seed_model=seed, seed_sample=seed, n_features=10, n_centroids=20,
                                change_speed=0.001, n_drift_centroids=20)


#: All streams by name.
SOURCES: dict[str, Source] = {
    "equaliser": Source(_channel), "changing channel": Source(_changing, counted=_around_the_change),
    "ECG": Source(lambda seed: _windows(part_of(_heart(), seed, 4000), 8)),
    "ECG differences": Source(lambda seed: _windows(np.diff(part_of(_heart(), seed, 4000)), 4)),
    "gas sensor": Source(_sensor, lagged=False),
    "Mackey-Glass": Source(lambda seed: _windows(mackey_glass(SAMPLES, seed), 10)),
    "Lorenz": Source(lambda seed: _windows(lorenz(SAMPLES, seed), 6)),
    "laser": Source(_laser),
    "NARMA": Source(lambda seed: narma(SAMPLES, seed)),
    "Friedman drift": Source(_river(_friedman), lagged=False),
    "hyperplane": Source(_river(_hyperplane), lagged=False),
    "moving clusters": Source(_river(_clusters), lagged=False)}


# ---- 16-bit samples ----
@cache
def _scale(name: str) -> tuple[Array, Array, Array]:
    """Return the mean, the deviation and the range of each column; y is the last one.

    They are computed from the realisations for selecting parameters.
    """
    seen = np.vstack([np.column_stack(SOURCES[name].make(seed)) for seed in CHOSEN_ON])
    mean, deviation = seen.mean(axis=0), seen.std(axis=0)
    most = np.abs(seen - mean).max(axis=0)
    if SOURCES[name].lagged:
        mean[:-1], deviation[:-1], most[:-1] = mean[0], deviation[0], most[:-1].max()
    return mean, np.where(deviation > 0, deviation, 1.0), np.where(most > 0, most, 1.0)


@lru_cache(64)
def samples(name: str, seed: int) -> Samples:
    """Return a realisation of a stream."""
    source, (mean, deviation, most) = SOURCES[name], _scale(name)
    steps = ROOM * most / FULL_SCALE
    found = np.rint((np.column_stack(source.make(seed)) - mean) / steps)
    raw = np.clip(found, -FULL_SCALE - 1, FULL_SCALE).astype(np.int64)
    gains = steps / deviation
    values = raw * gains
    (X, y), (x_raw, y_raw) = ((each[:, :-1].copy(), each[:, -1].copy()) for each in (values, raw))
    return Samples(name, seed, X, y, x_raw, y_raw, gains, float(deviation[-1]), source.counted(len(raw)))
