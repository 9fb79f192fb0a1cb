"""sim.model: the Gram matrix of an expansion and its inverse in float32, kept up to date in O(N^2).

One square array holds both: below the diagonal K, on and above it the inverse of K + jitter I; of a free
slot the inverse's row and column are 0.  What is used is checked against K first: a column before it is
projected on, a bordering before it is kept.  Where a check fails the inverse is made afresh by
bordering it vector by vector.  In float64, and explained, in :mod:`...reference.online.gram`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...jit import jit
from ..float32 import HALF, ONE, ZERO, Floats, norm1

#: What the entries of a checked product may miss on average.  Of a column it is the error of a projection in
#: units of what the removal changes anyway; of a bordering a step of refinement squares it.
DRIFT = np.float32(2.0**-5)


class Gram(NamedTuple):
    """The matrices (N, N), room for vectors (N,), and constants of the plan."""

    a: Floats
    u: Floats
    rest: Floats
    step: Floats
    one: np.float32  # 1 + jitter
    jitter: np.float32


@jit
def times_inverse(g: Gram, count: int, v: Floats, out: Floats) -> None:
    """``out = K^-1 v``."""
    for i in range(count):
        out[i] = ZERO
    for i in range(count):
        here = v[i]
        acc = g.a[i, i] * here
        for j in range(i + 1, count):
            acc += g.a[i, j] * v[j]
            out[j] += g.a[i, j] * here
        out[i] += acc


@jit
def residual(g: Gram, count: int, v: Floats, c: Floats) -> None:
    """``rest = c - (K + jitter I) v``."""
    for i in range(count):
        here = v[i]
        acc = c[i] - g.one * here
        for j in range(i):
            acc -= g.a[i, j] * v[j]
            g.rest[j] -= g.a[i, j] * here
        g.rest[i] = acc


@jit
def rank_one(g: Gram, count: int, scale: np.float32) -> None:
    """``K^-1 += u u' / scale``."""
    for i in range(count):
        part = g.u[i] / scale
        for j in range(i, count):
            g.a[i, j] += part * g.u[j]


@jit
def clear(g: Gram, count: int, slot: int) -> None:
    """Row and column `slot` of the inverse become 0."""
    for j in range(slot):
        g.a[j, slot] = ZERO
    for j in range(slot, count):
        g.a[slot, j] = ZERO


@jit
def border(g: Gram, count: int, slot: int, k: Floats) -> bool:
    """Extend the inverse to the free `slot`, whose kernel row is `k`, k[slot] = 0; whether it could be.

    ``u = K^-1 k`` with one step of refinement, and the Schur complement, which is the new kappa.
    """
    times_inverse(g, count, k, g.u)
    residual(g, count, g.u, k)
    g.rest[slot] = ZERO
    if not norm1(g.rest, count) <= DRIFT * np.float32(count):
        return False
    times_inverse(g, count, g.rest, g.step)
    s = g.one
    for i in range(count):
        g.u[i] += g.step[i]
        s -= k[i] * g.u[i]
    if not s >= HALF * g.jitter:
        return False
    g.u[slot] = -ONE
    rank_one(g, count, s)
    return True


@jit
def rebuild(g: Gram, count: int) -> None:
    """The inverse from K, vector by vector; one that cannot be bordered stands alone in it."""
    for slot in range(count):
        clear(g, slot + 1, slot)
        if not border(g, slot + 1, slot, g.a[slot]):
            g.a[slot, slot] = ONE / g.one


@jit
def insert(g: Gram, count: int, slot: int, k: Floats) -> bool:
    """Put the kernel row `k` of a new vector into the free `slot`; whether the inverse was rebuilt."""
    bordered = border(g, count, slot, k)
    for j in range(slot):
        g.a[slot, j] = k[j]
    for j in range(slot + 1, count):
        g.a[j, slot] = k[j]
    if not bordered:
        rebuild(g, count)
    return not bordered


@jit
def column(g: Gram, count: int, slot: int) -> bool:
    """Column `slot` of the inverse into `u`; whether it is one, its residual in `rest`."""
    for j in range(slot):
        g.u[j], g.step[j] = g.a[j, slot], ZERO
    for j in range(slot, count):
        g.u[j], g.step[j] = g.a[slot, j], ZERO
    g.step[slot] = ONE
    residual(g, count, g.u, g.step)
    return bool(norm1(g.rest, count) <= DRIFT * np.float32(count) and g.u[slot] >= HALF)
