"""sim.model: look-ahead Levinson in 32 bits with block exponents.

The arithmetic is the same for every word length W. The method, the steps and the names are those of
:mod:`.lookahead_f32`. :mod:`.block_vectors` defines the vectors, and :mod:`..scalar31` the scalars.
"""

from __future__ import annotations

import numpy as np

from ...choices import LOOKAHEAD_BLOCK as BLOCK
from ...choices import LOOKAHEAD_REFINEMENTS as REFINEMENTS
from ...jit import jit
from ...plan import Plan
from ...primitives import HALF_UP, Words, bit_length, magnitude, requantise
from .. import trace_hooks as at
from ..ranges import NULL_LOG
from ..scalar31 import ZERO_EXP, add, add_wide, div, invert, lt, mul, to_scalar
from ..statuses import BREAKDOWN, OK
from ..trace_hooks import Log, trace, trace_all
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
    add_vectors,
    align_to,
    apply_inverse,
    dot_forward,
    dot_reversed,
    max_abs,
    norm1,
    normalise_block,
    residual,
    unit,
)

#: Exponents of a vector above which the step has broken down; a_0 = 1 must remain a word.
EXP_MAX, A_EXP_MAX = 64, 31
#: Parts of two, as exponents: see GOOD, NEAR_BEST, SINGULAR and ACCEPTED of :mod:`.lookahead_f32`.
GOOD, NEAR_BEST, SINGULAR, ACCEPTED = -7, -3, -20, -10


@jit
def single_step(k: Solver, m: int, eps: int, eps_exp: int) -> tuple[int, int]:
    """Extend m to m + 1 by Durbin's update; return the new eps."""
    r, y, a, g, x = k.w[ROW_R], k.w[ROW_Y], k.w[ROW_A], k.w[ROW_G], k.w[ROW_X]
    a_exp = k.e[ROW_A]
    innov, innov_exp = add_wide(y[m] << 31, k.e[ROW_Y], -dot_reversed(r, m, x, m, k.shift),
                                k.e[ROW_X] + k.shift)
    c, c_exp = div(innov, innov_exp, eps, eps_exp)
    num, num_exp = to_scalar(-dot_reversed(r, m + 1, a, m + 1, k.shift), a_exp + k.shift)
    xi, xi_exp = div(num, num_exp, eps, eps_exp)
    trace(k.log, at.SINGLE_INNOV, m, 0, innov)
    trace(k.log, at.SINGLE_XI, m, 0, xi)
    x[m] = 0
    add_scaled(k, m + 1, ROW_X, c, c_exp, a, a_exp)
    trace_all(k.log, at.SINGLE_X, m, x, 0, m + 1)
    q, e = div(1 << 30, 1, eps, eps_exp)
    for i in range(m + 1):
        k.wide[i] = align_to(q * a[i], e, e + 1)
    k.e[ROW_G] = normalise_block(k.wide, e + 1 + a_exp, m + 1, ZERO_EXP, g)
    trace_all(k.log, at.SINGLE_G, m, g, 0, m + 1)
    a[m + 1] = 0
    add_scaled(k, m + 2, ROW_A, xi, xi_exp, a, a_exp)
    trace_all(k.log, at.SINGLE_A, m, a, 0, m + 2)
    down, down_exp = add(1 << 30, 1, -xi, xi_exp)
    up, up_exp = add(1 << 30, 1, xi, xi_exp)
    eps, eps_exp = mul(eps, eps_exp, down, down_exp)
    return mul(eps, eps_exp, up, up_exp)


