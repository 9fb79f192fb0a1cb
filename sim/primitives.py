"""sim: the integer primitives of which all algorithms consist.

Every algorithm of kerncast, in every language, uses only these operations. Values are int64. The plan
guarantees the ranges stated below, so that no intermediate result overflows. ``floor`` rounds toward minus
infinity. The primitives have the same names in ``firmware/rt/*.h`` and in ``hw/rtl/*.sv``.

PYTEST_DONT_REWRITE: pytest rewrites the assertions of a package that contains a pytest plugin, and numba
cannot compile the rewritten assertions.
"""

from __future__ import annotations

from ._arrays import Words as Words
from .jit import jit

FLOOR, HALF_UP, HALF_EVEN = 0, 1, 2

#: The closed list; a test asks of every language that it has these.
PRIMITIVES = (
    "shift_round", "arithmetic_shift", "saturate", "wrap", "requantise", "mac", "square_diff", "abs_diff",
    "mul_shift", "magnitude", "bit_length", "normalisation_shift", "divide", "divide_round", "isqrt_ceil",
    "block_scale", "exp2_16", "exp2_32", "abs_sinpi",
)


@jit
def shift_round(v: int, s: int, rounding: int) -> int:
    """Compute ``v / 2**s`` and round the result, for 0 <= s <= 62.

    The rounding mode is 0 for floor, 1 for half up, and 2 for half to even.
    """
    assert 0 <= s <= 62
    if s == 0:
        return v
    floor = v >> s
    if rounding == FLOOR:
        return floor
    half = (v >> (s - 1)) & 1
    if rounding == HALF_UP:
        return floor + half
    below_half = (v & ((1 << (s - 1)) - 1)) != 0
    if half == 1 and (below_half or (floor & 1) == 1):
        return floor + 1
    return floor


@jit
def arithmetic_shift(v: int, s: int) -> int:
    """Compute ``floor(v / 2**s)`` for -62 <= s <= 62.

    If `s` is negative, v is multiplied by ``2**-s``; the product must fit int64.
    """
    if s >= 0:
        return shift_round(v, s, FLOOR)
    assert s >= -62
    return v << -s


@jit
def saturate(v: int, lo: int, hi: int) -> int:
    """Return the integer in the range from lo to hi that is nearest to v."""
    if v < lo:
        return lo
    if v > hi:
        return hi
    return v


@jit
def wrap(v: int, bits: int) -> int:
    """Return the signed integer of `bits` bits (1 to 63) that equals v modulo 2**bits."""
    sign = 1 << (bits - 1)
    low = v & ((sign << 1) - 1)
    return (low ^ sign) - sign


@jit
def requantise(v: int, s: int, rounding: int, lo: int, hi: int) -> int:
    """Compute ``v / 2**s``, round it, and saturate it to the range from lo to hi.

    If `s` is negative, v is multiplied by ``2**-s`` exactly.
    """
    if s < 0:
        return saturate(arithmetic_shift(v, s), lo, hi)
    return saturate(shift_round(v, s, rounding), lo, hi)


@jit
def mac(acc: int, a: int, b: int, s: int) -> int:
    """Compute ``acc + floor(a * b / 2**s)``.

    The product and the result must fit int64; the operation does not saturate.
    """
    return acc + shift_round(a * b, s, FLOOR)


@jit
def square_diff(acc: int, u: int, v: int) -> int:
    """Compute ``acc + (u - v)**2``, which adds one term to a squared distance.

    `acc` must not be negative, and the result must fit int64.
    """
    d = u - v
    return acc + d * d


@jit
def abs_diff(acc: int, u: int, v: int) -> int:
    """Compute ``acc + |u - v|``, which adds one term to a distance in the 1-norm.

    `acc` must not be negative, and the result must fit int64.
    """
    return acc + (u - v if u > v else v - u)


@jit
def mul_shift(a: int, c: int, s: int) -> int:
    """Compute ``floor(a * c / 2**s)`` exactly, for products of up to 94 bits.

    Requires 0 <= a < 2**63, 0 <= c < 2**31, 0 <= s <= 62, and a result below 2**63. The product is computed
    separately for the high and the low half of `a`. The low half can be shifted first, because the floor of
    an integer plus a fraction is the integer plus the floor of the fraction.
    """
    high = (a >> 32) * c
    low = (a & 0xFFFFFFFF) * c
    if s >= 32:
        return (high + (low >> 32)) >> (s - 32)
    return (high << (32 - s)) + (low >> s)


@jit
def magnitude(v: int) -> int:
    """Return v if it is not negative, otherwise ``-v - 1``, which cannot overflow.

    The bit length of the result is the number of bits that v needs in two's complement, without the sign.
    """
    return v ^ (v >> 63)


@jit
def bit_length(v: int) -> int:
    """Return the number of significant bits of v, for 0 <= v < 2**63; 0 if v is 0."""
    length = 0
    for step in (32, 16, 8, 4, 2, 1):
        if v >> step != 0:
            v >>= step
            length += step
    return length + (1 if v != 0 else 0)


