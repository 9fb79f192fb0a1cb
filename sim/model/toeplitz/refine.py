"""sim.model: iterative refinement and the intercept of the LS-SVM.

Both use Levinson's recursion; refinement also uses the banded solver. LS-SVM means least squares support
vector machine.

r, y and alpha have W bits. The solver uses fewer bits for refinement, or the same number if there is only an
intercept b. Each pass solves for a correction z of alpha from the current residual,

    T z = (y - b) / (1 + lambda) - T alpha,    T eta = 1 / (1 + lambda),

where T is divided by 1 + lambda. With an intercept, the pass also changes b so that the sum of alpha is zero:
``db = 1'(alpha + z) / 1'eta``, ``alpha += z - db eta`` (T. Schouten, J. A. K. Suykens and B. De Moor, "Multi
resolution least squares SVM solver", 2000, equations 2 to 4). The bound applies to alpha with the final b.
"""

from __future__ import annotations

from typing import NamedTuple

from ...jit import jit
from ...primitives import (
    HALF_UP,
    Words,
    arithmetic_shift,
    bit_length,
    block_scale,
    divide,
    magnitude,
    requantise,
    saturate,
    shift_round,
)
from .. import trace_hooks as at
from ..bound import add_square, bound_from_norm, norm_reduced
from ..certify import (
    CertifyConstants,
    accurate,
    product_error_bound,
    row_residual,
    target_error_bound,
    target_shift,
)
from ..kernel import Cast
from ..ranges import ALPHA, fit
from ..statuses import INACCURATE, NOT_POSITIVE_DEFINITE, OK, SATURATED, STALLED
from ..trace_hooks import Log, trace, trace_all
from .banded import BandedConstants, BandedTables, band_residual, banded
from .levinson import LevinsonConstants, levinson


class RefineConstants(NamedTuple):
    """Integer constants of the plan.

    `band` has band 0 for Levinson's recursion. `band_head` is that of the residual.
    """

    passes: int
    bias: int
    alpha_exp_min: int
    alpha_exp_max: int
    alpha: Cast
    y: Cast
    certify: CertifyConstants
    levinson: LevinsonConstants
    band: BandedConstants
    band_head: int


class RefineArrays(NamedTuple):
    """Arrays of the device, except alpha and a, and the scalars of the solver.

    `sides` (1 or 2, n) contains z and eta, and `rhs` their right-hand sides. The banded solver uses `tables`
    instead of r.
    """

    r: Words
    r_short: Words
    rhs: Words
    sides: Words
    solver: Words
    tables: BandedTables


class Residual(NamedTuple):
    """Residual: its shift `up`, its largest magnitude and its sum of squares."""

    up: int
    max_abs: int
    squares: int
    shift: int


@jit
def _residual_row(i: int, y: int, alpha: Words, s: int, t: RefineArrays, k: RefineConstants) -> int:
    """Compute row i of ``y / (1 + lambda) - T alpha``."""
    c = k.certify
    if k.band.band > 0:
        product = band_residual(i, t.tables.band, alpha, k.band_head, c.residual_shift)
        return arithmetic_shift(y * c.ridge_scale, s) - product
    return row_residual(i, y, t.r, alpha, s, c)


@jit
def _solve(t: RefineArrays, a: Words, sides: int, k: RefineConstants, log: Log) -> int:
    """Solve for the first `sides` right-hand sides; return a status."""
    if k.band.band > 0:
        return banded(t.rhs[0], t.sides[0], 0, t.tables, t.solver[2:3], k.band, log)
    return levinson(t.rhs[:sides], t.r_short, a, t.sides[:sides], t.solver, k.levinson, log)


@jit
def compute_residual(y: Words, b: int, alpha: Words, alpha_exp: int, has_alpha: bool, t: RefineArrays,
              k: RefineConstants) -> Residual:
    """Compute the residual in ``rhs[0]``, divided by ``2**up``.

    alpha is taken as 0 unless `has_alpha`.
    """
    c = k.certify
    up, max_abs, squares, shift = 0, 0, 0, 0
    s = target_shift(alpha_exp, c)
    share, slack = 0, product_error_bound(alpha, c)
    if k.bias == 1:
        share, slack = arithmetic_shift(b * c.ridge_scale, s), slack + target_error_bound(b, s)
    rhs = t.rhs[0]
    for i in range(alpha.shape[0]):
        row = (_residual_row(i, y[i], alpha, s, t, k) if has_alpha
               else arithmetic_shift(y[i] * c.ridge_scale, s))
        row -= share
        squares, shift = add_square(squares, shift, abs(row) + target_error_bound(y[i], s) + slack,
                                    c.bound.norm_bits, 1)
        max_abs = max(max_abs, magnitude(row))
        grow = bit_length(magnitude(row)) - (k.levinson.word - 2) - up
        if grow > 0:
            block_scale(rhs, 0, i, grow)
            up += grow
        rhs[i] = shift_round(row, up, HALF_UP)
    return Residual(up, max_abs, squares, shift)


@jit
def residual_floor(lags: Words, c: CertifyConstants) -> int:
    """Return the largest residual that the rounding of alpha alone can cause.

    `lags` is the first row from lag 1.
    """
    acc = 1 << (c.word - 1)
    for j in range(lags.shape[0]):
        acc += (magnitude(lags[j]) + 1) << 1
    return arithmetic_shift(acc, c.residual_shift) + 1


