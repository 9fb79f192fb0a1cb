"""sim.model: look-ahead Levinson in 32-bit words with block exponents, at every word length W.

The method, its steps and its names are those of :mod:`.lookahead_f32`; vectors are those of
:mod:`.block_vectors`, scalars those of :mod:`..scalar31`.
"""

from __future__ import annotations

import numpy as np

from ...choices import LOOKAHEAD_BLOCK as BLOCK
from ...choices import LOOKAHEAD_REFINEMENTS as REFINEMENTS
from ...jit import jit
from ...plan import Plan
from ...primitives import HALF_UP, Words, bit_length, magnitude, narrow
from .. import trace_hooks as at
from ..scalar31 import LEAST, add, invert, less, over, plus, short, times
from ..statuses import BREAKDOWN, OK
from ..trace_hooks import UNREAD, Log, trace, trace_all
from .block_vectors import (
    GUARD,
    ROW_A,
    ROW_B,
    ROW_G,
    ROW_R,
    ROW_X,
    ROW_Y,
    ROWS,
    Solver,
    add_scaled,
    along,
    below,
    dot,
    largest,
    one,
    residual,
    settle,
    solve_again,
    sum_of,
    total,
)

#: Exponents of a vector above which the step has broken down; a_0 = 1 must remain a word.
EXP_MAX, A_EXP_MAX = 64, 31
#: Parts of two, as exponents: see GOOD, NEAR_BEST, SINGULAR and ACCEPTED of :mod:`.lookahead_f32`.
GOOD, NEAR_BEST, SINGULAR, ACCEPTED = -7, -3, -20, -10


@jit
def single_step(m: int, k: Solver, eps: int, eps_exp: int) -> tuple[int, int]:
    """From m to m + 1 by Durbin's update; the new eps."""
    r, y, a, g, x = k.w[ROW_R], k.w[ROW_Y], k.w[ROW_A], k.w[ROW_G], k.w[ROW_X]
    a_exp = k.e[ROW_A]
    mu, mu_exp = add(y[m] << 31, k.e[ROW_Y], -dot(r, m, x, m, k.shift), k.e[ROW_X] + k.shift)
    c, c_exp = over(mu, mu_exp, eps, eps_exp)
    num, num_exp = short(-dot(r, m + 1, a, m + 1, k.shift), a_exp + k.shift)
    xi, xi_exp = over(num, num_exp, eps, eps_exp)
    trace(k.log, at.SINGLE_MU, m, 0, mu)
    trace(k.log, at.SINGLE_XI, m, 0, xi)
    x[m] = 0
    add_scaled(m + 1, k, ROW_X, c, c_exp, a, a_exp)
    trace_all(k.log, at.SINGLE_X, m, x, 0, m + 1)
    q, e = over(1 << 30, 1, eps, eps_exp)
    for i in range(m + 1):
        k.wide[i] = below(q * a[i], e, e + 1)
    k.e[ROW_G] = settle(k.wide, e + 1 + a_exp, m + 1, LEAST, g)
    trace_all(k.log, at.SINGLE_G, m, g, 0, m + 1)
    a[m + 1] = 0
    add_scaled(m + 2, k, ROW_A, xi, xi_exp, a, a_exp)
    trace_all(k.log, at.SINGLE_A, m, a, 0, m + 2)
    down, down_exp = plus(1 << 30, 1, -xi, xi_exp)
    up, up_exp = plus(1 << 30, 1, xi, xi_exp)
    eps, eps_exp = times(eps, eps_exp, down, down_exp)
    return times(eps, eps_exp, up, up_exp)


