"""sim.model: the first row of the Toeplitz matrix, divided by 1 + lambda.

It needs O(n) memory.

Lemma 1 (uniform grid) gives it exactly; Lemma 2 takes the mean of each diagonal of the kernel
matrix, one diagonal at a time (S. Decherchi, P. Gastaldo and R. Zunino, "Efficient Approximate Regularized
Least Squares by Toeplitz Matrix").
"""

from __future__ import annotations

from ...jit import jit
from ...primitives import Words, divide_round
from .. import trace_hooks as at
from ..kernel import Cast, KernelConstants, distance, kernel, term
from ..ranges import R, cast
from ..trace_hooks import Log, trace


@jit
def scale_row(k_mean: int, rho: int, r: Cast, log: Log) -> int:
    """Compute ``k / (1 + lambda)`` in the format of r.

    `rho` is ``2**31 / (1 + lambda)``.
    """
    return cast(k_mean * rho, 31, r.rounding, r.lo, r.hi, log, R)


@jit
def uniform_row(out: Words, step: int, rho: int, k: KernelConstants, r: Cast, log: Log) -> None:
    """Compute ``r_j = K(j * step)`` by Lemma 1; out[0] stays 0, the implicit 1."""
    out[0] = 0
    for j in range(1, out.shape[0]):
        d = term(0, j * step, 0, k)
        value = kernel(d, k, log)
        trace(log, at.ROW_DISTANCE, j, 0, d)
        trace(log, at.ROW_KERNEL, j, 0, value)
        out[j] = scale_row(value, rho, r, log)
        trace(log, at.ROW_R, j, 0, out[j])


@jit
def diagonal_row(out: Words, v: Words, biased: bool, rho: int, k: KernelConstants, r: Cast,
                 log: Log) -> None:
    """Compute the mean of diagonal j by Lemma 2; `biased` divides by n, not n - j."""
    n = out.shape[0]
    out[0] = 0
    for j in range(1, n):
        acc = 0
        for i in range(n - j):
            d = distance(v[i], v[i + j], k)
            value = kernel(d, k, log)
            trace(log, at.ROW_DISTANCE, j, i, d)
            trace(log, at.ROW_KERNEL, j, i, value)
            acc += value
        out[j] = scale_row(divide_round(acc, n if biased else n - j), rho, r, log)
        trace(log, at.ROW_R, j, 0, out[j])
