"""sim.model.online: leverage and novelty of a sample, bit-exact with the device.

:mod:`...planner.online.novelty` states why every value fits 32 bits.
"""

from __future__ import annotations

from typing import NamedTuple

from ...choices import RESIDUAL_FRAC
from ...jit import jit
from ...plan import Plan
from ...primitives import Words, arithmetic_shift, bit_length
from .. import trace_hooks as at
from ..trace_hooks import Log, trace
from .coordinate import input_scale, largest, power_above, subtract_column

_LEVERAGE_HI = (1 << 31) - 1
_NARROW_BITS = 30  # of a residual and of its changes
_SCALE = RESIDUAL_FRAC - 15  # of a feature


class NoveltyConstants(NamedTuple):
    """Integers of the plan; `steps` is 0 if it has no novelty.

    A step of 2^up increases the bound in units of 2^(up + exp) LSB. Rounding changes an entry of
    R by less than `rounded` LSB.
    """

    steps: int
    threshold: int
    release: int
    exp: int
    drift_samples: int
    rounded: int


@jit
def largest_magnitude(residual: Words) -> int:
    """Return the largest magnitude of the entries."""
    magnitude = 0
    for i in range(residual.shape[0]):
        magnitude = max(magnitude, abs(residual[i]))
    return magnitude


@jit
def leverage_of(r: Words, phi: Words, residual: Words, first: int, c: NoveltyConstants, log: Log) -> int:
    """Return a lower bound of ``phi' R^-1 phi``, by descent on ``R v = phi``.

    Parameters
    ----------
    r : ndarray of int64
        The upper triangle of R, row by row.
    phi : ndarray of int64, shape (P,)
    residual : ndarray of int64, shape (P,)
        Workspace.
    first : int
        Index of the first input; residuals of inputs count more, as in :func:`input_scale`.
    c : NoveltyConstants
    log : Log
    """
    order, base, max_diagonal, total = phi.shape[0], 0, 0, 0
    for i in range(order):
        residual[i] = phi[i] << _SCALE
        max_diagonal = max(max_diagonal, r[base])
        base += order - i
    scale, bits = input_scale(r, order, first), bit_length(max_diagonal + c.rounded)
    for _ in range(c.steps):
        i = largest(residual, first, scale)
        size, diagonal = abs(residual[i]), r[i * order - i * (i - 1) // 2]
        if size == 0 or diagonal <= 0 or largest_magnitude(residual) >> _NARROW_BITS:
            break
        column = (bit_length(diagonal + c.rounded) + bits + 1) // 2 + 1  # bits of every R_ij
        up = min(power_above(size, diagonal), _NARROW_BITS - column)
        if up < -32:
            break
        trace(log, at.LEVERAGE_STEP, 0, i, up)
        gain = 2 * size - arithmetic_shift(diagonal, -up)
        gain = _LEVERAGE_HI if up + c.exp > 31 else arithmetic_shift(gain, -up - c.exp)
        total = min(total + gain, _LEVERAGE_HI)
        sign = 1 if residual[i] > 0 else -1
        subtract_column(residual, r, i, sign << max(up, 0), max(-up, 0))
    return total


@jit
def is_novel(novel: int, leverage: int, c: NoveltyConstants) -> int:
    """Return 1 if a sample is novel; `novel` is the flag of the previous sample."""
    return 1 if leverage >= (c.release if novel != 0 else c.threshold) else 0


@jit
def set_novelty(novel: Words, drift: Words, count: Words, leverage: int, c: NoveltyConstants) -> None:
    """Set the flags, each of shape (1,), from the leverage of a sample."""
    novel[0] = is_novel(novel[0], leverage, c)
    if novel[0] != 0:
        count[0] = min(count[0] + 1, c.drift_samples)
    else:
        count[0] = max(count[0] - 1, 0)
    if count[0] == c.drift_samples:
        drift[0] = 1
    elif count[0] == 0:
        drift[0] = 0


def novelty_constants(plan: Plan) -> NoveltyConstants:
    """Return the plan's integers; all 0 if it has no novelty."""
    if not plan.novelty:
        return NoveltyConstants(0, 0, 0, 0, 0, 0)
    steps, threshold, release, exp, samples = (plan.integer(name) for name in (
        "novelty_steps", "novelty", "novelty_release", "novelty_exp", "drift_samples"))
    return NoveltyConstants(steps, threshold, release, exp, samples, rounding_bound(plan))


def rounding_bound(plan: Plan) -> int:
    """Return a bound on the effect of rounding on an entry of R, in LSB.

    It is 2 / (1 - lambda), rounded up.
    """
    return -(-2 * 2**32 // plan.integer("rls_fading"))
