"""sim.planner: formats and constants of each kernel.

A distance kernel is ``2**-(D * C)`` with an exact integer D, or that times a polynomial (:mod:`.matern`).
Polynomials are powers of ``gamma u.v +
coef0``, scaled so that the largest value that the inputs allow fits the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import ceil, isqrt

from ..choices import MATERN, POLYNOMIALS, DistanceName, distance_of
from ..errors import KerncastError, fail
from ..formats import Format
from ..plan import ConstantTable, Signal
from ..spec import Spec
from ..tables import (
    CONTEXT,
    EXP2_16,
    EXP2_COARSE,
    SINE,
    decimal,
    exp2_16,
    exp2_coarse,
    exp2_fine,
    exp2_fine_format,
    log2_e,
    rounded,
    sine,
)
from .certify import ROW_ERROR
from .log2 import ceil_log2, floor_log2
from .matern import last_exponent, matern_constants, matern_error, two_nu_root
from .words import EXP2_32_FRAC, EXP2_BITS, Affine, WordClass

#: Fraction bits of one x word's step as a part of the period; 32 are left of its product with a difference.
TURN_FRAC = 62
#: Fraction bits of a sum of squared sines, at most: what is finer shows in no kernel value.
SINES_FRAC = 44
#: The largest distance whose root is computed.
MOST_ROOTED = (1 << 62) - 1
#: Words of the kernel that samples at half scale must lie from that of zero.
LEAST_WORDS = 16


def reach(spec: Spec, words: WordClass) -> int:
    """Return the largest difference of two x values.

    For polynomials, return the largest value of x.
    """
    columns = spec.input.columns
    if spec.rls is not None:  # no distance is computed
        return (1 << 31) - 1
    most = min(words.distance.hi, MOST_ROOTED) if spec.kernel.type in MATERN else words.distance.hi
    return {"squares": isqrt(most // columns), "absolutes": most // columns,
            "sines": (1 << 31) - 1}.get(distance_name(spec), isqrt((1 << 62) // columns))


def distance_name(spec: Spec) -> DistanceName:
    """Return the terms of the distance."""
    return distance_of(spec.kernel.type, spec.input.columns)


def _rooted(spec: Spec) -> bool:
    """Return whether the kernel is a function of the root of its distance."""
    return spec.kernel.type in MATERN and distance_name(spec) == "squares"


def distance_format(spec: Spec, words: WordClass) -> Format:
    """Return the format of a distance, or of a product u.v."""
    if spec.kernel.type in POLYNOMIALS:
        return Format(True, 64, 0)
    if spec.kernel.type != "periodic":
        return words.distance
    frac = min(SINES_FRAC, floor_log2(Fraction(words.distance.hi, spec.input.columns)))
    return Format(words.distance.signed, words.distance.bits, frac)


def distance_unit(spec: Spec) -> str:
    """Return the unit of a distance's LSB."""
    return {"absolutes": "x words", "sines": "1"}.get(distance_name(spec), "LSB of x, squared")


def exponent_scale(spec: Spec, words: WordClass, lsb: Fraction) -> Fraction:
    """Return C with ``t = D * C`` and ``k = 2**-t``.

    D is an integer distance for a given LSB of x, or its root (Matern kernels).
    """
    sigma = Fraction(spec.kernel.parameters["sigma"])
    if spec.kernel.type in MATERN:
        scale = CONTEXT.multiply(decimal(lsb / sigma), two_nu_root(spec.kernel.type))
        return Fraction(CONTEXT.multiply(scale, log2_e()))
    exact = {
        "gaussian": lsb * lsb / (2 * sigma**2), "laplacian": lsb / sigma,
        "periodic": 2 * distance_format(spec, words).lsb / sigma**2,
    }[spec.kernel.type]
    return Fraction(CONTEXT.multiply(decimal(exact), log2_e()))


