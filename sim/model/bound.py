"""sim.model: norms of integer vectors and the error bound, rounded conservatively.

For a positive semidefinite T and ``residual = y - (T + lambda I) alpha``,

    |alpha - alpha*|_2 = |(T + lambda I)^-1 residual|_2 <= |residual|_2 / lambda.

Every operation from the residual to the bound rounds up, and the largest rounding error of its sum is added
to the magnitude of each component of the residual.

alpha* is the solution of the system with the fixed-point T and y. The bound does not include the errors
caused by rounding kernel values and targets to fixed point.
"""

from __future__ import annotations

from typing import NamedTuple

from ..jit import jit
from ..primitives import FLOOR, arithmetic_shift, bit_length, isqrt_ceil, shift_round

#: Value for an unknown bound: it could not be computed, or does not fit.
NO_BOUND = 1 << 62


class BoundConstants(NamedTuple):
    """Integer constants of the bound, taken from the plan.

    `norm_bits` is the number of bits to which a component is reduced before it is squared. ``bound_gain /
    2**bound_shift`` is 1/lambda in the units of residual and alpha; a gain of 0 means that no bound exists.
    `tolerance` has 16 fraction bits.
    """

    norm_bits: int
    bound_gain: int
    bound_shift: int
    tolerance: int


@jit
def shift_up(v: int, s: int) -> int:
    """Return ``v / 2**s`` rounded up; 0 <= s <= 62."""
    return -shift_round(-v, s, FLOOR)


@jit
def add_square(total: int, s: int, v: int, bits: int, up: int) -> tuple[int, int]:
    """Add ``v**2`` to the sum of squares ``total * 4**s``; return the sum and s.

    Requires 0 <= v < 2**62. Components are shifted right by s, so that they have at most `bits` bits; s
    increases if necessary. If `up` is 1, the sum is rounded up, otherwise down.
    """
    grow = bit_length(v) - bits - s
    if grow > 0:
        s += grow
        drop = min(grow + grow, 62)
        total = shift_up(total, drop) if up == 1 else shift_round(total, drop, FLOOR)
    word = shift_up(v, s) if up == 1 else shift_round(v, s, FLOOR)
    return total + word * word, s


@jit
def bound_from_norm(residual: int, s: int, k: BoundConstants) -> int:
    """Return the bound in LSBs of alpha, rounded up.

    The norm is the square root of the sum of squares ``residual * 4**s``.
    """
    if residual == 0:
        return 0
    if k.bound_gain == 0:
        return NO_BOUND
    size = isqrt_ceil(residual) * k.bound_gain
    drop = k.bound_shift - s
    if drop > 62:
        return 1
    if drop >= 0:
        return shift_up(size, drop)
    return NO_BOUND if bit_length(size) - drop > 61 else arithmetic_shift(size, drop)


@jit
def bound_within(bound: int, alpha: int, s: int, k: BoundConstants) -> bool:
    """Return whether ``bound <= tolerance * |alpha|``.

    The norm of alpha is the square root of ``alpha * 4**s``.
    """
    norm = (isqrt_ceil(alpha + 1) - 1) << s  # the square root rounded down
    return bound <= shift_round(norm * k.tolerance, 16, FLOOR)


@jit
def norm_reduced(new: int, new_s: int, old: int, old_s: int, quarter: int) -> bool:
    """Return whether the norm decreased by a factor of at least ``2**quarter``.

    The new sum of squares is ``new * 4**new_s``.
    """
    up = (old_s - new_s - quarter) << 1
    if up <= 0:
        return new <= arithmetic_shift(old, min(-up, 62))
    return bit_length(old) + up > 62 or new <= arithmetic_shift(old, -up)
