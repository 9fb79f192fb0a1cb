"""sim.reference.toeplitz: circulant preconditioners for a Toeplitz matrix.

FFTs apply the inverse of a circulant matrix in O(n log n) time.

G. Strang, "A proposal for Toeplitz matrix calculations", Stud. Appl. Math. 74, 1986; T. F. Chan, "An
optimal circulant preconditioner for Toeplitz systems", SIAM J. Sci. Stat. Comput. 9(4), 1988.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..systems.system import Cost, fft_multiplications


class Circulant:
    """Circulant approximation C of T, inverted by FFTs of length n.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of T.
    kind : {"strang", "chan", "none"}
        ``strang`` copies the middle diagonals of T: c_j = r_j for j up to n/2, and r_{n-j} for larger j. It
        can be indefinite even if T is positive definite. ``chan`` is the circulant that is closest to T in
        the Frobenius norm, c_j = ((n-j) r_j + j r_{n-j}) / n; it is positive definite if T is. ``none`` is
        the identity.

    Attributes
    ----------
    positive : bool
        Whether C is positive definite, which conjugate gradients require.
    cost : Cost
        Cost of one application of C^-1.
    note : str
        Description of the preconditioner.
    """

    def __init__(self, r: Array, kind: str) -> None:
        n = self._n = len(r)
        j = np.arange(n)
        mirrored = np.append(0.0, r[:0:-1])  # r_{n-j}
        c = {"strang": np.where(j <= n // 2, r, mirrored), "chan": ((n - j) * r + j * mirrored) / n,
             "none": (j == 0).astype(np.float64)}[kind]
        self._eigenvalues = np.fft.rfft(c).real[:, np.newaxis]
        largest = float(np.max(np.abs(self._eigenvalues)))
        self.positive = bool(float(np.min(self._eigenvalues)) > 1e-15 * largest)
        self.cost = Cost(2 * fft_multiplications(n) + n, 0, self._eigenvalues.nbytes)
        self.kernel_values = 0
        self.note = f"preconditioner {kind}"

    def solve(self, V: Array) -> Array:
        """Return C^-1 V, for `V` of shape (n, m)."""
        spectrum = np.fft.rfft(V, axis=0)
        spectrum /= self._eigenvalues
        return np.fft.irfft(spectrum, self._n, axis=0)


def nearest_circulant(r: Array, kind: str) -> Circulant:
    """Return the circulant of a kind.

    If Strang's circulant is not positive definite, return T. Chan's instead.
    """
    C = Circulant(r, kind)
    if C.positive or kind != "strang":
        return C
    C = Circulant(r, "chan")
    C.note = "preconditioner chan (Strang's is not positive definite)"
    return C
