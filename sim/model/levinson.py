"""sim.model: the symmetric Levinson recursion in block floating point.

Solves ``T x = y`` for the symmetric Toeplitz T with first row (1, r[1], ..., r[n-1]) in O(n)
memory (paper 000, appendix, in its symmetric form).  a and x carry block exponents of their
own; the leading 1 of a is implicit.  ``W`` is the word length; a word w of a block with exponent
e is worth ``w * 2**(e - (W - 1))``.
"""

from __future__ import annotations

from typing import NamedTuple

from ..engine import jit
from ..primitives import (
    Words,
    align,
    bit_length,
    block_scale,
    divide,
    mac,
    magnitude,
    mul_shift,
    narrow,
    shift_round,
)
from .kernel import Cast
from .ranges import EPS, MU, XI, A, cast, record

OK, NOT_POSITIVE_DEFINITE, SATURATED, NOT_TRAINED, BAD_ARGUMENT = range(5)


class LevinsonConstants(NamedTuple):
    """Integers of the plan; `word` is W."""

    word: int
    mac_shift: int
    xi_frac: int
    mu_frac: int
    a_exp_max: int
    alpha_exp_min: int
    alpha_exp_max: int
    a: Cast


@jit
def reflection(m: int, r: Words, a: Words, a_exp: int, eps: int, k: LevinsonConstants) -> int:
    """Numerator of xi at step m, ``r[m] + sum_i r[m-i] a[i]``, with `xi_frac` fraction bits."""
    acc = 0
    for i in range(1, m):
        acc = mac(acc, r[m - i], a[i], k.mac_shift)
    acc_frac = 2 * (k.word - 1) - k.mac_shift
    return align(r[m], k.word - 1 - k.xi_frac) + align(acc, acc_frac - k.xi_frac - a_exp)


@jit
def update_a(m: int, a: Words, xi: int, a_exp: int, k: LevinsonConstants, log: Words) -> int:
    """``a_i += xi a_{m-i}`` for both ends at once, ``a_m = xi``; the OR-ed magnitudes."""
    used = 0
    s = k.word - 1
    for i in range(1, m // 2 + 1):
        j = m - i
        left, right = a[i], a[j]
        a[i] = cast((left << s) + xi * right, s, k.a.rounding, k.a.lo, k.a.hi, log, A)
        if i != j:
            a[j] = cast((right << s) + xi * left, s, k.a.rounding, k.a.lo, k.a.hi, log, A)
        used |= magnitude(a[i]) | magnitude(a[j])
    a[m] = shift_round(xi, a_exp, k.a.rounding)
    return used | magnitude(a[m])


@jit
def residual(m: int, y: int, r: Words, x: Words, x_exp: int, k: LevinsonConstants) -> int:
    """``mu = y[m] - sum_i r[m-i] x[i]`` with `mu_frac` fraction bits."""
    acc = 0
    for i in range(m):
        acc = mac(acc, r[m - i], x[i], k.mac_shift)
    acc_frac = 2 * (k.word - 1) - k.mac_shift
    return align(y, k.word - 2 - k.mu_frac) - align(acc, acc_frac - k.mu_frac - x_exp)


@jit
def update_x(m: int, x: Words, a: Words, c: int, s: int, c_shift: int, k: LevinsonConstants,
             log: Words) -> int:
    """``x_i += c a_{m-i}``, ``x_m = c``; the OR-ed magnitudes."""
    used = 0
    for i in range(m):
        term = shift_round(c * a[m - i], s, k.a.rounding)
        x[i] = narrow(x[i] + term, 0, k.a.rounding, k.a.lo, k.a.hi)
        used |= magnitude(x[i])
    x[m] = shift_round(c, c_shift, k.a.rounding)
    return used | magnitude(x[m])


@jit
def levinson(y: Words, r: Words, a: Words, x: Words, out: Words, k: LevinsonConstants,
             log: Words) -> int:
    """Solve for x (n,); `out` receives eps, a_exp, x_exp.  A status comes back.

    The solution is refused (`NOT_POSITIVE_DEFINITE`) as soon as |xi| >= 1 or an exponent leaves
    the range that a positive definite T can reach.
    """
    eps, a_exp, x_exp = 1 << k.xi_frac, 0, k.alpha_exp_min
    a_used, x_used = 0, 0
    for m in range(y.shape[0]):
        if m > 0:
            guard = a_used >> (k.word - 2)
            a_exp += guard
            if a_exp > k.a_exp_max:
                return NOT_POSITIVE_DEFINITE
            block_scale(a, 1, m, guard)
            num = reflection(m, r, a, a_exp, eps, k)
            if num >= eps or -num >= eps:
                return NOT_POSITIVE_DEFINITE
            quotient, e = divide(-num, eps)
            xi = cast(quotient, min(32 - k.word - e, 62), k.a.rounding, k.a.lo, k.a.hi, log, XI)
            a_used = update_a(m, a, xi, a_exp, k, log)
            xi_squared = align(xi * xi, 2 * (k.word - 1) - 31)
            eps -= mul_shift(eps, xi_squared, 31)
            record(log, EPS, eps)
            if eps <= 0:
                return NOT_POSITIVE_DEFINITE
        mu = residual(m, y[m], r, x, x_exp, k)
        record(log, MU, mu)
        quotient, e = divide(mu, eps)
        c = narrow(quotient, 32 - k.word, k.a.rounding, k.a.lo, k.a.hi)
        c_exp = e + k.xi_frac - k.mu_frac
        # The least exponent that holds x, c and every c a_i without saturation.
        need = x_exp + (x_used >> (k.word - 2))
        if c == 0:
            c_exp = need - a_exp - 1  # a zero asks for no exponent
        need = max(need, c_exp, c_exp + a_exp + bit_length(a_used) - (k.word - 2))
        if need > k.alpha_exp_max:
            return NOT_POSITIVE_DEFINITE
        block_scale(x, 0, m, min(need - x_exp, 62))
        x_exp = need
        s = min(k.word - 1 + x_exp - c_exp - a_exp, 62)
        x_used = update_x(m, x, a, c, s, min(x_exp - c_exp, 62), k, log)
    out[0], out[1], out[2] = eps, a_exp, x_exp
    return OK
