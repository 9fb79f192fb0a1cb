"""sim.planner: formats, signals and constants of inputs and targets.

ADC counts are converted to x by ``requantise((raw - offset) * gain, shift)``. If all columns have the same
gain, this gain is included in sigma. The remaining factor is a power of two, so that distances between values
of x are exact multiples of distances between ADC counts, unless the word length requires x to be rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..errors import fail
from ..formats import Format, Overflow, Rounding
from ..plan import Signal
from ..spec import Spec
from ..tables import decimal, rounded
from .cast_modes import cast_modes
from .kernel import distance_format, distance_name, distance_unit, exponent_scale, kernel_format, reach
from .log2 import floor_log2
from .words import Affine, WordClass


@dataclass(frozen=True)
class Inputs:
    """Formats, signals, constants and units of inputs and targets, for all algorithms."""

    x: Affine
    y: Affine
    signals: dict[str, Signal]
    constants: dict[str, int | tuple[int, ...]]
    units: dict[str, str]


def plan_inputs(spec: Spec, words: WordClass) -> Inputs:
    """Decide the formats of inputs and targets, which are the same for all algorithms.

    Raise E204 if the word length is too short for the spec.
    """
    x, y = plan_input(spec, words), plan_output(spec, words)
    return Inputs(x, y, _signals(spec, words, x, y), _constants(x, y), _units(spec, x, y))


def input_options(spec: Spec) -> dict[str, str]:
    """Return the options of the plan that describe the input of samples."""
    if spec.input.delay is None:
        return {}
    decimate = {} if spec.input.per_sample == 1 else {"decimate": str(spec.input.per_sample)}
    return {"delay": str(spec.input.delay), **decimate}


def _cast(spec: Spec, name: str, fmt: Format, unit: str, lo: int | None = None,
          hi: int | None = None) -> Signal:
    return Signal(fmt, *cast_modes(spec, name), fmt.lo if lo is None else lo,
                  fmt.hi if hi is None else hi, unit)


def _stores_inputs(spec: Spec) -> bool:
    """Return whether the device stores input vectors in the format of x."""
    return spec.rls is None and (spec.toeplitz is None or spec.toeplitz.scheme != "uniform")


def _equal_gain_input(spec: Spec, words: WordClass, raw: Format, up: int) -> Affine:
    """Decide the format of x if all columns have the same gain.

    x is the ADC count, shifted left by `up` bits, or right as far as necessary. Stored inputs use one byte
    per value if their range fits 8 bits.
    """
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
                   remedy="raise sigma, or set an [input] word with more fraction bits")
    fmt = Format(signed, words.bits, raw.frac + up - down)
    lsb = Fraction(spec.input.gains[0]) * fmt.lsb
    low, high = fmt.fit((lo << up) >> down), fmt.fit(-((-hi << up) >> down))
    byte = Format(signed, 8, fmt.frac)
    if _stores_inputs(spec) and byte.lo <= low and high <= byte.hi:
        fmt = byte
    signal = _cast(spec, "x", fmt, f"{spec.input.gains[0]!r} x units", low, high)
    return Affine(signal, offset, (1 << up,) * spec.input.columns, down, lsb)


def _mantissas(spec: Spec, words: WordClass, raw: Format, frac: int) -> tuple[tuple[int, ...], int]:
    """Return integers m and a shift with ``gain = m / 2**shift`` for each column.

    They apply to x with `frac` fraction bits.
    """
    ratios = [Fraction(gain) * raw.lsb * Fraction(2) ** frac for gain in spec.input.gains]
    shift = max(0, words.gain_bits - 1 - floor_log2(max(ratios)))
    return tuple(rounded(decimal(r * 2**shift)) for r in ratios), shift


def _widest(spec: Spec, raw: Format, gain: tuple[int, ...], shift: int) -> int:
    """Return the largest magnitude of x for every rounding mode."""
    return max(-(-max(raw.hi - off, off - raw.lo) * g >> shift)
               for off, g in zip(spec.input.offsets, gain, strict=True))


def _scaled_input(spec: Spec, words: WordClass, raw: Format) -> Affine:
    """Decide the format of x if the columns have different gains.

    All columns of x have the same LSB, and the gains are stored as mantissas.
    """
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
                   allowed=f"a ratio of the gains below 2**{words.gain_bits - 1}",
                   remedy="scale the columns to similar ranges, or use [numbers] word = 32")
    fmt = Format(True, words.bits, frac)
    return Affine(_cast(spec, "x", fmt, "x units", -most, most), spec.input.offsets, gain, shift,
                  fmt.lsb)


def _with_smallest_sigma(spec: Spec) -> Spec:
    """Return the spec with the smallest sigma of all candidates.

    All candidates use the same format of x.
    """
    if spec.toeplitz is None or spec.toeplitz.candidates is None:
        return spec
    sigma = min([float(spec.kernel.parameters["sigma"]), *(sigma for sigma, _ in spec.toeplitz.candidates)])
    return spec.model_copy(update={"kernel": spec.kernel.model_copy(update={"sigma": sigma})})


def plan_input(spec: Spec, words: WordClass) -> Affine:
    """Decide the format of x, whose LSB must resolve both the ADC counts and sigma.

    Raises
    ------
    KerncastError
        E204 if the word length is too short for the spec.
    """
    raw = spec.input.format
    if len(set(spec.input.gains)) > 1:
        return _scaled_input(spec, words, raw)
    spec = _with_smallest_sigma(spec)
    plain = _equal_gain_input(spec, words, raw, 0)
    if distance_name(spec) not in ("squares", "absolutes"):  # the lsb has no part in the size of a constant
        return plain
    # The kernel's constant has 31 bits at most: halving the lsb makes it smaller.
    up = 0
    while exponent_scale(spec, words, plain.lsb / 2**up) * 2**words.t_frac >= 2**31:
        up += 1
    return plain if up == 0 else _equal_gain_input(spec, words, raw, up)


def plan_output(spec: Spec, words: WordClass) -> Affine:
    """Decide the format of y.

    The largest target is at half of the full scale, so that predictions can exceed the range of the targets.
    """
    raw = spec.output.scores
    most = max(abs(raw.lo - spec.output.offset), abs(raw.hi - spec.output.offset), 1)
    frac = words.bits - 2
    up = frac - (most - 1).bit_length()
    fmt = Format(True, words.bits, frac)
    lsb = Fraction(spec.output.gain) * raw.lsb / Fraction(2) ** up
    unit = f"{float(lsb * 2**frac)!r} y units"
    return Affine(_cast(spec, "y", fmt, unit), (spec.output.offset,), (1 << max(up, 0),), max(-up, 0),
                  lsb)


def _signals(spec: Spec, words: WordClass, x: Affine, y: Affine) -> dict[str, Signal]:
    """Return the signals that every algorithm uses."""
    raw_x, raw_y = spec.input.format, spec.output.format
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


def _constants(x: Affine, y: Affine) -> dict[str, int | tuple[int, ...]]:
    """Return the constants of the input and output conversions."""
    return {"x_offset": x.offset, "x_gain": x.gain, "x_shift": x.shift,
            "y_offset": y.offset[0], "y_gain": y.gain[0], "y_shift": y.shift}


def _units(spec: Spec, x: Affine, y: Affine) -> dict[str, str]:
    """Return the exact values of the LSBs of x and y, and of one ADC count.

    The value of an ADC count of x can differ from column to column.
    """
    raw_x, raw_y = spec.input.format.lsb, spec.output.format.lsb
    steps = [str(Fraction(gain) * raw_x) for gain in spec.input.gains]
    return {"x": str(x.lsb), "y": str(y.lsb), "y_raw": str(Fraction(spec.output.gain) * raw_y),
            "x_raw": " ".join(steps if len(set(steps)) > 1 else steps[:1])}
