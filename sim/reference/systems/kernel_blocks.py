"""sim.reference.systems: fast blocks of a kernel matrix.

The blocks use BLAS and vectorised exponentials.

The Gaussian kernel is exp(g_ij + h_i + h_j), g_ij = z_i.z_j, h_i = -|z_i|^2 / 2, z = (x - mean) / sigma: one
matrix product and one pass over it.  The largest |h| bounds the cancellation in the sum.  If it is too large,
and for other kernels, the kernel computes the distances.
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
    """Replace G_ij by exp(min(G_ij + h_i + g_j, 0)).

    `G` has shape (p, q), `h` (p,) and `g` (q,), all with one dtype.
    """
    if fast:
        from .kernel_loops import exponentials

        exponentials(G, h, g)
        return
    G += np.add.outer(h, g)
    np.exp(np.minimum(G, 0.0, out=G), out=G)


def add_diagonals(K: Reals, sums: Reals, first: int, fast: bool) -> None:
    """Add each diagonal of a block to its sum, in place, row by row.

    Parameters
    ----------
    K : ndarray of shape (p, q)
        A block; its entry (0, 0) lies on diagonal `first` of the whole matrix, (i, j) on first + j - i.
        Entries below diagonal 0 are ignored.
    sums : ndarray of shape (m,), m >= first + q
        Sums of the diagonals 0, 1, ...
    first : int
        Number of the first diagonal, at least 0.
    fast : bool
        Whether to use compiled loops; the sums are equal.
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
        Type of the blocks, and of the arithmetic unless the samples are too far apart for it, relative to
        sigma.

    Attributes
    ----------
    fast : bool
        Whether compiled loops are used.

    Notes
    -----
    A block whose rows and columns are the same slice is symmetric to the last bit, and its diagonal is
    exact.  The last bits of other blocks may depend on their shape, as in BLAS.
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
        """Compute z and h in the lowest sufficient precision.

        Return False if there is none.
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
        """Return the memory in addition to the samples."""
        return self._z.nbytes + self._h.nbytes

    def block(self, rows: Rows, columns: Rows, added: float = 0.0) -> Reals:
        """Return K[rows, columns] in the requested dtype.

        `added` is added to the diagonal of K.
        """
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

        The diagonal may be inexact.

        The result is written to `room`, of that shape and dtype, if given.
        """
        if not self._by_product:
            return self.kernel(self._X[rows], self._X[columns])
        product: Reals = np.matmul(self._z[rows], self._z[columns].T, out=room)
        _exponentials(product, self._h[rows], self._h[columns], self.fast)
        return product


def same_places(n: int, rows: Rows, columns: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions in a block at which row and column number are equal.

    Parameters
    ----------
    n : int
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
