"""sim.model: the symmetric Levinson recursion in block floating point.

The recursion solves ``T x = y`` for the symmetric Toeplitz matrix T with first row (1, r[1], ..., r[n-1]),
and for one or more right-hand sides, in O(n) memory. It is the symmetric form of the recursion in the
appendix of S. Decherchi, P. Gastaldo and R. Zunino, "Efficient Approximate Regularized Least Squares by
Toeplitz Matrix". xi is the reflection coefficient (PARCOR), and innov is the innovation of the right-hand
side. a and every x have their own block exponent; the leading 1 of a is not stored. ``W`` is the word length
of the solver; an integer w of a block with exponent e has the value ``w * 2**(e - (W - 1))``.

With static scaling, the exponents are constant. This is faster, but values that do not fit saturate.

PYTEST_DONT_REWRITE: see :mod:`...primitives`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...jit import jit
from ...primitives import (
    FLOOR,
    Words,
    arithmetic_shift,
    bit_length,
    block_scale,
    divide,
    mac,
    magnitude,
    mul_shift,
    requantise,
    saturate,
    shift_round,
)
from .. import trace_hooks as at
from ..kernel import Cast
from ..ranges import ALPHA, EPS, INNOV, XI, A, cast, record, record_all
from ..statuses import NOT_POSITIVE_DEFINITE, OK, SATURATED
from ..trace_hooks import Log, trace, trace_all


class LevinsonConstants(NamedTuple):
    """Integer constants of the plan; `word` is the word length W.

    `eps_min` is the smallest eps of a positive semidefinite T, and `last_lag` is the last lag at which r can
    be different from 0.
    """

    word: int
    solver_shift: int
    xi_frac: int
    innov_frac: int
    a_exp_min: int
    a_exp_max: int
    x_exp_min: int
    x_exp_max: int
    eps_min: int
    last_lag: int
    static: int
    a: Cast


@jit
def reflection_numerator(r: Words, a: Words, step: int, a_exp: int, k: LevinsonConstants) -> int:
    """Compute the numerator of xi, ``r[step] + sum_i r[step-i] a[i]``.

    The numerator has `xi_frac` fraction bits.
    """
    acc = 0
    for i in range(max(1, step - k.last_lag), step):
        acc = mac(acc, r[step - i], a[i], k.solver_shift)
    acc_frac = 2 * (k.word - 1) - k.solver_shift
    return arithmetic_shift(r[step], k.word - 1 - k.xi_frac) + arithmetic_shift(acc,
                                                                             acc_frac - k.xi_frac - a_exp)


@jit
def update_a(a: Words, step: int, xi: int, a_exp: int, wide: Words, k: LevinsonConstants, log: Log) -> int:
    """Update ``a_i += xi a_{step-i}``, ``a_step = xi``.

    Return the largest magnitude before the cast.

    If the magnitude exceeds the word length, a value has saturated. The device updates a in place, from both
    ends at the same time; the work space `wide` (n,) gives the same values in half the time.
    """
    s, minimum, maximum, saturated = k.word - 1, 0, 0, 0
    for i in range(1, step):
        wide[i] = shift_round((a[i] << s) + xi * a[step - i], s, k.a.rounding)
        minimum, maximum = min(minimum, wide[i]), max(maximum, wide[i])
    for i in range(1, step):
        a[i] = saturate(wide[i], k.a.lo, k.a.hi)
        saturated += a[i] != wide[i]
    record_all(log, A, minimum, maximum, saturated, k.a.lo, k.a.hi)
    a[step] = shift_round(xi, a_exp, k.a.rounding)
    trace_all(log, at.UPDATE_A, step, a, 1, step + 1)
    return max(magnitude(minimum), maximum, magnitude(a[step]))


@jit
def innovation(r: Words, x: Words, step: int, y: int, x_exp: int, k: LevinsonConstants) -> int:
    """Compute ``innov = y[step] - sum_i r[step-i] x[i]``.

    The innovation has `innov_frac` fraction bits.
    """
    acc = 0
    for i in range(max(0, step - k.last_lag), step):
        acc = mac(acc, r[step - i], x[i], k.solver_shift)
    acc_frac = 2 * (k.word - 1) - k.solver_shift
    return arithmetic_shift(y, k.word - 2 - k.innov_frac) - arithmetic_shift(acc,
                                                                             acc_frac - k.innov_frac - x_exp)


@jit
def update_x(x: Words, a: Words, step: int, c: int, s: int, c_shift: int, k: LevinsonConstants,
             log: Log) -> int:
    """Update ``x_i += c a_{step-i}``, ``x_step = c``.

    Return the largest magnitude before the cast.
    """
    minimum, maximum, saturated = 0, 0, 0
    for i in range(step):
        whole = x[i] + shift_round(c * a[step - i], s, k.a.rounding)
        minimum, maximum = min(minimum, whole), max(maximum, whole)
        x[i] = saturate(whole, k.a.lo, k.a.hi)
        saturated += x[i] != whole
    log.ranges[ALPHA, 2] += saturated  # its words are logged where they are scaled back
    x[step] = shift_round(c, c_shift, k.a.rounding)
    trace_all(log, at.UPDATE_X, step, x, 0, step + 1)
    return max(magnitude(minimum), maximum, magnitude(x[step]))


@jit
def extend_a(a: Words, step: int, xi: int, a_exp: int, a_used: int, wide: Words, k: LevinsonConstants,
             log: Log) -> tuple[int, int]:
    """Extend a by xi, in block floating point; return a_exp and a_used.

    An a_exp above its range means that the system is rejected.
    """
    # Raise the exponent if the largest a_i + xi a_j could exceed the word; 4 covers the roundings.
    if k.static == 0 and a_used + shift_round(a_used * magnitude(xi), k.word - 1, FLOOR) + 4 > k.a.hi:
        a_exp += 1
        if a_exp > k.a_exp_max:
            return a_exp, a_used
        block_scale(a, 1, step, 1)
        trace_all(log, at.EXTEND_SCALED_A, step, a, 1, step)
    trace(log, at.EXTEND_A_EXP, step, 0, a_exp)
    return a_exp, update_a(a, step, xi, a_exp, wide, k, log)


@jit
def predictor_step(r: Words, a: Words, step: int, eps: int, a_exp: int, a_used: int, wide: Words,
                   k: LevinsonConstants, log: Log) -> tuple[int, int, int]:
    """Extend the predictor polynomial by one step; return eps, a_exp and a_used.

    An eps of 0 means that the system is rejected.
    """
    num = reflection_numerator(r, a, step, a_exp, k)
    trace(log, at.REFLECTION_NUM, step, 0, num)
    if num >= eps or -num >= eps:
        return 0, a_exp, a_used
    quotient, e = divide(-num, eps)
    xi = cast(quotient, min(32 - k.word - e, 62), k.a.rounding, k.a.lo, k.a.hi, log, XI)
    trace(log, at.PREDICTOR_XI, step, 0, xi)
    a_exp, a_used = extend_a(a, step, xi, a_exp, a_used, wide, k, log)
    if a_exp > k.a_exp_max:
        return 0, a_exp, a_used
    eps -= mul_shift(eps, arithmetic_shift(xi * xi, 2 * (k.word - 1) - 31), 31)
    record(log, EPS, eps)
    trace(log, at.PREDICTOR_EPS, step, 0, eps)
    return eps, a_exp, a_used


@jit
def extend_x(x: Words, a: Words, step: int, c: int, c_exp: int, a_exp: int, a_used: int, x_exp: int,
             x_used: int, k: LevinsonConstants, log: Log) -> tuple[int, int]:
    """Add ``c 2**c_exp`` times b to x; return x_exp and x_used.

    An x_exp above its range means that the system is rejected.
    """
    need = x_exp
    if k.static == 1:
        if c != 0 and c_exp > x_exp:  # beyond the range: saturate
            c, x_used = (k.a.hi if c > 0 else k.a.lo), k.a.hi + 1
            log.ranges[ALPHA, 2] += 1
        c_exp = x_exp if c == 0 else min(c_exp, x_exp)
    else:
        # The smallest exponent that holds x, c and every c a_i without saturation.
        need += x_used >> (k.word - 2)
        if c == 0:
            c_exp = need - a_exp - 1  # a zero needs no exponent
        need = max(need, c_exp, c_exp + a_exp + bit_length(a_used) - (k.word - 2))
        if need > k.x_exp_max:
            return need, x_used
        if need > x_exp:
            block_scale(x, 0, step, min(need - x_exp, 62))
        trace_all(log, at.EXTEND_SCALED_X, step, x, 0, step)
    trace(log, at.EXTEND_X_EXP, step, 0, need)
    s = min(k.word - 1 + need - c_exp - a_exp, 62)
    used = update_x(x, a, step, c, s, min(need - c_exp, 62), k, log)
    return need, max(used, x_used) if k.static == 1 else used


@jit
def solution_step(r: Words, a: Words, x: Words, step: int, y: int, eps: int, a_exp: int, a_used: int,
               x_exp: int, x_used: int, k: LevinsonConstants, log: Log) -> tuple[int, int]:
    """Extend one solution by one step; return x_exp and x_used.

    An x_exp above its range means that the system is rejected.
    """
    innov = innovation(r, x, step, y, x_exp, k)
    record(log, INNOV, innov)
    trace(log, at.SOLUTION_Y, step, 0, y)
    trace(log, at.INNOVATION, step, 0, innov)
    quotient, e = divide(innov, eps)
    c = requantise(quotient, 32 - k.word, k.a.rounding, k.a.lo, k.a.hi)
    trace(log, at.SOLUTION_C, step, 0, c)
    return extend_x(x, a, step, c, e + k.xi_frac - k.innov_frac, a_exp, a_used, x_exp, x_used, k, log)


@jit
def levinson_begin(out: Words, sides: int, k: LevinsonConstants) -> None:
    """Set the scalars of :func:`levinson_steps` to their values before the first step."""
    out[0], out[1], out[2 + 2 * sides] = 1 << k.xi_frac, k.a_exp_min, 0
    for side in range(sides):
        out[2 + side], out[2 + sides + side] = k.x_exp_min, 0


@jit
def levinson_steps(y: Words, r: Words, a: Words, x: Words, out: Words, first: int, last: int,
                   k: LevinsonConstants, log: Log) -> int:
    """Run the steps `first` to `last` - 1 of :func:`levinson`; return their status.

    `out` (3 + 2 K + n) contains eps, a_exp, the K exponents of x, their largest magnitudes, and the largest
    magnitude of a; the remainder is work space.
    """
    sides = y.shape[0]
    wide = out[3 + 2 * sides:]
    assert wide.shape[0] >= y.shape[1]
    eps, a_exp, a_used, saturated = out[0], out[1], out[2 + 2 * sides], False
    for step in range(first, last):
        if step > 0:
            eps, a_exp, a_used = predictor_step(r, a, step, eps, a_exp, a_used, wide, k, log)
            if eps < k.eps_min:
                return NOT_POSITIVE_DEFINITE
            saturated |= a_used > k.a.hi
        for side in range(sides):
            x_exp, x_used = solution_step(r, a, x[side], step, y[side, step], eps, a_exp, a_used,
                                          out[2 + side], out[2 + sides + side], k, log)
            if x_exp > k.x_exp_max:
                return NOT_POSITIVE_DEFINITE
            out[2 + side], out[2 + sides + side] = x_exp, x_used
            saturated |= x_used > k.a.hi
    out[0], out[1], out[2 + 2 * sides] = eps, a_exp, a_used
    return SATURATED if saturated else OK


@jit
def levinson(y: Words, r: Words, a: Words, x: Words, out: Words, k: LevinsonConstants,
             log: Log) -> int:
    """Solve for every row of x (K, n) with the rows of y (K, n); return a status.

    `out` is that of :func:`levinson_steps`. The system is rejected (`NOT_POSITIVE_DEFINITE`) if |xi| >= 1, if
    eps is below half of the minimum for a positive semidefinite T, or if an exponent is outside its range. T
    + lambda I is then not positive definite, or too ill-conditioned for W bits.
    """
    levinson_begin(out, y.shape[0], k)
    return levinson_steps(y, r, a, x, out, 0, y.shape[1], k, log)