@jit
def schur_complement(k: Solver, m: int, p: int, eps: int, eps_exp: int) -> None:
    """Compute ``B = T_m^-1 C`` and ``S = T_p - C'B``.

    ``T_{m+p} = [[T_m, C], [C', T_p]]``.
    """
    r, a, g, B, e = k.w[ROW_R], k.w[ROW_A], k.w[ROW_G], k.w[ROW_B:], k.e[ROW_B:]
    for i in range(m):
        B[0, i] = -a[m - i]
    e[0] = k.e[ROW_A]
    for j in range(1, p):
        last = B[j - 1, m - 1] if m > 0 else 0
        q, q_exp = add_wide(r[m + j] << 31, 0, -dot_forward(r, 1, B[j - 1], 0, m, k.shift),
                            e[j - 1] + k.shift)
        top = max(e[j - 1], e[j - 1] + e[0], q_exp + k.e[ROW_G]) + GUARD
        for i in range(m):
            shifted = 0 if i == 0 else B[j - 1, i - 1]
            k.wide[i] = (align_to(shifted << 31, e[j - 1], top)
                         + align_to(last * B[0, i], e[j - 1] + e[0], top)
                         + align_to(q * g[i], q_exp + k.e[ROW_G], top))
        e[j] = normalise_block(k.wide, top, m, ZERO_EXP, B[j])
        trace_all(k.log, at.COMPLEMENT_B, m + j, B[j], 0, m)
    for i in range(p):
        for j in range(i + 1):
            first = k.r0 if i == j else r[i - j]
            q, q_exp = add_wide(first << 31, 0, -dot_reversed(r, m + i, B[j], m, k.shift), e[j] + k.shift)
            k.S[i, j, 0], k.S[i, j, 1] = q, q_exp
            k.S[j, i, 0], k.S[j, i, 1] = q, q_exp
            trace(k.log, at.COMPLEMENT_S, m, i * BLOCK + j, q)
    k.S[0, 0, 0], k.S[0, 0, 1] = eps, eps_exp  # the exact result, without the rounding of a long sum


@jit
def border(k: Solver, m: int, p: int, v: Words, v_exp: int, min_exp: int) -> int:
    """Extend the solution v of ``T_m v = c`` to m + p rows; return the exponent.

    The result is ``[v - B z; z]`` with ``S z = fresh - C'v``.

    `fresh` contains the p additional entries of c and is overwritten.
    """
    r, B, e, fresh, z = k.w[ROW_R], k.w[ROW_B:], k.e[ROW_B:], k.fresh, k.rest[0]
    for i in range(p):
        fresh[i, 0], fresh[i, 1] = add_wide(fresh[i, 0] << 31, fresh[i, 1],
                                            -dot_reversed(r, m + i, v, m, k.shift),
                                       v_exp + k.shift)
    top = v_exp
    for i in range(p):
        z[i, 0], z[i, 1] = 0, ZERO_EXP
        for j in range(p):
            q, q_exp = mul(k.inverse[i, j, 0], k.inverse[i, j, 1], fresh[j, 0], fresh[j, 1])
            z[i, 0], z[i, 1] = add(z[i, 0], z[i, 1], q, q_exp)
        trace(k.log, at.BORDER_Z, m, i, z[i, 0])
        top = max(top, z[i, 1], z[i, 1] + e[i])
    top += GUARD
    for i in range(m):
        acc = align_to(v[i] << 31, v_exp, top)
        for j in range(p):
            acc -= align_to(z[j, 0] * B[j, i], z[j, 1] + e[j], top)
        k.wide[i] = acc
    for i in range(p):
        k.wide[m + i] = align_to(z[i, 0] << 31, z[i, 1], top)
    return normalise_block(k.wide, top, m + p, min_exp, v)


