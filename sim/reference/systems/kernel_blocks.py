"""sim.reference.systems: compute blocks of a kernel matrix fast.

With z = (x - mean) / sigma, g_ij = z_i.z_j and h_i = -|z_i|^2 / 2, the Gaussian kernel is exp(g_ij + h_i +
h_j). A block therefore needs one matrix product (BLAS) and one pass of vectorised exponentials. The largest
|h| bounds the cancellation in the sum. If it is too large, and for other kernels, the block is computed from
distances.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..._arrays import Array, Reals
from ...kernels import Gaussian, Kernel
from ..compiled import compiled

Rows = slice | NDArray[np.int64]

# Largest absolute error of the exponents, in each precision.
_EXPONENT_ERROR = {np.float32: 2e-5, np.float64: 1e-12}


def _exponentials(G: Reals, h: Reals, g: Reals, fast: bool) -> None:
    """Replace G_ij by exp(min(G_ij + h_i + g_j, 0)) in place.

    The shapes are (p, q) for `G`, (p,) for `h` and (q,) for `g`; all have the same dtype.
    """
    if fast:
        from .kernel_loops import exponentials

        exponentials(G, h, g)
        return
    G += np.add.outer(h, g)
    np.exp(np.minimum(G, 0.0, out=G), out=G)


def add_diagonals(K: Reals, sums: Reals, first: int, fast: bool) -> None:
    """Add the entries of a block to the sums of their diagonals, in place.

    Parameters
    ----------
    K : ndarray of shape (p, q)
        Block of the matrix; its entry (i, j) is on diagonal first + j - i of the whole matrix. Entries below
        diagonal 0 are ignored.
    sums : ndarray of shape (m,), m >= first + q
        Sums of the diagonals 0, 1, ...
    first : int
        Diagonal of entry (0, 0), at least 0.
    fast : bool
        Whether to use compiled loops; the sums are the same.
    """
    K = K[: first + K.shape[1]]  # the rows that reach diagonal 0
    if fast:
        from .kernel_loops import add_rows

        add_rows(K, sums, first)
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
        Type of the blocks. The arithmetic uses it too, unless the distances of the samples, relative to
        sigma, are too large for its precision.

    Attributes
    ----------
    fast : bool
        Whether compiled loops are used.

    Notes
    -----
    A block whose rows and columns are the same slice is exactly symmetric, and its diagonal is exact. The
    last bits of other blocks can depend on the shape of the block, because BLAS computes them.
    """

    def __init__(self, kernel: Kernel, X: Array, dtype: DTypeLike = np.float64) -> None:
        self.kernel, self._X = kernel, X
        self.dtype = np.dtype(dtype)
        self.fast = compiled(len(X))
        self._z = self._h = np.empty(0, self.dtype)
        self._by_product = isinstance(kernel, Gaussian) and self._prepare(kernel.sigma)

    @property
    def n(self) -> int:
        """Return the number of samples."""
        return len(self._X)

    def _prepare(self, sigma: float) -> bool:
        """Compute z and h in the lowest precision that is sufficient.

        Return False if no precision is sufficient.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            z = (self._X - self._X.mean(axis=0)) / sigma
            h = -0.5 * np.einsum("ij,ij->i", z, z)
            largest = float(np.max(-h))
        for kind in (self.dtype.type, np.float64):
            if 4.0 * float(np.finfo(kind).eps) * largest <= _EXPONENT_ERROR[kind]:  # False for NaN
                self._z = z.astype(kind, order="C")
                self._h = -0.5 * np.einsum("ij,ij->i", self._z, self._z)
                return True
        return False

    @property
    def nbytes(self) -> int:
        """Return the memory in bytes, without the samples."""
        return self._z.nbytes + self._h.nbytes

    def block(self, rows: Rows, columns: Rows, added: float = 0.0) -> Reals:
        """Return K[rows, columns] in the requested dtype; add `added` on K's diagonal."""
        same = same_places(self.n, rows, columns)
        block = self.tile(rows, columns).astype(self.dtype, copy=False)
        if self._by_product:
            block[same] = 1.0
        block[same] += added
        return block

    @property
    def precision(self) -> np.dtype[np.floating]:
        """Return the dtype of the arithmetic."""
        return self._z.dtype if self._by_product else np.dtype(np.float64)

    def tile(self, rows: Rows, columns: Rows, room: Reals | None = None) -> Reals:
        """Return K[rows, columns] in the dtype of the arithmetic.

        The diagonal can be inexact. If `room` is an array of this shape and dtype, the result is written to
        it.
        """
        if not self._by_product:
            return self.kernel(self._X[rows], self._X[columns])
        product: Reals = np.matmul(self._z[rows], self._z[columns].T, out=room)
        _exponentials(product, self._h[rows], self._h[columns], self.fast)
        return product


def same_places(n: int, rows: Rows, columns: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the main diagonal of the matrix in a block.

    Parameters
    ----------
    n : int
        Number of rows of the matrix.
    rows, columns : slice, or ndarray of int64
        Rows and columns of the block, shapes (p,) and (q,).

    Returns
    -------
    i, j : ndarray of int64
        Indices into the block.
    """
    numbers = np.arange(n)
    chosen, across = numbers[rows], numbers[columns]
    order = np.argsort(across, kind="stable")
    left, right = (np.searchsorted(across, chosen, side, sorter=order) for side in ("left", "right"))
    i = np.repeat(np.arange(len(chosen)), right - left)
    step = np.arange(len(i)) - np.repeat(np.cumsum(right - left) - (right - left), right - left)
    return i, order[np.repeat(left, right - left) + step]