@jit
def schur_complement(m: int, p: int, k: Solver, eps: int, eps_exp: int) -> None:
    """``B = T_m^-1 C`` and ``S = T_p - C'B``, where ``T_{m+p} = [[T_m, C], [C', T_p]]``."""
    r, a, g, B, e = k.w[ROW_R], k.w[ROW_A], k.w[ROW_G], k.w[ROW_B:], k.e[ROW_B:]
    for i in range(m):
        B[0, i] = -a[m - i]
    e[0] = k.e[ROW_A]
    for j in range(1, p):
        last = B[j - 1, m - 1] if m > 0 else 0
        q, q_exp = add(r[m + j] << 31, 0, -along(r, 1, B[j - 1], 0, m, k.shift), e[j - 1] + k.shift)
        top = max(e[j - 1], e[j - 1] + e[0], q_exp + k.e[ROW_G]) + GUARD
        for i in range(m):
            shifted = 0 if i == 0 else B[j - 1, i - 1]
            k.wide[i] = (below(shifted << 31, e[j - 1], top) + below(last * B[0, i], e[j - 1] + e[0], top)
                         + below(q * g[i], q_exp + k.e[ROW_G], top))
        e[j] = settle(k.wide, top, m, LEAST, B[j])
        trace_all(k.log, at.COMPLEMENT_B, m + j, B[j], 0, m)
    for i in range(p):
        for j in range(i + 1):
            first = k.r0 if i == j else r[i - j]
            q, q_exp = add(first << 31, 0, -dot(r, m + i, B[j], m, k.shift), e[j] + k.shift)
            k.S[i, j, 0], k.S[i, j, 1] = q, q_exp
            k.S[j, i, 0], k.S[j, i, 1] = q, q_exp
            trace(k.log, at.COMPLEMENT_S, m, i * BLOCK + j, q)
    k.S[0, 0, 0], k.S[0, 0, 1] = eps, eps_exp  # what it is, without the rounding of a long sum


@jit
def border(m: int, p: int, k: Solver, v: Words, v_exp: int, least: int) -> int:
    """From ``T_m v = c`` to m + p rows: ``[v - B z; z]``, ``S z = fresh - C'v``; the new exponent.

    `fresh` has the new rows of c, and is overwritten.
    """
    r, B, e, fresh, z = k.w[ROW_R], k.w[ROW_B:], k.e[ROW_B:], k.fresh, k.rest[0]
    for i in range(p):
        fresh[i, 0], fresh[i, 1] = add(fresh[i, 0] << 31, fresh[i, 1], -dot(r, m + i, v, m, k.shift),
                                       v_exp + k.shift)
    top = v_exp
    for i in range(p):
        z[i, 0], z[i, 1] = 0, LEAST
        for j in range(p):
            q, q_exp = times(k.inverse[i, j, 0], k.inverse[i, j, 1], fresh[j, 0], fresh[j, 1])
            z[i, 0], z[i, 1] = plus(z[i, 0], z[i, 1], q, q_exp)
        trace(k.log, at.BORDER_Z, m, i, z[i, 0])
        top = max(top, z[i, 1], z[i, 1] + e[i])
    top += GUARD
    for i in range(m):
        acc = below(v[i] << 31, v_exp, top)
        for j in range(p):
            acc -= below(z[j, 0] * B[j, i], z[j, 1] + e[j], top)
        k.wide[i] = acc
    for i in range(p):
        k.wide[m + i] = below(z[i, 0] << 31, z[i, 1], top)
    return settle(k.wide, top, m + p, least, v)


@jit
def block_step(m: int, p: int, k: Solver) -> tuple[int, int]:
    """From m to m + p through `inverse`; the new eps."""
    r, y, a, g, x, e = k.w[ROW_R], k.w[ROW_Y], k.w[ROW_A], k.w[ROW_G], k.w[ROW_X], k.e
    for i in range(p):
        k.fresh[i, 0], k.fresh[i, 1] = (1 << 30, 1) if m + i == 0 else (0, LEAST)
    e[ROW_G] = border(m, p, k, g, e[ROW_G], LEAST)
    trace_all(k.log, at.BLOCK_G, m, g, 0, m + p)
    for i in range(p):
        k.fresh[i, 0], k.fresh[i, 1] = -r[m + 1 + i], 0
    e[ROW_A] = border(m, p, k, a[1:], e[ROW_A], 1)
    trace_all(k.log, at.BLOCK_A, m, a, 1, m + p + 1)
    for i in range(p):
        k.fresh[i, 0], k.fresh[i, 1] = y[m + i], e[ROW_Y]
    e[ROW_X] = border(m, p, k, x, e[ROW_X], LEAST)
    trace_all(k.log, at.BLOCK_X, m, x, 0, m + p)
    m += p
    a[0] = one(e[ROW_A])
    # One step of refinement on T g = e_1 and T a[1:] = -(r_1, ..., r_m).
    dg, da = k.w[ROW_B], k.w[ROW_B + 3]
    for i in range(m):
        dg[i] = 1 << 30 if i == 0 else 0
        da[i] = -r[1 + i]
    dg_exp = residual(m, k, g, e[ROW_G], dg, 1)
    da_exp = residual(m, k, a[1:], e[ROW_A], da, 0)
    dg_exp = solve_again(m, k, dg, dg_exp)
    da_exp = solve_again(m, k, da, da_exp)
    e[ROW_G] = sum_of(m, k, g, e[ROW_G], dg, dg_exp, LEAST, g)
    trace_all(k.log, at.REFINED_G, m, g, 0, m)
    e[ROW_A] = sum_of(m, k, a[1:], e[ROW_A], da, da_exp, 1, a[1:])
    trace_all(k.log, at.REFINED_A, m, a, 1, m + 1)
    a[0] = one(e[ROW_A])
    return add(k.r0 << 31, 0, along(r, 1, a[1:], 0, m, k.shift), e[ROW_A] + k.shift)


