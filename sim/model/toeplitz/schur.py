"""sim.model: Schur's recursion in block floating point.

The system, its solution, a, x and their exponents are the same as in :mod:`.levinson`. However, the inner
products that give xi and the innovation are not computed again at every step. They are stored in

    p_i = sum_j k_{i-j} a_j,    q_i = sum_j k_{i-j} b_j,    s_i = y_i - sum_j k_{i-j} x_j

for all remaining rows i, and are updated together with a, b (a reversed) and x. All sums have at most two
terms. For a positive definite T, the magnitudes of p and q do not exceed r_0 = 1, so they have a fixed
format; s has a block exponent. All three have 32 bits at every word length W, because their rounding errors
accumulate over the steps.

PYTEST_DONT_REWRITE: see :mod:`...primitives`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...jit import jit
from ...primitives import Words, bit_length, block_scale, divide, magnitude, requantise, shift_round
from .. import trace_hooks as at
from ..kernel import Cast
from ..ranges import EPS, XI, P, Q, S, cast, record
from ..statuses import NOT_POSITIVE_DEFINITE, OK, SATURATED
from ..trace_hooks import Log, trace, trace_all
from .levinson import LevinsonConstants, extend_a, extend_x

#: Bits of a generator's word, its sign apart.
BITS = 31


class SchurConstants(NamedTuple):
    """Integer constants of the plan.

    eps has `xi_frac` = 31 fraction bits, as p and q do.
    """

    s_exp_max: int
    generator: Cast


@jit
def start_generators(r: Words, p: Words, q: Words, k: LevinsonConstants) -> None:
    """Set ``p_i = q_i = r_i``; row 0 is not used."""
    for i in range(1, r.shape[0]):
        p[i] = r[i] << (BITS - (k.word - 1))
        q[i] = p[i]


@jit
def start_residual(y: Words, s: Words, k: LevinsonConstants, log: Log) -> tuple[int, int]:
    """Set ``s = y``, shifted left so that the values use half of the range.

    Return the exponent and an upper bound on the magnitudes.
    """
    used = 0
    for i in range(y.shape[0]):
        used = max(used, magnitude(y[i]))
    up = max(BITS - 1 - bit_length(used), 0)
    for i in range(y.shape[0]):
        s[i] = y[i] << up
    trace_all(log, at.START_S, 0, s, 0, s.shape[0])
    return BITS - (k.word - 2) - up, (used << up) + (1 << up) - 1


@jit
def update_generators(p: Words, q: Words, step: int, xi: int, k: LevinsonConstants, g: SchurConstants,
                      log: Log) -> int:
    """Update ``q_i = q_{i-1} + xi p_i, p_i += xi q_{i-1}`` for the rows i > step.

    Return the largest magnitude of q.

    Row i of q is stored in ``q[i - step]``, so q does not have to be moved. The rows beyond `last_lag` are
    always zero.
    """
    used = 0
    c, shift = g.generator, k.word - 1
    for i in range(step + 1, min(step + 1 + k.last_lag, p.shape[0])):
        left, right = p[i], q[i - step]
        p[i] = cast((left << shift) + xi * right, shift, c.rounding, c.lo, c.hi, log, P)
        q[i - step] = cast((right << shift) + xi * left, shift, c.rounding, c.lo, c.hi, log, Q)
        used = max(used, magnitude(q[i - step]))
    trace_all(log, at.GENERATOR_P, step, p, step + 1, p.shape[0])
    trace_all(log, at.GENERATOR_Q, step, q, 1, q.shape[0] - step)
    return used


@jit
def update_residual(s: Words, q: Words, step: int, c: int, shift: int, last_lag: int, g: SchurConstants,
                    log: Log) -> int:
    """Update ``s_i -= c q_i`` for the rows i > step; return the largest magnitude."""
    used = 0
    fmt = g.generator
    for i in range(step + 1, s.shape[0]):
        word = s[i]
        if i <= step + last_lag:
            word -= requantise(c * q[i - step], shift, fmt.rounding, fmt.lo, fmt.hi)
        s[i] = cast(word, 0, fmt.rounding, fmt.lo, fmt.hi, log, S)
        used = max(used, magnitude(s[i]))
    trace_all(log, at.UPDATE_S, step, s, step + 1, s.shape[0])
    return used


@jit
def residual_step(s: Words, q: Words, q_used: int, step: int, c: int, c_exp: int, s_exp: int, s_used: int,
               k: LevinsonConstants, g: SchurConstants, log: Log) -> tuple[int, int]:
    """Subtract ``c q`` from one residual; return its exponent and magnitude.

    An exponent above its range means that the system is rejected.
    """
    if c == 0:
        return s_exp, s_used
    # The smallest exponent that fits s and every c q_i, each in half of the word length.
    need = max(s_exp + (s_used >> (BITS - 1)), c_exp + bit_length(q_used) - (BITS - 1))
    if need > g.s_exp_max:
        return need, s_used
    block_scale(s, step + 1, s.shape[0], min(need - s_exp, 62))
    trace_all(log, at.RESIDUAL_SCALED_S, step, s, step + 1, s.shape[0])
    shift = min(k.word - 1 + need - c_exp, 62)
    return need, update_residual(s, q, step, c, shift, k.last_lag, g, log)


@jit
def schur(y: Words, r: Words, a: Words, x: Words, generators: Words, room: Words, out: Words,
          k: LevinsonConstants, g: SchurConstants, log: Log) -> int:
    """Solve for every row of x (K, n) with the rows of y (K, n); return a status.

    `generators` (2 + K, n) is work space for p, q and each s. `room` (2, K) is work space for the exponents
    of s and their largest magnitudes. `out` (3 + 2 K + n) receives eps, a_exp, the K exponents of x, and K
    largest magnitudes; the remainder is work space. The system is rejected (`NOT_POSITIVE_DEFINITE`) under
    the conditions of :func:`.levinson.levinson`.
    """
    sides = y.shape[0]
    p, q, s, wide = generators[0], generators[1], generators[2:], out[3 + 2 * sides:]
    assert wide.shape[0] >= y.shape[1]
    s_exp, s_used = room[0], room[1]
    eps, a_exp, a_used, saturated = 1 << k.xi_frac, k.a_exp_min, 0, False
    start_generators(r, p, q, k)
    q_used = block_scale(q, 1, q.shape[0], 0)
    for side in range(sides):
        out[2 + side], out[2 + sides + side] = k.x_exp_min, 0
        s_exp[side], s_used[side] = start_residual(y[side], s[side], k, log)
    for step in range(y.shape[1]):
        if step > 0:
            num = p[step]
            if num >= eps or -num >= eps:
                return NOT_POSITIVE_DEFINITE
            quotient, e = divide(-num, eps)
            xi = cast(quotient, min(32 - k.word - e, 62), k.a.rounding, k.a.lo, k.a.hi, log, XI)
            trace(log, at.SCHUR_XI, step, 0, xi)
            a_exp, a_used = extend_a(a, step, xi, a_exp, a_used, wide, k, log)
            eps = shift_round((eps << (k.word - 1)) + xi * num, k.word - 1, k.a.rounding)
            record(log, EPS, eps)
            trace(log, at.SCHUR_EPS, step, 0, eps)
            if a_exp > k.a_exp_max or eps < k.eps_min:
                return NOT_POSITIVE_DEFINITE
            saturated |= a_used > k.a.hi
            q_used = update_generators(p, q, step, xi, k, g, log)
        for side in range(sides):
            quotient, e = divide(s[side, step], eps)
            c = requantise(quotient, 32 - k.word, k.a.rounding, k.a.lo, k.a.hi)
            trace(log, at.SCHUR_C, step, 0, c)
            c_exp = e + s_exp[side]
            s_exp[side], s_used[side] = residual_step(s[side], q, q_used, step, c, c_exp, s_exp[side],
                                                   s_used[side], k, g, log)
            out[2 + side], out[2 + sides + side] = extend_x(x[side], a, step, c, c_exp, a_exp, a_used,
                                                            out[2 + side], out[2 + sides + side], k, log)
            if s_exp[side] > g.s_exp_max or out[2 + side] > k.x_exp_max:
                return NOT_POSITIVE_DEFINITE
            saturated |= out[2 + sides + side] > k.a.hi
    out[0], out[1] = eps, a_exp
    return SATURATED if saturated else OK
