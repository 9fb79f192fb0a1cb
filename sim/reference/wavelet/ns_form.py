"""sim.reference.wavelet: the NS-form, which consists of A_j, C_j and Z_J of (9).

    W_j' Z_{j-1} W_j = [ A_j  C_j' ]        Z_0 = Z = Omega + I / gamma
                       [ C_j  Z_j  ]

A_j is the part of Z_{j-1} for the details, and Z_j is a coarse version of Z_{j-1}. Small coefficients of A_j
and C_j are discarded. The next level transforms the exact Z_j; only the coarsest Z_J is retained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import sparse

from ..._arrays import Array
from ..systems.system import REAL_BYTES, Cost, DenseSystem, System, refuse_beyond_memory
from .basis import Sparse, TwoScale, transforms

# Columns of G and of H per block.
_STRIP = 128


class ScaleSpace(Protocol):
    """Interface of a scale-space matrix Z_j, which transforms to the next level."""

    #: Kernel values per entry of Z_j.
    values_per_entry: int

    def two_scale(self, W: TwoScale, t: float) -> tuple[Sparse, Sparse, ScaleSpace, Cost]:
        """Transform to the next level: return A, C, the next scale space, and the cost.

        Entries of A and C whose magnitude is below `t` are discarded.
        """

    def dense(self) -> Array:
        """Return Z_j as a dense matrix."""


@dataclass(frozen=True, eq=False)
class Level:
    """Level of an NS-form: W_j, A_j and C_j, without coefficients below the threshold."""

    W: TwoScale
    A: Sparse
    C: Sparse


@dataclass(frozen=True, eq=False)
class NSForm:
    """NS-form of a matrix, without coefficients below the threshold.

    Parameters
    ----------
    levels : tuple of Level
        The finest first.
    Z : ndarray of shape (n_J, n_J)
        Z_J, without coefficients below the threshold.
    cost : Cost
        Cost of the transform; its bytes are the peak memory, without that of the levels.
    """

    levels: tuple[Level, ...]
    Z: Array
    cost: Cost

    @property
    def nonzeros(self) -> tuple[int, ...]:
        """Return the number of nonzero entries of A_j and C_j per level, and of Z_J last.

        Their sum is n_e in Table I of the paper.
        """
        return (*(int(level.A.nnz + level.C.nnz) for level in self.levels), int(np.count_nonzero(self.Z)))


def ns_form(Z: ScaleSpace, n: int, levels: int, t: float, basis: str) -> NSForm:
    """Transform Z, one level after the other, and discard small coefficients.

    The coefficients below `t` in magnitude are discarded.

    Parameters
    ----------
    Z : ScaleSpace
        Z_0 with `n` rows.
    n : int
        Number of rows.
    levels : int
        Number of levels J.
    t : float
        Threshold, in the unit of Z.
    basis : str
        See :func:`~.basis.transforms`.

    Notes
    -----
    The diagonal I / gamma needs no special treatment. In an orthogonal basis, the transform preserves it,
    because W'W = I (10). In a biorthogonal basis, W'W is not diagonal, and its entries are part of the
    coefficients.
    """
    kept: list[Level] = []
    costs = [Cost(0, 0, 0)]
    for W in transforms(n, levels, basis):
        A, C, Z, cost = Z.two_scale(W, t)
        kept.append(Level(W, A, C))
        costs.append(cost)
    coarse = Z.dense()
    multiplications, values, held = zip(*costs, strict=True)
    total = Cost(sum(multiplications), sum(values) + coarse.size * Z.values_per_entry, max(held))
    return NSForm(tuple(kept), np.where(np.abs(coarse) >= t, coarse, 0.0), total)


def thresholded(dense: Array, t: float) -> Sparse:
    """Return the entries of `dense` whose magnitude is at least t, as a sparse matrix."""
    return sparse.csr_array(np.where(np.abs(dense) >= t, dense, 0.0))


class WholeScaleSpace:
    """Scale space Z_j of any symmetric matrix, in O(n^2) memory and time.

    Parameters
    ----------
    system : System
        System with the matrix Z_0, which is computed in strips and is not stored as a whole.
    own : int
        Number of bytes of `system` that only this object uses.
    """

    def __init__(self, system: System, own: int = 0) -> None:
        self._system, self._own = system, own
        self.values_per_entry = system.values_per_entry

    def dense(self) -> Array:
        """Return Z_j as a dense matrix."""
        return self._system.dense()

    def two_scale(self, W: TwoScale, t: float) -> tuple[Sparse, Sparse, ScaleSpace, Cost]:
        """Transform in strips: return A = G'ZG, C = H'ZG, Z_j = H'ZH and the cost.

        Small entries of A and C are discarded.
        """
        (n, details), scales = W.G.shape, W.H.shape[1]
        Gt, Ht = W.G.T.tocsr(), W.H.T.tocsr()
        refuse_beyond_memory(scales * scales * REAL_BYTES, f"a matrix of {scales} x {scales}")
        A, C, Z = [], [], np.empty((scales, scales))
        asked = held = 0
        for start in range(0, scales, _STRIP):
            part = slice(start, start + _STRIP)
            rows = np.unique(np.concatenate((Gt[part].indices, Ht[part].indices)))
            strip = self._system.block(rows, slice(0, n))
            asked, held = asked + strip.size, max(held, 3 * strip.nbytes)
            details_of, scales_of = (np.ascontiguousarray((F[part][:, rows] @ strip).T) for F in (Gt, Ht))
            A.append(thresholded((Gt @ details_of).T, t))
            C.append(thresholded((Gt @ scales_of).T, t))
            Z[part] = (Ht @ scales_of).T
        cost = Cost(W.nnz * n + Gt.nnz * details + W.nnz * scales, asked * self.values_per_entry,
                    held + Z.nbytes + self._own)
        return (sparse.vstack(A, format="csr"), sparse.vstack(C, format="csr"),
                WholeScaleSpace(DenseSystem(Z), Z.nbytes), cost)
