"""sim.model: record the minimum, the maximum and the saturations of every signal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..jit import jit
from ..plan import Plan
from ..primitives import Words, requantise, saturate
from ..replay.trace import Trace
from .trace_hooks import Log, begin, finish

#: Signals that are logged, in the order of the log's rows.
LOGGED = ("x", "y", "f", "kernel", "r", "a", "xi", "eps", "innov", "alpha", "distance", "p", "q", "s",
          "accumulator", "z")
X, Y, F, KERNEL, R, A, XI, EPS, INNOV, ALPHA, DISTANCE, P, Q, S, ACCUMULATOR, Z = range(len(LOGGED))

#: Log without a trace, for code that is compiled once, with its hooks.
NULL_LOG = Log(np.zeros((len(LOGGED), 3), dtype=np.int64), begin(0))

_EMPTY_LO, _EMPTY_HI = (1 << 62), -(1 << 62)


@jit
def record(log: Log, signal: int, word: int) -> None:
    """Extend the recorded range of `signal` to include `word`."""
    ranges = log.ranges
    if word < ranges[signal, 0]:
        ranges[signal, 0] = word
    if word > ranges[signal, 1]:
        ranges[signal, 1] = word


@jit
def record_row(log: Log, signal: int, words: Words, count: int) -> None:
    """Apply :func:`record` to the first `count` values."""
    least, most = log.ranges[signal, 0], log.ranges[signal, 1]
    for i in range(count):
        least, most = min(least, words[i]), max(most, words[i])
    log.ranges[signal, 0], log.ranges[signal, 1] = least, most


@jit
def record_all(log: Log, signal: int, least: int, most: int, lost: int, lo: int, hi: int) -> None:
    """Record all values of a loop at once.

    `least` and `most` are the minimum and the maximum before saturation to the range from lo to hi; `lost` is
    the number of saturated values.
    """
    record(log, signal, saturate(least, lo, hi))
    record(log, signal, saturate(most, lo, hi))
    log.ranges[signal, 2] += lost


@jit
def cast(v: int, s: int, rounding: int, lo: int, hi: int, log: Log, signal: int) -> int:
    """Apply the primitive `requantise` and record the result.

    Return the value and whether it saturated.
    """
    word = requantise(v, s, rounding, lo, hi)
    record(log, signal, word)
    if word in (lo, hi) and word != requantise(v, s, rounding, -(1 << 62), 1 << 62):
        log.ranges[signal, 2] += 1
    return word


@jit
def fit(v: int, lo: int, hi: int, log: Log, signal: int) -> int:
    """Apply the primitive `saturate` and record the result."""
    word = saturate(v, lo, hi)
    record(log, signal, word)
    if word != v:
        log.ranges[signal, 2] += 1
    return word


@dataclass(frozen=True)
class Range:
    """Observed range of one signal.

    Parameters
    ----------
    name, format : str
    lo, hi : int
        Smallest and largest value.
    headroom_bits : int
        Number of bits below the sign that the largest magnitude does not use.
    saturated : int
        Number of casts that saturated, or that wrapped if the plan requests wrapping.
    """

    name: str
    format: str
    lo: int
    hi: int
    headroom_bits: int
    saturated: int


class Ranges:
    """Recorded ranges of one model, with one row per signal of :data:`LOGGED`."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._ranges: Words = np.zeros((len(LOGGED), 3), dtype=np.int64)
        self.log: Log = Log(self._ranges, None)
        self.clear()

    def clear(self) -> None:
        """Delete all recorded ranges."""
        self._ranges[:, 0], self._ranges[:, 1], self._ranges[:, 2] = _EMPTY_LO, _EMPTY_HI, 0

    def trace(self, limit: int) -> Trace:
        """Return the trace; hooks write into this log.

        See :class:`~kerncast.sim.replay.trace.TracedBackend`.
        """
        found = finish(self.log.trace)
        self.log = Log(self._ranges, begin(limit))
        return found

    def _row(self, name: str) -> Words:
        row: Words = self._ranges[LOGGED.index(name)]
        return row

    def lowest(self, name: str) -> float:
        """Return the smallest value of a signal in its unit; 0 if it has none."""
        row, fmt = self._row(name), self._plan.signals[name].format
        return float(fmt.value(int(row[0]))) if row[0] <= row[1] else 0.0

    def highest(self, name: str) -> float:
        """Return the largest value of a signal in its unit; 0 if it has none."""
        row, fmt = self._row(name), self._plan.signals[name].format
        return float(fmt.value(int(row[1]))) if row[0] <= row[1] else 0.0

    def __iter__(self) -> Iterator[Range]:
        for name in LOGGED:
            lo, hi, saturated = (int(w) for w in self._row(name))
            if lo > hi or name not in self._plan.signals:
                continue
            fmt = self._plan.signals[name].format
            used = max(lo ^ (lo >> 63), hi ^ (hi >> 63)).bit_length()
            spare = fmt.bits - fmt.signed - used
            yield Range(name, str(fmt), lo, hi, spare, saturated)
