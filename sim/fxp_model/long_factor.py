"""sim.fxp_model: the factor of a run-time lambda for words above 16 bits.

:mod:`..model.toeplitz.long_factor` defines the number of bits of each rounding. Here a number of 62 bits is
an exact fraction below 1, the sum of two parts of 31 bits.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from ..formats import Format
from ..plan import Plan
from .arithmetic import quotient
from .base import NotPositiveDefiniteError
from .scalars import WORD, half_up, power_of_two

#: LSB of the upper part of a fraction, and of both parts.
_PART, _LSB = power_of_two(-31), power_of_two(-62)
#: The smallest pivot in units of the LSB.
_MIN_PIVOT = 1 << 44


def _parts(value: Fraction) -> tuple[Fraction, Fraction]:
    """Return the upper part of a fraction, and the lower one, which is not negative."""
    upper = floor(value / _PART) * _PART
    return upper, value - upper


def _down(value: Fraction) -> Fraction:
    """Round down to an LSB."""
    return floor(value / _LSB) * _LSB


def _times(a: Fraction, b: Fraction) -> Fraction:
    """Multiply without the product of the lower parts, each product rounded down."""
    (a_upper, a_lower), (b_upper, b_lower) = _parts(a), _parts(b)
    return a_upper * b_upper + _down(a_upper * b_lower) + _down(a_lower * b_upper)


def _reciprocal(u: Fraction) -> tuple[Fraction, int]:
    """Return a fraction m and e with ``_LSB / u`` = ``m 2**e``; m is 1/2 to 1."""
    mantissa, e = quotient(1, int(u / _LSB))
    first, one = mantissa * _PART, power_of_two(-e) * _LSB
    upper, lower = _parts(u)
    miss = (one - upper * first - _down(lower * first)) / one  # first is larger by this part
    error = floor(miss * power_of_two(60)) * power_of_two(-60)
    return min(first + _down(error * first), 1 - _LSB), e


def _pivots(inverses: list[tuple[Fraction, int]], frac: int, max_frac: int) -> tuple[list[int], int]:
    """Return 1 / d_i as a block of integers, and its fraction bits.

    `frac` is the number of fraction bits of lambda. The block begins with `max_frac` bits.
    """
    block = list[int]()
    for m, e in inverses:
        drop, own = max(max_frac - (-e - frac), 0), max(-e - frac - max_frac, 0)
        block = [half_up(word * power_of_two(-drop)) for word in block]
        block.append(min(half_up(m / _PART * power_of_two(-own)), WORD))
        max_frac -= drop
    return block, max_frac


def long_factor(plan: Plan) -> tuple[list[int], list[int], int]:
    """Return the columns of L, 1 / d_i, and the fraction bits of 1 / d_i.

    lambda is that of the plan.

    Raises
    ------
    NotPositiveDefiniteError
        If a generator shows that the matrix is not positive definite.
    """
    frac = plan.integer("lambda_frac")
    entry = Format(True, plan.word, plan.integer("factor_frac"))
    v = [upper * _PART + lower * _LSB for upper, lower in zip(
        *(plan.tables[name].values for name in ("band", "band_rest")), strict=True)]
    u = [((1 << frac) + plan.integer("lambda_word")) * _PART, *v]
    columns, inverses = list[int](), list[tuple[Fraction, int]]()
    for _ in range(plan.integer("rows")):
        if abs(v[0]) >= u[0] or u[0] < _MIN_PIVOT * _LSB:
            raise NotPositiveDefiniteError
        inverse, e = _reciprocal(u[0])
        inverses.append((inverse, e))
        lsb = _LSB * power_of_two(-e) * entry.lsb
        columns += [entry.fit(half_up(_times(w, inverse) / lsb)) for w in u[1:]]
        k = _down(_times(v[0], inverse) / _LSB * power_of_two(e))
        u, v = ([w - _times(other, k) for w, other in zip(u, v, strict=False)] + u[-1:],
                [other - _times(w, k) for w, other in zip(u[1:], v[1:], strict=False)] + [-_times(u[-1], k)])
    return columns, *_pivots(inverses, frac, plan.integer("pivot_frac"))
