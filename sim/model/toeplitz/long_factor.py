"""sim.model: the factor of a run-time lambda for words above 16 bits.

The recursion is that of :mod:`.ranged`. 32-bit generators would limit the accuracy: their rounding is
amplified by the condition number of the matrix. Here u and v have 31 bits more, and so has the first row,
whose lower bits are a second table. k and 1 / u_0 have 62 bits. A product needs three products of 31 bits.

1 / d is larger for a small lambda than for a large one, so the array of 1 / d has a block exponent.

PYTEST_DONT_REWRITE: see :mod:`...primitives`.
"""

from __future__ import annotations

from ...jit import jit
from ...primitives import (
    FLOOR,
    HALF_UP,
    Words,
    arithmetic_shift,
    bit_length,
    block_scale,
    divide,
    mac,
    requantise,
    shift_round,
)

#: Bits of one part of a generator, of k, or of 1 / u_0.
PART = 31
#: Both parts.
LONG = 2 * PART
#: A pivot of fewer bits does not occur in the range of lambda.
MIN_PIVOT_BITS = 45
#: Fraction bits of the relative error of the first quotient; it is below ``2**-29``.
_ERROR_FRAC = 60
_PART_MASK = (1 << PART) - 1
_INT32_MAX = (1 << 31) - 1


@jit
def long_product(a: int, b: int) -> int:
    """Compute ``a b / 2**LONG`` for numbers below ``2**LONG``.

    The product of the lower parts is omitted, so the result is at most 3 below the exact quotient.
    """
    a_high, a_low = shift_round(a, PART, FLOOR), a & _PART_MASK
    b_high, b_low = shift_round(b, PART, FLOOR), b & _PART_MASK
    return mac(mac(mac(0, a_high, b_high, 0), a_high, b_low, PART), a_low, b_high, PART)


@jit
def long_reciprocal(d: int, first: int, e: int) -> int:
    """Return ``2**(LONG - e) / d`` with a relative error of about ``2**-58``.

    `first` and `e` are the quotient of 1 and d, which has `MIN_PIVOT_BITS` to `LONG` bits. The quotient is
    multiplied by 1 plus its relative error.
    """
    product = mac(mac(0, shift_round(d, PART, FLOOR), first, 0), d & _PART_MASK, first, PART)
    error = arithmetic_shift((1 << -e) - product, -e - _ERROR_FRAC)
    q = (first << PART) + shift_round(error * first, _ERROR_FRAC - PART, FLOOR)
    return min(q, (1 << LONG) - 1)


@jit
def advance_long(u: Words, v: Words, k: int) -> None:
    """Advance the generators u (b + 1,) and v (b,) by one column.

    See :func:`.ranged.advance`.
    """
    b: int = v.shape[0]
    for j in range(b):
        own, other = u[j], v[j]
        u[j] = own - long_product(other, k)
        if j > 0:
            v[j - 1] = other - long_product(own, k)
    v[b - 1] = -long_product(u[b], k)


@jit
def append_pivot(pivot: Words, i: int, inverse: int, frac: int, block_frac: int) -> int:
    """Store 1 / d_i in a block; return the new number of fraction bits of the block.

    The block has `block_frac` fraction bits. `inverse`, of LONG bits, gives a word with `frac` fraction bits.
    If these are fewer, the block is shifted.
    """
    block_scale(pivot, 0, i, max(block_frac - frac, 0))
    pivot[i] = requantise(inverse, PART + max(frac - block_frac, 0), HALF_UP, 0, _INT32_MAX)
    return min(frac, block_frac)


@jit
def factorise_long(row: Words, rest: Words, lam: int, factor: Words, pivot: Words, u: Words, v: Words,
                   lo: int, hi: int, rows: int, factor_frac: int, pivot_frac: int, lambda_frac: int) -> int:
    """Compute the columns of L (rows, b) and 1 / d_i (rows,).

    Return the number of fraction bits of 1 / d_i. It is 0 if the matrix is not positive definite. The first
    row of T from lag 1 is `row` plus `rest` divided by ``2**PART``, both (b,). `lo` and `hi` limit the
    entries of L. `pivot_frac` is the largest number of fraction bits.
    """
    b = row.shape[0]
    u[0] = ((1 << lambda_frac) + lam) << PART
    for j in range(b):
        u[j + 1] = (row[j] << PART) + rest[j]
        v[j] = u[j + 1]
    for i in range(rows):
        if abs(v[0]) >= u[0] or bit_length(u[0]) < MIN_PIVOT_BITS:
            return 0
        first, e = divide(1, u[0])
        inverse = long_reciprocal(u[0], first, e)
        pivot_frac = append_pivot(pivot, i, inverse, -e - lambda_frac, pivot_frac)
        for j in range(b):
            factor[i, j] = requantise(long_product(u[j + 1], inverse), -e - factor_frac, HALF_UP, lo, hi)
        if i < rows - 1:
            advance_long(u, v, arithmetic_shift(long_product(v[0], inverse), -e - LONG))
    return pivot_frac
