"""sim.model: correct a prediction using the last errors.

:mod:`...planner.online.last_errors` derives the formats.
"""

from __future__ import annotations

from ...jit import jit
from ...primitives import FLOOR, HALF_UP, divide, mac, requantise, saturate, shift_round
from .. import trace_hooks as at
from ..trace_hooks import Log, trace, trace_all
from .state import LmsConstants, LmsState

_HI = (1 << 31) - 1
_SUM_HI = (1 << 60) - 1  # of a sum of a gate


@jit
def bounded(total: int) -> int:
    """Return a gate's sum; it is clipped only if the state was overwritten."""
    return saturate(total, -_SUM_HI, _SUM_HI)


@jit
def in_range(error: int, c: LmsConstants) -> int:
    """Saturate an error, in ``2**-error_frac`` LSBs of y, to the range of f."""
    return saturate(error, c.f.lo << c.error_frac, c.f.hi << c.error_frac)


@jit
def has_errors(s: LmsState) -> bool:
    """Return whether the learner keeps its last errors."""
    return bool(s.error_past.shape[0] > 0)


@jit
def sum_of_errors(s: LmsState, c: LmsConstants) -> int:
    """Return the sum of ``error_w[i] e[i]``, the predicted error before its gate."""
    acc = 0
    for i in range(s.error_past.shape[0]):
        acc = mac(acc, s.error_w[i], in_range(s.error_past[i], c), c.error_shift)
    return in_range(shift_round(acc, c.error_sum_shift, HALF_UP), c)


@jit
def correct(s: LmsState, fine: int, c: LmsConstants, log: Log) -> int:
    """Return a prediction in LSBs of y, from one with `error_frac` more bits.

    The predicted error is added, scaled by g = P / Q from 0 to 1.
    """
    part = sum_of_errors(s, c)
    product, power = bounded(s.error_sums[0]), bounded(s.error_sums[1])
    if product <= 0:
        part = 0
    elif product < power:
        q, e = divide(product, power)
        part = requantise(q * part, min(31 - e, 62), HALF_UP, c.f.lo << c.error_frac,
                          c.f.hi << c.error_frac)
    trace(log, at.ERROR_PART, 0, 0, part)
    return shift_round(fine + part, c.error_frac, HALF_UP)


@jit
def learn_error(s: LmsState, error: int, c: LmsConstants, log: Log) -> None:
    """Learn an error, in ``2**-error_frac`` LSBs of y, by normalised LMS."""
    order = s.error_past.shape[0]
    error, part = in_range(error, c), sum_of_errors(s, c)
    for i in range(2):
        acc = bounded(s.error_sums[i])
        s.error_sums[i] = mac(acc - shift_round(acc, c.error_window, FLOOR), error if i == 0 else part,
                              part, c.error_shift)
    power = 1
    for i in range(order):
        past = in_range(s.error_past[i], c)
        power = mac(power, past, past, c.error_shift)
    q, e = divide(error - part, power)
    shift = min(c.error_step_shift - e, 62)
    for i in range(order):
        step = requantise(q * in_range(s.error_past[i], c), shift, HALF_UP, -_HI, _HI)
        s.error_w[i] = saturate(s.error_w[i] + step, -_HI, _HI)
    for i in range(order - 1, 0, -1):
        s.error_past[i] = s.error_past[i - 1]
    s.error_past[0] = error
    trace_all(log, at.ERROR_W, 0, s.error_w, 0, order)
    trace_all(log, at.ERROR_PAST, 0, s.error_past, 0, order)
    trace_all(log, at.ERROR_SUMS, 0, s.error_sums, 0, 2)
