"""sim.model: input words, exact distances and the Gaussian kernel in integers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine import jit
from ..plan import Plan
from ..primitives import Words, exp2_16, exp2_32, mul_shift, square_diff
from .ranges import KERNEL, X, Y, cast, record


class Cast(NamedTuple):
    """Rounding and range of a cast."""

    rounding: int
    lo: int
    hi: int


class KernelConstants(NamedTuple):
    """The kernel's integers; `table` is the one exp2 table (W = 16) or the coarse one."""

    word: int
    c: int
    shift: int
    d2_end: int
    table: Words
    fine: Words


class InputConstants(NamedTuple):
    """``x = narrow((raw - offset[c]) * gain[c], shift)`` and the same for y."""

    x_offset: Words
    x_gain: Words
    x_shift: int
    x: Cast
    y_offset: int
    y_gain: int
    y_shift: int
    y: Cast


def cast_of(plan: Plan, signal: str) -> Cast:
    """The cast of a signal of the plan; its saturation bounds are those of the format."""
    s = plan.signals[signal]
    return Cast(s.rounding.value, s.format.lo, s.format.hi)


def kernel_constants(plan: Plan) -> KernelConstants:
    """The kernel's integers, as the loops take them."""
    names = ("exp2", "exp2") if plan.word == 16 else ("exp2_coarse", "exp2_fine")
    table, fine = (np.array(plan.tables[name].values, dtype=np.int64) for name in names)
    return KernelConstants(plan.word, plan.integer("kernel_c"), plan.integer("kernel_shift"),
                           plan.integer("kernel_d2_end"), table, fine)


def input_constants(plan: Plan) -> InputConstants:
    """The conversions' integers, as the loops take them.

    x is clamped to the plan's range, not to its format: so that no distance overflows, whatever
    raw words come.
    """
    x = plan.signals["x"]
    return InputConstants(
        np.array(plan.integers("x_offset"), dtype=np.int64),
        np.array(plan.integers("x_gain"), dtype=np.int64),
        plan.integer("x_shift"), Cast(x.rounding.value, x.lo, x.hi),
        plan.integer("y_offset"), plan.integer("y_gain"), plan.integer("y_shift"),
        cast_of(plan, "y"))


@jit
def convert_x(raw: Words, i: InputConstants, out: Words, log: Words) -> None:
    """One sample's raw words (D,) to x words."""
    for c in range(raw.shape[0]):
        out[c] = cast((raw[c] - i.x_offset[c]) * i.x_gain[c], i.x_shift, i.x.rounding, i.x.lo,
                      i.x.hi, log, X)


@jit
def convert_y(raw: int, i: InputConstants, log: Words) -> int:
    """One raw target word to a y word."""
    return cast((raw - i.y_offset) * i.y_gain, i.y_shift, i.y.rounding, i.y.lo, i.y.hi, log, Y)


@jit
def distance(u: Words, v: Words) -> int:
    """``sum (u - v)**2``, exact."""
    d2 = 0
    for c in range(u.shape[0]):
        d2 = square_diff(d2, u[c], v[c])
    return d2


@jit
def kernel(d2: int, k: KernelConstants, log: Words) -> int:
    """``exp(-d^2 / (2 sigma^2))`` of an exact squared distance; 1.0 at 0."""
    word = 0
    if d2 < k.d2_end:
        t = mul_shift(d2, k.c, k.shift)
        word = exp2_16(t, k.table) if k.word == 16 else exp2_32(t, k.table, k.fine)
    record(log, KERNEL, word)
    return word
