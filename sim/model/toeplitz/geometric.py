"""sim.model: the banded solver for a geometric first row, in O(n) time.

Column j of L below the diagonal is ``g_j rho^(i-j)`` (:mod:`...planner.toeplitz.geometric`), so that each sum
of the recursions of :mod:`.banded` is one running value:

    z_i = y_i - p_i,               p_{i+1} = rho (p_i + g_i z_i)                      forward
    alpha_i = z_i / d_i - s_i,     s_{i-1} = rho g_{i-1} / g_i (s_i + g_i alpha_i)    backward

p and s have `state_frac` bits below the LSB of their block, and are shifted with it. A ratio ``g_{i-1} /
g_i`` other than 1 is a second multiplication, in the rows whose columns of L differ.

The certificate needs K alpha. Its two recursions have the unit of a row of the residual, so that their
rounding is a constant of the plan. The solver stores the running value of the backward one for each
`block_rows` rows; a step of the certificate repeats it within its rows, and continues with the forward one.

PYTEST_DONT_REWRITE: see :mod:`...primitives`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...jit import jit
from ...plan import Plan
from ...primitives import (
    FLOOR,
    HALF_UP,
    Words,
    arithmetic_shift,
    block_scale,
    mac,
    requantise,
    shift_round,
)
from .. import trace_hooks as at
from ..bound import add_square, bound_from_norm
from ..certify import CertifyConstants, accurate, product_error_bound, target_error_bound
from ..kernel import cast_of
from ..ranges import ALPHA, Z, record
from ..statuses import INACCURATE, NOT_POSITIVE_DEFINITE, OK
from ..trace_hooks import Log, trace, trace_all
from .banded import BAND_FRAC, BandedConstants, excess_bits, start_exponent, target_exponent
from .candidate import certify_constants

#: Fraction bits of rho and of the generators, and of the ratio of two generators.
RHO_FRAC, RATIO_FRAC = 31, 30
#: Members of :class:`BandedConstants` that a plan without a band does not have.
_BAND = ("band", "factor_frac", "factor_shift", "factor_head", "band_head")


class GeometricConstants(NamedTuple):
    """Constants of the plan.

    `state_bits` and `sum_bits` are the bits of the running values of the solver and of the certificate.
    """

    rho: int
    state_frac: int
    state_bits: int
    sum_bits: int
    block_rows: int
    banded: BandedConstants
    certify: CertifyConstants


class GeometricTables(NamedTuple):
    """Tables of the plan: g, g_i / g_{i+1} and 1 / d_i. The last entries repeat."""

    generator: Words
    ratio: Words
    pivot: Words


def geometric_constants(plan: Plan) -> GeometricConstants:
    """Return the integers of the solver and of its certificate."""
    own = [0 if name in _BAND else plan.word if name == "word" else plan.integer(name)
           for name in BandedConstants._fields[:-2]]
    banded = BandedConstants._make([*own, cast_of(plan, "z"), cast_of(plan, "alpha")])
    return GeometricConstants._make([*(plan.integer(name) for name in GeometricConstants._fields[:-2]),
                                     banded, certify_constants(plan)])


def geometric_tables(plan: Plan) -> GeometricTables:
    """Return the tables of the solver."""
    return GeometricTables._make(np.array(plan.tables[name].values, dtype=np.int64)
                                 for name in GeometricTables._fields)


@jit
def product_floor(v: int, c: int, frac: int, bits: int) -> int:
    """Return ``floor(v c / 2**frac)``.

    Requires |v| < 2**31 for 32 `bits`, |v| < 2**61 for 64, 0 <= c < 2**31 and 30 <= frac <= 31. For 64 bits,
    the lower `frac` bits of v are multiplied separately, because the product has up to 93 bits.
    """
    if bits == 32:
        return mac(0, v, c, frac)
    high = shift_round(v, frac, FLOOR)
    return mac(high * c, v - (high << frac), c, frac)


@jit
def next_state(state: int, generator: int, word: int, k: GeometricConstants) -> int:
    """Return ``rho (state + g v)`` for a word v of the block."""
    own = shift_round(generator * word, RHO_FRAC - k.state_frac, HALF_UP)
    return product_floor(state + own, k.rho, RHO_FRAC, k.state_bits)


@jit
def forward_geometric(y: Words, z: Words, t: GeometricTables, k: GeometricConstants, log: Log) -> int:
    """Compute z from y, both (n,); return its exponent.

    An exponent above its range means that the system is rejected.
    """
    c, state, exponent = k.banded, 0, target_exponent(y, k.banded)
    for i in range(y.shape[0]):
        acc = arithmetic_shift(y[i], exponent - 1 - k.state_frac) - state
        grow = excess_bits(acc, k.state_frac, c.word, c.z.rounding)
        if grow > 0:
            exponent += grow
            if exponent > c.z_exp_max:
                return exponent
            block_scale(z, 0, i, grow)
            state = shift_round(state, grow, HALF_UP)
            trace_all(log, at.BANDED_SCALED_Z, i, z, 0, i)
        z[i] = requantise(acc, k.state_frac + grow, c.z.rounding, c.z.lo, c.z.hi)
        state = next_state(state, t.generator[min(i, c.rows - 1)], z[i], k)
        record(log, Z, z[i])
        trace(log, at.BANDED_Z, i, 0, z[i])
    return exponent


@jit
def backward_geometric(alpha: Words, z_exp: int, t: GeometricTables, k: GeometricConstants, log: Log) -> int:
    """Compute alpha from z, in place; return its exponent.

    An exponent above its range means that the system is rejected.
    """
    c, n, state = k.banded, alpha.shape[0], 0
    exponent = start_exponent(alpha, z_exp, t.pivot, c)
    if exponent > c.alpha_exp_max:
        return exponent
    for i in range(n - 1, -1, -1):
        row = min(i, c.rows - 1)
        shift = min(c.pivot_frac + c.word - 1 - z_exp + exponent - c.alpha_frac - k.state_frac, 62)
        acc = arithmetic_shift(alpha[i] * t.pivot[row], shift) - state
        grow = excess_bits(acc, k.state_frac, c.word, c.alpha.rounding)
        if grow > 0:
            exponent += grow
            if exponent > c.alpha_exp_max:
                return exponent
            block_scale(alpha, i + 1, n, grow)
            state = shift_round(state, grow, HALF_UP)
            trace_all(log, at.BANDED_SCALED_ALPHA, i, alpha, i + 1, n)
        alpha[i] = requantise(acc, k.state_frac + grow, c.alpha.rounding, c.alpha.lo, c.alpha.hi)
        state = next_state(state, t.generator[row], alpha[i], k)
        if 0 < i < c.rows:
            state = product_floor(state, t.ratio[i - 1], RATIO_FRAC, k.state_bits)
        record(log, ALPHA, alpha[i])
        trace(log, at.BANDED_ALPHA, i, 0, alpha[i])
    return exponent


@jit
def geometric(y: Words, alpha: Words, t: GeometricTables, out: Words, k: GeometricConstants, log: Log) -> int:
    """Solve for alpha (n,) with y (n,); return a status, and the exponent in `out`."""
    z_exp = forward_geometric(y, alpha, t, k, log)
    if z_exp > k.banded.z_exp_max:
        return NOT_POSITIVE_DEFINITE
    out[0] = backward_geometric(alpha, z_exp, t, k, log)
    return NOT_POSITIVE_DEFINITE if out[0] > k.banded.alpha_exp_max else OK


@jit
def next_sum(state: int, alpha: int, k: GeometricConstants) -> int:
    """Return ``rho (state + alpha / (1 + lambda))`` in units of a row of the residual."""
    own = shift_round(alpha * k.certify.ridge_scale, k.certify.residual_shift, FLOOR)
    return product_floor(state + own, k.rho, RHO_FRAC, k.sum_bits)


@jit
def sums_after(alpha: Words, after: Words, k: GeometricConstants) -> None:
    """Compute the sums over the rows after each block of rows, for alpha (n,)."""
    state = 0
    for i in range(alpha.shape[0] - 1, -1, -1):
        if i == alpha.shape[0] - 1 or (i + 1) % k.block_rows == 0:
            after[i // k.block_rows] = state
        state = next_sum(state, alpha[i], k)


@jit
def geometric_products(alpha: Words, after: Words, product: Words, k: GeometricConstants) -> None:
    """Compute ``T alpha / (1 + lambda)``, lambda included, (n,)."""
    state, n = 0, alpha.shape[0]
    for i in range(n - 1, -1, -1):
        if i == n - 1 or (i + 1) % k.block_rows == 0:
            state = after[i // k.block_rows]
        product[i] = state
        state = next_sum(state, alpha[i], k)
    state = 0
    for i in range(n):
        product[i] += state + shift_round(alpha[i] << BAND_FRAC, k.certify.residual_shift, FLOOR)
        state = next_sum(state, alpha[i], k)


@jit
def certify_geometric(y: Words, alpha: Words, alpha_exp: int, after: Words, product: Words,
                      k: GeometricConstants) -> int:
    """Return the bound in LSB of alpha; y, alpha and `product` have shape (n,).

    The method is that of :func:`..certify.certify`.
    """
    c, total, total_s = k.certify, 0, 0
    sums_after(alpha, after, k)
    geometric_products(alpha, after, product, k)
    slack = product_error_bound(alpha, c)
    s = c.word - 2 + c.residual_shift - c.alpha_frac + alpha_exp
    for i in range(alpha.shape[0]):
        row = arithmetic_shift(y[i] * c.ridge_scale, s) - product[i]
        miss = abs(row) + target_error_bound(y[i], s) + slack
        total, total_s = add_square(total, total_s, miss, c.bound.norm_bits, 1)
    return bound_from_norm(total, total_s, c.bound)


class GeometricSolver:
    """Solver and certificate of a plan with geometric columns of L.

    Attributes
    ----------
    after : ndarray of int64
        Sums of the certificate over the rows after each block of rows.
    """

    def __init__(self, plan: Plan) -> None:
        n = plan.sizes["n"]
        self._constants, self._tables = geometric_constants(plan), geometric_tables(plan)
        self.after = np.zeros(next(f.count for f in plan.workspace if f.name == "after"), dtype=np.int64)
        self._product = np.zeros(n, dtype=np.int64)

    def bound(self, y: Words, alpha: Words, alpha_exp: int) -> int:
        """Return the certified bound of a solution in LSB of alpha."""
        return int(certify_geometric(y, alpha, alpha_exp, self.after, self._product, self._constants))

    def solve(self, y: Words, alpha: Words, exponent: Words, bound: Words, log: Log) -> int:
        """Compute alpha, its exponent and its bound from y; return a status."""
        self.after[:] = 0
        status = geometric(y, alpha, self._tables, exponent, self._constants, log)
        if status != OK:
            return int(status)
        bound[0] = self.bound(y, alpha, int(exponent[0]))
        trace(log, at.CERTIFY_BOUND, 0, 0, bound[0])
        return OK if accurate(alpha, bound[0], self._constants.certify) else INACCURATE