@jit
def block_size(most: int, level: int, level_exp: int, k: Solver) -> int:
    """Rows to take: the shortest of the best conditioned blocks, its inverse in `inverse`; 0 if none."""
    best, best_exp = 0, LEAST  # the least |S^-1|
    for p in range(1, most + 1):
        norm, norm_exp = invert(k.S, p, k.rest, k.inverse)
        if norm > 0 and (best == 0 or less(norm, norm_exp, best, best_exp)):
            best, best_exp = norm, norm_exp
    one_over, one_exp = times(best, best_exp, level, level_exp + SINGULAR)
    if best == 0 or not less(one_over, one_exp, 1 << 30, 1):
        return 0
    for p in range(1, most + 1):
        norm, norm_exp = invert(k.S, p, k.rest, k.inverse)
        if norm > 0 and not less(best, best_exp - NEAR_BEST, norm, norm_exp):
            return p
    return 0


@jit
def refine(n: int, k: Solver) -> tuple[int, int]:
    """Correct x by ``T^-1 (y - T x)`` as long as that at least halves the residual, which comes back."""
    y, x, rest, better = k.w[ROW_Y], k.w[ROW_X], k.w[ROW_B], k.w[ROW_B + 3]
    for i in range(n):
        rest[i] = y[i]
    rest_exp = residual(n, k, x, k.e[ROW_X], rest, k.e[ROW_Y])
    found, found_exp = total(rest, rest_exp, n)
    for turn in range(REFINEMENTS):
        rest_exp = solve_again(n, k, rest, rest_exp)
        better_exp = sum_of(n, k, x, k.e[ROW_X], rest, rest_exp, LEAST, better)
        trace_all(k.log, at.REFINE_BETTER, turn, better, 0, n)
        for i in range(n):
            rest[i] = y[i]
        rest_exp = residual(n, k, better, better_exp, rest, k.e[ROW_Y])
        left, left_exp = total(rest, rest_exp, n)
        trace(k.log, at.REFINE_LEFT, turn, 0, left)
        if not less(left, left_exp + 1, found, found_exp):
            break
        found, found_exp = left, left_exp
        k.e[ROW_X] = better_exp
        for i in range(n):
            x[i] = better[i]
    return found, found_exp


@jit
def poor(eps: int, eps_exp: int, recent: Words) -> bool:
    """Whether |eps| is no more than 2**GOOD of its recent level."""
    above = 0
    for i in range(BLOCK):
        above += less(recent[i, 0], recent[i, 1] + GOOD, abs(eps), eps_exp)
    return above < BLOCK


