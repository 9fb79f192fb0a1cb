"""sim.model: the symmetric Levinson recursion in block floating point.

Solves ``T x = y`` for the symmetric Toeplitz T with first row (1, r[1], ..., r[n-1]) and one or
more right-hand sides in O(n) memory (paper 000, appendix, in its symmetric form).  a and every x
carry block exponents of their own; the leading 1 of a is implicit.  ``W`` is the solver's word
length; a word w of a block with exponent e is worth ``w * 2**(e - (W - 1))``.

With static scaling no exponent moves: cheaper, and a word that does not fit saturates.

PYTEST_DONT_REWRITE: see :mod:`...primitives`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...jit import jit
from ...primitives import (
    FLOOR,
    Words,
    align,
    bit_length,
    block_scale,
    divide,
    mac,
    magnitude,
    mul_shift,
    narrow,
    saturate,
    shift_round,
)
from .. import trace_hooks as at
from ..kernel import Cast
from ..ranges import ALPHA, EPS, MU, XI, A, cast, record, record_all
from ..statuses import NOT_POSITIVE_DEFINITE, OK, SATURATED
from ..trace_hooks import Log, trace, trace_all


class LevinsonConstants(NamedTuple):
    """Integers of the plan; `word` is W, `eps_min` the least eps of a positive semidefinite T."""

    word: int
    solver_shift: int
    xi_frac: int
    mu_frac: int
    a_exp_min: int
    a_exp_max: int
    x_exp_min: int
    x_exp_max: int
    eps_min: int
    static: int
    a: Cast


@jit
def reflection(m: int, r: Words, a: Words, a_exp: int, k: LevinsonConstants) -> int:
    """Numerator of xi at step m, ``r[m] + sum_i r[m-i] a[i]``, with `xi_frac` fraction bits."""
    acc = 0
    for i in range(1, m):
        acc = mac(acc, r[m - i], a[i], k.solver_shift)
    acc_frac = 2 * (k.word - 1) - k.solver_shift
    return align(r[m], k.word - 1 - k.xi_frac) + align(acc, acc_frac - k.xi_frac - a_exp)


@jit
def update_a(m: int, a: Words, wide: Words, xi: int, a_exp: int, k: LevinsonConstants, log: Log) -> int:
    """``a_i += xi a_{m-i}``, ``a_m = xi``; the largest magnitude met.

    It is taken before the cast, so that one beyond the word tells of saturation.  The device takes
    both ends at once, in place; the way through `wide` (n,) gives the same words in half the time.
    """
    s, least, most, lost = k.word - 1, 0, 0, 0
    for i in range(1, m):
        wide[i] = shift_round((a[i] << s) + xi * a[m - i], s, k.a.rounding)
        least, most = min(least, wide[i]), max(most, wide[i])
    for i in range(1, m):
        a[i] = saturate(wide[i], k.a.lo, k.a.hi)
        lost += a[i] != wide[i]
    record_all(log, A, least, most, lost, k.a.lo, k.a.hi)
    a[m] = shift_round(xi, a_exp, k.a.rounding)
    trace_all(log, at.UPDATE_A, m, a, 1, m + 1)
    return max(magnitude(least), most, magnitude(a[m]))


@jit
def residual(m: int, y: int, r: Words, x: Words, x_exp: int, k: LevinsonConstants) -> int:
    """``mu = y[m] - sum_i r[m-i] x[i]`` with `mu_frac` fraction bits."""
    acc = 0
    for i in range(m):
        acc = mac(acc, r[m - i], x[i], k.solver_shift)
    acc_frac = 2 * (k.word - 1) - k.solver_shift
    return align(y, k.word - 2 - k.mu_frac) - align(acc, acc_frac - k.mu_frac - x_exp)


@jit
def update_x(m: int, x: Words, a: Words, c: int, s: int, c_shift: int, k: LevinsonConstants,
             log: Log) -> int:
    """``x_i += c a_{m-i}``, ``x_m = c``; the largest magnitude met, before the cast."""
    least, most, lost = 0, 0, 0
    for i in range(m):
        whole = x[i] + shift_round(c * a[m - i], s, k.a.rounding)
        least, most = min(least, whole), max(most, whole)
        x[i] = saturate(whole, k.a.lo, k.a.hi)
        lost += x[i] != whole
    log.ranges[ALPHA, 2] += lost  # its words are logged where they are scaled back
    x[m] = shift_round(c, c_shift, k.a.rounding)
    trace_all(log, at.UPDATE_X, m, x, 0, m + 1)
    return max(magnitude(least), most, magnitude(x[m]))


@jit
def extend_a(m: int, a: Words, wide: Words, xi: int, a_exp: int, a_used: int, k: LevinsonConstants,
             log: Log) -> tuple[int, int]:
    """Take xi into a, in block floating point; the new a_exp (above its range: none) and a_used."""
    # The exponent rises where the largest a_i + xi a_j could leave the word; four roundings up.
    if k.static == 0 and a_used + shift_round(a_used * magnitude(xi), k.word - 1, FLOOR) + 4 > k.a.hi:
        a_exp += 1
        if a_exp > k.a_exp_max:
            return a_exp, a_used
        block_scale(a, 1, m, 1)
        trace_all(log, at.EXTEND_SCALED_A, m, a, 1, m)
    trace(log, at.EXTEND_A_EXP, m, 0, a_exp)
    return a_exp, update_a(m, a, wide, xi, a_exp, k, log)


@jit
def lengthen_a(m: int, r: Words, a: Words, wide: Words, eps: int, a_exp: int, a_used: int,
               k: LevinsonConstants, log: Log) -> tuple[int, int, int]:
    """Step m of the predictor polynomial; the new eps (0 where there is none), a_exp, a_used."""
    num = reflection(m, r, a, a_exp, k)
    trace(log, at.REFLECTION_NUM, m, 0, num)
    if num >= eps or -num >= eps:
        return 0, a_exp, a_used
    quotient, e = divide(-num, eps)
    xi = cast(quotient, min(32 - k.word - e, 62), k.a.rounding, k.a.lo, k.a.hi, log, XI)
    trace(log, at.LENGTHEN_XI, m, 0, xi)
    a_exp, a_used = extend_a(m, a, wide, xi, a_exp, a_used, k, log)
    if a_exp > k.a_exp_max:
        return 0, a_exp, a_used
    eps -= mul_shift(eps, align(xi * xi, 2 * (k.word - 1) - 31), 31)
    record(log, EPS, eps)
    trace(log, at.LENGTHEN_EPS, m, 0, eps)
    return eps, a_exp, a_used


@jit
def extend_x(m: int, x: Words, a: Words, c: int, c_exp: int, a_exp: int, a_used: int, x_exp: int,
             x_used: int, k: LevinsonConstants, log: Log) -> tuple[int, int]:
    """Take ``c 2**c_exp`` times b into x; the new x_exp (above its range: none) and x_used."""
    need = x_exp
    if k.static == 1:
        if c != 0 and c_exp > x_exp:  # beyond the range: to the rail
            c, x_used = (k.a.hi if c > 0 else k.a.lo), k.a.hi + 1
            log.ranges[ALPHA, 2] += 1
        c_exp = x_exp if c == 0 else min(c_exp, x_exp)
    else:
        # The least exponent that holds x, c and every c a_i without saturation.
        need += x_used >> (k.word - 2)
        if c == 0:
            c_exp = need - a_exp - 1  # a zero asks for no exponent
        need = max(need, c_exp, c_exp + a_exp + bit_length(a_used) - (k.word - 2))
        if need > k.x_exp_max:
            return need, x_used
        if need > x_exp:
            block_scale(x, 0, m, min(need - x_exp, 62))
        trace_all(log, at.EXTEND_SCALED_X, m, x, 0, m)
    trace(log, at.EXTEND_X_EXP, m, 0, need)
    s = min(k.word - 1 + need - c_exp - a_exp, 62)
    used = update_x(m, x, a, c, s, min(need - c_exp, 62), k, log)
    return need, max(used, x_used) if k.static == 1 else used


@jit
def lengthen_x(m: int, y: int, r: Words, a: Words, x: Words, eps: int, a_exp: int, a_used: int,
               x_exp: int, x_used: int, k: LevinsonConstants, log: Log) -> tuple[int, int]:
    """Step m of one solution; the new x_exp (above its range: there is none) and x_used."""
    mu = residual(m, y, r, x, x_exp, k)
    record(log, MU, mu)
    trace(log, at.LENGTHEN_Y, m, 0, y)
    trace(log, at.RESIDUAL_MU, m, 0, mu)
    quotient, e = divide(mu, eps)
    c = narrow(quotient, 32 - k.word, k.a.rounding, k.a.lo, k.a.hi)
    trace(log, at.LENGTHEN_C, m, 0, c)
    return extend_x(m, x, a, c, e + k.xi_frac - k.mu_frac, a_exp, a_used, x_exp, x_used, k, log)


@jit
def levinson(y: Words, r: Words, a: Words, x: Words, out: Words, k: LevinsonConstants,
             log: Log) -> int:
    """Solve for every row of x (K, n) with the right-hand sides y (K, n); a status comes back.

    `out` (2 + 2 K + n) receives eps, a_exp, the K exponents of x and their largest magnitudes; the
    rest is work space.  The solution is refused (`NOT_POSITIVE_DEFINITE`) as soon as |xi| >= 1, eps
    falls below half of what a positive semidefinite T can reach, or an exponent leaves its range: T
    + lambda I is not positive definite, or too ill-conditioned for words of W bits to tell.
    """
    sides = y.shape[0]
    wide = out[2 + 2 * sides:]
    assert wide.shape[0] >= y.shape[1]
    eps, a_exp, a_used = 1 << k.xi_frac, k.a_exp_min, 0
    saturated = False
    for side in range(sides):
        out[2 + side], out[2 + sides + side] = k.x_exp_min, 0
    for m in range(y.shape[1]):
        if m > 0:
            eps, a_exp, a_used = lengthen_a(m, r, a, wide, eps, a_exp, a_used, k, log)
            if eps < k.eps_min:
                return NOT_POSITIVE_DEFINITE
            saturated |= a_used > k.a.hi
        for side in range(sides):
            x_exp, x_used = lengthen_x(m, y[side, m], r, a, x[side], eps, a_exp, a_used, out[2 + side],
                                       out[2 + sides + side], k, log)
            if x_exp > k.x_exp_max:
                return NOT_POSITIVE_DEFINITE
            out[2 + side], out[2 + sides + side] = x_exp, x_used
            saturated |= x_used > k.a.hi
    out[0], out[1] = eps, a_exp
    return SATURATED if saturated else OK