@jit
def normalisation_shift(v: int) -> int:
    """Return the e with ``2**61 <= v * 2**e < 2**62``, for 0 < v < 2**62."""
    return 62 - bit_length(v)


@jit
def divide(num: int, den: int) -> tuple[int, int]:
    """Divide num by den; return mantissa q and exponent e of the quotient.

    The quotient is approximately ``q * 2**(e - 31)``. Requires |num| < 2**62 and 0 < den < 2**62. If num is
    0, q is 0; otherwise ``2**30 <= |q| <= 2**31``. q is the floor of the normalised numerator divided by the
    31 most significant bits of the normalised denominator.
    """
    if num == 0:
        return 0, 0
    size = num if num > 0 else -num
    up = normalisation_shift(size)
    up_den = normalisation_shift(den)
    d = (den << up_den) >> 31
    if (size << up) < (d << 31):
        return (num << up) // d, up_den - up
    return ((num << up) >> 1) // d, up_den - up + 1


@jit
def divide_round(num: int, den: int) -> int:
    """Compute ``floor(num / den + 1/2)``, the quotient rounded half up.

    Requires 0 <= num < 2**61 and 0 < den < 2**61.
    """
    return (2 * num + den) // (2 * den)


@jit
def isqrt_ceil(v: int) -> int:
    """Return the square root of v, rounded up, for 0 <= v < 2**62."""
    x = 0
    for bit in range(30, -1, -1):
        trial = x + (1 << bit)
        if trial * trial <= v:
            x = trial
    return x + (1 if x * x < v else 0)


@jit
def block_scale(words: Words, first: int, last: int, s: int) -> int:
    """Shift words[first:last] right by s in place, rounding half up.

    Return the largest :func:`magnitude` of the results. The caller increases the block exponent by s. If s is
    0, only the magnitude is computed.
    """
    used = 0
    for i in range(first, last):
        word = shift_round(words[i], s, HALF_UP)
        words[i] = word
        used = max(used, magnitude(word))
    return used


@jit
def exp2_16(t: int, table: Words, bits: int) -> int:
    """Compute ``2**-t`` in the format u16f15, for t in u36f20 below 16.0.

    The fractional part is interpolated linearly in a table with ``2**bits + 1`` entries in u22f21. Requires 5
    <= bits <= 7, and a non-increasing table in which consecutive entries differ by less than ``2**(12 +
    bits)``.
    """
    index = (t & 0xFFFFF) >> (20 - bits)
    rest = t & ((1 << (20 - bits)) - 1)
    left = table[index]
    drop = (left - table[index + 1]) * rest >> (20 - bits)
    return shift_round(left - drop, (t >> 20) + 6, HALF_UP)


@jit
def exp2_32(t: int, coarse: Words, fine: Words, bits: int) -> int:
    """Compute ``2**-t`` in the format u32f31, for t in u37f32 below 32.0.

    The result is ``2**-whole * 2**-(i / 2**bits) * (1 - fine) * (1 - tail)``: two factors are entries of
    tables with ``2**bits`` entries each, and the last one is a polynomial. An entry of `coarse` is ``2 *
    2**-(i / 2**bits) - 1`` in u32f32. An entry of `fine` is ``1 - 2**-(j / 2**(2 * bits))`` with 30 + bits
    fraction bits, and so are its products. The tail is ``z ln 2``, minus half of its square if the tables are
    small. Requires 5 <= bits <= 8, and entries of `fine` below ``2**29.5``.
    """
    z = t & ((1 << (32 - 2 * bits)) - 1)
    tail = (z << (bits - 2)) * 0xB17217F8 >> 32  # ln 2 = 0xB17217F8 * 2**-32
    if bits < 8:
        tail -= tail * tail >> (31 + bits)
    step = fine[(t >> (32 - 2 * bits)) & ((1 << bits) - 1)]
    fall = step + tail - (step * tail >> (30 + bits))
    head = coarse[(t >> (32 - bits)) & ((1 << bits) - 1)]
    value = (1 << 32) + head - ((fall + (head * fall >> 32)) >> (bits - 2))
    return shift_round(value, (t >> 32) + 2, HALF_UP)


@jit
def abs_sinpi(t: int, table: Words) -> int:
    """Compute ``|sin(pi t / 2**32)|`` in the format u32f31, for t >= 0.

    Only the low 32 bits of t are used. The table contains a quarter wave: 257 entries ``sin(pi i / 512)`` in
    u32f31. Values between two entries are computed by ``sin(a + b) = sin a cos b + cos a sin b``, with ``cos
    b = 1 - b**2 / 2`` and ``sin b = b - b**3 / 6``.
    """
    low = t & 0xFFFFFFFF
    turn = low if low < 0x80000000 else 0x100000000 - low
    index = turn >> 23
    s, c = table[index], table[256 - index]
    b = (turn & 0x7FFFFF) * 0xC90FDAA2 >> 24  # f38: pi = 0xC90FDAA2 * 2**-30
    half = b * b >> 39  # b**2 / 2 as f38
    sixth = (b * half >> 38) * 0x5555 >> 16  # b**3 / 6 as f38
    word: int = s + shift_round(c * (b - sixth) - s * half, 38, HALF_UP)
    return word
