"""sim.reference.wavelet: the correction D_j of the scale space of a level.

The elimination of the details of a level changes the equations of its scale space:

    D_j = D^Z_j + X_j X_j',      W_j' D_{j-1} W_j = [ D^A_j  D^C_j' ]
                                                    [ D^C_j  D^Z_j  ]

X is sparse, except for a few columns: those of the wavelets of a periodic basis that wrap around the ends of
the data. For a wide kernel, each of these wavelets is coupled to the whole scale space, and X X' of these
columns is as dense as Z. Therefore they are stored separately: D = S + U U', where S is sparse and U has a
few dense columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..._arrays import Array
from .basis import Sparse, TwoScale

# A column of X with more entries than this is dense.
_FULL = 128


@dataclass(frozen=True, eq=False)
class Correction:
    """Correction D = S + U U' of the scale space of a level.

    Parameters
    ----------
    S : sparse array of shape (n, n)
        The sparse part.
    U : ndarray of shape (n, u)
        The dense columns.
    fill : float
        Entries of smaller magnitude are discarded.
    operations : int
        Number of multiplications that computed it from the finer level.
    """

    S: Sparse
    U: Array
    fill: float
    operations: int = 0

    @classmethod
    def nothing(cls, n: int, fill: float) -> Correction:
        """Return a correction of n rows that is 0."""
        return cls(sparse.csr_array((n, n)), np.empty((n, 0)), fill)

    def dense(self) -> Array:
        """Return D as a dense matrix."""
        return np.asarray(self.S.toarray() + self.U @ self.U.T)

    def two_scale(self, W: TwoScale) -> tuple[Sparse, Sparse, Correction]:
        """Transform D to the next level; return D^A, D^C and D^Z."""
        SG, SH = self.S @ W.G, self.S @ W.H
        UG, UH = above(W.G.T @ self.U, self.fill), W.H.T @ self.U
        full = above(UH, self.fill)
        taken = (_multiplications(self.S, W.G) + _multiplications(self.S, W.H) + W.nnz * self.U.shape[1]
                 + sum(_multiplications(F.T, SF) for F, SF in ((W.G, SG), (W.H, SG), (W.H, SH)))
                 + _multiplications(UG, UG.T) + _multiplications(full, UG.T))
        return (W.G.T @ SG + UG @ UG.T, W.H.T @ SG + full @ UG.T,
                Correction(W.H.T @ SH, UH, self.fill, taken))

    def plus(self, X: Sparse) -> Correction:
        """Return D + X X'."""
        is_full = np.diff(X.indptr) > _FULL
        thin = X[:, ~is_full]
        U = np.hstack([self.U, X[:, is_full].toarray()])
        return Correction(above(self.S + thin @ thin.T, self.fill), U, self.fill,
                          self.operations + _multiplications(thin, thin.T))


def above(M: Sparse | Array, fill: float) -> Sparse:
    """Return the entries whose magnitude is at least `fill`, as a sparse matrix."""
    M = sparse.csr_array(M)
    M.data[np.abs(M.data) < fill] = 0.0
    M.eliminate_zeros()
    return M


def _multiplications(A: Sparse, B: Sparse) -> int:
    """Return the number of multiplications for the product of two sparse arrays."""
    columns = np.diff(sparse.csc_array(A).indptr).astype(np.int64)
    return int(columns @ np.diff(sparse.csr_array(B).indptr))
