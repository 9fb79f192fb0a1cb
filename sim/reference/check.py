"""sim.reference: check every solution by its residual."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from .._arrays import Array
from .result import Solution, Status
from .toeplitz.product import largest_norm

# A solution whose residual exceeds this part of |y| is rejected.
RESIDUAL_LIMIT = 1e-6


class Judge(Protocol):
    """Interface of a matrix that can check solutions: it computes residuals."""

    def residual(self, x: Array, Y: Array) -> Array:
        """Return Y - A x."""


def check_solution(system: Judge, Y: Array, x: Array, status: Status, *, limit: float = RESIDUAL_LIMIT,
                   method: str, iterations: int = 0, found: float | None = None, size: float | None = None,
                   **counts: Any) -> Solution:
    """Check a solution by its residual; replace it by zeros if that is too large.

    Parameters
    ----------
    system : System, or any object with a method `residual`
        The matrix A.
    Y, x : ndarray of shape (n,) or (n, m)
        Right-hand sides, and the solutions that a solver computed.
    status : Status
        Status of the solver; ``ok`` becomes ``breakdown`` if |Y - A x| exceeds limit times |Y|, or is NaN.
    limit : float
        Largest accepted ratio of the residual to `size`.
    method : str
        Name of the method.
    iterations : int
        Number of steps of the solver.
    found : float, optional
        |Y - A x| if the solver has recomputed it, which saves a product.
    size : float, optional
        Magnitude with which the residual is compared; by default |Y|.
    **counts
        Other attributes of :class:`Solution`.

    Notes
    -----
    The operation counts do not include the product for the residual.
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
