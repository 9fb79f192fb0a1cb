"""sim.reference: Toeplitz systems by preconditioned conjugate gradients, O(n log n) per step.

G. Strang, "A proposal for Toeplitz matrix calculations", Stud. Appl. Math. 74, 1986; T. F. Chan, "An
optimal circulant preconditioner for Toeplitz systems", SIAM J. Sci. Stat. Comput. 9(4), 1988.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .solution import Solution, Status
from .toeplitz_product import ToeplitzProduct, judged

Array = NDArray[np.float64]

PRECONDITIONERS = ("strang", "chan", "none")
TOLERANCE = 1e-10
MAX_STEPS = 1000

# Rounding makes the residual that CG updates drift from the true one; it starts afresh, at most so often.
_RESTARTS = 5


class Circulant:
    """A circulant C near T, to be divided by: FFTs of length n.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of T.
    kind : {"strang", "chan", "none"}
        ``strang`` copies the middle diagonals of T: c_j = r_j up to n/2, then r_{n-j}; it may be
        indefinite though T is not.  ``chan`` is nearest to T in the Frobenius norm,
        c_j = ((n-j) r_j + j r_{n-j}) / n, and positive definite where T is.  ``none`` is the identity.

    Attributes
    ----------
    positive : bool
        Whether C is positive definite, as CG needs it.
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

    def solve(self, V: Array) -> Array:
        """C^-1 V, for `V` of shape (n, m)."""
        spectrum = np.fft.rfft(V, axis=0)
        spectrum /= self._eigenvalues
        return np.fft.irfft(spectrum, self._n, axis=0)


@dataclass
class _Run:
    """What became of the iteration so far."""

    x: Array
    steps: int = 0
    status: Status = Status.NOT_CONVERGED


def pcg(r: Array, Y: Array, preconditioner: str = "strang", tolerance: float = TOLERANCE,
        max_steps: int = MAX_STEPS) -> Solution:
    """Solve T x = y for a symmetric positive definite Toeplitz T.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of T; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite; solved side by side, each with its own step lengths.
    preconditioner : {"strang", "chan", "none"}
        See :class:`Circulant`; in place of a Strang preconditioner that is not positive definite
        T. Chan's is taken.
    tolerance : float
        Each |y - T x| <= tolerance |y|, measured on the true residual.
    max_steps : int
        Steps at most, each with one product and one preconditioner per right-hand side.

    Returns
    -------
    Solution
        ``not_positive_definite`` where a direction with p'T p <= 0 is met (which an indefinite T
        need not show), ``not_converged`` where `max_steps` did not suffice or the tolerance is
        out of the reach of float64.
    """
    columns = Y.reshape(len(Y), -1)
    with np.errstate(all="ignore"):  # what overflows here is caught by judged
        T, C = ToeplitzProduct(r), Circulant(r, preconditioner)
        note = f"preconditioner {preconditioner}"
        if not C.positive and preconditioner == "strang":
            C, note = Circulant(r, "chan"), "preconditioner chan (Strang's is not positive definite)"
        run = _Run(np.zeros_like(columns))
        if not C.positive:
            run.status = Status.NOT_POSITIVE_DEFINITE
            note = f"the circulant nearest to the matrix ({preconditioner}) is not positive definite"
        limit = tolerance * np.linalg.norm(columns, axis=0)
        for _ in range(_RESTARTS):
            rest = np.asarray(columns - T @ run.x)
            if C.positive and np.all(np.linalg.norm(rest, axis=0) <= limit):
                run.status = Status.OK
            if run.status is not Status.NOT_CONVERGED or run.steps >= max_steps:
                break
            _iterate(T, C, rest, limit, max_steps, run)
        solution = judged(r, Y, run.x.reshape(Y.shape), run.status, 1.01 * tolerance)
    if solution.status is Status.BREAKDOWN:  # the residual summed row by row does not bear out the one by FFT
        solution = replace(solution, status=Status.NOT_CONVERGED)
    why = {Status.NOT_CONVERGED: f"the tolerance {tolerance:g} was not reached, ",
           Status.NOT_POSITIVE_DEFINITE: "p'T p > 0 does not hold for all p, "}.get(solution.status, "")
    return replace(solution, iterations=run.steps, method="pcg", why=why + note)


def _iterate(T: ToeplitzProduct, C: Circulant, rest: Array, limit: Array, max_steps: int, run: _Run) -> None:
    """Conjugate gradients from `run.x`, whose residual is `rest`, until that has come below `limit`.

    Right-hand sides that are done stand still: their step length is 0.
    """
    z = C.solve(rest)
    p = z.copy()
    rho = np.sum(rest * z, axis=0)
    while run.steps < max_steps:
        active = np.linalg.norm(rest, axis=0) > 0.5 * limit
        if not active.any():
            return
        run.steps += 1
        Tp = T @ p
        curvature = np.sum(p * Tp, axis=0)
        if not np.all(curvature[active] > 0.0):  # also catches NaN
            run.status = Status.NOT_POSITIVE_DEFINITE
            return  # p'T p <= 0
        step = np.where(active, rho, 0.0) / np.where(active, curvature, 1.0)
        run.x += step * p
        rest -= step * Tp
        z = C.solve(rest)
        previous, rho = rho, np.sum(rest * z, axis=0)
        p *= np.where(active, rho / np.where(active, previous, 1.0), 0.0)
        p += z
