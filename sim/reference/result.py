"""sim.reference: the result of a linear solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array


class Status(StrEnum):
    """Status of a computation; each member is equal to its text."""

    OK = "ok"
    #: A leading minor of the matrix is not positive, so the recursion cannot continue.
    NOT_POSITIVE_DEFINITE = "not_positive_definite"
    #: The matrix may be positive definite, but not within the precision of the arithmetic.
    BREAKDOWN = "breakdown"
    #: An iteration reached its maximum number of steps, or stagnated.
    NOT_CONVERGED = "not_converged"
    #: An online learner was full and removed a newest vector that it would have retained.
    FULL = "full"
    #: The guard of an online learner stopped a projection, because the vectors lie too close together.
    INACCURATE = "inaccurate"
    #: The coefficients of an online learner grow without bound.
    DIVERGED = "diverged"


@dataclass(frozen=True, repr=False)
class Solution:
    """Solution of a linear system A x = y, with its accuracy and costs.

    Attributes
    ----------
    x : ndarray of shape (n,) or (n, m)
        The unknowns, with one column per right-hand side. **All are 0 unless the status is ok**, so that a
        wrong solution is never returned.
    status : Status
        ``"ok"``, or the reason why there is no solution.
    residual : float
        |y - A x|_2, recomputed from `x`; the maximum over the right-hand sides. If A = T + lambda I and T is
        positive semidefinite, it bounds the error: |x - x*|_2 <= residual / lambda. For methods with fewer
        unknowns than samples, it is the residual of their normal equations.
    iterations : int
        Number of steps of the recursion or iteration.
    method : str
        Name of the method.
    xi : ndarray of shape (iterations,)
        Reflection coefficients, if the method has them; |xi| < 1 for a positive definite matrix.
    eps : float
        The last prediction error power eps = det(A_n) / det(A_{n-1}), if the method has it.
    log_det : float
        The logarithm of det(A), if the method has it.
    blocks : tuple of int
        For look-ahead: the number of rows of each step, in order; their sum is n.
    bytes : int
        Peak memory of the method in bytes, without the system and `x`; 0 if it is not counted.
    operations : int
        Number of multiplications, without those for kernel values; 0 if it is not counted.
    kernel_values : int
        Number of computed kernel values.
    support : ndarray of int64, shape (s,), or None
        Indices of the samples that belong to the s rows of `x`; None if `x` has a row for every sample.
    bias : ndarray of shape () or (m,)
        The bias b; 0 if there is none.
    w : ndarray of shape (D,) or (D, m), or None
        For a linear kernel: the weights w = X'alpha, so that f(x) = w'x.
    history : tuple of float
        For iterative methods: the updated residual before the first step and after each step, the maximum
        over the right-hand sides. It is also available if the solution is rejected.
    nonzeros : tuple of int
        For method wavelet: number of retained coefficients of each level, the coarsest last; their sum is n_e
        of the paper.
    why : str
        Reason why "auto" chose this method, and reason for a failure.
    """

    x: Array
    status: Status
    residual: float
    iterations: int
    method: str
    xi: Array = field(default_factory=lambda: np.empty(0))
    eps: float = float("nan")
    log_det: float = float("nan")
    blocks: tuple[int, ...] = ()
    bytes: int = 0
    operations: int = 0
    kernel_values: int = 0
    support: NDArray[np.int64] | None = None
    bias: Array = field(default_factory=lambda: np.zeros(()))
    w: Array | None = None
    history: tuple[float, ...] = ()
    nonzeros: tuple[int, ...] = ()
    why: str = ""

    def __repr__(self) -> str:
        columns = self.x.shape[1] if self.x.ndim == 2 else 1
        costs = [f"{self.iterations:,} steps"]
        costs += [f"{self.operations:,} multiplications"] if self.operations else []
        lines = [f"Solution by {self.method}: status {self.status.value}",
                 f"  x: {len(self.x):,} unknowns, right-hand sides: {columns}, "
                 f"largest |x| {np.abs(self.x).max(initial=0.0):.4g}",
                 f"  residual {self.residual:.3g}, {', '.join(costs)}"]
        return "\n".join([*lines, *([f"  {self.why}"] if self.why else [])])

    @property
    def ok(self) -> bool:
        """Return whether `x` solves the system.

        With early stopping (cg with `steps`), `x` is the result of that number of steps; see `why`.
        """
        return self.status is Status.OK
