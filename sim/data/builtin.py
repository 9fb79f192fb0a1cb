"""sim.data: the bundled data sets, from installed packages; nothing is downloaded.

Noise and split are computed from ``random.Random(0).random()``, whose sequence Python guarantees, with
additions and products only, so the integers are the same on every machine.
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
    """Bundled samples as ADC counts; `x` is None for a signal on a uniform grid."""

    x: Words | None
    y: Words
    x_test: Words | None
    y_test: Words | None
    clean: NDArray[np.float64] | None
    title: str
    licence: str


def ecg(spec: Spec) -> BuiltinSamples:
    """Return a window of PyWavelets' ECG with noise added, as ADC counts of [output].

    The window has n samples (1,024 for algorithms without n) and begins at sample 100 if it fits,
    else as late as possible.  ``y = recording + noise``; the ADC counts are
    ``round(y / (gain 2^-frac)) + offset``.

    Returns
    -------
    BuiltinSamples
        `clean` is the recording in units of y, shape (n,).

    Raises
    ------
    KerncastError
        E246 if the signal exceeds the range of [output] word; E501 without PyWavelets.
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
                   allowed=f"{word.lo} to {word.hi}", remedy="raise gain in [output], or use a wider format")
    return BuiltinSamples(None, raw.astype(np.int64), None, None, clean,
                          f"ECG, pywt.data.ecg(), samples {start} to {start + n - 1}, noise of "
                          f"standard deviation {ECG_NOISE:g} added", "PyWavelets, MIT")


def _raw(values: NDArray[np.float64], word: Format, offset: int, gain: float) -> NDArray[np.float64]:
    """Round to the nearest ADC counts.

    All operations are correctly rounded, so the result is equal on every machine.
    """
    words: NDArray[np.float64] = np.rint(values / (gain * float(word.lsb))) + offset
    return words


def nearly_normal(count: int, seed: int = SEED) -> NDArray[np.float64]:
    """Return approximately normal numbers.

    Sums of twelve uniform numbers have variance 1 (Irwin-Hall distribution).
    """
    source = random.Random(seed)
    return np.array([sum(source.random() for _ in range(12)) - 6.0 for _ in range(count)])


def digits(spec: Spec) -> BuiltinSamples:
    """Return scikit-learn's handwritten digits 3 and 8, or all ten classes.

    The target of a 3 is -1, that of an 8 is +1.  Images have 8 x 8 pixels from 0 to 16.  A fixed shuffle of
    the 357 samples splits them into 250 for training, in the order of presentation, and 107 for testing.  If
    the spec lists classes, it splits the 1,797 samples of all digits into 1,000 and 797; the targets are
    then labels.

    Raises
    ------
    KerncastError
        E501 without scikit-learn.
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
    """Return windows of a distorted signal and their symbols as ADC counts.

    The signal is that of :func:`equalisation`. The first thousand windows are for training, the next thousand
    for testing.

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
    """Return windows of a received signal, and the symbol in the middle of each.

    Binary symbols s pass through a linear channel, ``z_i = s_i + echo s_(i-1)``, a memoryless nonlinearity
    and noise: ``r_i = z_i - 0.9 z_i^2 + n_i``.  The target of the window ``(r_i, ..., r_(i+columns-1))``
    is ``s_(i + columns // 2)``.

    Parameters
    ----------
    count : int
        Number of windows.
    columns : int
        Received samples per window.
    seed : int
    echo : float or ndarray of shape (count + columns - 1,)
        One value, or one per received sample for a channel that drifts.

    Returns
    -------
    X : ndarray of shape (count, columns)
    y : ndarray of shape (count,)
        -1 and 1.

    References
    ----------
    W. Liu, P. P. Pokharel, J. C. Principe, "The Kernel Least-Mean-Square Algorithm", IEEE Trans. Signal
    Processing 56 (2), 2008, section on nonlinear channel equalisation: five columns, delay 2, noise of
    standard deviation 0.4.
    """
    received = count + columns - 1
    source = random.Random(seed + 1)
    s = np.array([1.0 if source.random() < 0.5 else -1.0 for _ in range(received + 1)])
    z = s[1:] + echo * s[:-1]
    r = z - 0.9 * z * z + CHANNEL_NOISE * nearly_normal(received, seed)
    middle = columns // 2
    return np.lib.stride_tricks.sliding_window_view(r, columns), s[1 + middle:1 + middle + count]


def ecg_recording(where: str) -> NDArray[np.float64]:
    """Return PyWavelets' ECG, shape (1024,); raise E501 without PyWavelets."""
    recording = from_package("pywt", "PyWavelets", lambda pywt: pywt.data.ecg(), where=where)
    return np.asarray(recording, dtype=np.float64)


def handwritten_digits(where: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return scikit-learn's digits, shape (1797, 64), and their labels, shape (1797,)."""
    pixels, label = from_package("sklearn.datasets", "scikit-learn",
                                 lambda datasets: datasets.load_digits(return_X_y=True), where=where)
    return pixels, label
