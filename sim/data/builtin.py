"""sim.data: read the bundled data sets without a download.

The data are contained in installed packages. The noise, and the split into training and test samples, are
computed from ``random.Random(0).random()``, whose sequence Python guarantees. The computation uses only
additions and products, so the resulting integers are the same on every machine.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._arrays import Words
from .._optional import from_package
from ..errors import fail
from ..formats import Format
from ..spec import Spec
from ..spec.rules import BUILTIN_DIGITS_TRAINING, BUILTIN_EQUALISER_SAMPLES, BUILTIN_TEN_DIGITS_TRAINING

#: First sample of the default window of the ECG: 256 samples from here hold one whole beat.
ECG_START = 100
#: Standard deviation of the noise added to the ECG, in its own units (its range is -112 to 250).
ECG_NOISE = 10.0
SEED = 0
#: Standard deviation of the noise that the channel of the equaliser adds.
CHANNEL_NOISE = 0.4
_PLACE = "[data] builtin"


@dataclass(frozen=True)
class BuiltinSamples:
    """Bundled samples as ADC counts; `x` is None if the inputs are a uniform grid."""

    x: Words | None
    y: Words
    x_test: Words | None
    y_test: Words | None
    clean: NDArray[np.float64] | None
    title: str
    licence: str


def ecg(spec: Spec) -> BuiltinSamples:
    """Return a window of PyWavelets' ECG with noise added, as ADC counts of [output].

    The window contains n samples (1,024 if the algorithm has no n). It begins at sample 100, or earlier if n
    is too large. The signal is ``y = recording + noise``, and its ADC counts are ``round(y / (gain 2^-frac))
    + offset``.

    Returns
    -------
    BuiltinSamples
        `clean` is the recording in units of y, shape (n,).

    Raises
    ------
    KerncastError
        E246 if the signal exceeds the range of [output] word; E501 if PyWavelets is not installed.
    """
    recording = ecg_recording(_PLACE)
    n = spec.samples or len(recording)
    start = min(ECG_START, len(recording) - n)
    clean = recording[start:start + n]
    word = spec.output.format
    raw = _raw(clean + ECG_NOISE * nearly_normal(n), word, spec.output.offset, spec.output.gain)
    if raw.min() < word.lo or raw.max() > word.hi:
        raise fail("E246", "the ECG with its noise does not fit the ADC format", where="[output] word",
                   value=f"{word}, words {raw.min():.0f} to {raw.max():.0f}",
                   allowed=f"{word.lo} to {word.hi}", remedy="raise `gain` in [output], or use a wider "
                                                             "format")
    return BuiltinSamples(None, raw.astype(np.int64), None, None, clean,
                          f"ECG, pywt.data.ecg(), samples {start} to {start + n - 1}, noise of "
                          f"standard deviation {ECG_NOISE:g} added", "PyWavelets, MIT")


def _raw(values: NDArray[np.float64], word: Format, offset: int, gain: float) -> NDArray[np.float64]:
    """Convert values to the nearest ADC counts.

    All operations are correctly rounded, so the result is the same on every machine.
    """
    words: NDArray[np.float64] = np.rint(values / (gain * float(word.lsb))) + offset
    return words


def nearly_normal(count: int, seed: int = SEED) -> NDArray[np.float64]:
    """Return pseudorandom numbers that are approximately normal, with variance 1.

    Each is the sum of twelve uniform numbers (Irwin-Hall distribution), minus its mean.
    """
    source = random.Random(seed)
    return np.array([sum(source.random() for _ in range(12)) - 6.0 for _ in range(count)])


def digits(spec: Spec) -> BuiltinSamples:
    """Return scikit-learn's handwritten digits 3 and 8, or all ten classes.

    The images have 8 x 8 pixels from 0 to 16. The target of a 3 is -1, and that of an 8 is +1. A fixed
    permutation divides the 357 samples into 250 for training and 107 for testing. If the spec lists classes,
    the data are all 1,797 samples of the ten digits, of which 1,000 are for training, and the targets are
    class labels.

    Raises
    ------
    KerncastError
        E501 if scikit-learn is not installed.
    """
    pixels, label = handwritten_digits(_PLACE)
    ten = spec.output.classes is not None
    chosen = np.arange(len(label)) if ten else np.flatnonzero((label == 3) | (label == 8))
    source = random.Random(SEED)
    keys = [source.random() for _ in chosen]
    order = chosen[sorted(range(len(chosen)), key=keys.__getitem__)]
    x = pixels[order].astype(np.int64)
    y = (label[order] if ten else np.where(label[order] == 8, 1, -1)).astype(np.int64)
    split = BUILTIN_TEN_DIGITS_TRAINING if ten else BUILTIN_DIGITS_TRAINING
    what = "digits 0 to 9" if ten else "digits 3 (-1) and 8 (+1)"
    return BuiltinSamples(x[:split], y[:split], x[split:], y[split:], None,
                          f"{what}, sklearn.datasets.load_digits", "scikit-learn, BSD-3")


def equaliser(spec: Spec) -> BuiltinSamples:
    """Return windows of a received signal, and the transmitted symbols, as ADC counts.

    :func:`equalisation` describes the signal. The first thousand windows are for training, and the next
    thousand for testing.

    Raises
    ------
    KerncastError
        E246 if the received signal exceeds the range of [input] word.
    """
    columns, word, count = spec.input.columns, spec.input.format, BUILTIN_EQUALISER_SAMPLES
    x, y = equalisation(2 * count, columns)
    raw = np.stack([_raw(x[:, c], word, offset, gain) for c, (offset, gain)
                    in enumerate(zip(spec.input.offsets, spec.input.gains, strict=True))], axis=1)
    if raw.min() < word.lo or raw.max() > word.hi:
        raise fail("E246", "the received signal does not fit the ADC format", where="[input] word",
                   value=f"{word}, words {raw.min():.0f} to {raw.max():.0f}",
                   allowed=f"{word.lo} to {word.hi}", remedy="use s12f8, or another gain and offset")
    words, symbols = raw.astype(np.int64), y.astype(np.int64)
    return BuiltinSamples(words[:count], symbols[:count], words[count:], symbols[count:], None,
                          f"symbols after a nonlinear channel, noise of standard deviation {CHANNEL_NOISE:g}",
                          "made by kerncast")


def equalisation(count: int, columns: int, seed: int = SEED, echo: float | NDArray[np.float64] = 0.5
                 ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Simulate a nonlinear channel; return received windows and transmitted symbols.

    Binary symbols s pass through a linear channel, ``z_i = s_i + echo s_(i-1)``, and a memoryless
    nonlinearity with additive noise, ``r_i = z_i - 0.9 z_i^2 + n_i``. The target of the window ``(r_i, ...,
    r_(i+columns-1))`` is the symbol in its middle, ``s_(i + columns // 2)``.

    Parameters
    ----------
    count : int
        Number of windows.
    columns : int
        Number of received samples per window.
    seed : int
        Seed of the symbols and the noise.
    echo : float or ndarray of shape (count + columns - 1,)
        Coefficient of the echo: one value, or one per received sample for a channel that drifts.

    Returns
    -------
    X : ndarray of shape (count, columns)
        The windows.
    y : ndarray of shape (count,)
        The symbols, which are -1 or 1.

    References
    ----------
    W. Liu, P. P. Pokharel, J. C. Principe, "The Kernel Least-Mean-Square Algorithm", IEEE Trans. Signal
    Processing 56 (2), 2008, section on nonlinear channel equalisation, which uses five columns, a delay of 2
    samples, and noise with a standard deviation of 0.4.
    """
    received = count + columns - 1
    source = random.Random(seed + 1)
    s = np.array([1.0 if source.random() < 0.5 else -1.0 for _ in range(received + 1)])
    z = s[1:] + echo * s[:-1]
    r = z - 0.9 * z * z + CHANNEL_NOISE * nearly_normal(received, seed)
    middle = columns // 2
    return np.lib.stride_tricks.sliding_window_view(r, columns), s[1 + middle:1 + middle + count]


def ecg_recording(where: str) -> NDArray[np.float64]:
    """Return the ECG of PyWavelets, shape (1024,); raise E501 if it is not installed."""
    recording = from_package("pywt", "PyWavelets", lambda pywt: pywt.data.ecg(), where=where)
    return np.asarray(recording, dtype=np.float64)


def handwritten_digits(where: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return scikit-learn's images of digits (1797, 64) and their labels (1797,)."""
    pixels, label = from_package("sklearn.datasets", "scikit-learn",
                                 lambda datasets: datasets.load_digits(return_X_y=True), where=where)
    return pixels, label
