"""sim.model: the residual of a Toeplitz solution, and the certified bound.

alpha solves ``(T + lambda I) alpha = y``, where the first row of T + lambda I is (1, r[1], ...) times 1 +
lambda, for the fixed-point r. The equations are divided by 1 + lambda, so that only y is scaled. The bound
applies to this system in fixed point; it does not include the errors caused by rounding r and y.
"""

from __future__ import annotations

from typing import NamedTuple

from ..jit import jit
from ..primitives import FLOOR, Words, arithmetic_shift, mac, magnitude, shift_round
from .bound import BoundConstants, add_square, bound_from_norm, bound_within


class CertifyConstants(NamedTuple):
    """Integer constants of the certified bound.

    `alpha_frac` is the number of fraction bits of alpha at exponent 0, and `last_lag` is the last lag at
    which r can be different from 0.
    """

    word: int
    alpha_frac: int
    ridge_scale: int
    residual_shift: int
    residual_slack: int
    last_lag: int
    bound: BoundConstants


@jit
def target_shift(alpha_exp: int, k: CertifyConstants) -> int:
    """Return the shift from ``y * ridge_scale`` to the LSB of the residual."""
    return k.word - 2 + 31 - (k.word - 1 - k.residual_shift + k.alpha_frac - alpha_exp)


@jit
def row_residual(i: int, y: int, r: Words, alpha: Words, s: int, k: CertifyConstants) -> int:
    """Compute row i of ``y / (1 + lambda) - T alpha``."""
    end = min(i + k.last_lag + 1, alpha.shape[0])
    acc = shift_round(alpha[i] << (k.word - 1), k.residual_shift, FLOOR)
    for j in range(max(0, i - k.last_lag), i):
        acc = mac(acc, r[i - j], alpha[j], k.residual_shift)
    for j in range(i + 1, end):
        acc = mac(acc, r[j - i], alpha[j], k.residual_shift)
    return arithmetic_shift(y * k.ridge_scale, s) - acc


@jit
def target_error_bound(y: int, s: int) -> int:
    """Bound the error of ``y / (1 + lambda)``.

    The error is due to the rounding of 1 / (1 + lambda) and to the shift.
    """
    return 0 if y == 0 else arithmetic_shift(magnitude(y) + 1, s + 1) + 2


@jit
def alpha_norm(alpha: Words, bits: int) -> tuple[int, int]:
    """Return the sum of squares of alpha, rounded down, and its shift."""
    norm, s = 0, 0
    for i in range(alpha.shape[0]):
        norm, s = add_square(norm, s, abs(alpha[i]), bits, 0)
    return norm, s


@jit
def product_error_bound(alpha: Words, k: CertifyConstants) -> int:
    """Bound the error of the products of a row; 0 if alpha is zero."""
    for i in range(alpha.shape[0]):
        if alpha[i] != 0:
            return k.residual_slack
    return 0


@jit
def accurate(alpha: Words, bound: int, k: CertifyConstants) -> bool:
    """Return whether the bound is within the tolerance."""
    norm, s = alpha_norm(alpha, k.bound.norm_bits)
    return bound_within(bound, norm, s, k.bound)


@jit
def certify(y: Words, r: Words, alpha: Words, alpha_exp: int, k: CertifyConstants) -> int:
    """Compute the bound in LSBs of alpha."""
    total, total_s = 0, 0
    slack = product_error_bound(alpha, k)
    s = target_shift(alpha_exp, k)
    for i in range(alpha.shape[0]):
        miss = abs(row_residual(i, y[i], r, alpha, s, k)) + target_error_bound(y[i], s) + slack
        total, total_s = add_square(total, total_s, miss, k.bound.norm_bits, 1)
    return bound_from_norm(total, total_s, k.bound)
