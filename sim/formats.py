"""sim: fixed-point number formats, and the cast of an integer to a format.

A *word* is an integer, and a :class:`Format` defines its real value: ``value = word * 2**-frac``. Rounding
and overflow modes are properties of the cast, not of the number. The notation ``s16f15`` means signed, 16
bits in total, 15 of them fraction bits. The notation Qm.n is not used, because Arm and TI define it
differently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from .errors import KerncastError, fail

MAX_BITS = 64
#: The largest shift of the device: it reduces any sum below 2**62 to 0 or -1.
MAX_SHIFT = 62
_WRITTEN = re.compile(r"([su])(\d{1,2})f(-?\d{1,3})", re.ASCII)
_STANDARD_WIDTHS = (8, 16, 32, 64)


class Rounding(Enum):
    """Rounding mode of a right shift, with the same values as in the primitives."""

    FLOOR = 0
    HALF_UP = 1
    HALF_EVEN = 2


class Overflow(Enum):
    """Overflow mode: treatment of a value outside the range of the format."""

    SATURATE = 0
    WRAP = 1


@dataclass(frozen=True, order=True)
class Format:
    """Fixed-point format, either in two's complement or unsigned.

    Parameters
    ----------
    signed : bool
        Whether the format is in two's complement.
    bits : int
        Total number of bits, 1 to 64 (at least 2 for a signed format).
    frac : int
        Number of fraction bits; it can be negative or exceed `bits`.

    Raises
    ------
    KerncastError
        E201 if `bits` is out of range.

    Examples
    --------
    >>> Format.parse("s16f15").hi
    32767
    """

    signed: bool
    bits: int
    frac: int

    def __post_init__(self) -> None:
        least = 2 if self.signed else 1
        if not least <= self.bits <= MAX_BITS:
            raise fail("E201", "a format has too few or too many bits", where="format",
                       value=f"{self.bits} bits", allowed=f"{least} to {MAX_BITS} bits",
                       remedy="choose a word length in the allowed range")

    @classmethod
    def parse(cls, text: str, where: str = "format") -> Format:
        """Parse a format such as ``s16f15`` or ``u12f0``; raise E201 if it is not valid."""
        match = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise fail("E201", "this is not a number format", where=where, value=text,
                       allowed="s or u, word length, f, number of fraction bits; such as s16f15 or u12f0",
                       remedy="write s (signed) or u (unsigned), the word length, f, and the number of "
                              "fraction bits")
        return cls(match[1] == "s", int(match[2]), int(match[3]))

    def __str__(self) -> str:
        return f"{'s' if self.signed else 'u'}{self.bits}f{self.frac}"

    @property
    def lo(self) -> int:
        """Return the smallest integer of the format."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def hi(self) -> int:
        """Return the largest integer of the format."""
        return (1 << (self.bits - 1)) - 1 if self.signed else (1 << self.bits) - 1

    @property
    def lsb(self) -> Fraction:
        """Return the real value of one LSB."""
        return Fraction(1, 1 << self.frac) if self.frac >= 0 else Fraction(1 << -self.frac)

    def value(self, word: int) -> Fraction:
        """Return the exact real value of the integer `word`."""
        return word * self.lsb

    def quantise(self, value: Fraction | float | int, rounding: Rounding = Rounding.HALF_UP,
                 overflow: Overflow = Overflow.SATURATE) -> int:
        """Convert a real value to an integer of the format.

        The scaling and the rounding are exact.

        Raises
        ------
        KerncastError
            E202 for NaN or infinity.
        """
        try:
            scaled = Fraction(value) / self.lsb
        except (ValueError, OverflowError):
            raise fail("E202", "NaN and infinity have no fixed-point value", where="value",
                       value=value, allowed="finite numbers",
                       remedy="remove or repair the sample") from None
        whole, rest = divmod(scaled.numerator, scaled.denominator)
        twice = 2 * rest - scaled.denominator  # its sign: below, at or above one half
        if rounding is Rounding.HALF_UP:
            whole += twice >= 0
        elif rounding is Rounding.HALF_EVEN:
            whole += twice > 0 or (twice == 0 and whole & 1)
        return self.fit(whole, overflow)

    def fit(self, word: int, overflow: Overflow = Overflow.SATURATE) -> int:
        """Saturate or wrap an integer of any size to the format."""
        if overflow is Overflow.SATURATE:
            return min(max(word, self.lo), self.hi)
        return (word - self.lo) % (1 << self.bits) + self.lo

    # Conversions to the notations of other tools.  The modes of a cast are in :mod:`.notations`.

    @property
    def fxpmath(self) -> str:
        """Return the format in the notation of fxpmath, such as ``fxp-s16/15``."""
        return f"fxp-{'s' if self.signed else 'u'}{self.bits}/{self.frac}"

    @property
    def apytypes(self) -> dict[str, int]:
        """Return the format as keyword arguments of ``apytypes.APyFixed``.

        The number of integer bits includes the sign.
        """
        return {"int_bits": self.bits - self.frac, "frac_bits": self.frac}

    @property
    def ap_fixed(self) -> str:
        """Return the format as an HLS type, such as ``ap_fixed<16, 1>``.

        The arguments of the type are the word length and the number of integer bits.
        """
        return f"ap_{'' if self.signed else 'u'}fixed<{self.bits}, {self.bits - self.frac}>"

    @property
    def c_bits(self) -> int:
        """Return the width of the smallest stdint type that can store the format."""
        return next(w for w in _STANDARD_WIDTHS if w >= self.bits)

    @property
    def c_type(self) -> str:
        """Return the smallest stdint type that can store the format, such as ``int16_t``."""
        return f"{'' if self.signed else 'u'}int{self.c_bits}_t"

    @property
    def verilog(self) -> str:
        """Return the SystemVerilog type, such as ``logic signed [15:0]``."""
        return f"logic {'signed ' if self.signed else ''}[{self.bits - 1}:0]"

    @classmethod
    def from_fxpmath(cls, text: str) -> Format:
        """Parse a format of fxpmath, such as ``fxp-s16/15``; raise E201 if not valid."""
        sign, bits, frac = _matched(r"fxp-([su])(\d+)/(-?\d+)", text, "an fxpmath format", "fxp-s16/15")
        return cls(sign == "s", int(bits), int(frac))

    @classmethod
    def from_apytypes(cls, signed: bool, int_bits: int, frac_bits: int) -> Format:
        """Return the format of an ``APyFixed`` value."""
        return cls(signed, int_bits + frac_bits, frac_bits)

    @classmethod
    def from_ap_fixed(cls, text: str) -> Format:
        """Parse ``ap_fixed<16, 1>`` or ``ap_ufixed<16, 1>``.

        ``ap_int<16>`` and ``ap_uint<16>`` are also accepted. Rounding and overflow modes after the integer
        bits are ignored; :func:`.notations.read_ap_fixed` reads them. Raise E201 if the text is not valid.
        """
        unsigned, kind, bits, whole = _matched(
            r"ap_(u?)(fixed|int)\s*<\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?(?:,\s*\w+\s*)*>", text, "an ap_fixed type",
            "ap_fixed<16, 1>")
        if (whole is None) != (kind == "int"):
            raise _no_format("an ap_fixed type", text, "ap_fixed<16, 1> or ap_int<16>")
        return cls(not unsigned, int(bits), int(bits) - int(whole) if whole else 0)

    @classmethod
    def from_c_type(cls, text: str, frac: int = 0) -> Format:
        """Parse a stdint type such as ``int16_t``, with `frac` fraction bits.

        Raise E201 for any other type.
        """
        unsigned, bits = _matched(r"(u?)int(8|16|32|64)_t", text, "a stdint type", "int16_t")
        return cls(not unsigned, int(bits), frac)

    @classmethod
    def from_verilog(cls, text: str, frac: int = 0) -> Format:
        """Parse ``logic signed [15:0]`` with `frac` fraction bits.

        `reg`, `wire` and `bit` are accepted instead of `logic`. Raise E201 for any other text.
        """
        signed, top = _matched(r"(?:logic|reg|wire|bit)?\s*(signed\b|unsigned\b)?\s*\[\s*(\d+)\s*:\s*0\s*\]",
                               text, "a SystemVerilog vector", "logic signed [15:0]")
        return cls(signed == "signed", int(top) + 1, frac)


def _matched(pattern: str, text: str, what: str, example: str) -> tuple[str, ...]:
    """Match a text with a pattern and return the groups; raise E201 on failure."""
    match = re.fullmatch(pattern, text.strip(), re.ASCII) if isinstance(text, str) else None
    if match is None:
        raise _no_format(what, text, example)
    return match.groups()


def _no_format(what: str, text: str, example: str) -> KerncastError:
    return fail("E201", f"not {what}", where="format", value=text, allowed=example,
                remedy="specify the signedness, the word length and the number of fraction bits")
