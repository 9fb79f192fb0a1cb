"""sim.model: self-tuning, which chooses sigma and lambda by their evidence.

The criterion is the log evidence (log marginal likelihood) of a Gaussian process with covariance A = T +
lambda I, maximised over the noise level. Up to a constant, it is ``-(n log q + log det A) / 2`` with ``q = y'
A^-1 y = sum z_i^2 / d_i``. The forward recursion of the banded solver (:mod:`.banded`) computes z, and log
det A is a constant of the plan. The pair with the smallest ``n log2 q + log2 det A`` is chosen.

PYTEST_DONT_REWRITE: see :mod:`...primitives`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...candidates import EVIDENCE_FRAC, NO_EVIDENCE
from ...jit import jit
from ...primitives import FLOOR, Words, arithmetic_shift, bit_length, mac, mul_shift, shift_round

#: Fraction bits of the mantissa of a logarithm's argument.
_MANTISSA = 30


class EvidenceConstants(NamedTuple):
    """Constants of the plan. `offset` is that of one candidate."""

    rows: int
    square_shift: int
    sum_shift: int
    offset: int


@jit
def log2(v: int) -> int:
    """Compute log2(v), v > 0, with 24 fraction bits, rounded down.

    The mantissa is squared repeatedly; a fraction bit is 1 if the square is at least 2.
    """
    whole = bit_length(v) - 1
    m = arithmetic_shift(v, whole - _MANTISSA)
    log = whole
    for _ in range(EVIDENCE_FRAC):
        m = mul_shift(m, m, _MANTISSA)
        bit = m >> (_MANTISSA + 1)
        m = m >> bit
        log = log + log + bit
    return log


@jit
def quadratic_form(z: Words, pivot: Words, k: EvidenceConstants) -> int:
    """Compute ``sum z_i^2 / d_i``; squares and products are shifted right."""
    acc = 0
    for i in range(z.shape[0]):
        square = shift_round(z[i] * z[i], k.square_shift, FLOOR)
        acc = mac(acc, square, pivot[min(i, k.rows - 1)], k.sum_shift)
    return acc


@jit
def evidence(total: int, z_exp: int, n: int, k: EvidenceConstants) -> int:
    """Compute ``n log2 q + log2 det A`` from the sum of :func:`quadratic_form`.

    A sum of 0, which means that all targets are 0, is replaced by 1.
    """
    return n * (log2(max(total, 1)) + (z_exp + z_exp << EVIDENCE_FRAC)) + k.offset


def best_of(evidences: Words) -> int:
    """Return the index of the first smallest value, which is the best.

    The index is -1 if all candidates are rejected.
    """
    best = int(evidences.argmin())
    return -1 if evidences[best] == NO_EVIDENCE else best
