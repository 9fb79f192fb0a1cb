"""sim.planner: constants of the Matern kernels.

With ``x = sqrt(2 nu) r / sigma`` and ``t = x log2(e)``, a Matern kernel is ``p(x) 2**-t``, p(x) = 1 + x or
1 + x + x^2 / 3.  The device computes x from t, and the exponential e from the fraction of t; ``q = p(x)
2**-whole``, whole part of t, is first computed times ``2**half``, half = whole // 2, so that x / 3 keeps its
bits.  The value is e q, limited to 1.0.

The error of a value is at most ``q |e error| + e |q error|`` and half an LSB, of the final rounding.

* e has the error of the exponential (docs/measured/exp2.md); q is at most 1.7 for matern32 and 1.86 for
  matern52.
* x, 1 + x, x / 3 and its product with x are rounded down to 20 or 32 fraction bits, x / 3 again after it is
  shifted by `half`; at 24 and 32 bits q is rounded to 31 fraction bits.
* kernel_c has a relative error of ``2**-16`` or ``2**-31``, and the root of a squared distance, rounded up to
  31 bits, one below ``2**-30``.  They change a value by at most ``x |k'(x)|`` times as much, 0.54 or 0.61.

The sum, largest near t = 1 and t = 2, is at most 2.92, 1.81 or 1.64 LSB at 16 bits (small, medium or large
tables), 0.52 at 24 bits, and at 32 bits 3.80, or 4.66 with a root: a test evaluates it for every t.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from ..choices import MATERN
from ..spec import Spec
from ..tables import CONTEXT, LN2, decimal
from .words import EXP2_32_FRAC, WordClass

#: 2 nu of each kernel.
_TWICE_NU = {"matern32": 3, "matern52": 5}
#: Largest error of a value at 16 bits, by the size of the table, and at 24 and 32 bits.
_ERROR_16, _ERROR_32 = {"small": 3, "medium": 2, "large": 2}, {24: 1, 32: 4}
#: Bits to which a root of the profile is found.
_BITS = 160


def two_nu_root(kernel: str) -> Decimal:
    """Return ``sqrt(2 nu)`` to 60 digits."""
    return CONTEXT.sqrt(Decimal(_TWICE_NU[kernel]))


def profile(kernel: str, x: Decimal) -> Decimal:
    """Return ``p(x) exp(-x)``; p is 1 for a kernel that is not a Matern kernel."""
    factor = Decimal(1)
    if kernel in MATERN:
        factor = CONTEXT.add(factor, x)
    if MATERN.get(kernel) == 2:
        factor = CONTEXT.add(factor, CONTEXT.divide(CONTEXT.multiply(x, x), Decimal(3)))
    return CONTEXT.multiply(factor, CONTEXT.exp(CONTEXT.minus(x)))


def argument(kernel: str, value: Fraction) -> Decimal:
    """Return the x at which :func:`profile` has fallen to `value`, 0 < value < 1."""
    wanted = decimal(value)
    near = CONTEXT.minus(CONTEXT.ln(wanted))  # below x, because p(x) is at least 1
    if kernel not in MATERN:
        return near
    far = CONTEXT.add(CONTEXT.multiply(near, Decimal(2)), Decimal(8))
    near = Decimal(0)
    for _ in range(_BITS):
        middle = CONTEXT.divide(CONTEXT.add(near, far), Decimal(2))
        near, far = (middle, far) if profile(kernel, middle) > wanted else (near, middle)
    return far


def last_exponent(kernel: str, words: WordClass) -> int:
    """Return the integer t from which every value of the kernel rounds to zero."""
    if kernel not in MATERN:
        return words.t_end
    half, t = decimal(words.kernel.lsb / 2), 1
    while profile(kernel, CONTEXT.multiply(LN2, Decimal(t))) >= half:
        t += 1
    return t


def matern_error(spec: Spec, words: WordClass) -> int:
    """Return the largest error of a value in LSB."""
    if words.bits == 16:
        return _ERROR_16[spec.numbers.exp_table]
    root = int(words.bits == 32 and spec.input.columns > 1)
    return _ERROR_32[words.bits] + root


def matern_constants(spec: Spec, words: WordClass) -> dict[str, int]:
    """Return the degree of p, the shift of p(x) and that of its product with e.

    At 16 bits the exponential has 15 fraction bits and p(x) 20; otherwise both have 31.
    """
    degree = MATERN[spec.kernel.type]
    if words.bits == 16:
        return {"matern_degree": degree, "matern_cut": 0, "matern_shift": words.t_frac}
    return {"matern_degree": degree, "matern_cut": words.t_frac - EXP2_32_FRAC,
            "matern_shift": 2 * EXP2_32_FRAC - words.kernel.frac}
