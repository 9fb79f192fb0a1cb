"""sim.reference.solvers: conjugate gradients, plain or preconditioned.

The method minimises 1/2 c'A c - y'c: M. R. Hestenes, E. Stiefel, "Methods of conjugate gradients for solving
linear systems", J. Res. Nat. Bur. Standards 49(6), 1952. (The slide "Previous work" of W. Li, K.-H. Lee,
K.-S. Leung, "Large-Scale RLSC Learning Without Agony", has the wrong sign in the second term.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._arrays import Array
from ...kernels import Kernel
from ..check import check_solution
from ..options import check_count, check_tolerance
from ..result import Solution, Status
from ..systems.system import KernelSystem, System
from ..toeplitz.product import largest_norm
from .nystrom import Landmarks
from .preconditioner import Preconditioner, choose_preconditioner, make_preconditioner

TOLERANCE = 1e-10
MAX_STEPS = 1000

# Rounding makes the updated residual drift from the true one; CG restarts at most this many times.
_RESTARTS = 5

# Below n eps |y| a residual is rounding, and so may be the curvature of a direction computed from it.
_EPS = 2.0**-52

# In addition to the matrix: x, the residual, the preconditioned residual, the direction p and A p.
_VECTORS = 5

# Early stopping accepts any residual.
_ANY_RESIDUAL = 1e100


@dataclass
class CGRun:
    """State of the conjugate gradient iteration.

    Attributes
    ----------
    x : ndarray of shape (n, m)
        The current solutions.
    steps, products, divisions : int
        Number of steps, of products with A, and of applications of C^-1.
    status : Status
        ``ok`` if the recomputed residual is below the tolerance.
    residuals : list of ndarray of shape (m,)
        Norm of the updated residual, before the first step and after each step.
    found : ndarray of shape (m,)
        |y - A x|, recomputed at the end.
    """

    x: Array
    steps: int = 0
    status: Status = Status.NOT_CONVERGED
    products: int = 0
    divisions: int = 0
    residuals: list[Array] = field(default_factory=list)
    found: Array = field(default_factory=lambda: np.empty(0))


def conjugate_gradients(A: System, Y: Array, C: Preconditioner, tolerance: float, max_steps: int,
                        restarts: int = _RESTARTS) -> CGRun:
    """Solve A x = y until the recomputed residual is below a tolerance.

    Parameters
    ----------
    A : System
        Symmetric positive definite.
    Y : ndarray of shape (n, m)
        Right-hand sides, which are solved together, each with its own step lengths.
    C : Preconditioner
        Positive definite.
    tolerance : float
        Each column must satisfy |y - A x| <= tolerance |y|.
    max_steps : int
        Maximum number of steps; a step needs one product with A and one application of C^-1 per right-hand
        side.
    restarts : int
        Maximum number of restarts from a recomputed residual.

    Returns
    -------
    CGRun
        The status is ``not_positive_definite`` if p'A p <= 0 for a direction p, before the residual consists
        only of rounding errors (for an indefinite A, this does not always happen). It is ``not_converged`` if
        `max_steps` was reached, or if rounding errors prevent convergence.
    """
    with np.errstate(all="ignore"):  # check_solution rejects overflow
        scale = _powers_of_two(Y)
        Y = Y / scale
        run, size = CGRun(np.zeros_like(Y)), np.linalg.norm(Y, axis=0)
        limit, floor = tolerance * size, A.n * _EPS * size
        rest = Y.copy()
        for _ in range(restarts):
            _iterate(A, C, rest, limit, floor, max_steps, run)
            rest = np.asarray(Y - A @ run.x)
            run.products += 1
            run.found = np.linalg.norm(rest, axis=0)
            if run.status is Status.NOT_CONVERGED and np.all(run.found <= limit):
                run.status = Status.OK
            if run.status is not Status.NOT_CONVERGED or run.steps >= max_steps:
                break
        run.x *= scale
        run.found = run.found * scale
        run.residuals = [found * scale for found in run.residuals]
    return run


def _iterate(A: System, C: Preconditioner, rest: Array, limit: Array, floor: Array, max_steps: int,
             run: CGRun) -> None:
    """Iterate from `run.x`, with residual `rest`, until the residual is below `limit`.

    The step length of converged right-hand sides is 0. A right-hand side is also treated as converged if its
    residual is below `floor` and rounding errors make p'A p useless.
    """
    z = C.solve(rest)
    run.divisions += 1
    p = z.copy()
    rho = np.sum(rest * z, axis=0)
    while True:
        size = np.linalg.norm(rest, axis=0)
        if len(run.residuals) <= run.steps:
            run.residuals.append(size)
        active = size > 0.5 * limit
        if run.steps >= max_steps or not active.any():
            return
        run.products += 1
        Ap = A @ p
        curvature = np.sum(p * Ap, axis=0)
        lost = active & ~(curvature > 0.0)  # also catches NaN
        if np.any(size[lost] > floor[lost]):
            run.status = Status.NOT_POSITIVE_DEFINITE
            return  # p'A p <= 0
        active &= ~lost
        if not active.any():
            return
        run.steps += 1
        run.divisions += 1
        step = np.where(active, rho, 0.0) / np.where(active, curvature, 1.0)
        run.x += step * p
        rest -= step * Ap
        z = C.solve(rest)
        previous, rho = rho, np.sum(rest * z, axis=0)
        p *= np.where(active, rho / np.where(active, previous, 1.0), 0.0)
        p += z


def _powers_of_two(Y: Array) -> Array:
    """Return a power of two above the maximum of each column, as an exact divisor."""
    exponents = np.frexp(np.abs(Y).max(axis=0))[1]
    return np.asarray(np.ldexp(1.0, np.clip(exponents, -1000, 1000)), dtype=np.float64)


def cg(system: System, Y: Array, preconditioner: str = "auto", tolerance: float = TOLERANCE,
       max_steps: int = MAX_STEPS, steps: int | None = None, landmarks: Landmarks = None,
       seed: int = 0) -> Solution:
    """Solve A x = y by conjugate gradients, in O(n) memory plus the preconditioner.

    Parameters
    ----------
    system : System
        Positive definite A of n rows.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.
    preconditioner : {"auto", "none", "nystrom", "strang", "chan"}
        nystrom needs O(n s) memory for s landmarks; the circulants strang and chan require a Toeplitz system.
        "auto" selects strang for Toeplitz systems, nystrom for kernel systems with more than a few hundred
        samples, and otherwise none.
    tolerance : float
        Each column must satisfy |y - A x| <= tolerance |y|, where the residual is recomputed.
    max_steps : int
        Maximum number of steps; a step needs one product with A.
    steps : int, optional
        Number of steps for early stopping, which also regularises. The result of these steps is returned
        regardless of the residual: the status is ``ok``, and `why` contains the residual. `tolerance` and
        `max_steps` are ignored, and the preconditioner "auto" means none.
    landmarks, seed
        See :class:`kerncast.sim.reference.solvers.nystrom.Nystrom`.

    Returns
    -------
    Solution
        The status is ``not_positive_definite`` if p'A p <= 0 for a direction p (for an indefinite A, this
        does not always happen). It is ``not_converged`` if `max_steps` was reached, or if float64 cannot
        achieve the tolerance.

    Raises
    ------
    KerncastError
        E236 for tolerance or preconditioner, E238 for any other option.
    """
    check_tolerance(tolerance)
    check_count(max_steps, "max_steps")
    if preconditioner == "auto":
        preconditioner = choose_preconditioner(system) if steps is None else "none"
    C = make_preconditioner(system, preconditioner, landmarks, seed)
    if steps is None:
        return preconditioned(system, Y, C, tolerance, max_steps, "cg")
    check_count(steps, "steps")
    return preconditioned(system, Y, C, 0.0, steps, "cg", early=True)


def preconditioned(system: System, Y: Array, C: Preconditioner, tolerance: float, max_steps: int,
                   method: str, early: bool = False) -> Solution:
    """Run conjugate gradients with a preconditioner, and check the solution.

    If `early` is true, the result after `max_steps` steps is accepted.
    """
    run = CGRun(np.zeros((system.n, Y.size // system.n)), status=Status.NOT_POSITIVE_DEFINITE)
    if C.positive:
        run = conjugate_gradients(system, Y.reshape(run.x.shape), C, tolerance, max_steps,
                                  1 if early else _RESTARTS)
    if early and run.status is Status.NOT_CONVERGED:
        run.status = Status.OK
    found = float(np.max(run.found, initial=0.0))
    stopped = {Status.NOT_CONVERGED: f"the tolerance {tolerance:g} was not reached, ",
               Status.NOT_POSITIVE_DEFINITE: "p'A p > 0 does not hold for all p, "}.get(run.status, "")
    if early and run.status is Status.OK:
        stopped = (f"{run.steps} of {max_steps} steps, residual {found:.2g}, |y| {largest_norm(Y):.2g}, ")
    n, columns, product = system.n, run.x.shape[1], system.product_cost
    return check_solution(system, Y, run.x.reshape(Y.shape), run.status, method=method, why=stopped + C.note,
                          limit=_ANY_RESIDUAL if early else 1.01 * tolerance, iterations=run.steps,
                          found=found,
                          history=tuple(float(np.max(found)) for found in run.residuals),
                          bytes=8 * _VECTORS * n * columns + product.bytes + C.cost.bytes,
                          kernel_values=(C.kernel_values + run.products * product.kernel_values
                                         + run.divisions * C.cost.kernel_values),
                          operations=columns * (run.products * product.multiplications + 6 * n * run.steps
                                                + run.divisions * C.cost.multiplications))


def kernel_cg(kernel: Kernel, X: Array, y: Array, lam: float, steps: int) -> Solution:
    """Run `steps` steps of :func:`cg` on (K + lambda I) alpha = y, as the device does."""
    return cg(KernelSystem(kernel, X, lam), y, steps=steps)
