"""sim.reference: blocks of a kernel matrix, fast: inner products by BLAS, exponentials in vectors.

The Gaussian kernel is exp(g_ij + h_i + h_j), g_ij = z_i.z_j, h_i = -|z_i|^2 / 2, z = (x - mean) / sigma: one
product of matrices, and one sweep over it.  What cancels in the sum is bounded by the largest |h|; where too
little would be left, and for other kernels, the kernel's own distances are taken.

exp v = 2^k exp r with |r| <= log(2) / 2: W. J. Cody, W. Waite, "Software Manual for the Elementary
Functions", 1980.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..engine import COMPILED, jit_real
from ..kernels import Gaussian, Kernel

Array = NDArray[np.float64]
Floats = NDArray[np.floating]
Rows = slice | NDArray[np.int64]

# What the exponents may be wrong by, absolute, at either precision.
_EXPONENT_ERROR = {np.float32: 2e-5, np.float64: 1e-12}

_f, _i, _d, _l = np.float32, np.int32, np.float64, np.int64
# Adding it leaves the nearest integer k in the low bits: 3 * 2^22 and 3 * 2^51.
_ROUND_32, _ROUND_64 = _f(3 << 22), _d(3 << 51)
_LOG2E_32, _LOG2E_64 = _f(1.0 / np.log(2.0)), _d(1.0 / np.log(2.0))
# log(2) in two parts, the first with so few bits that k times it is exact.
_LN2_HIGH_32, _LN2_LOW_32 = _f(0.693359375), _f(np.log(2.0) - 0.693359375)
_LN2_HIGH_64, _LN2_LOW_64 = _d(0.693145751953125), _d(1.4286068203094172e-06)
_LEAST_32, _LEAST_64 = _f(-86.0), _d(-708.0)  # below, 2^k would be subnormal; exp is 1e-37 and less
_ZERO_32, _ONE_32, _ZERO_64, _ONE_64 = _f(0.0), _f(1.0), _d(0.0), _d(1.0)
_BITS_32, _BITS_64 = _i(23), _l(52)
# 1 / k!, which leaves 1e-8 and 2e-16 of exp r: near what rounding leaves.
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
def _exponentials_32(G: Floats, h: Floats, g: Floats) -> None:
    for i in range(G.shape[0]):
        row, h_i = G[i], h[i]
        for j in range(row.shape[0]):
            row[j] = _exp_32(row[j] + (h_i + g[j]))


@jit_real
def _exponentials_64(G: Floats, h: Floats, g: Floats) -> None:
    for i in range(G.shape[0]):
        row, h_i = G[i], h[i]
        for j in range(row.shape[0]):
            row[j] = _exp_64(row[j] + (h_i + g[j]))


def _exponentials(G: Floats, h: Floats, g: Floats) -> None:
    """G_ij becomes exp(min(G_ij + h_i + g_j, 0)): `G` of shape (p, q), `h` (p,), `g` (q,), one dtype."""
    if COMPILED:
        (_exponentials_32 if G.dtype == np.float32 else _exponentials_64)(G, h, g)
        return
    G += np.add.outer(h, g)
    np.exp(np.minimum(G, 0.0, out=G), out=G)


@jit_real
def _add_rows(K: Floats, sums: Floats, first: int) -> None:
    for i in range(K.shape[0]):
        skip = max(0, i - first)
        row, into = K[i, skip:], sums[first + skip - i: first + K.shape[1] - i]
        for j in range(row.shape[0]):
            into[j] += row[j]


def add_diagonals(K: Floats, sums: Floats, first: int) -> None:
    """Add each diagonal of a block to its sum, in place, row by row.

    Parameters
    ----------
    K : ndarray of shape (p, q)
        A block; its entry (0, 0) lies on diagonal `first` of the whole matrix, (i, j) on first + j - i.
        What lies below diagonal 0 is left out.
    sums : ndarray of shape (m,), m >= first + q
        Sums of the diagonals 0, 1, ...
    first : int
        At least 0.
    """
    K = K[: first + K.shape[1]]  # the rows that reach diagonal 0
    if COMPILED:
        _add_rows(K, sums, first)
        return
    for i, row in enumerate(K):
        skip = max(0, i - first)
        sums[first + skip - i: first + len(row) - i] += row[skip:]


class KernelBlocks:
    """Blocks of the kernel matrix of samples.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n, D)
        Samples; finite.
    dtype : float64 or float32
        Of the blocks, and of the arithmetic, where the samples do not lie too many sigma apart for it.

    Notes
    -----
    A block of rows and columns that are the same slice is symmetric to the last bit, and a sample's value
    with itself is exact.  Of other blocks the last bits may depend on their shape, as BLAS has it.
    """

    def __init__(self, kernel: Kernel, X: Array, dtype: DTypeLike = np.float64) -> None:
        self.kernel, self._X = kernel, X
        self.dtype = np.dtype(dtype)
        self._z = self._h = np.empty(0, self.dtype)
        self._by_product = isinstance(kernel, Gaussian) and self._prepare(kernel.sigma)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self._X)

    def _prepare(self, sigma: float) -> bool:
        """Make z and h in the first precision whose exponents are right; False where none is."""
        with np.errstate(over="ignore", invalid="ignore"):
            z = (self._X - self._X.mean(axis=0)) / sigma
            h = -0.5 * np.einsum("ij,ij->i", z, z)
            largest = float(np.max(-h))
        for kind in (self.dtype.type, np.float64):
            if 4.0 * float(np.finfo(kind).eps) * largest <= _EXPONENT_ERROR[kind]:  # not where it is NaN
                self._z = z.astype(kind, order="C")
                self._h = -0.5 * np.einsum("ij,ij->i", self._z, self._z)
                return True
        return False

    def block(self, rows: Rows, columns: Rows, added: float = 0.0) -> Floats:
        """K[rows, columns] of the dtype asked for, `added` where row and column are the same sample."""
        same = same_places(self.n, rows, columns)
        if not self._by_product:
            block = self.kernel(self._X[rows], self._X[columns]).astype(self.dtype, copy=False)
            block[same] += added
            return block
        product = self._z[rows] @ self._z[columns].T
        _exponentials(product, self._h[rows], self._h[columns])
        product[same] = 1.0 + added
        return product.astype(self.dtype, copy=False)


def same_places(n: int, rows: Rows, columns: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where in a block of a matrix of n rows the number of the row is that of the column.

    Parameters
    ----------
    n : int
    rows, columns : slice, or ndarray of int64
        Of shapes (p,) and (q,).

    Returns
    -------
    i, j : ndarray of int64
        Places within the block, as an index into it.
    """
    numbers = np.arange(n)
    chosen, across = numbers[rows], numbers[columns]
    order = np.argsort(across, kind="stable")
    left, right = (np.searchsorted(across, chosen, side, sorter=order) for side in ("left", "right"))
    i = np.repeat(np.arange(len(chosen)), right - left)
    step = np.arange(len(i)) - np.repeat(np.cumsum(right - left) - (right - left), right - left)
    return i, order[np.repeat(left, right - left) + step]
