"""sim.planner: formats of inputs and targets, and the constants of the kernel.

ADC counts become x by ``narrow((raw - offset) * gain, shift)``.  If all gains are equal, sigma absorbs the
common scale: the gain is a power of two, and the distance of two x is the exact distance of the ADC counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil

from ..errors import fail
from ..formats import Format, Overflow, Rounding
from ..kernels import POLYNOMIALS
from ..plan import Signal, Table
from ..spec import Spec
from ..tables import (
    EXP2_16,
    EXP2_COARSE,
    SINE,
    decimal,
    exp2_16,
    exp2_coarse,
    exp2_fine,
    exp2_fine_format,
    rounded,
    sine,
)
from .casts import cast_modes
from .kernel import (
    distance_format,
    distance_unit,
    exponent_scale,
    kernel_format,
    periodic_constants,
    polynomial_constants,
    reach,
)
from .log2 import floor_log2


@dataclass(frozen=True)
class WordClass:
    """The formats that follow from the word length.

    Parameters
    ----------
    bits : int
        W.
    distance : Format
        Of a stored squared distance.
    t_frac : int
        Fraction bits of ``t = d^2 log2(e) / (2 sigma^2)``.
    t_end : int
        From this t on the kernel is zero.
    kernel : Format
        Of a kernel value; 1.0 is exact.
    kernel_c_bits, eta_bits, gain_bits : int
        Significant bits of the constants.
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
    """The conversion ``narrow((raw - offset[c]) * gain[c], shift)`` and the value of its lsb."""

    signal: Signal
    offset: tuple[int, ...]
    gain: tuple[int, ...]
    shift: int
    lsb: Fraction


def _cast(spec: Spec, name: str, fmt: Format, unit: str, lo: int | None = None,
          hi: int | None = None) -> Signal:
    return Signal(fmt, *cast_modes(spec, name), fmt.lo if lo is None else lo,
                  fmt.hi if hi is None else hi, unit)


def _equal_gain_input(spec: Spec, words: WordClass, raw: Format, up: int) -> Affine:
    """Return the conversion with one scale for all columns: counts shifted `up` or down."""
    offset = spec.input.offsets
    lo, hi = raw.lo - max(offset), raw.hi - min(offset)
    span = hi - lo  # of any two x words: ADC counts beyond their format are clamped to it
    most = reach(spec, words)
    down = 0
    signed = lo < 0
    container = Format(signed, words.bits, 0)
    while (((span << up) >> down) + (down > 0) > most or -((-hi << up) >> down) > container.hi
           or (lo << up) >> down < container.lo):
        down += 1
    if up and down:
        raise fail("E204", "sigma is too small for the resolution of the inputs",
                   where="[kernel] sigma", value=spec.kernel.sigma,
                   allowed="about one ADC count or more",
                   remedy="raise sigma, or give the input more fraction bits")
    fmt = Format(signed, words.bits, raw.frac + up - down)
    lsb = Fraction(spec.input.gains[0]) * fmt.lsb
    low, high = fmt.fit((lo << up) >> down), fmt.fit(-((-hi << up) >> down))
    signal = _cast(spec, "x", fmt, f"{spec.input.gains[0]!r} x units", low, high)
    return Affine(signal, offset, (1 << up,) * spec.input.columns, down, lsb)


def _mantissas(spec: Spec, words: WordClass, raw: Format, frac: int) -> tuple[tuple[int, ...], int]:
    """Return gains as integers over ``2**shift``, for x with `frac` fraction bits."""
    ratios = [Fraction(gain) * raw.lsb * Fraction(2) ** frac for gain in spec.input.gains]
    shift = max(0, words.gain_bits - 1 - floor_log2(max(ratios)))
    return tuple(rounded(decimal(r * 2**shift)) for r in ratios), shift


def _widest(spec: Spec, raw: Format, gain: tuple[int, ...], shift: int) -> int:
    """Return the largest magnitude of x, for any rounding."""
    return max(-(-max(raw.hi - off, off - raw.lo) * g >> shift)
               for off, g in zip(spec.input.offsets, gain, strict=True))


