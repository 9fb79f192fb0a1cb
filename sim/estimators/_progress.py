"""sim.estimators: how far a learner has come, and how fast, for those who wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_EVERY = 1.0  # seconds


class Progress:
    """Tells samples passed and samples per second on stderr, once a second and at the end.

    Parameters
    ----------
    name : str
        Who learns.
    total : int
        Samples to come.
    clock : callable
        Seconds, from anywhere.
    """

    def __init__(self, name: str, total: int, clock: Callable[[], float] = time.perf_counter) -> None:
        self._name, self._total, self._clock = name, total, clock
        self._passed = 0
        self._start = self._told = clock()

    def passed(self, samples: int, count: int) -> None:
        """So many samples more were learned; `count` vectors are held now."""
        self._passed += samples
        now = self._clock()
        if now - self._told < _EVERY and self._passed < self._total:
            return
        self._told = now
        rate = self._passed / max(now - self._start, 1e-9)
        print(f"{self._name}: {self._passed:,} of {self._total:,} samples, {rate:,.0f} samples/s, "
              f"N = {count}", file=sys.stderr, flush=True)
