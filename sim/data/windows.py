"""sim.data: form windows of a sampled signal, as the delay line of a device does."""

from __future__ import annotations

import numpy as np

from .._arrays import Words


def latest_first(signal: Words, length: int) -> Words:
    """Return every window of consecutive samples, with the latest sample first.

    Parameters
    ----------
    signal : ndarray of int64, shape (m,)
        The sampled signal.
    length : int
        Number of samples per window.

    Returns
    -------
    ndarray of int64, shape (max(m - length + 1, 0), length)
        One window per row.
    """
    if len(signal) < length:
        return np.zeros((0, length), dtype=np.int64)
    return np.lib.stride_tricks.sliding_window_view(signal, length)[:, ::-1]


def tapped(readings: Words, length: int, decimate: int = 1) -> Words:
    """Return the windows of a delay line.

    Parameters
    ----------
    readings : ndarray of int64, shape (m, channels)
        The readings of all channels, in ADC counts.
    length : int
        Number of samples in the delay line.
    decimate : int
        Readings per sample, a power of two. The sample is their mean, rounded half up.

    Returns
    -------
    ndarray of int64, shape (max(m // decimate - length + 1, 0), length * channels)
        One window per row, the latest sample first; the channels of a sample are adjacent.
    """
    count, channels = len(readings) // decimate, readings.shape[1]
    sums = readings[:count * decimate].reshape(count, decimate, channels).sum(axis=1)
    samples = (sums + decimate // 2) // decimate
    windows = np.stack([latest_first(samples[:, c], length) for c in range(channels)], axis=2)
    return windows.reshape(len(windows), length * channels)
