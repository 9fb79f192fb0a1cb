"""sim.reference.wavelet: the Cholesky factors of an NS-form, and substitution.

    A_j - D^A_j = L_j L_j',   C_j - D^C_j = X_j L_j',   D_j = D^Z_j + X_j X_j'

D^A, D^C and D^Z are the parts of W_j' D_{j-1} W_j. The elimination of the details of a level corrects its
scale space by X_j X_j', and the next level transforms this correction in the same way as Z_j. At the coarsest
level, Z_J - D_J = R'R.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import spsolve_triangular

from ..._arrays import Array
from .basis import Sparse, TwoScale
from .correction import Correction, above
from .elimination import NotPositiveDefinite, eliminate
from .ns_form import NSForm

# Fill-in of factors and corrections is retained down to this part of the threshold: the error of Table I is
# then as with all fill-in, and the factors have as many entries as the form.
_FILL = 0.1


@dataclass(frozen=True, eq=False)
class LevelFactor:
    """Matrices W_j, L_j (lower triangular) and X_j of a level."""

    W: TwoScale
    L: Sparse
    X: Sparse


@dataclass(frozen=True, eq=False)
class Factor:
    """Cholesky factors of a thresholded NS-form.

    Parameters
    ----------
    form : NSForm
    levels : tuple of LevelFactor
        Factors of the levels, the finest first.
    R : tuple
        Dense Cholesky factor of Z_J - D_J, as returned by SciPy's ``cho_factor``.
    operations : int
        Number of multiplications of the factorisation.
    """

    form: NSForm
    levels: tuple[LevelFactor, ...]
    R: tuple[Array, bool]
    operations: int

    @property
    def nonzeros(self) -> tuple[int, ...]:
        """Return the number of nonzero entries of L_j and X_j per level, and of R last."""
        m = len(self.R[0])
        return (*(int(level.L.nnz + level.X.nnz) for level in self.levels), m * (m + 1) // 2)

    @property
    def bytes(self) -> int:
        """Return the memory of the factors, the NS-form and the transforms, in bytes."""
        arrays = [part for level in self.levels for part in (level.L, level.X, level.W.G, level.W.H)]
        arrays += [part for level in self.form.levels for part in (level.A, level.C)]
        held = sum(part.data.nbytes + part.indices.nbytes + part.indptr.nbytes for part in arrays)
        return int(held + self.R[0].nbytes + self.form.Z.nbytes)

    @property
    def operations_to_solve(self) -> int:
        """Return the number of multiplications per right-hand side.

        They are those of two transforms and two substitutions.
        """
        return 2 * sum(self.nonzeros) + 2 * sum(level.W.nnz for level in self.levels)

    def solve(self, Y: Array) -> Array:
        """Solve Z x = y for `Y` of shape (n,) or (n, m).

        Forward substitution transforms [d_j; s_j] = W_j' s_{j-1}, solves L_j u_j = d_j, and subtracts X_j u_j
        from s_j, which is the input of the next level. Backward substitution solves L_j' d_j = u_j - X_j'
        s_j, and transforms s_{j-1} = W_j [d_j; s_j].
        """
        s, u = Y, []
        for level in self.levels:
            d, s = level.W.G.T @ s, level.W.H.T @ s
            u.append(spsolve_triangular(level.L, d, lower=True) if len(d) else d)
            s = s - level.X @ u[-1]
        s = np.asarray(cho_solve(self.R, s))
        for level, u_j in zip(reversed(self.levels), reversed(u), strict=True):
            d = u_j - level.X.T @ s
            d = spsolve_triangular(level.L.T.tocsc(), d, lower=False) if len(d) else d
            s = level.W.G @ d + level.W.H @ s
        return np.asarray(s)


def factorise(form: NSForm, t: float) -> Factor:
    """Compute the Cholesky factors of an NS-form.

    Parameters
    ----------
    form : NSForm
    t : float
        The threshold of `form`. Entries of factors and corrections below a tenth of it are discarded, except
        in R and on the diagonal of L.

    Raises
    ------
    NotPositiveDefinite
        If the matrix is not positive definite, possibly because entries were discarded; the message names the
        level.
    """
    kept: list[LevelFactor] = []
    operations, fill = 0, _FILL * t
    D = Correction.nothing(form.levels[0].W.G.shape[0] if form.levels else len(form.Z), fill)
    for j, level in enumerate(form.levels, 1):
        DA, DC, D = D.two_scale(level.W)
        try:
            L, X, taken = eliminate(above(level.A - DA, fill), above(level.C - DC, fill), fill)
        except NotPositiveDefinite as error:
            raise NotPositiveDefinite(f"level {j}: {error}") from None
        D = D.plus(X)
        operations += taken + D.operations
        kept.append(LevelFactor(level.W, L, X))
    try:
        R = cho_factor(form.Z - D.dense(), lower=True)
    except LinAlgError as error:
        raise NotPositiveDefinite(f"the coarsest level: {error}") from None
    m = len(form.Z)
    return Factor(form, tuple(kept), R, operations + m * (m * m + 3 * m + 2) // 6)
