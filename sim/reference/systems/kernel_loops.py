"""sim.reference.systems: compiled loops for the blocks of a kernel matrix.

The exponential is computed as exp v = 2^k exp r with |r| <= log(2) / 2 (W. J. Cody, W. Waite, "Software
Manual for the Elementary Functions", 1980). The loops have no branches or tables, so that the compiler can
vectorise them.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from ..._arrays import Reals
from ...jit import jit_real

_f, _i, _d, _l = np.float32, np.int32, np.float64, np.int64
# Adding this leaves the nearest integer k in the low bits: 3 * 2^22 and 3 * 2^51.
_ROUND_32, _ROUND_64 = _f(3 << 22), _d(3 << 51)
_LOG2E_32, _LOG2E_64 = _f(1.0 / np.log(2.0)), _d(1.0 / np.log(2.0))
# log(2) in two parts, the first with so few bits that k times it is exact.
_LN2_HIGH_32, _LN2_LOW_32 = _f(0.693359375), _f(np.log(2.0) - 0.693359375)
_LN2_HIGH_64, _LN2_LOW_64 = _d(0.693145751953125), _d(1.4286068203094172e-06)
_LEAST_32, _LEAST_64 = _f(-86.0), _d(-708.0)  # below, 2^k would be subnormal; exp is 1e-37 and less
_ZERO_32, _ONE_32, _ZERO_64, _ONE_64 = _f(0.0), _f(1.0), _d(0.0), _d(1.0)
_BITS_32, _BITS_64 = _i(23), _l(52)
# 1 / k!: the truncation error is 1e-8 and 2e-16 of exp r, about that of rounding.
_S2, _S3, _S4, _S5, _S6, _S7 = (_f(1.0 / factorial(k)) for k in range(2, 8))
_D2, _D3, _D4, _D5, _D6, _D7, _D8, _D9, _D10, _D11, _D12 = (_d(1.0 / factorial(k)) for k in range(2, 13))


@jit_real
def _exp_32(v: np.float32) -> np.float32:
    v = min(max(v, _LEAST_32), _ZERO_32)
    t = v * _LOG2E_32 + _ROUND_32
    k = t - _ROUND_32
    r = (v - k * _LN2_HIGH_32) - k * _LN2_LOW_32
    p = ((((_S7 * r + _S6) * r + _S5) * r + _S4) * r + _S3) * r + _S2
    p = (p * r) * r + r + _ONE_32
    return _i(_f(p).view(_i) + _i(_f(t).view(_i) << _BITS_32)).view(_f)  # k added to the exponent of p


@jit_real
def _exp_64(v: np.float64) -> np.float64:
    v = min(max(v, _LEAST_64), _ZERO_64)
    t = v * _LOG2E_64 + _ROUND_64
    k = t - _ROUND_64
    r = (v - k * _LN2_HIGH_64) - k * _LN2_LOW_64
    p = ((((((((((_D12 * r + _D11) * r + _D10) * r + _D9) * r + _D8) * r + _D7) * r + _D6) * r + _D5) * r
           + _D4) * r + _D3) * r + _D2)
    p = (p * r) * r + r + _ONE_64
    return _l(_d(p).view(_l) + _l(_d(t).view(_l) << _BITS_64)).view(_d)


@jit_real
def _exponentials_32(G: Reals, h: Reals, g: Reals) -> None:
    for i in range(G.shape[0]):
        row, h_i = G[i], h[i]
        for j in range(row.shape[0]):
            row[j] = _exp_32(row[j] + (h_i + g[j]))


@jit_real
def _exponentials_64(G: Reals, h: Reals, g: Reals) -> None:
    for i in range(G.shape[0]):
        row, h_i = G[i], h[i]
        for j in range(row.shape[0]):
            row[j] = _exp_64(row[j] + (h_i + g[j]))


@jit_real
def add_rows(K: Reals, sums: Reals, first: int) -> None:
    """Add the rows of a block to the diagonal sums; see `kernel_blocks.add_diagonals`."""
    for i in range(K.shape[0]):
        skip = max(0, i - first)
        row, into = K[i, skip:], sums[first + skip - i: first + K.shape[1] - i]
        for j in range(row.shape[0]):
            into[j] += row[j]


def exponentials(G: Reals, h: Reals, g: Reals) -> None:
    """Replace G_ij by exp(min(G_ij + h_i + g_j, 0)) in place.

    The shapes are (p, q) for `G`, (p,) for `h` and (q,) for `g`; all have the same dtype.
    """
    (_exponentials_32 if G.dtype == np.float32 else _exponentials_64)(G, h, g)
