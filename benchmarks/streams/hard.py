"""Run the integer learner on twelve streams that are difficult to learn online.

``python -m kerncast.benchmarks.streams.hard`` prints two ratios for each stream: the one-step prediction
error divided by the standard deviation of the signal, and the largest prediction divided by the largest
sample. Linear RLS in float64 with a constant ridge is compared with 16-bit kernel LMS with quantisation and
a linear part.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...sim._arrays import Raw
from ...sim.data.windows import latest_first
from ...sim.model import open_model
from ...sim.planner import make_plan
from ...sim.reference.online.linear import SquareRootRLS
from ...sim.spec import Spec
from ..papers.common import Array
from .tasks import ecg

COLUMNS, LEVEL = 4, 800
RIDGE = 1e-3 * 2048**2
#: Samples of a stream before errors count.
SETTLED = 50


def _noise(samples: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(0.0, 1.0, samples)


def _sine(samples: int) -> Array:
    return LEVEL * np.sin(np.arange(samples) * 0.13)


def _flat(samples: int) -> Array:
    return 100.0 + (_noise(samples) > 1.5)


def _spikes(samples: int) -> Array:
    s = _sine(samples) / 8
    s[::61] *= 8
    return s


def _walk(samples: int) -> Array:
    return np.clip(np.cumsum(12 * _noise(samples)), -2000, 2000)


def _pause(samples: int) -> Array:
    s = _sine(samples) + 5 * _noise(samples)
    s[samples // 4: 3 * samples // 4] = 0
    return s


def _louder(samples: int) -> Array:
    return _sine(samples) * np.where(np.arange(samples) < samples // 2, 0.25, 2.0)


def _moving(samples: int) -> Array:
    return np.linspace(-1500, 1500, samples) + 100 * np.sin(np.arange(samples) * 0.3) + 30 * _noise(samples)


def _ecg_from(start: int) -> Callable[[int], Array]:
    return lambda samples: ecg(1, differences=False).y_raw[start:start + samples] - 1024.0


#: The streams, each a function of its length, in ADC counts.
STREAMS: dict[str, Callable[[int], Array]] = {
    "flat, one count of noise": _flat, "slow sine, no noise": _sine, "sine with spikes of 8": _spikes,
    "random walk": _walk, "a pause": _pause, "gain of 8 halfway": _louder,
    "unpredictable": lambda samples: 400 * _noise(samples),
    "constant": lambda samples: np.full(samples, 100.0),
    "moving level": _moving, "ECG from 0": _ecg_from(0), "ECG from 6,000": _ecg_from(6000),
    "ECG from 12,000": _ecg_from(12000)}


def windows(signal: Array, columns: int = COLUMNS) -> tuple[Raw, Raw]:
    """Return windows of a signal, latest sample first, and the next samples.

    Both are in ADC counts.
    """
    counts = np.clip(np.rint(signal), -2048, 2047).astype(np.int64)
    rows = latest_first(counts, columns + 1)
    return rows[:, 1:], rows[:, 0]


def spec(budget: int = 100) -> Spec:
    """Return the spec of the learner, with the same parameters for all streams."""
    return Spec(model={"name": "hard", "algorithm": "kernel_lms"}, kernel={"sigma": float(LEVEL)},
                input={"word": "s12f0", "columns": COLUMNS}, output={"word": "s12f0"},
                online={"budget": budget, "eta": 0.2, "reduction": "nt", "quantise": 0.8, "linear": "rls",
                        "linear_ridge": RIDGE})


def learned(signal: Array, budget: int = 100) -> tuple[Array, Array]:
    """Return the predictions before each update and the samples, in ADC counts."""
    plan = make_plan(spec(budget))
    x, y = windows(signal)
    return open_model(plan).update(x, y)["f"] * float(Fraction(plan.units["y"])), y.astype(float)


def scores(f: Array, y: Array) -> tuple[float, float]:
    """Return the relative error after convergence, and relative maximum prediction."""
    error = float(np.sqrt(np.mean((y - f)[SETTLED:] ** 2)))
    return error / max(float(np.std(y)), 1.0), float(np.abs(f).max() / np.abs(y).max())


def main() -> None:
    """Print the table of all streams."""
    print("| stream | linear RLS: error, largest | kernel LMS, 16 bits |\n|---|--:|--:|")
    for title, stream in STREAMS.items():
        signal = stream(6000)
        x, y = windows(signal)
        linear, theirs = SquareRootRLS(COLUMNS, (), 0.999, RIDGE), np.zeros(len(y))
        for m, (row, target) in enumerate(zip(x.astype(float), y, strict=True)):
            theirs[m] = linear.predict(row)
            linear.learn(row, target)
        cells = ["{:.3g}, {:.3g}".format(*scores(*pair)) for pair in ((theirs, y), learned(signal))]
        print(f"| {title} | {cells[0]} | {cells[1]} |", flush=True)


if __name__ == "__main__":
    main()
