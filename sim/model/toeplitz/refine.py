"""sim.model: iterative refinement, and the intercept of the LS-SVM, on top of a Toeplitz solver.

Words of W bits hold r, y and alpha; the solver works with fewer (refinement) or as many (bias
alone).  Each pass solves for a correction from the residual that is left,

    T z = (y - b) / (1 + lambda) - T alpha,    T eta = 1 / (1 + lambda),

(T over 1 + lambda) and with a bias moves b so that alpha sums to zero: ``db = 1'(alpha + z) /
1'eta``, ``alpha += z - db eta`` (paper 001, eqs. 2 to 4: the bordered system of the LS-SVM).  The
bound is that of alpha for the b that stands beside it.
"""

from __future__ import annotations

from typing import NamedTuple

from ...jit import jit
from ...primitives import (
    HALF_UP,
    Words,
    align,
    bit_length,
    block_scale,
    divide,
    magnitude,
    narrow,
    saturate,
    shift_round,
)
from .. import trace_hooks as at
from ..bound import add_square, certified, reduced
from ..certify import CertifyConstants, accurate, row_residual, rows_slack, y_shift, y_slack
from ..kernel import Cast
from ..ranges import ALPHA, fit
from ..statuses import INACCURATE, NOT_POSITIVE_DEFINITE, OK, SATURATED, STALLED
from ..trace_hooks import Log, trace, trace_all
from .levinson import LevinsonConstants, levinson


class RefineConstants(NamedTuple):
    """Integers of the plan."""

    passes: int
    bias: int
    alpha_exp_min: int
    alpha_exp_max: int
    alpha: Cast
    y: Cast
    certify: CertifyConstants
    levinson: LevinsonConstants


class RefineArrays(NamedTuple):
    """Arrays of the device besides alpha and a, and the solver's scalars.

    `sides` (1 or 2, n) are z and eta, `rhs` their right-hand sides.
    """

    r: Words
    r_short: Words
    rhs: Words
    sides: Words
    solver: Words


class Residual(NamedTuple):
    """What is left: normalised by ``2**up``, its largest magnitude, its sum of squares."""

    up: int
    most: int
    squares: int
    shift: int


@jit
def left_over(y: Words, b: int, alpha: Words, alpha_exp: int, begun: bool, t: RefineArrays,
              k: RefineConstants) -> Residual:
    """The residual into ``rhs[0]``, as the solver's words of the format of y; alpha is 0 until `begun`."""
    c = k.certify
    up, most, squares, shift = 0, 0, 0, 0
    s = y_shift(alpha_exp, c)
    share, slack = 0, rows_slack(alpha, c)
    if k.bias == 1:
        share, slack = align(b * c.lambda_rho, s), slack + y_slack(b, s)
    rhs = t.rhs[0]
    for i in range(alpha.shape[0]):
        row = row_residual(i, y[i], t.r, alpha, s, c) if begun else align(y[i] * c.lambda_rho, s)
        row -= share
        squares, shift = add_square(squares, shift, abs(row) + y_slack(y[i], s) + slack,
                                    c.bound.norm_bits, 1)
        most = max(most, magnitude(row))
        grow = bit_length(magnitude(row)) - (k.levinson.word - 2) - up
        if grow > 0:
            block_scale(rhs, 0, i, grow)
            up += grow
        rhs[i] = shift_round(row, up, HALF_UP)
    return Residual(up, most, squares, shift)


@jit
def finest(r: Words, c: CertifyConstants) -> int:
    """The largest residual that rounding alpha to its words alone may leave."""
    acc = 1 << (c.word - 1)
    for j in range(1, r.shape[0]):
        acc += (magnitude(r[j]) + 1) << 1
    return align(acc, c.residual_shift) + 1


class Step(NamedTuple):
    """How a correction meets alpha: shifts of z and of ``db * eta``, db, and whether it is taken back."""

    shift: int
    eta_shift: int
    db: int
    back: bool


@jit
def move(alpha: Words, t: RefineArrays, step: Step, k: RefineConstants, log: Log) -> bool:
    """``alpha += z - db eta``; whether a word saturated."""
    saturated = False
    for i in range(alpha.shape[0]):
        word = narrow(t.sides[0, i], step.shift, k.alpha.rounding, k.alpha.lo, k.alpha.hi)
        if k.bias == 1:
            word -= narrow(step.db * t.sides[1, i], step.eta_shift, k.alpha.rounding, k.alpha.lo,
                           k.alpha.hi)
        whole = alpha[i] - word if step.back else alpha[i] + word
        alpha[i] = fit(whole, k.alpha.lo, k.alpha.hi, log, ALPHA)
        saturated |= alpha[i] != whole
    return saturated


