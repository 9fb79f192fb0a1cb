"""sim.reference: the system A x = y that a solver is given, A = K + lambda I, however A is held.

===============  ==================  ===========================================================
class            holds               for
===============  ==================  ===========================================================
DenseSystem      the matrix          matrices from elsewhere
KernelSystem     the samples         blocks of K are made when they are asked for, O(n D) memory
ToeplitzSystem   the first column    products by FFT, O(n) memory
===============  ==================  ===========================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import fail
from ..kernels import Kernel
from .toeplitz_product import ToeplitzProduct

Array = NDArray[np.float64]
Rows = slice | NDArray[np.int64]

# Products with a matrix that is not held make it in blocks of about this many values (8 MB of float64).
_BLOCK_VALUES = 1 << 20
_REAL_BYTES = 8


class System(ABC):
    """A symmetric matrix A of n rows, by what solvers ask of it."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of rows."""

    @abstractmethod
    def block(self, rows: Rows, columns: Rows) -> Array:
        """A[rows, columns], made afresh: the caller may write into it."""

    @abstractmethod
    def diagonal(self) -> Array:
        """The diagonal of A, shape (n,)."""

    def __matmul__(self, V: Array) -> Array:
        """A V for `V` of shape (n,) or (n, m), some rows of A at a time."""
        product = np.empty(V.shape)
        step = max(1, _BLOCK_VALUES // self.n)
        everything = slice(0, self.n)
        for start in range(0, self.n, step):
            rows = slice(start, min(start + step, self.n))
            product[rows] = self.block(rows, everything) @ V
        return product

    def dense(self) -> Array:
        """The whole matrix, shape (n, n); E237 where that many bytes are not to be had."""
        refuse_beyond_memory(self.n * self.n * _REAL_BYTES, f"a matrix of {self.n} x {self.n}")
        return self.block(slice(0, self.n), slice(0, self.n))


@dataclass(frozen=True, eq=False)
class DenseSystem(System):
    """A matrix that is held.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric; finite.
    """

    A: Array

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.A)

    def block(self, rows: Rows, columns: Rows) -> Array:
        """A[rows, columns], a copy."""
        return np.array(self.A[rows][:, columns])

    def diagonal(self) -> Array:
        """The diagonal of A, shape (n,)."""
        return np.array(np.diagonal(self.A))

    def __matmul__(self, V: Array) -> Array:
        """A V for `V` of shape (n,) or (n, m)."""
        return np.asarray(self.A @ V)


@dataclass(frozen=True, eq=False)
class KernelSystem(System):
    """K + lambda I of samples, never held as a whole.

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

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    def block(self, rows: Rows, columns: Rows) -> Array:
        """Make K[rows, columns], lambda added where row and column are the same sample."""
        block = self.kernel(self.X[rows], self.X[columns])
        numbers = np.arange(self.n)
        same, here = np.nonzero(numbers[rows, np.newaxis] == numbers[columns])
        block[same, here] += self.lam
        return block

    def diagonal(self) -> Array:
        """k(x, x) + lambda of each sample, shape (n,)."""
        return self.kernel.pairs(self.X, self.X) + self.lam


@dataclass(frozen=True, eq=False)
class ToeplitzSystem(System):
    """A symmetric Toeplitz matrix, given by its first column.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column; lambda is in r[0] already.
    """

    r: Array

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.r)

    def block(self, rows: Rows, columns: Rows) -> Array:
        """A[rows, columns] = r[|i - j|]."""
        numbers = np.arange(self.n)
        return np.asarray(self.r[np.abs(numbers[rows, np.newaxis] - numbers[columns])])

    def diagonal(self) -> Array:
        """r[0], n times."""
        return np.full(self.n, self.r[0])

    @cached_property
    def _product(self) -> ToeplitzProduct:
        return ToeplitzProduct(self.r)

    def __matmul__(self, V: Array) -> Array:
        """A V for `V` of shape (n,) or (n, m), by FFT."""
        return np.asarray(self._product @ V)


def refuse_beyond_memory(wanted: int, what: str) -> None:
    """Raise E237 where `wanted` bytes for `what` are more than the machine has free."""
    free = _free_bytes()
    if wanted > free:
        raise fail("E237", f"{what} does not fit the memory", where="n", value=f"{wanted:,} bytes",
                   allowed=f"{free:,} bytes to be had on this machine",
                   remedy='use a method in O(n) memory, "cg" or a Toeplitz one, or fewer samples')


def _free_bytes() -> int:
    """Memory that is to be had, in bytes, what the system can give back included."""
    from psutil import virtual_memory

    return int(virtual_memory().available)
