"""sim.model.online: the steps of dichotomous coordinate descent."""

from __future__ import annotations

from ...jit import jit
from ...primitives import FLOOR, Words, bit_length, shift_round


@jit
def input_scale(r: Words, order: int, first: int) -> int:
    """Return s; in comparisons, residuals of the inputs count 2^s times.

    It is half the difference in bits between the largest R_ii of the other features and that of the inputs,
    and at least 0.
    """
    others, inputs, base = 0, 0, 0
    for i in range(order):
        if i < first:
            others = max(others, r[base])
        else:
            inputs = max(inputs, r[base])
        base += order - i
    return max(bit_length(others) - bit_length(inputs), 0) // 2


@jit
def largest(beta: Words, first: int, scale: int) -> int:
    """Return the index of the largest ``|beta_i|``; ties select the first.

    From `first` on, ``|beta_i|`` counts ``2**scale`` times.
    """
    best, max_size = 0, 0
    for i in range(beta.shape[0]):
        if i == first:
            max_size >>= scale
        size = beta[i] if beta[i] >= 0 else -beta[i]
        if size > max_size:
            best, max_size = i, size
    return best


@jit
def power_above(num: int, den: int) -> int:
    """Return the smallest k with ``num / den <= 2**k``.

    Requires 0 < num < 2**62 and 0 < den < 2**31.
    """
    up, up_den = 62 - bit_length(num), 62 - bit_length(den)
    k = up_den - up
    return k + 1 if num << up > den << up_den else k


@jit
def subtract_column(residual: Words, r: Words, i: int, step: int, shift: int) -> None:
    """Subtract ``step / 2**shift`` times column i of R from the residual.

    `r` is the upper triangle of R, row by row. Each product is rounded down.
    """
    order, place = residual.shape[0], i
    for j in range(order):
        residual[j] -= shift_round(r[place] * step, shift, FLOOR)
        place += order - 1 - j if j < i else 1