@jit
def bias_step(alpha: Words, alpha_exp: int, t: RefineArrays, shift: int, eta_exp: int, b: int,
              k: RefineConstants) -> int:
    """By how much b moves; not at all where eta sums to nothing, as for no positive definite T."""
    num, den = 0, 0
    for i in range(alpha.shape[0]):
        num += alpha[i] + narrow(t.sides[0, i], shift, k.alpha.rounding, k.alpha.lo, k.alpha.hi)
        den += t.sides[1, i]
    if den <= 0:
        return 0
    quotient, e = divide(num, den)
    c = k.certify
    exponent = e + alpha_exp - c.alpha_frac - eta_exp + k.levinson.word - 1 + c.word - 2
    step = narrow(quotient, saturate(31 - exponent, -30, 62), k.y.rounding, k.y.lo, k.y.hi)
    return saturate(b + step, k.y.lo, k.y.hi) - b


@jit
def prepare(t: RefineArrays, k: RefineConstants) -> None:
    """The first row in the solver's words, and the right-hand side of eta."""
    w = k.levinson.word
    for i in range(t.r.shape[0]):
        t.r_short[i] = narrow(t.r[i], k.certify.word - w, k.alpha.rounding, k.levinson.a.lo, k.levinson.a.hi)
        if k.bias == 1:
            t.rhs[1, i] = 1 << (w - 2)


@jit
def scale_eta(t: RefineArrays, k: RefineConstants) -> None:
    """Eta solves for 1; its right-hand side is 1 / (1 + lambda)."""
    eta = t.sides[1]
    for i in range(eta.shape[0]):
        eta[i] = narrow(eta[i] * k.certify.lambda_rho, 31, k.alpha.rounding, k.levinson.a.lo, k.levinson.a.hi)


@jit
def refine(y: Words, alpha: Words, a: Words, t: RefineArrays, out: Words, k: RefineConstants,
           log: Log) -> int:
    """Solve for alpha, which comes as zero; a status comes back.

    `out` receives eps, a_exp, alpha_exp, eta_exp, b, the bound and z_exp.
    """
    c, w = k.certify, k.levinson.word
    prepare(t, k)
    solver = t.solver
    exponent, b, worst = k.alpha_exp_min, 0, OK
    left = left_over(y, b, alpha, exponent, False, t, k)
    trace_all(log, at.LEFT_OVER_RHS, 0, t.rhs[0], 0, y.shape[0])
    least = finest(t.r, c)
    for turn in range(k.passes + 1):
        if turn > 0 and left.most <= least:
            break
        sides = 1 + k.bias if turn == 0 else 1
        status = levinson(t.rhs[:sides], t.r_short, a, t.sides[:sides], solver, k.levinson, log)
        if status == NOT_POSITIVE_DEFINITE:
            return status
        shift = c.word - c.residual_shift - left.up - solver[2]
        if turn == 0:  # half of the word stays free for the corrections
            first = exponent
            exponent = saturate(first + w + 1 - c.word - shift, k.alpha_exp_min, k.alpha_exp_max)
            shift += exponent - first
            out[3] = solver[3]
            if k.bias == 1:
                scale_eta(t, k)
                trace_all(log, at.REFINE_ETA, turn, t.sides[1], 0, y.shape[0])
        shift = saturate(shift, w - 62, 62)
        db = bias_step(alpha, exponent, t, shift, out[3], b, k) if k.bias == 1 else 0
        eta_shift = saturate(exponent - c.alpha_frac + c.word - 2 - out[3] + w - 1, c.word + w - 64, 62)
        saturated = move(alpha, t, Step(shift, eta_shift, db, False), k, log)
        worst = SATURATED if saturated or status == SATURATED else worst
        trace_all(log, at.MOVE_ALPHA, turn, alpha, 0, y.shape[0])
        after = left_over(y, b + db, alpha, exponent, True, t, k)
        trace_all(log, at.LEFT_OVER_RHS, turn + 1, t.rhs[0], 0, y.shape[0])
        if turn > 0 and not reduced(after.squares, after.shift, left.squares, left.shift, 1):
            worst = STALLED if worst == OK else worst
            if not reduced(after.squares, after.shift, left.squares, left.shift, 0):
                move(alpha, t, Step(shift, eta_shift, db, True), k, log)
                break
        b, left = b + db, after
    out[0], out[1], out[2], out[4] = solver[0], solver[1], exponent, b
    out[5], out[6] = certified(left.squares, left.shift, c.bound), solver[2]
    trace(log, at.CERTIFY_BOUND, 0, 0, out[5])
    return worst if worst == SATURATED or accurate(alpha, out[5], c) else INACCURATE
