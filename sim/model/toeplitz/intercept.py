"""sim.model: the intercept of the banded solver, a weighted mean of the targets.

``b = w'y`` with the weights of the plan (:mod:`...planner.toeplitz.intercept`); the solver and its bound then
use y - b, which fits the word length because b is limited.

PYTEST_DONT_REWRITE: see :mod:`...primitives`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...jit import jit
from ...primitives import Words, mac, shift_round
from .. import trace_hooks as at
from ..ranges import Y, fit
from ..trace_hooks import Log, trace


class InterceptConstants(NamedTuple):
    """Integers of the plan; `rounding` is that of y."""

    weight_shift: int
    intercept_shift: int
    intercept_lo: int
    intercept_hi: int
    rounding: int


@jit
def intercept(y: Words, place: int, weight: Words, k: InterceptConstants, log: Log) -> tuple[int, bool]:
    """Return b = w'y for y (n,) in LSB of y, and whether it was limited.

    `place` is the index of the output in the trace.
    """
    acc, n, last = 0, y.shape[0], weight.shape[0] - 1
    for i in range(n):
        acc = mac(acc, weight[min(i, n - 1 - i, last)], y[i], k.weight_shift)
    whole = shift_round(acc, k.intercept_shift, k.rounding)
    b = fit(whole, k.intercept_lo, k.intercept_hi, log, Y)
    trace(log, at.INTERCEPT_B, place, 0, b)
    return b, b != whole
