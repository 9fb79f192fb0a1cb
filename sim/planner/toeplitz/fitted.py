"""sim.planner.toeplitz: constants to compute the fitted values y - lambda alpha.

``(T + lambda I) alpha + b = y``, so that the prediction ``T alpha + b`` at the training inputs needs n
products.  lambda is stored as a mantissa over a power of two; its rounding error changes a fitted value by
at most ``2**-15`` of ``lambda |alpha|`` at 16 bits, and ``2**-31`` at longer word lengths.

Each product is shifted right by ``fitted_shift - alpha_exp``, so `fitted_shift` is at least the largest
exponent of alpha.
"""

from __future__ import annotations

from fractions import Fraction

from ...formats import Format
from ...spec import Spec
from ..log2 import floor_log2
from .levinson import ALPHA_EXP_MIN

#: Bits of the mantissa whose products with 16-bit values fit 32 bits, and of the one for all others.
SHORT, LONG = 15, 31


def _mantissa(lam: Fraction, bits: int) -> tuple[int, int]:
    """Return lambda as an integer below ``2**bits``, and its fraction bits."""
    frac = bits - 1 - floor_log2(lam)
    scale = round(lam * Fraction(2) ** frac)
    return (scale, frac) if scale < 1 << bits else (scale >> 1, frac - 1)


def fitted_constants(lam: Fraction, y: Format, alpha_frac: int, alpha_exp_max: int) -> dict[str, int]:
    """Return the mantissa of lambda and the shift of its products.

    The result is empty if lambda is so large that an LSB of alpha changes y by more than one LSB, or so
    small that no mantissa represents it.

    Parameters
    ----------
    lam : Fraction
    y : Format
    alpha_frac, alpha_exp_max : int
        Fraction bits of alpha, and its largest block exponent.
    """
    if lam * Fraction(2) ** (ALPHA_EXP_MIN - alpha_frac) > y.lsb:  # of an LSB of alpha
        return {}
    for bits in (SHORT, LONG) if y.bits == 16 else (LONG,):
        scale, frac = _mantissa(lam, bits)
        shift = frac + alpha_frac - y.frac
        if shift >= alpha_exp_max:
            return {"fitted_scale": scale, "fitted_shift": shift}
    return {}


def fitted_plan(spec: Spec, y: Format, c: dict[str, int]) -> dict[str, int]:
    """Return constants to compute the fitted values, if T is the kernel matrix."""
    assert spec.toeplitz is not None
    if spec.toeplitz.scheme != "uniform":
        return {}
    return fitted_constants(Fraction(spec.toeplitz.lam), y, c["alpha_frac"], c["alpha_exp_max"])
