"""sim.fxp_model: scalars of 31 significant bits, and inverses of small matrices.

The values are Python fractions. :mod:`..model.scalar31` defines the number of bits of each rounding. The
exponent of a number is the smallest e with ``|v| < 2**e``; the exponent of zero is smaller than all others.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import NamedTuple

#: The largest word, and the exponent of zero.
WORD = (1 << 31) - 1
ZERO_EXP = -512

Matrix = list[list[Fraction]]
ZERO, ONE = Fraction(0), Fraction(1)


class Wide(NamedTuple):
    """Number with exponent e and an LSB of ``2**(e - 62)``."""

    value: Fraction
    exponent: int


def power_of_two(exponent: int) -> Fraction:
    """Return ``2**exponent``."""
    return Fraction(1 << max(exponent, 0), 1 << max(-exponent, 0))


def half_up(value: Fraction) -> int:
    """Round to the nearest integer, half up."""
    return floor(value + Fraction(1, 2))


def exponent_of(v: Fraction) -> int:
    """Return the smallest e with ``-2**e <= v < 2**e``, for v not 0."""
    e = abs(v.numerator).bit_length() - v.denominator.bit_length()
    while not -power_of_two(e) <= v < power_of_two(e):
        e += 1
    while -power_of_two(e - 1) <= v < power_of_two(e - 1):
        e -= 1
    return e


def exponent(v: Fraction) -> int:
    """Return the smallest e with ``|v| < 2**e``."""
    return ZERO_EXP if v == 0 else exponent_of(abs(v))


def word(v: Fraction) -> int:
    """Return a scalar as an integer of 31 bits at its exponent."""
    return int(v / power_of_two(exponent(v) - 31))


def wide(v: Fraction) -> Wide:
    """Convert a scalar to a wide number."""
    return Wide(v, exponent(v))


def to_scalar(v: Fraction) -> Fraction:
    """Round half up to 31 bits.

    If the result would be rounded up to the next power of two, the largest value below it is returned.
    """
    if v == 0:
        return ZERO
    lsb = power_of_two(exponent_of(v) - 31)
    return min(max(half_up(v / lsb), -WORD), WORD) * lsb


def add_wide(u: Wide, v: Wide) -> Fraction:
    """Add two wide numbers, after rounding both down to a common LSB.

    For the larger exponent e, the LSB is ``2**(e + 1 - 62)``.
    """
    top = max(u.exponent, v.exponent) + 1
    return to_scalar(sum(floor(each.value * power_of_two(62 - each.exponent - min(top - each.exponent, 62)))
                     for each in (u, v)) * power_of_two(top - 62))


def add(u: Fraction, v: Fraction) -> Fraction:
    """Add two scalars."""
    return add_wide(wide(u), wide(v))


def div(u: Fraction, v: Fraction) -> Fraction:
    """Divide two scalars; the quotient has 31 bits and is rounded down."""
    if u == 0:
        return ZERO
    lsb = power_of_two(exponent(u / v) - 31)
    return min(max(floor(u / v / lsb), -WORD), WORD) * lsb


def lt(u: Fraction, v: Fraction) -> bool:
    """Return whether the rounded difference of two scalars is negative."""
    return add(u, -v) < 0


def _eliminate(c: int, rest: Matrix, inverse: Matrix) -> bool:
    """Transform column c of `rest` to a column of the identity.

    Apply the same operations to `inverse`. Return False if this is impossible.
    """
    pivot = c
    for i in range(c + 1, len(rest)):
        if lt(abs(rest[pivot][c]), abs(rest[i][c])):
            pivot = i
    head = rest[pivot][c]
    if head == 0:
        return False
    factors = [row[c] for row in rest]
    factors[pivot], factors[c] = factors[c], ZERO
    for rows in (rest, inverse):
        rows[pivot], rows[c] = rows[c], [div(v, head) for v in rows[pivot]]
        for i, factor in enumerate(factors):
            rows[i] = [add(v, to_scalar(-factor * w)) for v, w in zip(rows[i], rows[c], strict=True)]
    return True


def invert(S: Matrix, p: int) -> tuple[Matrix, Fraction]:
    """Invert the leading p by p block; return the inverse and its row-sum norm.

    The norm is 0 if the block is singular.
    """
    rest = [row[:p] for row in S[:p]]
    inverse = [[ONE if i == j else ZERO for j in range(p)] for i in range(p)]
    if not all(_eliminate(c, rest, inverse) for c in range(p)):
        return inverse, ZERO
    norm = ZERO
    for row in inverse:
        total = ZERO
        for v in row:
            total = add(total, abs(v))
        norm = total if lt(norm, total) else norm
    return inverse, norm
