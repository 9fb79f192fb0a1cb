"""sim.planner: exact binary logarithms of rational numbers.

The last bit of ``math.log2`` depends on the C library. For a value near a power of two, this difference could
change a shift of the plan.
"""

from __future__ import annotations

from fractions import Fraction


def floor_log2(value: Fraction | int) -> int:
    """Return the largest e with ``2**e <= value``, for positive `value`."""
    top, bottom = value.numerator, value.denominator
    e = top.bit_length() - bottom.bit_length()
    return e if top << max(-e, 0) >= bottom << max(e, 0) else e - 1


def ceil_log2(value: Fraction | int) -> int:
    """Return the smallest e with ``value <= 2**e``, for positive `value`."""
    return -floor_log2(1 / Fraction(value))


def ceil_log2_sqrt(value: Fraction | int) -> int:
    """Return the smallest e with ``sqrt(value) <= 2**e``, for positive `value`."""
    return (ceil_log2(value) + 1) // 2
