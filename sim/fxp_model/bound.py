"""sim.fxp_model: norms and the error bound, rounded conservatively, in integers.

:mod:`..model.bound` defines the direction and the number of bits of each rounding.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor, isqrt

from ..plan import Plan


def squares(values: Iterable[int], bits: int, up: bool) -> tuple[int, int]:
    """Return (total, s) with ``sum v**2 = total * 4**s``, rounded up or down.

    Each v is shifted right to `bits` bits.
    """
    toward = ceil if up else floor
    total = s = 0
    for v in values:
        longer = max(v.bit_length() - bits, s)
        total, s = toward(Fraction(total, 4 ** (longer - s))), longer
        total += toward(Fraction(v, 2**s)) ** 2
    return total, s


def bound_of(residual: tuple[int, int], plan: Plan) -> int:
    """Return the error bound in LSBs of alpha, rounded up.

    `residual` is the sum of squares of the residual, from :func:`squares`.
    """
    total, s = residual
    gain, beyond = plan.integer("bound_gain"), s - plan.integer("bound_shift")
    if total == 0:
        return 0
    least_root = isqrt(total - 1) + 1
    bound = ceil(least_root * gain * Fraction(2) ** beyond)
    fits = gain > 0 and (beyond <= 0 or bound.bit_length() <= 61)
    return bound if fits else plan.integer("no_bound")


def accurate(bound: int, alpha: tuple[int, int], plan: Plan) -> bool:
    """Return whether the bound is within the tolerance.

    `alpha` is the sum of squares of the coefficients, from :func:`squares`.
    """
    total, s = alpha
    return bound <= (isqrt(total) << s) * Fraction(plan.integer("tolerance"), 1 << 16)
