"""sim.model: float32 operations that several algorithms share.

Every operation is rounded to float32, in the order in which it is written, as in firmware/rt/kc_f32.h.
"""

from __future__ import annotations

import numpy as np

from .._arrays import Floats as Floats
from ..choices import FLOAT32_FRAC
from ..jit import jit
from ..plan import Plan

ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
#: What leaves :func:`clip` at most; so a :func:`fixed` of it is below 2**61.
LIMIT = np.float32(2.0**20)
_FIXED = np.float32(2.0**FLOAT32_FRAC)
# 2**-r = p(r) for |r| <= 1/2, the best polynomial of degree 6 with p(0) = 1: its relative error is below
# 2e-9, with roundings below 1e-7.  Over 2**31, so that a whole power of two may be multiplied up to it.
_C0, _C1, _C2, _C3, _C4, _C5, _C6 = (np.float32(float.fromhex(c) * 2.0**-31) for c in (
    "0x1.000000p+0", "-0x1.62e430p-1", "0x1.ebfbdcp-3", "-0x1.c6aee8p-5", "0x1.3b2d4ep-7", "-0x1.5f3e54p-10",
    "0x1.41fbacp-13"))


@jit
def fabs(v: np.float32) -> np.float32:
    """Return |v|."""
    return -v if v < ZERO else v


@jit
def fmax(a: np.float32, b: np.float32) -> np.float32:
    """Return the larger of two numbers; `a` if b is a NaN."""
    return b if b > a else a


@jit
def max_abs(v: Floats, count: int) -> np.float32:
    """Return the largest magnitude; NaNs are ignored."""
    peak = ZERO
    for i in range(count):
        peak = fmax(peak, fabs(v[i]))
    return peak


@jit
def norm1(v: Floats, count: int) -> np.float32:
    """Return the sum of magnitudes; NaN if one of them is NaN."""
    acc = ZERO
    for i in range(count):
        acc += fabs(v[i])
    return acc


@jit
def clip(v: np.float32, limit: np.float32) -> np.float32:
    """Limit v to [-limit, limit]."""
    if v > limit:
        return limit
    return -limit if v < -limit else v


@jit
def exp2(t: np.float32) -> np.float32:
    """Compute ``2**-t`` for 0 <= t < 31; the result is exactly 1 for t = 0."""
    n = int(t + HALF)
    r = t - np.float32(n)
    v = _C6 * r + _C5
    v = v * r + _C4
    v = v * r + _C3
    v = v * r + _C2
    v = v * r + _C1
    v = v * r + _C0
    return v * np.float32(1 << (31 - n))


@jit
def fixed(v: np.float32) -> int:
    """Clip v to LIMIT and round it toward zero to steps of 2**-FLOAT32_FRAC."""
    return int(clip(v, LIMIT) * _FIXED)


def real(plan: Plan, name: str) -> np.float32:
    """Return the float32 value whose bits are stored in a constant of the plan."""
    return np.float32(np.uint32(plan.integer(name)).view(np.float32))
