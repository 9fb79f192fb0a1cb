"""sim.model: conversion of inputs, exact distances, and the kernels in integers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..formats import Overflow
from ..jit import jit, jit_inline
from ..plan import Plan
from ..primitives import (
    HALF_UP,
    Words,
    abs_diff,
    abs_sinpi,
    arithmetic_shift,
    exp2_16,
    exp2_32,
    isqrt_ceil,
    mac,
    mul_shift,
    normalisation_shift,
    requantise,
    saturate,
    shift_round,
    square_diff,
    wrap,
)
from ..tables import LN2_WORD, THIRD_WORD
from .ranges import KERNEL, X, Y, cast, fit, record, record_row
from .trace_hooks import Log

#: What a kernel is a function of.
SQUARES, ABSOLUTES, SINES, PRODUCTS = range(4)
_KINDS = {"squares": SQUARES, "absolutes": ABSOLUTES, "sines": SINES, "products": PRODUCTS}


class Cast(NamedTuple):
    """Rounding and range of a cast.

    `wrap_bits` is the length of a value that wraps, or 0 if the cast saturates.
    """

    rounding: int
    lo: int
    hi: int
    wrap_bits: int = 0


class KernelConstants(NamedTuple):
    """Integer constants of the kernel.

    `table` is the only exp2 table (W = 16) or the coarse one.

    `exp2_bits` gives the length of the tables, `exp2_cut` the bits of u32f31 that a shorter kernel value
    drops. `degree` is that of a polynomial or, with `matern`, of the polynomial of a Matern kernel: 1 + x or
    1 + x + x^2 / 3, from which `matern_cut` bits are dropped, and `matern_shift` from its product with the
    exponential; `rooted` kernels are a function of the root of the distance.

    The members `turn` to `sine` belong to the periodic kernel, `dot_shift` to `out` to the polynomial
    kernels, whose base is ``(dot / 2**dot_shift) * c / 2**shift + coef0``.
    """

    word: int
    kind: int
    c: int
    shift: int
    d2_end: int
    table: Words
    fine: Words
    exp2_bits: int
    exp2_cut: int
    turn: int
    turn_shift: int
    sine_shift: int
    sine: Words
    dot_shift: int
    coef0: int
    degree: int
    out_shift: int
    out: Cast
    matern: int
    rooted: bool
    matern_cut: int
    matern_shift: int


class InputConstants(NamedTuple):
    """Constants of ``x = requantise((raw - offset[c]) * gain[c], shift)``, and of y."""

    x_offset: Words
    x_gain: Words
    x_shift: int
    x: Cast
    y_offset: int
    y_gain: int
    y_shift: int
    y: Cast


def cast_of(plan: Plan, signal: str) -> Cast:
    """Return the cast of a signal of the plan, with the bounds of its format."""
    s = plan.signals[signal]
    wraps = s.overflow is Overflow.WRAP
    return Cast(s.rounding.value, s.format.lo, s.format.hi, s.format.bits if wraps else 0)


def kernel_constants(plan: Plan) -> KernelConstants:
    """Return the constants of the kernel in the form that the compiled loops use."""
    def integer(name: str) -> int:
        return plan.integer(name) if name in plan.constants else 0

    def table(name: str) -> Words:
        return np.array(plan.tables[name].values if name in plan.tables else (0,), dtype=np.int64)

    coarse, fine = ("exp2", "exp2") if plan.word == 16 else ("exp2_coarse", "exp2_fine")
    return KernelConstants(
        plan.word, _KINDS[plan.distance], integer("kernel_c"), integer("kernel_shift"),
        integer("kernel_d2_end"), table(coarse), table(fine), integer("exp2_bits"),
        integer("exp2_cut"), integer("kernel_turn"), integer("kernel_turn_shift"),
        integer("kernel_sine_shift"), table("sine"),
        integer("kernel_dot_shift"), integer("kernel_coef0"), integer("kernel_degree"),
        integer("kernel_out_shift"), cast_of(plan, "kernel") if "kernel" in plan.signals else Cast(0, 0, 0),
        plan.matern, plan.rooted, integer("matern_cut"), integer("matern_shift"))


def input_constants(plan: Plan) -> InputConstants:
    """Return the constants of the conversions in the form that the compiled loops use.

    x is clamped to the plan's range, not to its format, so that no distance overflows for any ADC count.
    """
    x = plan.signals["x"]
    return InputConstants(
        np.array(plan.integers("x_offset"), dtype=np.int64),
        np.array(plan.integers("x_gain"), dtype=np.int64),
        plan.integer("x_shift"), Cast(x.rounding.value, x.lo, x.hi),
        plan.integer("y_offset"), plan.integer("y_gain"), plan.integer("y_shift"),
        cast_of(plan, "y"))


@jit
def into_word(whole: int, c: Cast, log: Log, signal: int) -> tuple[int, bool]:
    """Cast a rounded number and log it.

    Return the value and whether it saturated; a cast that wraps never saturates.
    """
    if c.wrap_bits == 0:
        word = fit(whole, c.lo, c.hi, log, signal)
        return word, word != whole
    word = wrap(whole, c.wrap_bits)
    record(log, signal, word)
    if word != whole:
        log.ranges[signal, 2] += 1
    return word, False


@jit
def into_words(whole: Words, count: int, c: Cast, words: Words, log: Log, signal: int) -> bool:
    """Apply :func:`into_word` to `count` numbers; return whether any saturated."""
    lost = 0
    for i in range(count):
        words[i] = wrap(whole[i], c.wrap_bits) if c.wrap_bits != 0 else saturate(whole[i], c.lo, c.hi)
        lost += words[i] != whole[i]
    record_row(log, signal, words, count)
    log.ranges[signal, 2] += lost
    return lost != 0 and c.wrap_bits == 0


@jit
def convert_x(raw: Words, i: InputConstants, out: Words, log: Log) -> None:
    """Convert the ADC counts of one sample (D,) to x."""
    for c in range(raw.shape[0]):
        out[c] = cast((raw[c] - i.x_offset[c]) * i.x_gain[c], i.x_shift, i.x.rounding, i.x.lo,
                      i.x.hi, log, X)


@jit
def convert_y(raw: int, i: InputConstants, log: Log) -> int:
    """Convert one target from an ADC count to y."""
    return cast((raw - i.y_offset) * i.y_gain, i.y_shift, i.y.rounding, i.y.lo, i.y.hi, log, Y)


@jit_inline
def term(acc: int, u: int, v: int, k: KernelConstants) -> int:
    """Add the term of one column to `acc`.

    The term is (u - v)^2, |u - v|, sin^2(pi (u - v) / period), or u v.
    """
    if k.kind == SQUARES:
        return square_diff(acc, u, v)
    if k.kind == ABSOLUTES:
        return abs_diff(acc, u, v)
    if k.kind == SINES:
        s = abs_sinpi(mul_shift(k.turn, abs_diff(0, u, v), k.turn_shift), k.sine)
        return mac(acc, s, s, k.sine_shift)
    return mac(acc, u, v, 0)


@jit_inline
def squares(u: Words, v: Words) -> int:
    """Compute the sum of ``(u - v)^2``: :func:`distance` for the Gaussian kernel."""
    d = 0
    for c in range(u.shape[0]):
        d = square_diff(d, u[c], v[c])
    return d


@jit_inline
def distance(u: Words, v: Words, k: KernelConstants) -> int:
    """Compute the exact integer argument of the kernel.

    For the polynomial kernels it is ``u . v``.
    """
    if k.kind == SQUARES:  # fast path of the default kernel: no choice per column
        return squares(u, v)
    d = 0
    for c in range(u.shape[0]):
        d = term(d, u[c], v[c], k)
    return d


@jit
def distance_row(v: Words, count: int, x: Words, k: KernelConstants, row: Words) -> None:
    """Compute ``row[i] = distance(v[i], x)`` for i < count; v (count, D)."""
    if k.kind == SQUARES:  # fast path of the default kernel: no choice per vector
        for i in range(count):
            row[i] = squares(v[i], x)
    else:
        for i in range(count):
            row[i] = distance(v[i], x, k)


@jit
def _polynomial(dot: int, k: KernelConstants) -> int:
    """Compute ``(gamma u.v + coef0)**degree``.

    The base is s32f31, scaled by its largest power of two.
    """
    base = shift_round(arithmetic_shift(dot, k.dot_shift) * k.c, k.shift, HALF_UP) + k.coef0
    power = base
    for _ in range(1, k.degree):
        power = shift_round(power * base, 31, HALF_UP)
    return requantise(power, k.out_shift, HALF_UP, k.out.lo, k.out.hi)


@jit_inline
def exponent(d2: int, k: KernelConstants) -> int:
    """Return the t of ``2**-t`` for a distance, which is limited to `d2_end`."""
    if k.rooted:
        return rooted_exponent(min(d2, k.d2_end), k)
    return mul_shift(min(d2, k.d2_end), k.c, k.shift)


@jit
def rooted_exponent(d2: int, k: KernelConstants) -> int:
    """Return the t of ``2**-t`` for the root of a distance.

    The distance is multiplied by a power of four, so that its root has 31 bits.
    """
    if d2 == 0:
        return 0
    up = normalisation_shift(d2) >> 1
    return arithmetic_shift(mul_shift(isqrt_ceil(d2 << (2 * up)), k.c, k.shift), up)


@jit
def matern_word(t: int, k: KernelConstants) -> int:
    """Compute p(x) ``2**-t`` with x = t ln 2, p(x) = 1 + x or 1 + x + x^2 / 3.

    The exponential is that of the fraction of t. p(x) is computed times ``2**-half``, half of the whole part
    of t, so that the factor x / 3 of its square fits 31 bits.
    """
    frac = 20 if k.word == 16 else 32
    one = 1 << frac
    whole = t >> frac
    half = whole >> 1
    x = mul_shift(t, LN2_WORD, 31)
    p = arithmetic_shift(one + x, half)
    if k.matern == 2:
        p += mul_shift(x, arithmetic_shift(mul_shift(x, THIRD_WORD, 31), half), frac)
    p = shift_round(p, whole - half + k.matern_cut, HALF_UP)
    low = t & (one - 1)
    e = exp2_16(low, k.table, k.exp2_bits) if k.word == 16 else exp2_32(low, k.table, k.fine, k.exp2_bits)
    return min(shift_round(e * p, k.matern_shift, HALF_UP), 1 << (k.word - 1))


@jit_inline
def kernel_word(d2: int, t: int, k: KernelConstants, word: int, bits: int) -> int:
    """Compute :func:`kernel` from a distance and its exponent, without logging.

    The word length and the lengths of the tables are arguments.
    """
    if d2 >= k.d2_end:
        return 0
    if k.matern != 0:
        return matern_word(t, k)
    if word == 16:
        return exp2_16(t, k.table, bits)
    return shift_round(exp2_32(t, k.table, k.fine, bits), k.exp2_cut, HALF_UP)


@jit_inline
def kernel(d2: int, k: KernelConstants, log: Log) -> int:
    """Evaluate the kernel of a :func:`distance`.

    The value is ``2**-(d2 * c)``, 1.0 at 0; or the polynomial of a product.
    """
    if k.kind == PRODUCTS:
        word = _polynomial(d2, k)
    else:
        word = kernel_word(d2, exponent(d2, k), k, k.word, k.exp2_bits)
    record(log, KERNEL, word)
    return word


@jit
def powers(d2: Words, count: int, k: KernelConstants, values: Words) -> None:
    """Replace the exponents in `values` with kernel values."""
    if k.matern != 0:
        for i in range(count):
            values[i] = kernel_word(d2[i], values[i], k, k.word, k.exp2_bits)
    elif k.word == 16 and k.exp2_bits == 7:
        for i in range(count):
            values[i] = kernel_word(d2[i], values[i], k, 16, 7)
    elif k.word > 16 and k.exp2_bits == 8:
        for i in range(count):
            values[i] = kernel_word(d2[i], values[i], k, 32, 8)
    else:
        for i in range(count):
            values[i] = kernel_word(d2[i], values[i], k, k.word, k.exp2_bits)


@jit
def kernel_row(d2: Words, count: int, k: KernelConstants, values: Words, log: Log) -> None:
    """Compute ``values[i] = kernel(d2[i])`` for i < count.

    The usual table lengths are compile-time constants.

    All exponents are computed first, because numba vectorises a loop without table access.
    """
    if k.kind == PRODUCTS:
        for i in range(count):
            values[i] = _polynomial(d2[i], k)
    else:
        for i in range(count):
            values[i] = exponent(d2[i], k)
        powers(d2, count, k, values)
    record_row(log, KERNEL, values, count)