class Correction(NamedTuple):
    """Correction of alpha.

    It contains the shifts of z and of ``db * eta``, the value of db, and whether to undo the correction.
    """

    shift: int
    eta_shift: int
    db: int
    undo: bool


@jit
def apply_correction(alpha: Words, t: RefineArrays, step: Correction, k: RefineConstants, log: Log) -> bool:
    """Update ``alpha += z - db eta``; return whether a value saturated."""
    saturated = False
    for i in range(alpha.shape[0]):
        word = requantise(t.sides[0, i], step.shift, k.alpha.rounding, k.alpha.lo, k.alpha.hi)
        if k.bias == 1:
            word -= requantise(step.db * t.sides[1, i], step.eta_shift, k.alpha.rounding, k.alpha.lo,
                           k.alpha.hi)
        whole = alpha[i] - word if step.undo else alpha[i] + word
        alpha[i] = fit(whole, k.alpha.lo, k.alpha.hi, log, ALPHA)
        saturated |= alpha[i] != whole
    return saturated


@jit
def bias_step(alpha: Words, alpha_exp: int, t: RefineArrays, shift: int, eta_exp: int, b: int,
              k: RefineConstants) -> int:
    """Return the change of b, or 0 if the sum of eta is not positive.

    The sum is positive for every positive definite T.
    """
    num, den = 0, 0
    for i in range(alpha.shape[0]):
        num += alpha[i] + requantise(t.sides[0, i], shift, k.alpha.rounding, k.alpha.lo, k.alpha.hi)
        den += t.sides[1, i]
    if den <= 0:
        return 0
    quotient, e = divide(num, den)
    c = k.certify
    exponent = e + alpha_exp - c.alpha_frac - eta_exp + k.levinson.word - 1 + c.word - 2
    step = requantise(quotient, saturate(31 - exponent, -30, 62), k.y.rounding, k.y.lo, k.y.hi)
    return saturate(b + step, k.y.lo, k.y.hi) - b


@jit
def prepare(t: RefineArrays, k: RefineConstants) -> None:
    """Round the first row to the solver's word length and set up the system of eta."""
    w = k.levinson.word
    for i in range(t.r.shape[0]):
        t.r_short[i] = requantise(t.r[i], k.certify.word - w, k.alpha.rounding, k.levinson.a.lo,
                                  k.levinson.a.hi)
        if k.bias == 1:
            t.rhs[1, i] = 1 << (w - 2)


@jit
def scale_eta(t: RefineArrays, k: RefineConstants) -> None:
    """Scale eta from the right-hand side 1 to 1 / (1 + lambda)."""
    eta = t.sides[1]
    for i in range(eta.shape[0]):
        eta[i] = requantise(eta[i] * k.certify.ridge_scale, 31, k.alpha.rounding, k.levinson.a.lo,
                            k.levinson.a.hi)


@jit
def refine(y: Words, alpha: Words, a: Words, t: RefineArrays, out: Words, k: RefineConstants,
           log: Log) -> int:
    """Solve for alpha, which is initially zero; return a status.

    `out` receives eps, a_exp, alpha_exp, eta_exp, b, the bound and z_exp.
    """
    c, w = k.certify, k.levinson.word
    prepare(t, k)
    solver = t.solver
    exponent, b, worst = k.alpha_exp_min, 0, OK
    residual = compute_residual(y, b, alpha, exponent, False, t, k)
    trace_all(log, at.RESIDUAL_RHS, 0, t.rhs[0], 0, y.shape[0])
    min_residual = residual_floor(t.tables.band if k.band.band > 0 else t.r[1:], c)
    for turn in range(k.passes + 1):
        if turn > 0 and residual.max_abs <= min_residual:
            break
        sides = 1 + k.bias if turn == 0 else 1
        status = _solve(t, a, sides, k, log)
        if status == NOT_POSITIVE_DEFINITE:
            return status
        shift = c.word - c.residual_shift - residual.up - solver[2]
        if turn == 0:  # half of the word length remains for the corrections
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
        saturated = apply_correction(alpha, t, Correction(shift, eta_shift, db, False), k, log)
        worst = SATURATED if saturated or status == SATURATED else worst
        trace_all(log, at.CORRECTION_ALPHA, turn, alpha, 0, y.shape[0])
        after = compute_residual(y, b + db, alpha, exponent, True, t, k)
        trace_all(log, at.RESIDUAL_RHS, turn + 1, t.rhs[0], 0, y.shape[0])
        if turn > 0 and not norm_reduced(after.squares, after.shift, residual.squares, residual.shift, 1):
            worst = STALLED if worst == OK else worst
            if not norm_reduced(after.squares, after.shift, residual.squares, residual.shift, 0):
                apply_correction(alpha, t, Correction(shift, eta_shift, db, True), k, log)
                break
        b, residual = b + db, after
    out[0], out[1], out[2], out[4] = solver[0], solver[1], exponent, b
    out[5], out[6] = bound_from_norm(residual.squares, residual.shift, c.bound), solver[2]
    trace(log, at.CERTIFY_BOUND, 0, 0, out[5])
    return worst if worst == SATURATED or accurate(alpha, out[5], c) else INACCURATE