@jit
def block_step(k: Solver, m: int, p: int) -> tuple[int, int]:
    """Extend m to m + p with `inverse`; return the new eps."""
    r, y, a, g, x, e = k.w[ROW_R], k.w[ROW_Y], k.w[ROW_A], k.w[ROW_G], k.w[ROW_X], k.e
    for i in range(p):
        k.fresh[i, 0], k.fresh[i, 1] = (1 << 30, 1) if m + i == 0 else (0, ZERO_EXP)
    e[ROW_G] = border(k, m, p, g, e[ROW_G], ZERO_EXP)
    trace_all(k.log, at.BLOCK_G, m, g, 0, m + p)
    for i in range(p):
        k.fresh[i, 0], k.fresh[i, 1] = -r[m + 1 + i], 0
    e[ROW_A] = border(k, m, p, a[1:], e[ROW_A], 1)
    trace_all(k.log, at.BLOCK_A, m, a, 1, m + p + 1)
    for i in range(p):
        k.fresh[i, 0], k.fresh[i, 1] = y[m + i], e[ROW_Y]
    e[ROW_X] = border(k, m, p, x, e[ROW_X], ZERO_EXP)
    trace_all(k.log, at.BLOCK_X, m, x, 0, m + p)
    m += p
    a[0] = unit(e[ROW_A])
    # One step of refinement on T g = e_1 and T a[1:] = -(r_1, ..., r_m).
    dg, da = k.w[ROW_B], k.w[ROW_B + 3]
    for i in range(m):
        dg[i] = 1 << 30 if i == 0 else 0
        da[i] = -r[1 + i]
    dg_exp = residual(k, m, g, e[ROW_G], dg, 1)
    da_exp = residual(k, m, a[1:], e[ROW_A], da, 0)
    dg_exp = apply_inverse(k, m, dg, dg_exp)
    da_exp = apply_inverse(k, m, da, da_exp)
    e[ROW_G] = add_vectors(k, m, g, e[ROW_G], dg, dg_exp, ZERO_EXP, g)
    trace_all(k.log, at.REFINED_G, m, g, 0, m)
    e[ROW_A] = add_vectors(k, m, a[1:], e[ROW_A], da, da_exp, 1, a[1:])
    trace_all(k.log, at.REFINED_A, m, a, 1, m + 1)
    a[0] = unit(e[ROW_A])
    return add_wide(k.r0 << 31, 0, dot_forward(r, 1, a[1:], 0, m, k.shift), e[ROW_A] + k.shift)


@jit
def block_size(k: Solver, max_rows: int, level: int, level_exp: int) -> int:
    """Return the number of rows of the next block, or 0 if none is suitable.

    The best conditioned block is selected, or the shortest of several; its inverse is written to `inverse`.
    """
    best, best_exp = 0, ZERO_EXP  # the smallest |S^-1|
    for p in range(1, max_rows + 1):
        norm, norm_exp = invert(k.S, p, k.rest, k.inverse)
        if norm > 0 and (best == 0 or lt(norm, norm_exp, best, best_exp)):
            best, best_exp = norm, norm_exp
    one_over, one_exp = mul(best, best_exp, level, level_exp + SINGULAR)
    if best == 0 or not lt(one_over, one_exp, 1 << 30, 1):
        return 0
    for p in range(1, max_rows + 1):
        norm, norm_exp = invert(k.S, p, k.rest, k.inverse)
        if norm > 0 and not lt(best, best_exp - NEAR_BEST, norm, norm_exp):
            return p
    return 0


@jit
def refine(k: Solver, n: int) -> tuple[int, int]:
    """Add ``T^-1 (y - T x)`` to x as long as the residual at least halves.

    Return the residual.
    """
    y, x, rest, better = k.w[ROW_Y], k.w[ROW_X], k.w[ROW_B], k.w[ROW_B + 3]
    for i in range(n):
        rest[i] = y[i]
    rest_exp = residual(k, n, x, k.e[ROW_X], rest, k.e[ROW_Y])
    found, found_exp = norm1(rest, rest_exp, n)
    for turn in range(REFINEMENTS):
        rest_exp = apply_inverse(k, n, rest, rest_exp)
        better_exp = add_vectors(k, n, x, k.e[ROW_X], rest, rest_exp, ZERO_EXP, better)
        trace_all(k.log, at.REFINE_BETTER, turn, better, 0, n)
        for i in range(n):
            rest[i] = y[i]
        rest_exp = residual(k, n, better, better_exp, rest, k.e[ROW_Y])
        left, left_exp = norm1(rest, rest_exp, n)
        trace(k.log, at.REFINE_NORM, turn, 0, left)
        if not lt(left, left_exp + 1, found, found_exp):
            break
        found, found_exp = left, left_exp
        k.e[ROW_X] = better_exp
        for i in range(n):
            x[i] = better[i]
    return found, found_exp


@jit
def needs_block(eps: int, eps_exp: int, recent: Words) -> bool:
    """Return whether |eps| is at most 2**GOOD times its recent magnitude."""
    above = 0
    for i in range(BLOCK):
        above += lt(recent[i, 0], recent[i, 1] + GOOD, abs(eps), eps_exp)
    return above < BLOCK


