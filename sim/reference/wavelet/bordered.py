"""sim.reference.wavelet: NS-form of a Toeplitz matrix, in O(n) time and memory.

Almost all columns of W = [G | H] are copies of one column, each shifted down by two rows. Therefore most of
A, C and Z_j is again a Toeplitz matrix, which one column determines. The remaining part, called the *border*,
consists of the rows and columns of the few wavelets at the ends. All entries are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..._arrays import Array
from ..systems.system import Cost, DenseSystem
from .basis import Sparse, TwoScale
from .ns_form import ScaleSpace, WholeScaleSpace, thresholded

Numbers = NDArray[np.int64]

# Rounding tolerance for shifted copies of a column.
_ALIKE = 1e-14
# With fewer copies than this the matrix is small, and is stored.
_SHORTEST = 32


@dataclass(frozen=True, eq=False)
class _Run:
    """Columns `first` to `stop` - 1 of F; they are shifted copies of each other.

    They do not overlap the border of Z. The first column of this run and the columns outside of it determine
    all columns.
    """

    F: Sparse
    first: int
    stop: int

    @property
    def telling(self) -> Numbers:
        """Return the indices of the columns that determine the matrix."""
        return np.concatenate((np.arange(self.first + 1), np.arange(self.stop, self.F.shape[1])))


class BorderedToeplitz:
    """Symmetric matrix that is a Toeplitz matrix except for a border.

    Parameters
    ----------
    r : ndarray of shape (stop - start,)
        First column of the Toeplitz part, Z[i, j] = r[|i - j|], in rows and columns `start` to `stop` - 1.
    start : int
        First row of the Toeplitz part.
    border : ndarray of shape (n, b), optional
        The other columns in order, each with all n rows.
    """

    values_per_entry = 0

    def __init__(self, r: Array, start: int = 0, border: Array | None = None) -> None:
        self._r, self._start, self._stop = r, start, start + len(r)
        self._border = np.empty((len(r), 0)) if border is None else border
        self._n = len(self._border)

    def dense(self) -> Array:
        """Return the matrix as a dense array."""
        return self._columns(np.arange(self._n))

    def _columns(self, wanted: Numbers) -> Array:
        """Return the columns `wanted`, shape (n, wanted)."""
        found = np.empty((len(wanted), self._n))
        start, stop, r = self._start, self._stop, self._r
        for column, k in zip(found, wanted, strict=True):
            if start <= k < stop:
                column[:start], column[stop:] = self._border[k, :start], self._border[k, start:]
                column[start:k], column[k:stop] = r[k - start:0:-1], r[:stop - k]
            else:
                column[:] = self._border[:, k if k < start else k - len(r)]
        return found.T

    def two_scale(self, W: TwoScale, t: float) -> tuple[Sparse, Sparse, ScaleSpace, Cost]:
        """Transform to the next level: return A = G'ZG, C = H'ZG, Z_j = H'ZH and the cost.

        Small entries of A and C are discarded.
        """
        g, h = self._run(W.G), self._run(W.H)
        if min(g.stop - g.first, h.stop - h.first) < _SHORTEST:
            whole = self.dense()
            return WholeScaleSpace(DenseSystem(whole), whole.nbytes).two_scale(W, t)
        (ZG, of_G), (ZH, of_H) = self._times(W.G[:, g.telling]), self._times(W.H[:, h.telling])
        A = W.G.T @ ZG
        Z = W.H.T @ ZH
        cost = Cost(of_G + of_H + W.nnz * (ZG.shape[1] + ZH.shape[1]), 0,
                    sum(part.nbytes for part in (self._border, ZG, ZH, A, Z)))
        return (_bordered(A, A, g, g, t), _bordered(W.H.T @ ZG, W.G.T @ ZH, h, g, t),
                BorderedToeplitz(Z[h.first:h.stop, h.first], h.first, np.delete(Z, h.first, axis=1)), cost)

    def _times(self, F: Sparse) -> tuple[Array, int]:
        """Return Z F for a few columns F, and the number of multiplications."""
        rows = np.unique(F.indices)
        return self._columns(rows) @ F[rows].toarray(), self._n * len(rows) * F.shape[1]

    def _run(self, F: Sparse) -> _Run:
        """Find the columns that are shifted copies of the middle column.

        Columns that overlap the border are excluded.
        """
        count, sizes = F.shape[1], np.diff(F.indptr)
        middle = count // 2
        candidates = np.flatnonzero(sizes == sizes[middle]) if count else np.arange(0)
        if not len(candidates):
            return _Run(F, 0, 0)
        at = F.indptr[candidates][:, np.newaxis] + np.arange(sizes[middle])
        rows, values = F.indices[at], F.data[at]
        model = np.searchsorted(candidates, middle)
        moved = rows - rows[model] == 2 * (candidates - middle)[:, np.newaxis]
        alike = moved & (np.abs(values - values[model]) <= _ALIKE)
        inside = (rows >= self._start) & (rows < self._stop)
        good = np.zeros(count, dtype=bool)
        good[candidates] = (alike & inside).all(axis=1)
        before, after = np.flatnonzero(~good[:middle]), np.flatnonzero(~good[middle:])
        first, stop = before[-1] + 1 if len(before) else 0, middle + after[0] if len(after) else count
        return _Run(F, int(first), int(stop))


def _bordered(M: Array, Mt: Array, of_rows: _Run, of_columns: _Run, t: float) -> Sparse:
    """Assemble a sparse matrix from the columns and rows that determine it.

    Parameters
    ----------
    M : ndarray of shape (rows, determining columns)
        The determining columns.
    Mt : ndarray of shape (columns, determining rows)
        The determining rows, transposed.
    of_rows, of_columns : _Run
        The runs of rows and columns that are shifted copies.
    t : float
        Threshold; smaller entries are discarded.
    """
    p, q = of_rows, of_columns
    M = M[p.first:p.stop]
    middle = [thresholded(M[:, :q.first], t), _toeplitz(M[:, q.first], Mt[q.first:q.stop, p.first], t),
              thresholded(M[:, q.first + 1:], t)]
    above, below = Mt[:, :p.first].T, Mt[:, p.first + 1:].T
    return sparse.vstack([thresholded(above, t), sparse.hstack(middle), thresholded(below, t)], format="csr")


def _toeplitz(column: Array, row: Array, t: float) -> Sparse:
    """Return a sparse Toeplitz matrix, without entries whose magnitude is below `t`."""
    down = np.flatnonzero(np.abs(column) >= t)
    right = 1 + np.flatnonzero(np.abs(row[1:]) >= t)
    if not len(down) + len(right):
        return sparse.csr_array((len(column), len(row)))
    values = np.concatenate((column[down], row[right]))
    return sparse.diags_array(list(values[:, np.newaxis]), offsets=np.concatenate((-down, right)),
                              shape=(len(column), len(row)))
