"""sim: the lookup tables of the device, correctly rounded from decimal arithmetic.

The tables do not use ``np.exp``, because its last bit differs between machines, and a table is part of the
plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache

from .formats import Format

# 60 digits: a table entry would have to lie within 1e-40 of a rounding boundary to be wrong.
CONTEXT = Context(prec=60)
LN2 = CONTEXT.ln(Decimal(2))
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")

EXP2_16 = Format(False, 22, 21)
EXP2_COARSE = Format(False, 32, 32)
SINE = Format(False, 32, 31)


def decimal(value: Fraction) -> Decimal:
    """Return `value` to 60 digits."""
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def rounded(value: Decimal) -> int:
    """Return the integer nearest to `value`, rounding half up."""
    return int(CONTEXT.add(value, Decimal("0.5")).to_integral_value(ROUND_FLOOR))


#: ln 2 and 1/3 with 31 fraction bits: constants of the Matern kernels.
LN2_WORD, THIRD_WORD = (rounded(CONTEXT.multiply(value, Decimal(1 << 31)))
                        for value in (LN2, CONTEXT.divide(Decimal(1), Decimal(3))))


def power_of_two(exponent: Fraction) -> Decimal:
    """Return ``2**exponent`` to 60 digits."""
    return CONTEXT.power(Decimal(2), decimal(exponent))


def roots(bits: int, count: int) -> Iterator[Decimal]:
    """Yield ``2**-(i/2**bits)`` for i = 0 ... count - 1.

    Repeated multiplication loses one or two digits in the last value, and is ten times as fast as powers.
    Use it for values between 1/2 and 1 that are never halfway between two representable entries.
    """
    factor, value = power_of_two(Fraction(-1, 1 << bits)), Decimal(1)
    for _ in range(count):
        yield value
        value = CONTEXT.multiply(value, factor)


def entry(value: Decimal, fmt: Format) -> int:
    """Return the integer of `fmt` nearest to `value`, saturated."""
    return fmt.fit(rounded(CONTEXT.multiply(value, Decimal(2) ** fmt.frac)))


@cache
def exp2_16(bits: int) -> tuple[int, ...]:
    """Return ``2**bits + 1`` entries of ``2**-(i/2**bits)`` as u22f21.

    The entries are slightly below these values. A chord lies above the curve, by up to
    ``(ln 2 / 2**bits)**2 / 8`` of its value; subtraction of half of that balances the error.  Less than
    half an LSB of the result is subtracted, so ``2**0`` stays exact.
    """
    step = CONTEXT.divide(LN2, Decimal(1 << bits))
    lowered = min(CONTEXT.divide(CONTEXT.multiply(step, step), Decimal(16)), Decimal(31) / 2**21)
    factor = CONTEXT.subtract(Decimal(1), lowered)
    return tuple(entry(CONTEXT.multiply(power_of_two(Fraction(-i, 1 << bits)), factor), EXP2_16)
                 for i in range((1 << bits) + 1))


@cache
def exp2_coarse(bits: int) -> tuple[int, ...]:
    """Return ``2**bits`` entries of ``2 * 2**-(i/2**bits) - 1`` as u32f32.

    The first entry saturates.
    """
    return tuple(entry(CONTEXT.subtract(CONTEXT.multiply(Decimal(2), power), Decimal(1)), EXP2_COARSE)
                 for power in roots(bits, 1 << bits))


def exp2_fine_format(bits: int) -> Format:
    """Return the format of the fine table.

    The format is the finest one whose 30 bits can represent the largest entry.
    """
    return Format(False, 30, 30 + bits)


@cache
def exp2_fine(bits: int) -> tuple[int, ...]:
    """Return ``2**bits`` entries of ``1 - 2**-(j/2**(2*bits))``.

    The entries have 30 + bits fraction bits.
    """
    fmt = exp2_fine_format(bits)
    return tuple(entry(CONTEXT.subtract(Decimal(1), power), fmt)
                 for power in roots(2 * bits, 1 << bits))


def log2_e() -> Decimal:
    """Return ``log2(e)`` to 60 digits."""
    return CONTEXT.divide(Decimal(1), LN2)


@cache
def sine() -> tuple[int, ...]:
    """Return 257 entries of ``sin(pi i / 512)`` as u32f31.

    The entries cover a quarter wave, including both ends.
    """
    return tuple(rounded(CONTEXT.multiply(_sin(Fraction(i, 512)), Decimal(2) ** SINE.frac))
                 for i in range(257))


def _sin(half_turns: Fraction) -> Decimal:
    """Return ``sin(pi * half_turns)`` to 50 digits or more.

    The series is summed for 0 <= half_turns <= 1/2.
    """
    x = CONTEXT.multiply(decimal(half_turns), PI)
    term, total, k = x, x, 1
    while abs(term) > Decimal("1e-58"):
        term = CONTEXT.divide(CONTEXT.multiply(CONTEXT.multiply(term, x), CONTEXT.minus(x)),
                              Decimal((2 * k) * (2 * k + 1)))
        total, k = CONTEXT.add(total, term), k + 1
    return total
