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
    """Interface of a matrix whose solutions can be checked."""

    def residual(self, x: Array, Y: Array) -> Array:
        """Return Y - A x."""


def check_solution(system: Judge, Y: Array, x: Array, status: Status, *, limit: float = RESIDUAL_LIMIT,
                   method: str, iterations: int = 0, found: float | None = None, size: float | None = None,
                   **counts: Any) -> Solution:
    """Return `x` if its residual is small enough, else zeros and the reason.

    Parameters
    ----------
    system : System, or any object with its method `residual`
    Y, x : ndarray of shape (n,) or (n, m)
        Right-hand sides, and their solutions from a solver.
    status : Status
        The solver's status; ``ok`` becomes ``breakdown`` if |Y - A x| > limit |Y| or is NaN.
    limit : float
    method : str
    iterations : int
    found : float, optional
        |Y - A x| if the solver has recomputed it, which saves a product.
    size : float, optional
        Reference size of the residual; by default |Y|.
    **counts
        Further attributes of :class:`Solution`.

    Notes
    -----
    The reported costs exclude the product for the residual.
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
