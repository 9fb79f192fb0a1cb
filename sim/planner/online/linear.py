"""sim.planner.online: formats and constants of the linear part.

Features are ``(1, x / X)``, where X is a power of two that is at least every |x|.  R and z have 32 bits at
every word length: with 16 bits the linear part fails on slow signals, whose windows are nearly singular.  So
x has fewer bits than a feature.  If the LSB of x is more than one ADC count of a column, the features are the
exact counts less their offset, times their gain: ``linear_raw_exp`` then replaces ``linear_x_exp``.  Both
saturate at X.

*Bound of R.*  Let B be the 2-norm of a column of R (or of z).  Scaling by ``root <= sqrt(lambda)`` and
rotating in a row whose entry is at most t leaves at most ``sqrt(lambda B^2 + t^2)``, because the rounded c
and s of every rotation satisfy ``c^2 + s^2 <= 1``: the root is rounded up, its reciprocal down, and both
products with the reciprocal toward zero.  A ridge row adds r^2 below the root.  Rounding adds at most 2
LSB for each of the 2 M rotations, and 1 LSB for each of the M scaled entries.  So no value leaves a format
with range B = 2^k if

    lambda B^2 + t^2 + r^2 <= (B - (5 M + 1) lsb)^2,

and every entry of R, of z and of the rotated row is at most B.  Nothing saturates, for any stream.

*The solution* w has no such bound: it saturates at full scale of its format, which the status reports.

*NLMS* (``linear = "nlms"``) has w alone.  A sample with error e changes w by mu e phi / phi.phi.  Features
have b = 31 - ceil(log2 M) fraction bits, at most 28: M products with w stay below 2^62, and so does phi.phi,
which is at least 1 for the intercept.  An error is at most 3 full scales, so mu e / phi.phi is below 8: with
W_FRAC + 4 fraction bits, this gain g fits 32 bits, and its quotient is never shifted up.  A step is g phi,
shifted by b + 4 bits; w saturates, which the status reports.  As phi is at most 2^b, no step exceeds 2^27,
and an entry of w below 2^30 cannot saturate: generated C adds upper halves of products to such entries.

*The gate* scales the kernel part by g = P / Q, P and Q the sums of e_L f_K and f_K^2 over about 2^GATE_WINDOW
samples.  With both factors in words of W bits and products shifted to at most 2^52, each sum stays below
2^(53 + GATE_WINDOW), so that a quotient may be taken, and q f_K below 2^62 for a quotient q up to 2^31.
Where features are ADC counts or last errors correct the prediction, errors of one LSB of y matter, and the
factors have ``gate_frac`` more bits: the sums forget a floored part, which is exact to 2^-gate_frac squared.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, isqrt

from ...errors import fail
from ...spec import Spec
from ..classes import range_of_y
from ..log2 import ceil_log2, floor_log2
from ..words import Affine, WordClass
from .last_errors import error_constants, fine_bits

#: Columns at most: time and memory grow as their square.
MOST_COLUMNS = 64
#: Bits of R, z and w; fraction bits of w, of c, s and the root.
BITS, W_FRAC, ROTATION_FRAC = 32, 22, 30
#: Samples that the gate averages over, as a power of two; most bits of its products.
GATE_WINDOW, _GATE_BITS = 6, 52
#: NLMS: most fraction bits of a feature, bits of the step size, and of the gain below the LSB of w.
_MOST_FEATURE_BITS, _STEP_BITS, _GAIN_BITS = 28, 15, 4
#: Most integer bits of R: as many bits are lost of the features.
_MOST_INTEGER_BITS = 12


def linear_constants(spec: Spec, words: WordClass, x: Affine, y: Affine) -> dict[str, int]:
    """Return the constants of the linear part; empty without one.

    Raises
    ------
    KerncastError
        E204 for too many columns, or a ridge or forgetting factor for which no format of R has a proof.
    """
    assert spec.online is not None
    if spec.online.linear is None:
        return {}
    y_frac = y.signal.format.frac
    own = _rls_constants(spec, x, y_frac) if spec.online.linear == "rls" else _nlms_constants(spec, x, y_frac)
    return {**own, **range_of_y(spec, y), **_gate_constants(spec, words, "linear_raw_exp" in own),
            **error_constants(spec, words, own["linear_out_shift"])}


def _rls_constants(spec: Spec, x: Affine, y_frac: int) -> dict[str, int]:
    assert spec.online is not None
    if spec.input.columns > MOST_COLUMNS:
        raise fail("E204", "too many columns for the linear part", where="[input] columns",
                   value=spec.input.columns,
                   allowed=f"up to {MOST_COLUMNS} with linear = \"rls\"",
                   remedy="use fewer columns, set linear = \"nlms\", or omit `linear`")
    options, order = spec.online.linear_options, spec.input.columns + 1
    forgetting = Fraction(options["linear_forgetting"])
    top = _top(x)
    priors = [Fraction(options["linear_ridge"]) / scale**2 for scale in (1, x.lsb * 2**top)]
    ridges = [(1 - forgetting) * order * prior for prior in priors]
    r_frac = _fraction_bits(order, forgetting, Fraction(1), max(ridges), max(priors))
    z_frac = _fraction_bits(order, forgetting, Fraction(5 if spec.online.joint else 1), Fraction(0),
                            Fraction(0))
    sum_shift = ceil_log2(Fraction(order)) + 1
    mac_shift = max(0, BITS - 1 + r_frac + ceil_log2(Fraction(order)) - 62)
    return {
        "linear_root": isqrt(floor(forgetting * 4**ROTATION_FRAC)), "linear_one": 1 << r_frac,
        **_features(x, top - r_frac), "linear_y_exp": y_frac - z_frac,
        "linear_ridge_one": _root(ridges[0], r_frac), "linear_ridge_x": _root(ridges[1], r_frac),
        "linear_prior_one": _root(priors[0], r_frac), "linear_prior_x": _root(priors[1], r_frac),
        "linear_sum_shift": sum_shift, "linear_z_shift": r_frac + W_FRAC - sum_shift - z_frac,
        "linear_mac_shift": mac_shift, "linear_out_shift": W_FRAC + r_frac - mac_shift - y_frac}


def _nlms_constants(spec: Spec, x: Affine, y_frac: int) -> dict[str, int]:
    assert spec.online is not None
    step = Fraction(spec.online.linear_options["linear_step"])
    frac = min(_MOST_FEATURE_BITS, BITS - 1 - ceil_log2(Fraction(spec.input.columns + 1)))
    step_frac = _STEP_BITS - 1 - floor_log2(step)
    return {
        "linear_one": 1 << frac, **_features(x, _top(x) - frac),
        "linear_mac_shift": 0, "linear_out_shift": W_FRAC + frac - y_frac,
        "linear_step": floor(step * 2**step_frac + Fraction(1, 2)),
        "linear_step_exp": BITS - 1 - W_FRAC - _GAIN_BITS + y_frac + step_frac - 2 * frac,
        "linear_gain_shift": _GAIN_BITS + frac}


def _top(x: Affine) -> int:
    """Return the exponent of X, in LSBs of x."""
    return ceil_log2(Fraction(max(abs(x.signal.lo), abs(x.signal.hi))))


def _features(x: Affine, exp: int) -> dict[str, int]:
    """Return the shift of x to a feature.

    If x lacks some bits of the ADC counts, it is that of a scaled count.
    """
    return {"linear_raw_exp": exp + x.shift} if min(x.gain) < 1 << x.shift else {"linear_x_exp": exp}


def _gate_constants(spec: Spec, words: WordClass, wide: bool) -> dict[str, int]:
    """Return the constants of the gate; empty without one."""
    assert spec.online is not None
    if not spec.online.gate:
        return {}
    frac = fine_bits(words) if wide or spec.online.last_errors is not None else 0
    return {"gate_shift": max(0, 2 * (words.bits + frac - 1) - _GATE_BITS), "gate_window": GATE_WINDOW,
            **({"gate_frac": frac} if frac else {})}


def holds(bits: int, order: int, forgetting: Fraction, entry: Fraction, ridge: Fraction) -> bool:
    """Return whether columns stay below ``2**bits``, by the inequality above."""
    bound, lsb = Fraction(2) ** bits, Fraction(2) ** (bits + 1 - BITS)
    return forgetting * bound**2 + entry**2 + ridge <= (bound - (5 * order + 1) * lsb) ** 2


def _fraction_bits(order: int, forgetting: Fraction, entry: Fraction, ridge: Fraction,
                   prior: Fraction) -> int:
    """Return the largest number of fraction bits with a proof; raise E204 if none has."""
    for bits in range(1, _MOST_INTEGER_BITS + 1):
        if prior < 4**bits and holds(bits, order, forgetting, entry, ridge):
            return BITS - 1 - bits
    raise fail("E204", "no 32-bit format can represent the linear part", where="[online] linear_forgetting",
               value=float(forgetting),
               allowed="linear_forgetting of about 0.9 to 0.99999, and linear_ridge below the square of the "
               "range of x", remedy="start with linear_forgetting = 0.999 and linear_ridge = 0.001")


def _root(square: Fraction, frac: int) -> int:
    """Return the square root as an integer with `frac` fraction bits, at least 1."""
    return max(1, isqrt(floor(square * 4**frac)))