def word_error(spec: Spec, words: WordClass, out_shift: int = 0) -> int:
    """Return the largest error of a kernel value in LSBs, with further rounding.

    In the periodic kernel, the sine and its angle have a total error below 4.4 * 2^-31. The exponential
    multiplies it by ``4 z exp(-2 z^2) sqrt(columns) / sigma``, which is at most
    ``1.22 sqrt(columns) / sigma``. In the polynomials the base has an error of 3 * 2^-31, to which each
    power adds half an LSB, also on the diagonal.
    """
    if spec.kernel.type in POLYNOMIALS:
        return 2 * (ceil(4 * _polynomial(spec)[0] * Fraction(2) ** -out_shift) + 2)
    if spec.kernel.type in MATERN:
        return matern_error(spec, words)
    if spec.kernel.type != "periodic":
        return ROW_ERROR[words.bits]
    sigma, columns = Fraction(spec.kernel.parameters["sigma"]), spec.input.columns
    angles = Fraction(6 * (isqrt(columns - 1) + 1), 2**31) / sigma
    sums = 2 * columns * distance_format(spec, words).lsb / sigma**2
    return ROW_ERROR[words.bits] + ceil((angles + sums) / words.kernel.lsb)


def far(spec: Spec, end: int) -> int | None:
    """Return the largest difference in one column at a distance below `end`, or None."""
    return {"squares": isqrt(end - 1), "absolutes": end - 1}.get(distance_name(spec))


def periodic_constants(spec: Spec, words: WordClass, lsb: Fraction) -> dict[str, int]:
    """Return `kernel_turn`, the LSB as part of the period, and two shifts.

    The shifts are those of the angle and the sine.

    Raises
    ------
    KerncastError
        E204 if the period is shorter than two steps, or longer than the range of x.
    """
    if spec.kernel.type != "periodic":
        return {}
    part = lsb / Fraction(spec.kernel.parameters["period"])
    turn = rounded(decimal(part * 2**TURN_FRAC))
    if part > Fraction(1, 2) or turn < 1 << (TURN_FRAC - 32):
        raise fail("E204", "period does not fit the resolution of the inputs",
                   where="[kernel] period", value=spec.kernel.period,
                   allowed=f"2 to 2^32 LSB of x: {float(2 * lsb):g} to {float(2**32 * lsb):g}",
                   remedy="correct the period, or change the gain of the input")
    return {"kernel_turn": turn, "kernel_turn_shift": TURN_FRAC - 32,
            "kernel_sine_shift": 62 - distance_format(spec, words).frac}


def _largest_product(spec: Spec, x: Signal) -> int:
    return spec.input.columns * max(abs(x.lo), abs(x.hi)) ** 2


def _polynomial(spec: Spec) -> tuple[int, Fraction, Fraction]:
    """Return degree, gamma and coef0; the linear kernel is the polynomial 1, 1, 0."""
    p = spec.kernel.parameters
    if spec.kernel.type == "linear":
        return 1, Fraction(1), Fraction(0)
    return int(p["degree"]), Fraction(p["gamma"]), Fraction(p["coef0"])


def _exponents(spec: Spec, x: Signal, lsb: Fraction) -> tuple[int, int]:
    """Return the exponents of the powers of two that bound the base and the kernel.

    The base is ``gamma u.v + coef0``; its bound includes a margin.
    """
    degree, gamma, coef0 = _polynomial(spec)
    top = gamma * lsb**2 * _largest_product(spec, x) + coef0
    return ceil_log2(top * (1 + Fraction(1, 2**28))), ceil_log2(top**degree)


def kernel_format(spec: Spec, words: WordClass, x: Signal, lsb: Fraction) -> Format:
    """Return the format of the kernel.

    The format of a polynomial is signed, and as fine as its largest value permits.
    """
    if spec.kernel.type not in POLYNOMIALS:
        return words.kernel
    return Format(True, words.bits, words.bits - 1 - _exponents(spec, x, lsb)[1])


