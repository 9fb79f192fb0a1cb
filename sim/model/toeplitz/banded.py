"""sim.model: the banded Toeplitz solver in block floating point, in O(n b) time.

The first row of ``A = (T + lambda I) / (1 + lambda)`` is zero beyond a lag b. The factor of ``A = L D L'`` is
a table of the plan (:mod:`...planner.toeplitz.banded`), which contains the columns of L that differ, and 1 /
d_i divided by 1 + lambda; all later columns of L are equal to the last one. Two recursions give alpha:

    z_i = y_i - sum_j L[i, i-j] z_{i-j}                     forward
    alpha_i = z_i / d_i - sum_j L[i+j, i] alpha_{i+j}       backward, in the same array

z and alpha are blocks of W bits, whose exponents never decrease. The exponent of z starts one below that at
which y fills its word, because z is often smaller than y: it is what the previous samples do not predict.

Several outputs share the factor. Each one is solved with its own exponents; at the end, their coefficients
are aligned to one exponent (:func:`..outputs.align_outputs`).

The residual is computed with a first row of 32 bits at every word length. The bound applies to the system
with this first row, which ends at lag b.

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
    mac,
    magnitude,
    requantise,
    shift_round,
)
from .. import trace_hooks as at
from ..bound import add_square, bound_from_norm
from ..certify import CertifyConstants, product_error_bound, target_error_bound
from ..kernel import Cast
from ..ranges import ALPHA, Z, record
from ..statuses import NOT_POSITIVE_DEFINITE, OK
from ..trace_hooks import Log, trace, trace_all

#: Fraction bits of the first row, at every word length.
BAND_FRAC = 31


class BandedConstants(NamedTuple):
    """Constants of the plan. `word` is W."""

    word: int
    band: int
    rows: int
    factor_frac: int
    factor_shift: int
    factor_head: int
    band_head: int
    pivot_frac: int
    alpha_frac: int
    alpha_exp_min: int
    alpha_exp_max: int
    z_exp_max: int
    z: Cast
    alpha: Cast


class BandedTables(NamedTuple):
    """Tables of the plan: the factor, 1 / d_i, and the first row from lag 1.

    ``factor[i, j - 1]`` is L[i + j, i].
    """

    factor: Words
    pivot: Words
    band: Words


@jit
def target_exponent(y: Words, k: BandedConstants) -> int:
    """Return the first exponent of z, one below that at which y fills its word."""
    used = 0
    for i in range(y.shape[0]):
        used = max(used, magnitude(y[i]))
    return -max(k.word - 1 - bit_length(used), 0)


@jit
def forward_sum(z: Words, i: int, factor: Words, k: BandedConstants) -> int:
    """Return ``sum_j L[i, i-j] z_{i-j}``, in which each partial sum is shifted.

    The products at the first `factor_head` lags are added in pairs, and the others in one sum.
    """
    acc, last = 0, min(i, k.band)
    for j in range(1, min(last, k.factor_head) + 1, 2):
        pair = mac(0, factor[min(i - j, k.rows - 1), j - 1], z[i - j], 0)
        if j < last:
            pair = mac(pair, factor[min(i - j - 1, k.rows - 1), j], z[i - j - 1], 0)
        acc += shift_round(pair, k.factor_shift, FLOOR)
    rest = 0
    for j in range(k.factor_head + 1, last + 1):
        rest = mac(rest, factor[min(i - j, k.rows - 1), j - 1], z[i - j], 0)
    return acc + shift_round(rest, k.factor_shift, FLOOR)


@jit
def backward_sum(alpha: Words, i: int, factor: Words, k: BandedConstants) -> int:
    """Return ``sum_j L[i+j, i] alpha_{i+j}``; see :func:`forward_sum`."""
    acc, row, last = 0, min(i, k.rows - 1), min(alpha.shape[0] - 1 - i, k.band)
    for j in range(1, min(last, k.factor_head) + 1, 2):
        pair = mac(0, factor[row, j - 1], alpha[i + j], 0)
        if j < last:
            pair = mac(pair, factor[row, j], alpha[i + j + 1], 0)
        acc += shift_round(pair, k.factor_shift, FLOOR)
    rest = 0
    for j in range(k.factor_head + 1, last + 1):
        rest = mac(rest, factor[row, j - 1], alpha[i + j], 0)
    return acc + shift_round(rest, k.factor_shift, FLOOR)


@jit
def excess_bits(acc: int, frac: int, word: int, rounding: int) -> int:
    """Return the number of bits by which rounded ``acc / 2**frac`` exceeds a word."""
    return max(bit_length(magnitude(shift_round(acc, frac, rounding))) - (word - 1), 0)


@jit
def eliminate_forward(y: Words, z: Words, place: int, factor: Words, k: BandedConstants, log: Log) -> int:
    """Compute z from y, both (n,); return its exponent.

    `place` is the index of the first row in the trace. An exponent above its range means that the system is
    rejected.
    """
    frac, exponent = k.factor_frac - k.factor_shift, target_exponent(y, k)
    for i in range(y.shape[0]):
        acc = arithmetic_shift(y[i], exponent - 1 - frac) - forward_sum(z, i, factor, k)
        grow = excess_bits(acc, frac, k.word, k.z.rounding)
        if grow > 0:
            exponent += grow
            if exponent > k.z_exp_max:
                return exponent
            block_scale(z, 0, i, grow)
            trace_all(log, at.BANDED_SCALED_Z, place + i, z, 0, i)
        z[i] = requantise(acc, frac + grow, k.z.rounding, k.z.lo, k.z.hi)
        record(log, Z, z[i])
        trace(log, at.BANDED_Z, place + i, 0, z[i])
    return exponent


@jit
def start_exponent(z: Words, z_exp: int, pivot: Words, k: BandedConstants) -> int:
    """Return the exponent of alpha at which every ``z_i / d_i`` fits the word length."""
    used = block_scale(z, 0, z.shape[0], 0)
    top = bit_length(used * pivot[k.rows - 1])
    return max(top + z_exp - k.pivot_frac + k.alpha_frac - 2 * (k.word - 1), k.alpha_exp_min)


@jit
def eliminate_backward(alpha: Words, z_exp: int, place: int, t: BandedTables, k: BandedConstants,
                       log: Log) -> int:
    """Compute alpha from z, in place; return its exponent.

    `place` is the index of the first row in the trace. An exponent above its range means that the system is
    rejected.
    """
    frac, n = k.factor_frac - k.factor_shift, alpha.shape[0]
    exponent = start_exponent(alpha, z_exp, t.pivot, k)
    if exponent > k.alpha_exp_max:
        return exponent
    for i in range(n - 1, -1, -1):
        shift = min(k.pivot_frac + k.word - 1 - z_exp + exponent - k.alpha_frac - frac, 62)
        acc = (arithmetic_shift(alpha[i] * t.pivot[min(i, k.rows - 1)], shift)
               - backward_sum(alpha, i, t.factor, k))
        grow = excess_bits(acc, frac, k.word, k.alpha.rounding)
        if grow > 0:
            exponent += grow
            if exponent > k.alpha_exp_max:
                return exponent
            block_scale(alpha, i + 1, n, grow)
            trace_all(log, at.BANDED_SCALED_ALPHA, place + i, alpha, i + 1, n)
        alpha[i] = requantise(acc, frac + grow, k.alpha.rounding, k.alpha.lo, k.alpha.hi)
        record(log, ALPHA, alpha[i])
        trace(log, at.BANDED_ALPHA, place + i, 0, alpha[i])
    return exponent


@jit
def banded(y: Words, alpha: Words, place: int, t: BandedTables, out: Words, k: BandedConstants,
           log: Log) -> int:
    """Solve for alpha (n,) with y (n,); return a status, and the exponent in `out`.

    `place` is the index of the first row in the trace. A system that needs an exponent above its range is
    rejected; no positive definite system does.
    """
    z_exp = eliminate_forward(y, alpha, place, t.factor, k, log)
    if z_exp > k.z_exp_max:
        return NOT_POSITIVE_DEFINITE
    out[0] = eliminate_backward(alpha, z_exp, place, t, k, log)
    return NOT_POSITIVE_DEFINITE if out[0] > k.alpha_exp_max else OK


@jit
def band_residual(i: int, band: Words, alpha: Words, head: int, shift: int) -> int:
    """Return row i of ``T alpha / (1 + lambda)``, lambda included.

    The products at the first `head` lags are shifted one by one, the others as one sum.
    """
    acc, rest, n = shift_round(alpha[i] << BAND_FRAC, shift, FLOOR), 0, alpha.shape[0]
    for j in range(1, band.shape[0] + 1):
        both = mac(0, band[j - 1], alpha[i - j], 0) if j <= i else 0
        if i + j < n:
            both = mac(both, band[j - 1], alpha[i + j], 0)
        if j <= head:
            acc += shift_round(both, shift, FLOOR)
        else:
            rest += both
    return acc + shift_round(rest, shift, FLOOR)


@jit
def certify_band(y: Words, band: Words, alpha: Words, alpha_exp: int, head: int,
                 k: CertifyConstants, excess: int = 0) -> int:
    """Return the bound in LSB of alpha, on the norm over all outputs.

    The diagonal of the matrix is ``2**31`` plus `excess`, whose product is shifted on its own.

    y and alpha have shape (C, n). The method is that of :func:`..certify.certify`, with the band's first row.
    """
    total, total_s, slack = 0, 0, 0
    for o in range(alpha.shape[0]):
        slack = max(slack, product_error_bound(alpha[o], k))
    s = k.word - 2 + k.residual_shift - k.alpha_frac + alpha_exp
    for o in range(alpha.shape[0]):
        for i in range(alpha.shape[1]):
            product = mac(band_residual(i, band, alpha[o], head, k.residual_shift), alpha[o, i], excess,
                          k.residual_shift)
            row = arithmetic_shift(y[o, i] * k.ridge_scale, s) - product
            miss = abs(row) + target_error_bound(y[o, i], s) + slack
            total, total_s = add_square(total, total_s, miss, k.bound.norm_bits, 1)
    return bound_from_norm(total, total_s, k.bound)
