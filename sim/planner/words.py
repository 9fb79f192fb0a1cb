"""sim.planner: the formats that depend on the word length."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..formats import Format
from ..plan import Signal


@dataclass(frozen=True)
class WordClass:
    """Formats that are determined by the word length.

    Parameters
    ----------
    bits : int
        Word length W.
    distance : Format
        Format of a stored squared distance.
    t_frac : int
        Fraction bits of ``t = d^2 log2(e) / (2 sigma^2)``.
    t_end : int
        The kernel value is 0 if t is at least this.
    kernel : Format
        Format of a kernel value; 1.0 is exact.
    kernel_c_bits, eta_bits, gain_bits : int
        Number of significant bits of these constants.
    """

    bits: int
    distance: Format
    t_frac: int
    t_end: int
    kernel: Format
    kernel_c_bits: int
    eta_bits: int
    gain_bits: int


WORD_CLASSES = {
    16: WordClass(16, Format(False, 32, 0), 20, 16, Format(False, 16, 15), 16, 15, 15),
    24: WordClass(24, Format(True, 64, 0), 32, 24, Format(False, 24, 23), 31, 23, 23),
    32: WordClass(32, Format(True, 64, 0), 32, 32, Format(False, 32, 31), 31, 30, 28),
}


#: Word -> size -> bits of an exponential's index: entries lie 2**-bits apart.
EXP2_BITS = {16: {"small": 5, "medium": 6, "large": 7}, 24: {"small": 5, "medium": 6, "large": 8},
             32: {"small": 5, "medium": 6, "large": 8}}
#: Fraction bits of what exp2_32 gives.
EXP2_32_FRAC = 31


@dataclass(frozen=True)
class Affine:
    """Conversion of column c: ``requantise((raw - offset[c]) * gain[c], shift)``."""

    signal: Signal
    offset: tuple[int, ...]
    gain: tuple[int, ...]
    shift: int
    lsb: Fraction
