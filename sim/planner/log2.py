"""sim.planner: binary logarithms of rational numbers, exactly.

``math.log2`` may differ in its last bit from one C library to the next, and near a power of two
that would move a shift of the plan.
"""

from __future__ import annotations

from fractions import Fraction


def floor_log2(value: Fraction | int) -> int:
    """The largest e with ``2**e <= value``; `value` is positive."""
    top, bottom = value.numerator, value.denominator
    e = top.bit_length() - bottom.bit_length()
    return e if top << max(-e, 0) >= bottom << max(e, 0) else e - 1


def ceil_log2(value: Fraction | int) -> int:
    """The smallest e with ``value <= 2**e``; `value` is positive."""
    return -floor_log2(1 / Fraction(value))


def ceil_log2_sqrt(value: Fraction | int) -> int:
    """The smallest e with ``sqrt(value) <= 2**e``; `value` is positive."""
    return (ceil_log2(value) + 1) // 2
