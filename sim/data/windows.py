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
