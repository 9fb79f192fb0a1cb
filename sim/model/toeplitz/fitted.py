"""sim.model: the fitted values y - lambda alpha.

They equal the predictions at the training inputs, and need n products: ``(T + lambda I) alpha + b = y``,
hence ``T alpha + b = y - lambda alpha``.  The difference from the prediction is the residual of alpha; its
norm over lambda is the certified bound.
"""

from __future__ import annotations

from ...jit import jit
from ...primitives import FLOOR, Words, shift_round
from ..kernel import Cast, into_word
from ..ranges import F
from ..trace_hooks import Log

#: Largest shift of a product below ``2**62``: with a larger one the product is less than half an LSB.
_MAX_SHIFT = 62


@jit
def fitted(y: Words, alpha: Words, scale: int, shift: int, c: Cast, f: Words, log: Log) -> bool:
    """Compute f = y - lambda alpha, all (n,); return whether any value saturated.

    The LSB of ``scale * alpha`` is ``2**-shift`` LSB of y; `f` receives the result.
    """
    limited = False
    for i in range(y.shape[0]):
        product = -scale * alpha[i] if shift <= _MAX_SHIFT or c.rounding == FLOOR else 0
        whole = y[i] + shift_round(product, min(shift, _MAX_SHIFT), c.rounding)
        f[i], beyond = into_word(whole, c, log, F)
        limited |= beyond
    return limited
