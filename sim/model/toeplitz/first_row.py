"""sim.model: the first row of the Toeplitz matrix, divided by 1 + lambda.

The computation needs O(n) memory. It follows S. Decherchi, P. Gastaldo and R. Zunino, "Efficient Approximate
Regularized Least Squares by Toeplitz Matrix". For a uniform grid, Lemma 1 gives the row exactly. Otherwise
the row contains the mean of each diagonal of the kernel matrix (Lemma 2), computed one diagonal at a time.
"""

from __future__ import annotations

import numpy as np

from ...backend import Outputs
from ...jit import jit
from ...plan import Plan
from ...primitives import Words, divide_round
from .. import trace_hooks as at
from ..kernel import Cast, KernelConstants, cast_of, distance, kernel, kernel_constants, term
from ..ranges import R, Ranges, cast
from ..trace_hooks import Log, trace


@jit
def scale_row(k_mean: int, rho: int, r: Cast, log: Log) -> int:
    """Compute ``k / (1 + lambda)`` in the format of r.

    `rho` is ``2**31 / (1 + lambda)``.
    """
    return cast(k_mean * rho, 31, r.rounding, r.lo, r.hi, log, R)


@jit
def uniform_entry(out: Words, j: int, step: int, rho: int, k: KernelConstants, r: Cast, log: Log) -> None:
    """Compute ``r_j = K(j * step)`` for j > 0 (Lemma 1)."""
    d = term(0, j * step, 0, k)
    value = kernel(d, k, log)
    trace(log, at.ROW_DISTANCE, j, 0, d)
    trace(log, at.ROW_KERNEL, j, 0, value)
    out[j] = scale_row(value, rho, r, log)
    trace(log, at.ROW_R, j, 0, out[j])


@jit
def uniform_row(out: Words, last_lag: int, step: int, rho: int, k: KernelConstants, r: Cast,
                log: Log) -> None:
    """Compute the entries up to `last_lag` by :func:`uniform_entry`.

    The others are zero, and so is out[0], the implicit 1.
    """
    out[:] = 0
    for j in range(1, last_lag + 1):
        uniform_entry(out, j, step, rho, k, r, log)


@jit
def diagonal_row(out: Words, v: Words, biased: bool, rho: int, k: KernelConstants, r: Cast,
                 log: Log) -> None:
    """Compute the mean of each diagonal j (Lemma 2).

    If `biased` is true, the divisor is n instead of n - j.
    """
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


def row_of(plan: Plan, state: Outputs) -> Words:
    """Recompute the first row (n,) from the training inputs of a model structure.

    Parameters
    ----------
    plan : Plan
        Plan of a Toeplitz trainer.
    state : dict of str to ndarray of int64
        Model structure; contains ``centers`` unless the inputs are a uniform grid.

    Returns
    -------
    ndarray of int64
        The row in the format of r; entry 0 is 0, for the implicit 1.
    """
    row = np.zeros(plan.sizes["n"], dtype=np.int64)
    rho, k, r = plan.integer("ridge_scale"), kernel_constants(plan), cast_of(plan, "r")
    if plan.uniform:
        uniform_row(row, plan.integer("last_lag"), plan.integer("x_step"), rho, k, r, Ranges(plan).log)
    else:
        v = state["centers"].reshape(-1, plan.sizes["D"])
        diagonal_row(row, v, plan.biased_means, rho, k, r, Ranges(plan).log)
    return row
