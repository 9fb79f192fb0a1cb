"""sim.model: a stream of fitted values, one symmetric FIR filter of the samples.

Away from the edges of a long record, ``y - lambda alpha`` is the same weighted sum of 2 L + 1 samples.  The
value of a sample follows L samples later.  There is none until 2 L + 1 samples arrived after the start: at
the edges of a record the trainer is not this filter.
"""

from __future__ import annotations

import numpy as np

from ...jit import jit
from ...primitives import Words, shift_round
from ..kernel import Cast, into_word
from ..ranges import F
from ..statuses import OK, PENDING, SATURATED
from ..trace_hooks import Log


@jit
def _round_all(sums: Words, shift: int, c: Cast, f: Words, status: Words, first: int, log: Log) -> None:
    """Cast exact sums to f from index `first` on."""
    for i in range(sums.shape[0]):
        f[first + i], beyond = into_word(shift_round(sums[i], shift, c.rounding), c, log, F)
        status[first + i] = SATURATED if beyond else OK


def stream(y: Words, taps: Words, shift: int, c: Cast, log: Log) -> tuple[Words, Words]:
    """Return statuses and values (m,) after each of m samples y of a new stream.

    Parameters
    ----------
    y : ndarray of int64, shape (m,)
    taps : ndarray of int64, shape (2 L + 1,)
    shift : int
        Fraction bits of the taps; the plan proves that every sum of products fits 63 bits.
    c : Cast
    log : Log
    """
    f, status = np.zeros(len(y), dtype=np.int64), np.full(len(y), PENDING, dtype=np.int64)
    if len(y) >= len(taps):
        sums = np.convolve(y, taps, "valid")  # int64: exact
        _round_all(sums, shift, c, f, status, len(taps) - 1, log)
    return status, f
