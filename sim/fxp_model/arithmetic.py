"""sim.fxp_model: numbers of fxpmath, and the operations that fxpmath lacks.

fxpmath adds, subtracts and multiplies numbers of up to 63 bits exactly. It has these limits (version 0.4.10;
``tests/property/test_other_libraries.py`` shows each of them):

* Arrays that mix 64-bit numbers with shorter ones become floats. Therefore :func:`product_floor` computes
  longer products (``mul_shift`` of :mod:`..primitives`) with Python integers.
* A cast uses float64, which is exact for 53 bits, and arrays of 64 bits and more are not rounded at all.
  Therefore :func:`cast` first combines the bits that do not change the result into one *sticky* bit.
* It has no quotient as defined by the primitive ``divide``. Therefore :func:`quotient` uses Python's
  fractions.
"""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from functools import cache
from importlib import import_module
from math import floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import Words as Words
from ..errors import fail
from ..formats import Format, Overflow, Rounding
from ..notations import cast_names

#: An ``fxpmath.Fxp``: one number or an array of them, with its format.  Published without types.
Fxp = Any

#: An exact intermediate, and the size from which fxpmath would make floats of it.
_WIDE = 64
_TOO_LARGE = 1 << 63


def _library() -> Any:
    """Import and return fxpmath; raise E501 if it is not installed."""
    try:
        return import_module("fxpmath")
    except ImportError:
        raise fail("E501", "the back end model:fxpmath needs fxpmath, which is not installed",
                   where="back end", value="model:fxpmath", allowed="the extra test",
                   remedy="python -m pip install fxpmath") from None


@cache
def _zero(library: Any, signed: bool, bits: int, frac: int, **modes: str) -> Fxp:
    """Return the number 0 of a format, with modes of rounding and overflow."""
    return library.Fxp(0, signed, bits, frac, raw=True, **modes)


def _with_value(zero: Fxp, value: Any, raw: bool) -> Fxp:
    """Return a number with the format and modes of `zero`.

    fxpmath stores the value as in a new number. A new number costs twice as much, because fxpmath first
    stores 0 in it.
    """
    new = copy(zero)
    new.status = dict(zero.status)
    return new.set_val(value, raw=raw)


def number(words: ArrayLike | int, fmt: Format) -> Fxp:
    """Convert integers to numbers of a format."""
    return _with_value(_zero(_library(), fmt.signed, fmt.bits, fmt.frac), words, True)


def exact(words: ArrayLike | int, frac: int) -> Fxp:
    """Convert integers below 2**63 to numbers with `frac` fraction bits, exactly."""
    whole = np.array(words, dtype=object)
    assert np.all(np.abs(whole) < _TOO_LARGE), "fxpmath would convert these integers to floats"
    return _with_value(_zero(_library(), True, _WIDE, frac), whole, True)


def words_of(value: Fxp) -> Words:
    """Return the integers of numbers; they must fit int64."""
    return np.asarray(value.val, dtype=np.int64)


def word_of(value: Fxp) -> int:
    """Return the integer of one number."""
    return int(np.asarray(value.val).item())


def integers(value: Fxp) -> Any:
    """Return the integers of numbers as an array of Python integers."""
    return np.array(value.val, dtype=object)


def floor_at(value: Fxp, frac: int) -> Fxp:
    """Round `value` down to `frac` fraction bits.

    The result is exact if `value` has at most `frac` fraction bits.
    """
    if value.n_frac <= frac:
        return value
    return exact(integers(value) >> (value.n_frac - frac), frac)


def product_floor(a: Fxp, b: Fxp, frac: int) -> Fxp:
    """Compute ``a * b`` exactly, and round the product down to `frac` fraction bits."""
    return exact(integers(a) * integers(b) >> (a.n_frac + b.n_frac - frac), frac)


def word_at(value: Fxp, frac: int) -> int:
    """Return one number as an integer with LSB ``2**-frac``, rounded down."""
    raw: int = integers(value).item()
    drop: int = value.n_frac - frac
    return raw >> drop if drop >= 0 else raw << -drop


def total(values: Fxp) -> Fxp:
    """Return the exact sum; 0 for an empty array."""
    return exact(sum(integers(values).tolist()), values.n_frac)


def cast(value: Fxp, fmt: Format, rounding: Rounding, overflow: Overflow = Overflow.SATURATE) -> Fxp:
    """Cast to a format with the rounding and overflow modes of fxpmath.

    The number of bits is first reduced to what fxpmath supports.
    """
    modes = cast_names("fxpmath", rounding, overflow)
    zero = _zero(_library(), fmt.signed, fmt.bits, fmt.frac, rounding=modes[0], overflow=modes[1])
    return _with_value(zero, _within_reach(value, fmt, overflow), False)


def _within_reach(value: Fxp, fmt: Format, overflow: Overflow) -> Fxp:
    """Return a number that is exact in float64 and casts to the same value in `fmt`.

    `fmt` has at most 48 bits. The number has two fraction bits more than `fmt`. The last of them is sticky:
    it records whether the dropped bits are all zero, which is all that rounding needs. A number beyond twice
    the range of the format saturates in the same way as the limit, and wraps in the same way as its remainder
    modulo four times the range.
    """
    assert fmt.bits <= 48
    raw, frac = integers(value), value.n_frac
    drop = frac - (fmt.frac + 2)
    if drop > 0:
        sticky = (raw & ((1 << drop) - 1)) != 0
        raw, frac = (raw >> drop) | np.asarray(sticky, dtype=object) * 1, frac - drop
    reach = 1 << max(fmt.bits + 1 + frac - fmt.frac, 0)
    saturates = overflow is Overflow.SATURATE
    near = np.clip(raw, -reach, reach) if saturates else (raw + reach) % (2 * reach) - reach
    return _with_value(_zero(_library(), True, 62, frac), np.asarray(near, dtype=np.int64), True)


def quotient(num: int, den: int) -> tuple[int, int]:
    """Divide as the primitive `divide`; return mantissa q and exponent e.

    The quotient is approximately ``q * 2**(e - 31)``. q is the floor of `num` divided by the 31 most
    significant bits of `den`, and e is chosen so that 2**30 <= |q| <= 2**31.
    """
    if num == 0:
        return 0, 0
    beyond = den.bit_length() - 31
    leading = Fraction(den >> beyond << beyond) if beyond > 0 else Fraction(den)
    ratio = Fraction(num) / leading
    e = 0
    while abs(ratio) * Fraction(2) ** -e >= 1:
        e += 1
    while abs(ratio) * Fraction(2) ** -e < Fraction(1, 2):
        e -= 1
    return floor(ratio * Fraction(2) ** (31 - e)), e
