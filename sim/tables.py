"""sim: the tables of the device, computed in decimal arithmetic and correctly rounded.

``np.exp`` is not used: its last bit differs between machines, and a table is part of the plan.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from .formats import Format

# 60 digits: a table entry would have to lie within 1e-40 of a rounding boundary to be wrong.
CONTEXT = Context(prec=60)
LN2 = CONTEXT.ln(Decimal(2))
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")

EXP2_16 = Format(False, 16, 16)
EXP2_32 = Format(False, 32, 31)
SINE = Format(False, 32, 31)


def decimal(value: Fraction) -> Decimal:
    """`value` to 60 digits."""
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def rounded(value: Decimal) -> int:
    """The integer nearest to `value`, halves up."""
    return int(CONTEXT.add(value, Decimal("0.5")).to_integral_value(ROUND_FLOOR))


def exp2_entry(exponent: Fraction, fmt: Format) -> int:
    """``2**-exponent`` as the nearest word of `fmt`, saturated."""
    power = CONTEXT.power(Decimal(2), CONTEXT.minus(decimal(exponent)))
    scaled = CONTEXT.multiply(power, Decimal(2) ** fmt.frac)
    return fmt.fit(int(scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP)))


def exp2_16() -> tuple[int, ...]:
    """129 entries of ``2**-(i/128)`` as u16f16; entry 0 saturates to 65535."""
    return tuple(exp2_entry(Fraction(i, 128), EXP2_16) for i in range(129))


def exp2_32(step_bits: int) -> tuple[int, ...]:
    """256 entries of ``2**-(i / 2**step_bits)`` as u32f31."""
    return tuple(exp2_entry(Fraction(i, 1 << step_bits), EXP2_32) for i in range(256))


def log2_e() -> Decimal:
    """``log2(e)`` to 60 digits."""
    return CONTEXT.divide(Decimal(1), LN2)


def sine() -> tuple[int, ...]:
    """257 entries of ``sin(pi i / 512)`` as u32f31: a quarter wave, both ends included."""
    return tuple(rounded(CONTEXT.multiply(_sin(Fraction(i, 512)), Decimal(2) ** SINE.frac))
                 for i in range(257))


def _sin(half_turns: Fraction) -> Decimal:
    """``sin(pi * half_turns)`` to 50 digits and more, by its series; 0 <= half_turns <= 1/2."""
    x = CONTEXT.multiply(decimal(half_turns), PI)
    term, total, k = x, x, 1
    while abs(term) > Decimal("1e-58"):
        term = CONTEXT.divide(CONTEXT.multiply(CONTEXT.multiply(term, x), CONTEXT.minus(x)),
                              Decimal((2 * k) * (2 * k + 1)))
        total, k = CONTEXT.add(total, term), k + 1
    return total