@jit
def lookahead(k: Solver, n: int, blocks: Words, out: Words) -> int:
    """Solve ``T x = y`` for row ROW_X; return a status.

    The rows of r (n,) and y must be set. `blocks` (n,) receives the number of rows of each step. `out`
    receives the number of steps, and whether all steps had one row and eps > 0, so that T is positive
    definite.
    """
    r, a, e = k.w[ROW_R], k.w[ROW_A], k.e
    level, level_exp = to_scalar(max(max_abs(r[1:], n - 1), magnitude(k.r0)) << 31, 0)
    for i in range(BLOCK):
        k.recent[i, 0], k.recent[i, 1] = level, level_exp
    r[n] = 0  # only the last predictor depends on it, and that one is not used
    a[0], e[ROW_A], e[ROW_G], e[ROW_X] = 1 << 30, 1, ZERO_EXP, ZERO_EXP
    eps, eps_exp = to_scalar(k.r0 << 31, 0)
    m, out[0], out[1] = 0, 0, 1
    while m < n:
        p = 1
        if needs_block(eps, eps_exp, k.recent):
            max_rows = min(BLOCK, n - m)
            schur_complement(k, m, max_rows, eps, eps_exp)
            p = block_size(k, max_rows, level, level_exp)
            if p == 0:
                return BREAKDOWN
        trace(k.log, at.AHEAD_P, m, 0, p)
        if p > 1 or eps <= 0:
            out[1] = 0
        eps, eps_exp = single_step(k, m, eps, eps_exp) if p == 1 else block_step(k, m, p)
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
    found, found_exp = refine(k, n)
    y_norm, y_norm_exp = norm1(k.w[ROW_Y], e[ROW_Y], n)
    return BREAKDOWN if lt(y_norm, y_norm_exp + ACCEPTED, found, found_exp) else OK


class Lookahead:
    """Arrays of the solver, with the layout on the device.

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
                         room(BLOCK, 2), room(BLOCK, 2), NULL_LOG)
        self._blocks, self._found = room(n), room(2)  # steps, positive

    @property
    def positive(self) -> bool:
        """Return whether every step had one row and eps > 0."""
        return bool(self._found[1])

    def solve(self, r0: int, r: Words, y: Words, y_exp: int, log: Log = NULL_LOG) -> tuple[int, Words, int]:
        """Solve ``T x = y``; return the status, the values and the exponent of x.

        Parameters
        ----------
        r0 : int
            Diagonal of T in units of 2**-31; up to 2**31 in magnitude.
        r : ndarray of shape (n,)
            First row of T as integers in units of 2**-31, each greater than -2**31; r[0] is not used.
        y : ndarray of shape (n,)
            Integers of 32 bits with the exponent `y_exp`.
        log : Log, optional
            Receives the trace.
        """
        n, k = self._n, self._k._replace(r0=r0, log=NULL_LOG if log.trace is None else log)
        k.w[ROW_R, :n], k.w[ROW_Y, :n], k.e[ROW_Y] = r, y, y_exp
        status = lookahead(k, n, self._blocks, self._found)
        return status, k.w[ROW_X, :n], int(k.e[ROW_X])

    def solve_words(self, r: Words, y: Words, alpha: Words, plan: Plan, log: Log) -> tuple[int, int]:
        """Solve for alpha (n,), divided by 1 + lambda; return the status and exponent.

        The arguments are values of the system divided by 1 + lambda.
        """
        up, top = 32 - plan.word, plan.integer("alpha_exp_max")
        row = r << up
        row[0] = 0  # the implicit 1 is not stored
        status, x, x_exp = self.solve(1 << 31, row, y << up, 1, log)
        if status != OK:
            return status, 0
        e, word = max(x_exp, plan.integer("alpha_exp_min")), plan.signals["alpha"].format
        if e > top:
            return BREAKDOWN, e
        for i in range(self._n):
            alpha[i] = requantise(int(x[i]), min(up + e - x_exp, 62), HALF_UP, word.lo, word.hi)
        return OK, e

    def fields(self) -> dict[str, Words]:
        """Return the members of the model structure as views."""
        n, w = self._n, self._k.w
        return {"row": w[ROW_R], "target": w[ROW_Y, :n], "predictor": w[ROW_A], "inverse": w[ROW_G, :n],
                "columns": w[ROW_B:, :n], "solution": w[ROW_X, :n], "wide": self._k.wide,
                "blocks": self._blocks, "steps": self._found[:1], "positive": self._found[1:]}
