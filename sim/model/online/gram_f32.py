"""sim.model: the Gram matrix of an expansion and its inverse in float32.

Each update needs O(N^2) operations.

One square array stores both: K below the diagonal, the inverse of K + jitter I on and above it. The
inverse's row and column of a free slot are 0. Every result is checked against K before its use: a column
before a projection, a bordered inverse before it replaces the old one. If a check fails, the inverse is
computed again by bordering, one vector at a time. :mod:`...reference.online.gram` explains the method, in
float64.
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
    """Both matrices (N, N), workspace of length N, and constants of the plan."""

    a: Floats
    u: Floats
    rest: Floats
    step: Floats
    one: np.float32  # 1 + jitter
    jitter: np.float32


@jit
def times_inverse(g: Gram, count: int, v: Floats, out: Floats) -> None:
    """Compute ``out = K^-1 v``."""
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
    """Compute ``rest = c - (K + jitter I) v``."""
    for i in range(count):
        here = v[i]
        acc = c[i] - g.one * here
        for j in range(i):
            acc -= g.a[i, j] * v[j]
            g.rest[j] -= g.a[i, j] * here
        g.rest[i] = acc


@jit
def rank_one(g: Gram, count: int, scale: np.float32) -> None:
    """Compute ``K^-1 += u u' / scale``."""
    for i in range(count):
        part = g.u[i] / scale
        for j in range(i, count):
            g.a[i, j] += part * g.u[j]


@jit
def clear(g: Gram, count: int, slot: int) -> None:
    """Set row and column `slot` of the inverse to 0."""
    for j in range(slot):
        g.a[j, slot] = ZERO
    for j in range(slot, count):
        g.a[slot, j] = ZERO


@jit
def border(g: Gram, count: int, slot: int, k: Floats) -> bool:
    """Extend the inverse to the free `slot`; return whether this was possible.

    The kernel row of the new vector is `k`, with k[slot] = 0.

    The function computes ``u = K^-1 k`` with one step of refinement, and the Schur complement, which is
    the new kappa.
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
    """Compute the inverse from K, one vector at a time.

    A vector that cannot be bordered gets a diagonal entry only.
    """
    for slot in range(count):
        clear(g, slot + 1, slot)
        if not border(g, slot + 1, slot, g.a[slot]):
            g.a[slot, slot] = ONE / g.one


@jit
def insert(g: Gram, count: int, slot: int, k: Floats) -> bool:
    """Insert the kernel row `k` of a new vector into the free `slot`.

    Return whether the inverse was rebuilt.
    """
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
    """Copy column `slot` of the inverse to `u` and its residual to `rest`.

    Return whether the column passes the check.
    """
    for j in range(slot):
        g.u[j], g.step[j] = g.a[j, slot], ZERO
    for j in range(slot, count):
        g.u[j], g.step[j] = g.a[slot, j], ZERO
    g.step[slot] = ONE
    residual(g, count, g.u, g.step)
    return bool(norm1(g.rest, count) <= DRIFT * np.float32(count) and g.u[slot] >= HALF)