def _scaled_input(spec: Spec, words: WordClass, raw: Format) -> Affine:
    """Return the conversion with one gain per column: one common lsb, gains as mantissas."""
    ends = [max(raw.hi - off, off - raw.lo) * Fraction(gain) * raw.lsb
            for off, gain in zip(spec.input.offsets, spec.input.gains, strict=True)]
    most = min((1 << (words.bits - 1)) - 1, reach(spec, words) // 2)
    frac = floor_log2(most / max(ends))
    gain, shift = _mantissas(spec, words, raw, frac)
    if _widest(spec, raw, gain, shift) > most:  # the gains were rounded up
        frac -= 1
        gain, shift = _mantissas(spec, words, raw, frac)
    if min(gain) == 0:
        raise fail("E204", "the gains of the columns differ too much for this word length",
                   where="[input] gain", value=list(spec.input.gains),
                   allowed=f"a ratio below 2**{words.gain_bits - 1}",
                   remedy="scale the columns alike, or use [numbers] word = 32")
    fmt = Format(True, words.bits, frac)
    return Affine(_cast(spec, "x", fmt, "x units", -most, most), spec.input.offsets, gain, shift,
                  fmt.lsb)


def plan_input(spec: Spec, words: WordClass) -> Affine:
    """Decide the format of x: as fine as the ADC counts, and fine enough for sigma.

    Raises
    ------
    KerncastError
        E204 if the word length is too short for the spec.
    """
    raw = Format.parse(spec.input.word)
    if len(set(spec.input.gains)) > 1:
        return _scaled_input(spec, words, raw)
    plain = _equal_gain_input(spec, words, raw, 0)
    if spec.kernel.type not in ("gaussian", "laplacian"):  # the lsb has no part in the size of a constant
        return plain
    # The kernel's constant has 31 bits at most: halving the lsb makes it smaller.
    up = 0
    while exponent_scale(spec, words, plain.lsb / 2**up) * 2**words.t_frac >= 2**31:
        up += 1
    return plain if up == 0 else _equal_gain_input(spec, words, raw, up)


def plan_output(spec: Spec, words: WordClass) -> Affine:
    """Decide the format of y: full scale at half the range, so that predictions may overshoot."""
    raw = Format.parse(spec.output.word)
    most = max(abs(raw.lo - spec.output.offset), abs(raw.hi - spec.output.offset), 1)
    frac = words.bits - 2
    up = frac - (most - 1).bit_length()
    fmt = Format(True, words.bits, frac)
    lsb = Fraction(spec.output.gain) * raw.lsb / Fraction(2) ** up
    unit = f"{float(lsb * 2**frac)!r} y units"
    return Affine(_cast(spec, "y", fmt, unit), (spec.output.offset,), (1 << max(up, 0),), max(-up, 0),
                  lsb)


def plan_kernel(spec: Spec, words: WordClass, x: Affine) -> dict[str, int]:
    """Return `kernel_c`, `kernel_shift`, `kernel_d2_end`, and constants of the kernel's type.

    ``t = floor(d2 * kernel_c / 2**kernel_shift)``; from `kernel_d2_end` on the kernel is zero.

    Raises
    ------
    KerncastError
        E204 if sigma or the period do not suit the formats, or a polynomial leaves too few bits.
    """
    if spec.kernel.type in POLYNOMIALS:
        return polynomial_constants(spec, words, x.signal, x.lsb)
    scale = exponent_scale(spec, words, x.lsb) * 2**words.t_frac
    shift = max(0, words.kernel_c_bits - 1 - floor_log2(scale))
    c = min(rounded(decimal(scale * Fraction(2) ** shift)), 2**31 - 1)  # rounding may reach 2**31
    if shift > 62 or c == 0 or scale >= 2**31:
        raise fail("E204", "sigma does not fit the resolution of the inputs",
                   where="[kernel] sigma", value=spec.kernel.sigma,
                   allowed="about 1e-3 to 1e6 LSB of x",
                   remedy="scale sigma or the input's gain")
    end = ceil(Fraction((words.t_end << (words.t_frac + shift)), c))
    return {"kernel_c": c, "kernel_shift": shift, "kernel_d2_end": min(end, words.distance.hi),
            "exp2_bits": EXP2_BITS[words.bits][spec.numbers.exp_table],
            **({} if words.bits == 16 else {"exp2_cut": EXP2_32_FRAC - words.kernel.frac}),
            **periodic_constants(spec, words, x.lsb)}


def kernel_tables(spec: Spec, words: WordClass) -> Mapping[str, Table]:
    """Return the exp2 tables of the word length, and the sine of the periodic kernel."""
    if spec.kernel.type in POLYNOMIALS:
        return {}
    tables = _exp2_tables(words.bits, EXP2_BITS[words.bits][spec.numbers.exp_table])
    return tables if spec.kernel.type != "periodic" else {**tables, "sine": Table(SINE, sine())}


@cache
def _exp2_tables(word: int, bits: int) -> Mapping[str, Table]:
    if word == 16:
        return {"exp2": Table(EXP2_16, exp2_16(bits))}
    return {"exp2_coarse": Table(EXP2_COARSE, exp2_coarse(bits)),
            "exp2_fine": Table(exp2_fine_format(bits), exp2_fine(bits))}


def common_signals(spec: Spec, words: WordClass, x: Affine, y: Affine) -> dict[str, Signal]:
    """Return the signals that every algorithm has."""
    raw_x, raw_y = Format.parse(spec.input.word), Format.parse(spec.output.word)
    k = kernel_format(spec, words, x.signal, x.lsb)
    return {
        "x_raw": _cast(spec, "x_raw", raw_x, "ADC counts"),
        "y_raw": _cast(spec, "y_raw", raw_y, "ADC counts"),
        "x": x.signal, "y": y.signal,
        "f": _cast(spec, "f", y.signal.format, y.signal.unit),
        "distance": _cast(spec, "distance", distance_format(spec, words), distance_unit(spec),
                          None if k.signed else 0),
        "kernel": _cast(spec, "kernel", k, "1", None if k.signed else 0, None if k.signed else 1 << k.frac),
        "accumulator": Signal(Format(True, 64, 0), Rounding.FLOOR, Overflow.WRAP,
                              -(1 << 62), 1 << 62, "LSB of a product of values"),
    }


def common_constants(x: Affine, y: Affine) -> dict[str, int | tuple[int, ...]]:
    """Return the constants of the input and output conversions."""
    return {"x_offset": x.offset, "x_gain": x.gain, "x_shift": x.shift,
            "y_offset": y.offset[0], "y_gain": y.gain[0], "y_shift": y.shift}


def units(spec: Spec, x: Affine, y: Affine) -> dict[str, str]:
    """Return the exact real values of one lsb of x and y, and of one ADC count."""
    raw_x, raw_y = (Format.parse(t.word).lsb for t in (spec.input, spec.output))
    steps = [str(Fraction(gain) * raw_x) for gain in spec.input.gains]
    return {"x": str(x.lsb), "y": str(y.lsb), "y_raw": str(Fraction(spec.output.gain) * raw_y),
            "x_raw": " ".join(steps if len(set(steps)) > 1 else steps[:1])}
