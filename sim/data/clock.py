"""sim.data: check whether sampling instants have a constant step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..errors import KerncastError, Problem, fail

#: Largest deviation of an instant from the grid, in steps: instants are often rounded.
MAX_DEVIATION = 0.25
# Steps that float64 counts exactly.
_MOST_STEPS = 2.0**52
#: How to fill missing samples of a signal, for messages.
FILL = ("fill gaps of one or two samples by linear interpolation, and longer ones with predictions "
        "(docs/measured/gaps.md)")
#: Minimum number of steps of a run that a message suggests.
_LEAST = 8


@dataclass(frozen=True)
class Clock:
    """Sampling instants, described as steps of a uniform grid.

    Parameters
    ----------
    step : float
        Sampling period, in seconds or in the unit of the column.
    jumps : ndarray of int64, shape (n - 1,)
        Number of steps from each sample to the next: 1 if there is no gap, 0 or less if the time does not
        increase.
    deviation : float
        Largest deviation of an instant from the grid, in steps.
    """

    step: float
    jumps: NDArray[np.int64]
    deviation: float

    @property
    def increases(self) -> bool:
        """Return whether each instant is later than the previous one."""
        return bool((self.jumps >= 1).all())

    @property
    def even(self) -> bool:
        """Return whether all instants lie on the grid, possibly with gaps."""
        return self.increases and self.deviation <= MAX_DEVIATION

    @property
    def lost(self) -> int:
        """Return the number of samples that are missing in gaps."""
        return int((self.jumps - 1).sum())

    def refuse_uneven(self, time: Array, place: Callable[[int], str], first: int, name: str) -> None:
        """Raise E259 if an instant is not on the grid, and E251 if there are gaps.

        Parameters
        ----------
        time : ndarray of float64, shape (n,)
            The instants of this clock.
        place : callable
            Function that returns the place of sample i in the file.
        first : int
            Index of the first row that is used, counted from 0.
        name : str
            Name of the time column, for the remedy.
        """
        if len(time) < 2:
            return  # too few samples, which E247 reports
        if not self.even:
            steps = np.diff(time)
            usual = float(np.median(steps))
            what, wrong = "do not always increase", steps <= 0
            if not wrong.any():
                what = "do not have a constant step"
                wrong = (np.abs(steps - usual) > MAX_DEVIATION * usual if self.increases else
                         self.jumps < 1)
            bad = int(np.argmax(wrong))
            start, end = even_stretch(time, usual, np.ones(len(time), dtype=bool))
            raise fail("E259", f"the sampling instants {what}", where=place(bad + 1),
                       value=f"a step of {steps[bad]:.6g}; the usual one is {usual:.6g}",
                       allowed=f"a constant step; each instant may deviate by at most {MAX_DEVIATION} steps",
                       remedy=(f"use the longest run with a constant step: {_rows(first, start, end)}; "
                               if end - start >= _LEAST else "")
                       + "sort the file by time; or resample it; or, to fit nonuniformly sampled data, pass "
                       f"the time as an input: --algorithm kernel_cg --inputs \"{name}\"")
        gaps = np.flatnonzero(self.jumps > 1)
        if not len(gaps):
            return
        start, end = longest_run(self.jumps == 1)
        raise KerncastError([Problem(
            "E251", f"{self.lost:,} samples are missing in {len(gaps):,} gaps of the time column",
            place(int(gaps[0]) + 1), f"a jump of {int(self.jumps[gaps[0]])} steps of {self.step:.6g}",
            "a constant step", f"{FILL}, or use the longest run without a gap: {_rows(first, start, end)}")])


def _rows(first: int, start: int, end: int) -> str:
    """Return a text with the option and the key that select samples `start` to `end`."""
    rows = f"{first + start + 1}..{first + end + 1}"
    return f"--rows {rows} with kerncast init, or rows = \"{rows}\" in [data]"


def even_stretch(time: Array, step: float, present: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the first and the last sample of a long run with a constant step.

    The run contains no samples for which `present` is false.
    """
    if not step > 0:  # NaN too
        return 0, 0
    near = np.abs(np.diff(time) / step - 1) <= MAX_DEVIATION
    start, end = longest_run(near & present[:-1] & present[1:])
    while end > start:
        clock = read_clock(time[start:end + 1])
        if clock.even and not clock.lost:
            break
        end -= max(1, (end - start) // 8)  # small deviations add up
    return start, end


@np.errstate(over="ignore", invalid="ignore")
def read_clock(time: Array) -> Clock:
    """Determine the step and the gaps of sampling instants (n,).

    If the instants contain NaN, or too many steps for float64, the result is a clock that does not increase.
    """
    jumps = np.diff(time)
    step = float(np.median(jumps)) if len(jumps) and np.isfinite(jumps).all() else 0.0
    steps = np.rint(jumps / step) if step > 0 else jumps
    if step <= 0 or not np.abs(steps).sum() < _MOST_STEPS:
        return Clock(1.0, np.zeros(len(jumps), dtype=np.int64), float("inf"))
    counted = steps.astype(np.int64)
    grid = np.concatenate([[0], np.cumsum(counted)])
    if grid[-1] > 0:
        step = float((time[-1] - time[0]) / grid[-1])
    deviation = float(np.abs((time - time[0]) / step - grid).max())
    return Clock(step, counted, deviation)


def longest_run(good: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the start and the end of the longest run of True; if tied, of the first."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(np.int8), [0]])))
    if not len(edges):
        return 0, 0
    starts, ends = edges[::2], edges[1::2]
    best = int(np.argmax(ends - starts))
    return int(starts[best]), int(ends[best])
