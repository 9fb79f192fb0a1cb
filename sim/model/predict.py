"""sim.model: evaluate the kernel expansion f(x) = sum_i alpha_i k(v_i, x).

The expansion is equation (3) of S. Decherchi, P. Gastaldo and R. Zunino, "Efficient Approximate Regularized
Least Squares by Toeplitz Matrix".
"""

from __future__ import annotations

from ..jit import jit
from ..primitives import Words, mac, requantise
from . import trace_hooks as at
from .kernel import Cast, KernelConstants, distance, into_word, kernel
from .ranges import ACCUMULATOR, F, record
from .trace_hooks import Log, trace


@jit
def expand(x: Words, v: Words, alpha: Words, first: int, count: int, k: KernelConstants, mac_shift: int,
           f_shift: int, bias: int, f: Cast, log: Log) -> tuple[int, bool]:
    """Predict f, including the bias, from `count` of the vectors v (n, D).

    The vectors begin at index `first`. Return f in LSBs of y, and whether it saturated.
    """
    acc = 0
    for i in range(first, first + count):
        d = distance(v[i], x, k)
        value = kernel(d, k, log)
        trace(log, at.PREDICT_DISTANCE, 0, i, d)
        trace(log, at.PREDICT_KERNEL, 0, i, value)
        acc = mac(acc, alpha[i], value, mac_shift)
    record(log, ACCUMULATOR, acc)
    whole = requantise(acc, f_shift, f.rounding, -(1 << 61), 1 << 61) + bias
    word, saturated = into_word(whole, f, log, F)
    trace(log, at.PREDICT_F, 0, 0, word)
    return word, saturated
