"""sim: the closed list of integer primitives, each defined once.

Every algorithm of kerncast, in every language, uses these operations only. Values are int64; the caller (the
plan) guarantees the stated ranges, so that no intermediate result overflows. ``floor`` is rounding toward
minus infinity. The same names appear in ``firmware/rt/*.h`` and in ``hw/rtl/*.sv``.

PYTEST_DONT_REWRITE: pytest rewrites the assertions of packages that ship a pytest plugin, and numba cannot
compile the rewritten ones.
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
    """Compute ``v / 2**s``, rounded: 0 floor, 1 half up, 2 half to even. 0 <= s <= 62."""
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
    """Compute ``floor(v / 2**s)``; -62 <= s <= 62.

    A negative `s` multiplies by ``2**-s``; the product must fit int64.
    """
    if s >= 0:
        return shift_round(v, s, FLOOR)
    assert s >= -62
    return v << -s


@jit
def saturate(v: int, lo: int, hi: int) -> int:
    """Return the integer in [lo, hi] nearest to `v`."""
    if v < lo:
        return lo
    if v > hi:
        return hi
    return v


@jit
def wrap(v: int, bits: int) -> int:
    """Return the signed `bits`-bit integer (1 to 63) equal to `v` modulo ``2**bits``."""
    sign = 1 << (bits - 1)
    low = v & ((sign << 1) - 1)
    return (low ^ sign) - sign


@jit
def requantise(v: int, s: int, rounding: int, lo: int, hi: int) -> int:
    """Cast: ``saturate(v / 2**s rounded, lo, hi)``.

    A negative `s` multiplies exactly.
    """
    if s < 0:
        return saturate(arithmetic_shift(v, s), lo, hi)
    return saturate(shift_round(v, s, rounding), lo, hi)


@jit
def mac(acc: int, a: int, b: int, s: int) -> int:
    """Compute ``acc + floor(a * b / 2**s)``.

    Product and result fit 64 bits; nothing saturates.
    """
    return acc + shift_round(a * b, s, FLOOR)


@jit
def square_diff(acc: int, u: int, v: int) -> int:
    """Compute ``acc + (u - v)**2``, one term of an exact squared distance.

    0 <= acc; the result fits int64.
    """
    d = u - v
    return acc + d * d


@jit
def abs_diff(acc: int, u: int, v: int) -> int:
    """Compute ``acc + |u - v|``, one term of an exact distance in the 1-norm.

    0 <= acc; the result fits int64.
    """
    return acc + (u - v if u > v else v - u)


@jit
def mul_shift(a: int, c: int, s: int) -> int:
    """Compute ``floor(a * c / 2**s)`` exactly; ``a * c`` may need 94 bits.

    0 <= a < 2**63, 0 <= c < 2**31, 0 <= s <= 62, result below 2**63. The product is taken in two halves of
    `a`; the low half may be shifted first, because the floor of an integer plus a fraction is the integer
    plus the floor of the fraction.
    """
    high = (a >> 32) * c
    low = (a & 0xFFFFFFFF) * c
    if s >= 32:
        return (high + (low >> 32)) >> (s - 32)
    return (high << (32 - s)) + (low >> s)


@jit
def magnitude(v: int) -> int:
    """Return ``v`` or ``-v - 1``: same bit length as `v`, without overflow."""
    return v ^ (v >> 63)


@jit
def bit_length(v: int) -> int:
    """Return the number of bits of `v`; 0 for 0. 0 <= v < 2**63."""
    length = 0
    for step in (32, 16, 8, 4, 2, 1):
        if v >> step != 0:
            v >>= step
            length += step
    return length + (1 if v != 0 else 0)


@jit
def normalisation_shift(v: int) -> int:
    """Return the shift e with ``2**61 <= v * 2**e < 2**62``. 0 < v < 2**62."""
    return 62 - bit_length(v)


@jit
def divide(num: int, den: int) -> tuple[int, int]:
    """Divide; return (q, e) with ``num / den = q * 2**(e - 31)`` approximately.

    |num| < 2**62, 0 < den < 2**62.  q is 0 for num = 0, else ``2**30 <= |q| <= 2**31``: the floor
    of the normalised numerator over the 31 most significant bits of the normalised denominator.
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
    """Compute ``floor(num / den + 1/2)``, the rounded mean.

    0 <= num < 2**61, 0 < den < 2**61.
    """
    return (2 * num + den) // (2 * den)


@jit
def isqrt_ceil(v: int) -> int:
    """Return the smallest x with ``x * x >= v``: the square root, rounded up.

    0 <= v < 2**62.
    """
    x = 0
    for bit in range(30, -1, -1):
        trial = x + (1 << bit)
        if trial * trial <= v:
            x = trial
    return x + (1 if x * x < v else 0)


@jit
def block_scale(words: Words, first: int, last: int, s: int) -> int:
    """Shift words[first:last] right by s (half up) in place.

    Return the largest magnitude.

    The exponent of the block increases by s. With s = 0 only the magnitude is computed.
    """
    used = 0
    for i in range(first, last):
        word = shift_round(words[i], s, HALF_UP)
        words[i] = word
        used = max(used, magnitude(word))
    return used


@jit
def exp2_16(t: int, table: Words, bits: int) -> int:
    """Compute ``2**-t`` as u16f15 for t = u36f20 below 16.0.

    The result is interpolated linearly between ``2**bits + 1`` entries u22f21.

    5 <= bits <= 7; the table is non-increasing, and its steps are below ``2**(12 + bits)``.
    """
    index = (t & 0xFFFFF) >> (20 - bits)
    rest = t & ((1 << (20 - bits)) - 1)
    left = table[index]
    drop = (left - table[index + 1]) * rest >> (20 - bits)
    return shift_round(left - drop, (t >> 20) + 6, HALF_UP)


@jit
def exp2_32(t: int, coarse: Words, fine: Words, bits: int) -> int:
    """Compute ``2**-t`` as u32f31 for t = u37f32 below 32.0.

    The result is a product of entries of two tables with ``2**bits`` entries, and a polynomial tail.

    ``2**-t = 2**-whole * 2**-i/2**bits * (1 - fine) * (1 - tail)``. A coarse entry is ``2 * 2**-i/2**bits -
    1`` as u32f32, a fine one ``1 - 2**-j/2**(2*bits)`` with 30 + bits fraction bits, like the products with
    it; the tail is ``z ln 2``, minus half its square if the table is small. 5 <= bits <= 8; an entry of
    `fine` is below ``2**29.5``.
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
    """Compute ``|sin(pi t / 2**32)|`` as u32f31 for t >= 0.

    Only the low 32 bits of t are used.

    The table holds ``sin(pi i / 512)``, 257 entries u32f31 of a quarter wave; between two entries
    ``sin(a + b) = sin a cos b + cos a sin b`` with ``cos b = 1 - b**2 / 2``, ``sin b = b - b**3 / 6``.
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
