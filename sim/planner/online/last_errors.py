"""sim.planner.online: formats and constants of the correction from last errors.

The errors of a good prediction are noise; if they are not, the last errors predict the next.  The predicted
error is ``c = sum a_i e_i``.  Normalised LMS learns a, by ``a += mu (e - c) e_i / (1 + sum e_i^2)`` with
mu = 2^-STEP.  It counts as far as it has reduced the error: g c is added, with g = P / Q from 0 to 1, P and Q
the sums of e c and c^2 over about 2^WINDOW samples.

*Formats.*  An error has FRAC bits below the LSB of y, as far as 32 bits hold them, since errors of an LSB or
two of y are those that matter.  It saturates to the range of y, so it is below 2^b, b = W - 1 + FRAC, and c
too.  Products of errors are shifted to at most 2^PRODUCT_BITS: the sums of the gate stay below
2^(PRODUCT_BITS + WINDOW) = 2^60, and the power is at most 2^(PRODUCT_BITS + 4) + 1.  A coefficient saturates
to 32 bits; 16 products of it with errors stay below 2^(31 + b - shift + 4) <= 2^62.  A quotient q of at most
2^31 times c, or times an error, is at most 2^62.

A step is ``q e_i`` shifted.  Shifted up it is at most 2^W_FRAC mu |e - c| |e_i| / power.  As the power is at
least 1 and 2^-shift e_i^2, this is below 2^(W_FRAC - STEP + b + 1 + shift / 2) < 2^60.
"""

from __future__ import annotations

from ...spec import Spec
from ..words import WordClass

#: Most fraction bits of an error below the LSB of y; fraction bits of a coefficient.
FRAC, W_FRAC = 8, 24
#: Step, and samples that the gate averages over, as powers of two; most bits of a product.
STEP, WINDOW, PRODUCT_BITS = 7, 8, 52
_BITS = 32


def error_constants(spec: Spec, words: WordClass, out_shift: int) -> dict[str, int]:
    """Return the constants of the correction; empty without it.

    `out_shift` shifts the sum of the linear part to LSBs of y.
    """
    assert spec.online is not None
    if spec.online.last_errors is None:
        return {}
    frac = fine_bits(words)
    shift = max(0, 2 * (words.bits + frac - 1) - PRODUCT_BITS)
    return {"error_frac": frac, "error_shift": shift, "error_sum_shift": W_FRAC - shift,
            "error_step_shift": 31 + shift - W_FRAC + STEP, "error_out_shift": out_shift - frac,
            "error_window": WINDOW}


def fine_bits(words: WordClass) -> int:
    """Return the fraction bits of an error below the LSB of y."""
    return min(FRAC, _BITS - words.bits)
