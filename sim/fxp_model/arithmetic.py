"""sim.fxp_model: fxpmath's numbers, and the three operations that it must be helped with.

fxpmath adds, subtracts and multiplies words of up to 63 bits exactly.  Beyond that (0.4.10;
``tests/property/test_other_libraries.py`` shows each defect):

* arrays that mix words of 64 bits with shorter ones turn into floats: :func:`product_floor` takes
  the products that are longer, ``mul_shift`` of :mod:`..primitives`, with Python integers;
* a cast goes through float64, exact for 53 bits, and arrays of 64 bits and more are not rounded at
  all: :func:`cast` first folds the bits that cannot matter into one *sticky* bit;
* a quotient with the pinned meaning of the primitive ``divide`` is not offered: :func:`quotient`
  takes Python's fractions.
"""

from __future__ import annotations

from fractions import Fraction
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
    """The package fxpmath; E501 where it is not installed."""
    try:
        return import_module("fxpmath")
    except ImportError:
        raise fail("E501", "the back end model:fxpmath needs fxpmath, which is not installed",
                   where="back end", value="model:fxpmath", allowed="the extra test",
                   remedy="python -m pip install fxpmath") from None


def number(words: ArrayLike | int, fmt: Format) -> Fxp:
    """Words as numbers of a format."""
    return _library().Fxp(words, fmt.signed, fmt.bits, fmt.frac, raw=True)


def exact(words: ArrayLike | int, frac: int) -> Fxp:
    """Integers below 2**63 as numbers with `frac` fraction bits; nothing is rounded."""
    whole = np.array(words, dtype=object)
    assert np.all(np.abs(whole) < _TOO_LARGE), "fxpmath would convert these integers to floats"
    return _library().Fxp(whole, True, _WIDE, frac, raw=True)


def words_of(value: Fxp) -> Words:
    """The words of numbers; they must be int64."""
    return np.asarray(value.val, dtype=np.int64)


def word_of(value: Fxp) -> int:
    """The word of one number."""
    return int(np.asarray(value.val).item())


def integers(value: Fxp) -> Any:
    """The words of numbers as an array of Python integers, which know no width."""
    return np.array(value.val, dtype=object)


def floor_at(value: Fxp, frac: int) -> Fxp:
    """`value` with the fraction bits beyond `frac` dropped (floor); exact where it has fewer."""
    if value.n_frac <= frac:
        return value
    return exact(integers(value) >> (value.n_frac - frac), frac)


def product_floor(a: Fxp, b: Fxp, frac: int) -> Fxp:
    """``a * b`` with the fraction bits beyond `frac` dropped, the product as long as it must be."""
    return exact(integers(a) * integers(b) >> (a.n_frac + b.n_frac - frac), frac)


def word_at(value: Fxp, frac: int) -> int:
    """One number as an integer that counts steps of ``2**-frac``, the floor of what lies between."""
    raw: int = integers(value).item()
    drop: int = value.n_frac - frac
    return raw >> drop if drop >= 0 else raw << -drop


def total(values: Fxp) -> Fxp:
    """The exact sum; 0 of none."""
    return exact(sum(integers(values).tolist()), values.n_frac)


def cast(value: Fxp, fmt: Format, rounding: Rounding, overflow: Overflow = Overflow.SATURATE) -> Fxp:
    """The cast: fxpmath's rounding and overflow, given no more bits than it can take."""
    modes = cast_names("fxpmath", rounding, overflow)
    return _library().Fxp(_within_reach(value, fmt, overflow), fmt.signed, fmt.bits, fmt.frac,
                          rounding=modes[0], overflow=modes[1])


def _within_reach(value: Fxp, fmt: Format, overflow: Overflow) -> Fxp:
    """What casts to the same word of `fmt`, up to 48 bits, and is exact in a float64.

    Two fraction bits more than `fmt`, the last one sticky: the dropped bits decide a rounding only by
    being all zero or not, which the sticky bit says.  A number beyond twice the format saturates like
    any other, and wraps like what it leaves over four times the format.
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
    return _library().Fxp(np.asarray(near, dtype=np.int64), True, 62, frac, raw=True)


def quotient(num: int, den: int) -> tuple[int, int]:
    """The primitive `divide` as its definition says: (q, e), ``num / den = q * 2**(e - 31)`` nearly.

    q is the floor of `num` over the leading 31 bits of `den`, with e so that 2**30 <= |q| <= 2**31.
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
