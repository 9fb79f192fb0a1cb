"""sim.planner.toeplitz: shifts and exponent ranges of the Levinson recursion.

Shifts and ranges follow from analytic bounds.

The system is scaled so that ``r_0 + lambda = 1``.  For a positive semidefinite T then
``|a|_2 <= sqrt((1 + lambda) / lambda)`` and ``|x|_2 <= |y|_2 (1 + lambda) / lambda``; each
bound gives the range of a block exponent, and that range the fraction bits of the 64-bit
numerators, so that no partial sum overflows.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from ...errors import fail
from ...spec import Spec
from ..log2 import ceil_log2, ceil_log2_sqrt

#: Exponent of an empty alpha block: small targets keep their bits.
ALPHA_EXP_MIN = -8


def power(spec: Spec) -> Fraction:
    """Return ``(1 + lambda) / lambda``.

    The value is the reciprocal of the lower bound of the scaled system's eigenvalues.
    """
    assert spec.toeplitz is not None
    return (1 + Fraction(spec.toeplitz.lam)) / Fraction(spec.toeplitz.lam)


def products_shift(word: int, terms: int) -> int:
    """Return the right shift of each product, so that a sum of `terms` products fits."""
    return 0 if 2 * word - 2 + ceil_log2(terms) <= 61 else ceil_log2(terms)


def bounds(spec: Spec) -> dict[str, float]:
    """Return the analytic bounds of a and of alpha, the latter in full scales of y."""
    assert spec.toeplitz is not None
    p = power(spec)
    return {"a": sqrt(p), "alpha": sqrt(spec.toeplitz.n) * float(p)}


def levinson_constants(spec: Spec, word: int) -> dict[str, int]:
    """Return constants of the recursion; raise E205 if no shifts exist.

    The constants depend on the word length.
    """
    assert spec.toeplitz is not None
    n, lam, p = spec.toeplitz.n, spec.toeplitz.lam, power(spec)
    a_exp_max = ceil_log2_sqrt(p) + 2
    x_exp_max = ceil_log2_sqrt(n * p**2) + 3
    xi_frac = 61 - ceil_log2(n) - a_exp_max
    innov_frac = 61 - ceil_log2(n) - x_exp_max
    rho = round(Fraction(2**31) / (1 + Fraction(lam)))
    if a_exp_max > word - 2 or min(xi_frac, innov_frac) < word - 2 or rho >= 2**31:
        raise fail("E205", f"lambda is too small for {n} samples at {word} bits: the bound on alpha "
                           f"({bounds(spec)['alpha']:.3g} times the full scale) leaves too few bits",
                   where="[toeplitz] lambda", value=lam, allowed="a larger lambda, or a longer word length",
                   remedy="raise lambda, lower n, or set [numbers] word = 32")
    return {"ridge_scale": rho, "solver_word": word, "solver_shift": products_shift(word, n),
            "xi_frac": xi_frac, "innov_frac": innov_frac, "eps_min": int(Fraction(2**xi_frac, 2) / p),
            "a_exp_min": 0, "a_exp_max": a_exp_max, "x_exp_min": ALPHA_EXP_MIN, "x_exp_max": x_exp_max}


def static_exponents(spec: Spec, reach: float | None) -> dict[str, int]:
    """Return the static exponents.

    Parameters
    ----------
    reach : float or None
        Largest magnitude of a coefficient in the scaled system, in full scales of y. The bound is used
        instead if this is None or larger.
    """
    assert spec.toeplitz is not None
    p = power(spec)
    bound = ceil_log2_sqrt(spec.toeplitz.n * p**2)
    most = bound if reach is None else min(bound, ceil_log2(Fraction(reach)))
    return {"a_exp_min": ceil_log2_sqrt(p), "x_exp_min": max(most, ALPHA_EXP_MIN)}
