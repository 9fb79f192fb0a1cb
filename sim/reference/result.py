"""sim.reference: what a linear solver hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array


class Status(StrEnum):
    """What became of a computation; compares equal to its plain text."""

    OK = "ok"
    #: A leading minor of the matrix is not positive: the recursion has no meaning past it.
    NOT_POSITIVE_DEFINITE = "not_positive_definite"
    #: Positive definite perhaps, but not within the precision of the arithmetic.
    BREAKDOWN = "breakdown"
    #: An iteration that used up its steps, or no longer gets closer to the solution.
    NOT_CONVERGED = "not_converged"
    #: An online learner whose memory was full, so that a newest vector went that would have stayed.
    FULL = "full"
    #: An online learner whose multipliers grow without bound.
    DIVERGED = "diverged"


@dataclass(frozen=True)
class Solution:
    """Solution of a linear system A x = y, and how far it can be trusted.

    Attributes
    ----------
    x : ndarray of shape (n,) or (n, m)
        The unknowns, one column per right-hand side.  **All zero unless the status is ok**:
        always finite, never an answer that merely looks like one.
    status : Status
        ``"ok"`` or the reason why there is no answer.
    residual : float
        |y - A x|_2 computed afresh from `x`, the largest over the right-hand sides.  For a
        positive semidefinite T and A = T + lambda I this bounds the error:
        |x - x*|_2 <= residual / lambda.  Of methods with fewer unknowns than samples it is that of
        their normal equations.
    iterations : int
        Steps of the recursion that were taken.
    method : str
        The method that ran.
    xi : ndarray of shape (iterations,)
        Reflection coefficients, where the method has them; |xi| < 1 for a positive definite matrix.
    eps : float
        The last prediction error power eps = det(A_n) / det(A_{n-1}), where the method has it.
    blocks : tuple of int
        Look-ahead: the sizes of the steps taken, in order; their sum is the number of rows passed.
    bytes : int
        Memory that the method held at most, the system's own and `x` not counted; 0 where not counted.
    operations : int
        Multiplications taken, those within a kernel value not counted; 0 where not counted.
    kernel_values : int
        Values of the kernel that were computed.
    support : ndarray of int64, shape (s,), or None
        Rows of the samples to which the s rows of `x` belong; None where they belong to all.
    bias : ndarray of shape () or (m,)
        The bias b that was solved for beside `x`; 0 where none was.
    w : ndarray of shape (D,) or (D, m), or None
        Linear kernel: the weights w = X'alpha, f(x) = w'x.
    history : tuple of float
        Iterations: the residual as it was updated, the largest over the right-hand sides, before the
        first step and after each; told whether the answer was taken or not.
    nonzeros : tuple of int
        wavelet: coefficients kept, level by level, the coarsest last; their sum is n_e of the paper.
    why : str
        Why this method ran, where "auto" chose it, and what made it stop, where it did.
    """

    x: Array
    status: Status
    residual: float
    iterations: int
    method: str
    xi: Array = field(default_factory=lambda: np.empty(0))
    eps: float = float("nan")
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

    @property
    def ok(self) -> bool:
        """True where `x` solves the system.

        Where the caller asked for early stopping (cg with `steps`) it is what those steps gave: see `why`.
        """
        return self.status is Status.OK
