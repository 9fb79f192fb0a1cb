"""sim: the bundled data, taken from the packages that bring them; nothing is downloaded.

Noise and split come from ``random.Random(0).random()``, the one stream that Python promises never to
change, through additions and products only: the words are the same on every machine.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .errors import fail
from .formats import Format
from .packages import from_package
from .spec import Spec
from .spec_rules import BUILTIN_DIGITS_TRAINING

Words = NDArray[np.int64]

#: First sample of the default window of the ECG: 256 samples from here hold one whole beat.
ECG_START = 100
#: Standard deviation of the noise added to the ECG, in its own units (its range is -112 to 250).
ECG_NOISE = 10.0
SEED = 0
_PLACE = "[data] builtin"


@dataclass(frozen=True)
class BuiltinSamples:
    """Bundled samples as raw words; `x` is None for a signal on a uniform grid."""

    x: Words | None
    y: Words
    x_test: Words | None
    y_test: Words | None
    clean: NDArray[np.float64] | None
    title: str
    licence: str


def ecg(spec: Spec) -> BuiltinSamples:
    """A window of PyWavelets' ECG with noise added, as a sensor with [output] of the spec delivers it.

    The window has n samples (1,024 for algorithms without n) and begins at sample 100 where it fits,
    else as late as it can.  ``y = recording + noise``; the raw words are
    ``round(y / (gain 2^-frac)) + offset``.

    Returns
    -------
    BuiltinSamples
        `clean` is the recording in units of y, shape (n,).

    Raises
    ------
    KerncastError
        E246 where [output] word does not hold the signal; E501 without PyWavelets.
    """
    recording = ecg_recording(_PLACE)
    n = spec.samples or len(recording)
    start = min(ECG_START, len(recording) - n)
    clean = recording[start:start + n]
    word = Format.parse(spec.output.word)
    step = spec.output.gain * float(word.lsb)
    # rint of one division: correctly rounded operations only, so the same everywhere.
    raw = np.rint((clean + _noise(n)) / step) + spec.output.offset
    if raw.min() < word.lo or raw.max() > word.hi:
        raise fail("E246", "the ECG with its noise does not fit the raw word", where="[output] word",
                   value=f"{word}, words {raw.min():.0f} to {raw.max():.0f}",
                   allowed=f"{word.lo} to {word.hi}", remedy="raise [output] gain, or use a wider word")
    return BuiltinSamples(None, raw.astype(np.int64), None, None, clean,
                          f"ECG, pywt.data.ecg(), samples {start} to {start + n - 1}, noise of "
                          f"standard deviation {ECG_NOISE:g} added", "PyWavelets, MIT")


def _noise(count: int) -> NDArray[np.float64]:
    """Nearly normal noise: the sum of twelve uniform numbers has variance 1 (Irwin-Hall)."""
    source = random.Random(SEED)
    return np.array([ECG_NOISE * (sum(source.random() for _ in range(12)) - 6.0) for _ in range(count)])


def digits(_: Spec) -> BuiltinSamples:
    """Handwritten digits 3 (target -1) and 8 (target +1) of scikit-learn, 8 x 8 pixels of 0 to 16.

    A fixed shuffle of the 357 samples splits them into 250 for training, in the order presented, and
    107 for testing.

    Raises
    ------
    KerncastError
        E501 without scikit-learn.
    """
    pixels, label = handwritten_digits(_PLACE)
    chosen = np.flatnonzero((label == 3) | (label == 8))
    source = random.Random(SEED)
    keys = [source.random() for _ in chosen]
    order = chosen[sorted(range(len(chosen)), key=keys.__getitem__)]
    x, y = pixels[order].astype(np.int64), np.where(label[order] == 8, 1, -1).astype(np.int64)
    split = BUILTIN_DIGITS_TRAINING
    return BuiltinSamples(x[:split], y[:split], x[split:], y[split:], None,
                          "digits 3 (-1) and 8 (+1), sklearn.datasets.load_digits", "scikit-learn, BSD-3")


def ecg_recording(where: str) -> NDArray[np.float64]:
    """PyWavelets' ECG, shape (1024,); E501 without PyWavelets."""
    recording = from_package("pywt", "PyWavelets", lambda pywt: pywt.data.ecg(), where=where)
    return np.asarray(recording, dtype=np.float64)


def handwritten_digits(where: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """scikit-learn's digits, shape (1797, 64), and their labels, shape (1797,); E501 without scikit-learn."""
    pixels, label = from_package("sklearn.datasets", "scikit-learn",
                                 lambda datasets: datasets.load_digits(return_X_y=True), where=where)
    return pixels, label
