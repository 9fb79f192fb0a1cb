"""sim.reference.systems: the matrix K + lambda I in several forms of storage.

===============  ==================  ===========================================================
class            stores              use
===============  ==================  ===========================================================
DenseSystem      the matrix          any symmetric matrix
KernelSystem     the samples         blocks of K are computed on demand; O(n D) memory
ToeplitzSystem   the first column    products by FFT; O(n) memory
GridSystem       the samples         samples of one column; products by FFT: :mod:`.grid`
===============  ==================  ===========================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..._arrays import Array
from ..._checks import free_bytes
from ...errors import fail
from ...kernels import Kernel, Linear
from ..toeplitz.product import ToeplitzProduct, fft_size, residual
from .kernel_blocks import KernelBlocks
from .kernel_blocks import Rows as Rows

#: Products with a matrix that is not stored compute blocks of about this many values (2 MB of float64).
BLOCK_VALUES = 1 << 18
REAL_BYTES = 8


class Cost(NamedTuple):
    """Cost of a product with one vector: numbers of operations and of bytes.

    The cost consists of the number of multiplications, the number of kernel values, and the additional memory
    in bytes.
    """

    multiplications: int
    kernel_values: int
    bytes: int


class System(ABC):
    """Symmetric matrix A of n rows, with the operations that the solvers use."""

    #: Kernel values per entry of a block.
    values_per_entry = 0

    @property
    @abstractmethod
    def n(self) -> int:
        """Return the number of rows."""

    @property
    def regulariser(self) -> float:
        """Return lambda if A = K + lambda I and K is positive semidefinite, otherwise 0."""
        return 0.0

    @property
    def product_cost(self) -> Cost:
        """Return the cost of ``A @ v``."""
        return Cost(self.n * self.n, 0, 0)

    @abstractmethod
    def block(self, rows: Rows, columns: Rows) -> Array:
        """Return A[rows, columns] as a new array, which the caller can modify."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Return the diagonal of A, shape (n,)."""

    @abstractmethod
    def __matmul__(self, V: Array) -> Array:
        """Return A V for `V` of shape (n,) or (n, m)."""

    def residual(self, x: Array, Y: Array) -> Array:
        """Return Y - A x, as accurately as float64 allows."""
        return np.asarray(Y - self @ x)

    def dense(self, copies: int = 1) -> Array:
        """Return the whole matrix, shape (n, n).

        Raise E237 if `copies` copies of it do not fit in memory.
        """
        refuse_beyond_memory(copies * self.n * self.n * REAL_BYTES, f"a matrix of {self.n} x {self.n}")
        return self.block(slice(0, self.n), slice(0, self.n))


@dataclass(frozen=True, eq=False)
class DenseSystem(System):
    """Symmetric matrix that is stored as a whole.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric; finite.
    """

    A: Array

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.A)

    def block(self, rows: Rows, columns: Rows) -> Array:
        """Return a copy of A[rows, columns]."""
        return np.array(self.A[rows][:, columns])

    def diagonal(self) -> Array:
        """Return the diagonal of A, shape (n,)."""
        return np.array(np.diagonal(self.A))

    def __matmul__(self, V: Array) -> Array:
        """Return A V for `V` of shape (n,) or (n, m)."""
        return np.asarray(self.A @ V)


@dataclass(frozen=True, eq=False)
class KernelSystem(System):
    """Matrix K + lambda I for samples and a kernel, which is not stored as a whole.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n, D)
        Samples; finite.
    lam : float
        lambda >= 0.
    """

    kernel: Kernel
    X: Array
    lam: float

    values_per_entry = 1

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.X)

    @property
    def regulariser(self) -> float:
        """Return the lambda of K + lambda I."""
        return self.lam

    def block(self, rows: Rows, columns: Rows) -> Array:
        """Return K[rows, columns], plus lambda on the diagonal of K."""
        return np.asarray(self._blocks.block(rows, columns, self.lam))

    @cached_property
    def _blocks(self) -> KernelBlocks:
        return KernelBlocks(self.kernel, self.X)

    def diagonal(self) -> Array:
        """Return k(x, x) + lambda of each sample, shape (n,)."""
        return self.kernel.pairs(self.X, self.X) + self.lam

    def __matmul__(self, V: Array) -> Array:
        """Compute A V in strips of rows, for `V` of shape (n,) or (n, m)."""
        if isinstance(self.kernel, Linear):
            return np.asarray(self.X @ (self.X.T @ V) + self.lam * V)
        product = np.zeros(V.shape)
        for start, stop in self._strips():
            strip = self.block(slice(start, stop), slice(start, self.n))  # A is symmetric: the upper part
            product[start:stop] += strip @ V[start:]
            product[stop:] += strip[:, stop - start:].T @ V[start:stop]
        return product

    def _strips(self) -> Iterator[tuple[int, int]]:
        """Yield the first and the last row of strips of the upper triangle.

        All strips have about the same area.
        """
        start = 0
        while start < self.n:
            stop = min(self.n, start + max(1, BLOCK_VALUES // (self.n - start)))
            yield start, stop
            start = stop

    @property
    def product_cost(self) -> Cost:
        """Return the cost of ``A @ v``, including the memory for one strip."""
        if isinstance(self.kernel, Linear):
            return Cost(2 * self.X.size, 0, 0)
        made = [(stop - start) * (self.n - start) for start, stop in self._strips()]
        return Cost(self.n * self.n, sum(made), 3 * REAL_BYTES * max(made))


@dataclass(frozen=True, eq=False)
class ToeplitzSystem(System):
    """Symmetric Toeplitz matrix, given by its first column.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column; r[0] includes lambda.
    """

    r: Array

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.r)

    def block(self, rows: Rows, columns: Rows) -> Array:
        """Return A[rows, columns] = r[|i - j|]."""
        numbers = np.arange(self.n)
        return np.asarray(self.r[np.abs(numbers[rows, np.newaxis] - numbers[columns])])

    def diagonal(self) -> Array:
        """Return the diagonal (n,), which is r[0] in each row."""
        return np.full(self.n, self.r[0])

    @cached_property
    def _product(self) -> ToeplitzProduct:
        return ToeplitzProduct(self.r)

    def __matmul__(self, V: Array) -> Array:
        """Compute A V by FFT, for `V` of shape (n,) or (n, m)."""
        return np.asarray(self._product @ V)

    def residual(self, x: Array, Y: Array) -> Array:
        """Return Y - A x.

        Small systems are computed row by row, because an FFT loses small entries.
        """
        return residual(self.r, x, Y)

    @property
    def product_cost(self) -> Cost:
        """Return the cost of ``A @ v``.

        A product needs two FFTs of a circulant matrix of at least twice the size.
        """
        size = fft_size(self.n)
        return Cost(2 * fft_multiplications(size) + size, 0, 3 * REAL_BYTES * size)


def fft_multiplications(size: int) -> int:
    """Return the approximate number of multiplications of a real FFT of length `size`."""
    return size * size.bit_length()


def refuse_beyond_memory(wanted: int, what: str) -> None:
    """Raise E237 if `what` needs `wanted` bytes, which is more than the free memory."""
    free = free_bytes()
    if wanted > free:
        raise fail("E237", f"{what} does not fit in memory", where="n", value=f"{wanted:,} bytes",
                   allowed=f"{free:,} bytes, the free memory of this machine",
                   remedy='use "cg" or a Toeplitz method, which need only O(n) memory, or fewer samples')
