"""sim.model: the kernel expansion f(x) = sum_i alpha_i k(v_i, x) (eq. 3 of paper 000)."""

from __future__ import annotations

from ..engine import jit
from ..primitives import Words, mac, narrow
from .kernel import Cast, KernelConstants, distance, into_word, kernel
from .ranges import F


@jit
def expand(x: Words, v: Words, alpha: Words, count: int, k: KernelConstants, mac_shift: int,
           f_shift: int, f: Cast, log: Words) -> tuple[int, bool]:
    """The prediction, in y words, from `count` vectors v (count, D); whether it saturated."""
    acc = 0
    for i in range(count):
        acc = mac(acc, alpha[i], kernel(distance(v[i], x, k), k, log), mac_shift)
    whole = narrow(acc, f_shift, f.rounding, -(1 << 62), 1 << 62)
    return into_word(whole, f, log, F)
