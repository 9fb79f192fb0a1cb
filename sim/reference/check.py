"""sim.reference: the last word on every answer: whether it is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from .._arrays import Array
from .result import Solution, Status
from .toeplitz.product import largest_norm

# An answer whose residual is a larger part of |y| than this is no answer.
RESIDUAL_LIMIT = 1e-6


class Judge(Protocol):
    """What a verdict asks of a matrix."""

    def residual(self, x: Array, Y: Array) -> Array:
        """Y - A x."""


def judged(system: Judge, Y: Array, x: Array, status: Status, *, limit: float = RESIDUAL_LIMIT,
           method: str, iterations: int = 0, found: float | None = None,
           size: float | None = None, **counts: Any) -> Solution:
    """Return `x` if it really solves the system, else zeros and the reason.

    Parameters
    ----------
    system : System, or what has its method `residual`
    Y, x : ndarray of shape (n,) or (n, m)
        Right-hand sides, and what a solver made of them.
    status : Status
        What the solver says; ``ok`` becomes ``breakdown`` where |Y - A x| > limit |Y|, or is NaN.
    limit : float
    method : str
    iterations : int
    found : float, optional
        |Y - A x| computed afresh, by a solver that knows it: spares a product.
    size : float, optional
        What the residual is measured against, where that is not |Y|.
    **counts
        Further attributes of :class:`Solution`.

    Notes
    -----
    The product that finds the residual is not among the costs told.
    """
    size = largest_norm(Y) if size is None else size
    if status is not Status.OK:
        found = size
    elif found is None:
        found = largest_norm(system.residual(x, Y))
    solution = Solution(x, status, found, iterations, method, **counts)
    close = found <= limit * size < np.inf and bool(np.all(np.isfinite(x)))  # False for NaN
    if status is Status.OK and not close:
        solution = replace(solution, status=Status.BREAKDOWN, why=solution.why or "the residual is too large")
    if solution.ok:
        return solution
    return replace(solution, x=np.zeros_like(Y), residual=size, w=None, bias=np.zeros(Y.shape[1:]))
