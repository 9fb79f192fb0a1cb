"""sim.model: the fitted values y - lambda alpha.

From ``(T + lambda I) alpha + b = y`` follows ``T alpha + b = y - lambda alpha``, so these values are the
predictions at the training inputs, but need only n products. Their difference from the computed predictions
is the residual of alpha, whose norm divided by lambda is the certified bound.
"""

from __future__ import annotations

import numpy as np

from ...jit import jit
from ...plan import Plan
from ...primitives import FLOOR, Words, shift_round
from ...statuses import DeviceStatus
from ..kernel import Cast, cast_of, into_word
from ..ranges import F, Ranges
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


def fitted_words(plan: Plan, y: Words, alpha: Words, alpha_exp: int) -> tuple[Words, Words]:
    """Return the status of each fitted value, and the values, both (n,)."""
    status, f = np.zeros_like(y), np.zeros_like(y)
    scale, shift, cast = plan.integer("fitted_scale"), plan.integer("fitted_shift"), cast_of(plan, "f")
    log = Ranges(plan).log
    for i in range(len(y)):
        own = slice(i, i + 1)
        limited = fitted(y[own], alpha[own], scale, shift - alpha_exp, cast, f[own], log)
        status[i] = DeviceStatus.SATURATED if limited else DeviceStatus.OK
    return status, f
