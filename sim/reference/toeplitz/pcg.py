"""sim.reference.toeplitz: preconditioned conjugate gradients, with FFT products."""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from ..result import Solution
from ..solvers.cg import MAX_STEPS, TOLERANCE, preconditioned
from ..systems.system import ToeplitzSystem
from .circulant import nearest_circulant

PRECONDITIONERS = ("strang", "chan", "none")


def pcg(r: Array, Y: Array, preconditioner: str = "strang", tolerance: float = TOLERANCE,
        max_steps: int = MAX_STEPS) -> Solution:
    """Solve T x = y for a symmetric positive definite Toeplitz T.

    A step needs O(n log n) time.

    Parameters
    ----------
    r : ndarray of shape (n,)
        First column of T; finite.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.  They are solved together, each with its own step lengths.
    preconditioner : {"strang", "chan", "none"}
        See :class:`~.circulant.Circulant`. If Strang's preconditioner is not positive definite, T. Chan's is
        used instead.
    tolerance, max_steps
        As in :func:`~.cg.cg`.

    Returns
    -------
    Solution
        As in :func:`~.cg.cg`.
    """
    with np.errstate(all="ignore"):  # check_solution rejects overflow
        system, C = ToeplitzSystem(r), nearest_circulant(r, preconditioner)
        return preconditioned(system, Y, C, tolerance, max_steps, "pcg")