@jit
def lookahead(n: int, k: Solver, blocks: Words, out: Words) -> int:
    """Solve ``T x = y`` for row ROW_X with r (n,) and y in their rows; a status comes back.

    `blocks` (n,) receives the sizes of the steps; `out` their count, and whether all were single with
    eps > 0, so that T is positive definite.
    """
    r, a, e = k.w[ROW_R], k.w[ROW_A], k.e
    level, level_exp = short(max(largest(r[1:], n - 1), magnitude(k.r0)) << 31, 0)
    for i in range(BLOCK):
        k.recent[i, 0], k.recent[i, 1] = level, level_exp
    r[n] = 0  # it enters the last predictor alone, which may then be anything
    a[0], e[ROW_A], e[ROW_G], e[ROW_X] = 1 << 30, 1, LEAST, LEAST
    eps, eps_exp = short(k.r0 << 31, 0)
    m, out[0], out[1] = 0, 0, 1
    while m < n:
        p = 1
        if poor(eps, eps_exp, k.recent):
            most = min(BLOCK, n - m)
            schur_complement(m, most, k, eps, eps_exp)
            p = block_size(most, level, level_exp, k)
            if p == 0:
                return BREAKDOWN
        trace(k.log, at.AHEAD_P, m, 0, p)
        if p > 1 or eps <= 0:
            out[1] = 0
        eps, eps_exp = single_step(m, k, eps, eps_exp) if p == 1 else block_step(m, p, k)
        trace(k.log, at.AHEAD_EPS, m, 0, eps)
        trace(k.log, at.AHEAD_EPS_EXP, m, 0, eps_exp)
        trace(k.log, at.AHEAD_A_EXP, m, 0, e[ROW_A])
        trace(k.log, at.AHEAD_G_EXP, m, 0, e[ROW_G])
        trace(k.log, at.AHEAD_X_EXP, m, 0, e[ROW_X])
        if e[ROW_A] > A_EXP_MAX or e[ROW_G] > EXP_MAX or e[ROW_X] > EXP_MAX:
            return BREAKDOWN
        m += p
        k.recent[out[0] % BLOCK, 0], k.recent[out[0] % BLOCK, 1] = abs(eps), eps_exp
        blocks[out[0]] = p
        out[0] += 1
    found, found_exp = refine(n, k)
    most_y, most_exp = total(k.w[ROW_Y], e[ROW_Y], n)
    return BREAKDOWN if less(most_y, most_exp + ACCEPTED, found, found_exp) else OK


class Lookahead:
    """The solver's arrays as the device has them.

    Parameters
    ----------
    n : int
        Order of the system.
    """

    def __init__(self, n: int) -> None:
        def room(*shape: int) -> Words:
            return np.zeros(shape, dtype=np.int64)

        self._n = n
        self._k = Solver(bit_length(n), 0, room(ROWS, n + 1), room(ROWS), room(n + 1),
                         room(BLOCK, BLOCK, 2), room(BLOCK, BLOCK, 2), room(BLOCK, BLOCK, 2),
                         room(BLOCK, 2), room(BLOCK, 2), UNREAD)
        self._blocks, self._found = room(n), room(2)  # of these: steps, positive

    @property
    def positive(self) -> bool:
        """Whether every step was single with eps > 0."""
        return bool(self._found[1])

    def solve(self, r0: int, r: Words, y: Words, y_exp: int, log: Log = UNREAD) -> tuple[int, Words, int]:
        """Status, words and exponent of the solution of ``T x = y``.

        Parameters
        ----------
        r0 : int
            Diagonal of T, as the words of r; up to 2**31 in magnitude.
        r : ndarray of shape (n,)
            First row of T, s32f31, above -2**31; r[0] is not met.
        y : ndarray of shape (n,)
            Words of 32 bits with the exponent `y_exp`.
        log : Log, optional
            Takes the trace.
        """
        n, k = self._n, self._k._replace(r0=r0, log=UNREAD if log.trace is None else log)
        k.w[ROW_R, :n], k.w[ROW_Y, :n], k.e[ROW_Y] = r, y, y_exp
        status = lookahead(n, k, self._blocks, self._found)
        return status, k.w[ROW_X, :n], int(k.e[ROW_X])

    def solve_words(self, r: Words, y: Words, alpha: Words, plan: Plan, log: Log) -> tuple[int, int]:
        """Status and exponent of alpha (n,), over 1 + lambda, for words of the scaled system."""
        up, top = 32 - plan.word, plan.integer("alpha_exp_max")
        row = r << up
        row[0] = 0  # the 1 that it stands for is no word
        status, x, x_exp = self.solve(1 << 31, row, y << up, 1, log)
        if status != OK:
            return status, 0
        e, word = max(x_exp, plan.integer("alpha_exp_min")), plan.signals["alpha"].format
        if e > top:
            return BREAKDOWN, e
        for i in range(self._n):
            alpha[i] = narrow(int(x[i]), min(up + e - x_exp, 62), HALF_UP, word.lo, word.hi)
        return OK, e

    def fields(self) -> dict[str, Words]:
        """Members of the model structure: views."""
        n, w = self._n, self._k.w
        return {"row": w[ROW_R], "target": w[ROW_Y, :n], "predictor": w[ROW_A], "inverse": w[ROW_G, :n],
                "columns": w[ROW_B:, :n], "solution": w[ROW_X, :n], "wide": self._k.wide,
                "blocks": self._blocks, "steps": self._found[:1], "positive": self._found[1:]}