def polynomial_constants(spec: Spec, words: WordClass, x: Signal, lsb: Fraction) -> dict[str, int]:
    """Return constants of ``base = (dot / 2**dot_shift) * c / 2**shift + coef0``.

    The base is divided by a power of two that is not smaller than its magnitude, and stored as s32f31.

    Raises
    ------
    KerncastError
        E204 if every scaling leaves too few bits for the kernel.
    """
    degree, gamma, coef0 = _polynomial(spec)
    exponent, kernel_exponent = _exponents(spec, x, lsb)
    largest = _largest_product(spec, x)
    dot_shift = max(0, ceil_log2(largest) - 31)
    scale = gamma * lsb**2 * Fraction(2) ** (dot_shift + 31 - exponent)
    shift = 30 - floor_log2(scale)
    half = gamma * lsb**2 * Fraction(largest, 4)
    seen = ((half + coef0) ** degree - coef0**degree) / Fraction(2) ** (kernel_exponent - (words.bits - 1))
    if seen < LEAST_WORDS or not 0 <= shift <= 62:
        raise _too_few_bits(spec, words, float(seen))
    return {
        "kernel_dot_shift": dot_shift, "kernel_shift": shift,
        "kernel_c": min(rounded(decimal(scale * Fraction(2) ** shift)), 2**31 - 1),
        "kernel_coef0": rounded(decimal(coef0 * Fraction(2) ** (31 - exponent))), "kernel_degree": degree,
        "kernel_out_shift": 32 - words.bits - (degree * exponent - kernel_exponent),
    }


def _too_few_bits(spec: Spec, words: WordClass, seen: float) -> KerncastError:
    found = ", ".join(f"{k} = {v}" for k, v in spec.kernel.parameters.items()) or spec.kernel.type
    return fail("E204", f"the {spec.kernel.type} kernel uses too little of {words.bits} bits: if its values "
                        f"at full scale fill the range, its values at half scale are only {seen:.2g} LSB "
                        "from zero",
                where="[kernel] type", value=found, allowed=f"at least {LEAST_WORDS} LSB",
                remedy="lower degree or coef0, raise gamma, or set [numbers] word = 32")


def plan_kernel(spec: Spec, words: WordClass, x: Affine) -> dict[str, int]:
    """Return `kernel_c`, `kernel_shift`, `kernel_d2_end` and the type's constants.

    ``t = floor(d2 * kernel_c / 2**kernel_shift)``; from `kernel_d2_end` on the kernel is zero.  A Matern
    kernel of several columns has the root of d2 in its place.

    Raises
    ------
    KerncastError
        E204 if sigma or the period do not fit the word length, or a polynomial leaves too few bits.
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
                   remedy="change sigma or the gain of the input")
    reached = Fraction((last_exponent(spec.kernel.type, words) << (words.t_frac + shift)), c)
    end, most = (ceil(reached**2), MOST_ROOTED) if _rooted(spec) else (ceil(reached), words.distance.hi)
    return {"kernel_c": c, "kernel_shift": shift, "kernel_d2_end": min(end, most, words.distance.hi),
            "exp2_bits": EXP2_BITS[words.bits][spec.numbers.exp_table], **_narrowing(spec, words),
            **periodic_constants(spec, words, x.lsb)}


def _narrowing(spec: Spec, words: WordClass) -> dict[str, int]:
    """Return how a kernel value is computed from its exponential."""
    if spec.kernel.type in MATERN:
        return matern_constants(spec, words)
    return {} if words.bits == 16 else {"exp2_cut": EXP2_32_FRAC - words.kernel.frac}


def kernel_tables(spec: Spec, words: WordClass) -> Mapping[str, ConstantTable]:
    """Return the exp2 tables of the word length.

    A periodic kernel also has the sine table. The result is empty for polynomial kernels.
    """
    if spec.kernel.type in POLYNOMIALS:
        return {}
    tables = _exp2_tables(words.bits, EXP2_BITS[words.bits][spec.numbers.exp_table])
    return tables if spec.kernel.type != "periodic" else {**tables, "sine": ConstantTable(SINE, sine())}


@cache
def _exp2_tables(word: int, bits: int) -> Mapping[str, ConstantTable]:
    if word == 16:
        return {"exp2": ConstantTable(EXP2_16, exp2_16(bits))}
    return {"exp2_coarse": ConstantTable(EXP2_COARSE, exp2_coarse(bits)),
            "exp2_fine": ConstantTable(exp2_fine_format(bits), exp2_fine(bits))}
