"""sim.reference.solvers: domain decomposition (block Gauss-Seidel).

The method and the notation are those of W. Li, K.-H. Lee, K.-S. Leung, "Large-Scale RLSC Learning Without
Agony", ICML 2007. The samples s are divided into subsets s_1 ... s_l of size k. For each subset in turn, a
sweep solves A_{s_i,s_i} c_i = y_{s_i}, where y is the residual, and subtracts A_{s,s_i} c_i from y. It needs
O(k n) memory.

In the reproducing kernel Hilbert space of A, a step projects the residual function f onto the span H_i of the
kernel functions at s_i, and subtracts the projection. A sweep is therefore a cycle of von Neumann's
alternating projections onto the orthogonal complements of H_1 ... H_l. The sweeps converge if A is positive
definite. The angles between the H_i determine the rate, which is high at first and then low.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from ..._arrays import Array
from ..check import check_solution
from ..options import check_count, check_tolerance
from ..result import Solution, Status
from ..systems.system import BLOCK_VALUES, REAL_BYTES, Cost, System, refuse_beyond_memory
from .cg import MAX_STEPS, TOLERANCE, preconditioned
from .cholesky import lapack

#: Default number of samples in a subset.
DEFAULT_BLOCK = 500

# If the sweeps increase the residual this much, A is not positive definite.
_DIVERGED = 1e6

# Rounding makes the updated residual drift from the true one; it is recomputed at most this many times.
_RESTARTS = 5


class Domains:
    """Subsets s_i (steps 1 and 2 of the paper) and their Cholesky factors for step 7.

    Step 8 is computed in strips of rows.

    Parameters
    ----------
    system : System
    k : int
        Size of a subset; the last one can be smaller.
    workers : int
        Number of threads for step 8.  The result has the same bits for any number of threads.

    Attributes
    ----------
    positive : bool
        Whether each A_{s_i,s_i} is positive definite.
    """

    def __init__(self, system: System, k: int, workers: int) -> None:
        self._lapack, self._system, self._workers = lapack(), system, workers
        n = system.n
        self.bytes = REAL_BYTES * (n * k + 3 * workers * min(BLOCK_VALUES, n * k))
        refuse_beyond_memory(self.bytes, f"subsets of {k} among {n} rows")
        self.s = [slice(start, min(start + k, n)) for start in range(0, n, k)]
        step = max(1, BLOCK_VALUES // k)
        self._rows = [slice(start, min(start + step, n)) for start in range(0, n, step)]
        self._factors: list[Any] = []
        self.positive = True
        try:
            for s_i in self.s:
                A_ii = system.block(s_i, s_i)
                self._factors.append(self._lapack.cho_factor(A_ii, overwrite_a=True, check_finite=False))
        except np.linalg.LinAlgError:
            self.positive = False

    def sweep(self, y: Array, c: Array, order: Iterable[int], skip: int = -1) -> None:
        """Run steps 6 to 10 in place on `y` and `c`, which have shape (n, m).

        Step 8 is omitted for subset `skip`.
        """
        solve = partial(self._lapack.cho_solve, check_finite=False)
        with ThreadPoolExecutor(self._workers) as pool:
            shared = pool.map if self._workers > 1 else map
            for i in order:
                s_i = self.s[i]
                c_i = np.asarray(solve(self._factors[i], y[s_i]))  # step 7
                c[s_i] += c_i  # step 9
                if i != skip:
                    list(shared(partial(self._update, y, s_i, c_i), self._rows))

    def _update(self, y: Array, s_i: slice, c_i: Array, rows: slice) -> None:
        """Run step 8, y = y - A_{s,s_i} c_i, for some of the rows s."""
        y[rows] -= self._system.block(rows, s_i) @ c_i


class SymmetricSweep:
    """Preconditioner that consists of a forward and a backward sweep, starting at 0.

    Parameters
    ----------
    domains : Domains
        The subsets and their factors.
    n : int
        Number of rows.
    values_per_entry : int
        Number of kernel values per entry of A.
    """

    def __init__(self, domains: Domains, n: int, values_per_entry: int) -> None:
        self._domains, self.positive, self.kernel_values = domains, domains.positive, 0
        entries = 2 * max(0, len(domains.s) - 1) * n * (n // len(domains.s))
        self.cost = Cost(entries + 2 * n * (n // len(domains.s)), entries * values_per_entry, domains.bytes)
        self.note = f"conjugate gradients on sweeps of {len(domains.s)} subsets"

    def solve(self, V: Array) -> Array:
        """Return C^-1 V for `V` of shape (n, m)."""
        last = len(self._domains.s) - 1
        y, c = V.copy(), np.zeros_like(V)
        self._domains.sweep(y, c, range(last + 1), skip=last if last == 0 else -1)
        self._domains.sweep(y, c, range(last - 1, -1, -1), skip=0)  # the last one has just been solved
        return c


def block_gauss_seidel(system: System, Y: Array, block: int = DEFAULT_BLOCK, tolerance: float = TOLERANCE,
                       max_sweeps: int = MAX_STEPS, interleave: bool = False, workers: int = 1) -> Solution:
    """Solve A c = y by domain decomposition.

    Parameters
    ----------
    system : System
        Positive definite A of n rows.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.
    block : int
        Number of samples k in a subset, at most n; the memory is O(k n).
    tolerance : float
        Each column must satisfy |y - A c| <= tolerance |y|, where the residual is recomputed.
    max_sweeps : int
        Maximum number of sweeps.
    interleave : bool
        Whether to combine the sweeps with conjugate gradients, as the paper suggests for future work: a
        forward and a backward sweep are then the preconditioner.
    workers : int
        Number of threads for step 8.

    Returns
    -------
    Solution
        `iterations` is the number of sweeps, and `history` has an entry per sweep. The status is
        ``not_positive_definite`` if the matrix of a subset is not positive definite, or if the sweeps
        diverge. It is ``not_converged`` if `max_sweeps` was reached, or if float64 cannot achieve the
        tolerance.

    Raises
    ------
    KerncastError
        E236 for the tolerance, E237 for too little memory, E238 for any other option.

    Notes
    -----
    A sweep computes n^2 kernel values, and up to three times as many with `interleave`. Only the first sweeps
    are faster than conjugate gradients, which reach small residuals at a far lower cost, especially with
    landmarks.
    """
    check_tolerance(tolerance)
    for value, name in ((block, "block"), (max_sweeps, "max_sweeps"), (workers, "workers")):
        check_count(value, name)
    domains = Domains(system, min(block, system.n), workers)
    if not interleave:
        return _swept(system, domains, Y, tolerance, max_sweeps)
    C = SymmetricSweep(domains, system.n, system.values_per_entry)
    return preconditioned(system, Y, C, tolerance, max_sweeps, "block_gauss_seidel")


def _swept(system: System, domains: Domains, Y: Array, tolerance: float, max_sweeps: int) -> Solution:
    """Run the sweeps; return the solution and its operation counts."""
    n, columns, k = system.n, Y.size // system.n, domains.s[0].stop
    c = np.zeros((n, columns))
    history: list[float] = []
    with np.errstate(all="ignore"):  # check_solution rejects overflow
        status = _sweeps(system, domains, Y.reshape(c.shape), c, tolerance, max_sweeps, history)
    sweeps = len(history) - 1
    why = {Status.NOT_CONVERGED: f"the tolerance {tolerance:g} was not reached, ",
           Status.NOT_POSITIVE_DEFINITE: "a subset is not positive definite, or the sweeps diverge, "}
    return check_solution(system, Y, c.reshape(Y.shape), status, limit=1.01 * tolerance,
                          method="block_gauss_seidel", iterations=sweeps,
                          why=why.get(status, "") + f"{len(domains.s)} subsets",
                          bytes=domains.bytes + 2 * c.nbytes, history=tuple(history),
                          kernel_values=(sweeps + 1) * n * n * system.values_per_entry,
                          operations=n * k**2 // 6 + columns * sweeps * n * (n + k))


def _sweeps(system: System, domains: Domains, Y: Array, c: Array, tolerance: float, max_sweeps: int,
            history: list[float]) -> Status:
    """Run steps 3 to 11: sweep until the recomputed residual is below the tolerance."""
    y, size = Y.copy(), np.linalg.norm(Y, axis=0)
    history.append(float(size.max()))
    if not domains.positive:
        return Status.NOT_POSITIVE_DEFINITE
    afresh = 0
    for _ in range(max_sweeps):
        domains.sweep(y, c, range(len(domains.s)))
        left = np.linalg.norm(y, axis=0)
        history.append(float(left.max()))
        if not np.all(left <= _DIVERGED * size):  # also if NaN
            return Status.NOT_POSITIVE_DEFINITE
        if np.all(left <= tolerance * size):
            y = np.asarray(Y - system @ c)
            if np.all(np.linalg.norm(y, axis=0) <= tolerance * size):
                return Status.OK
            afresh += 1
        if afresh == _RESTARTS:
            break
    return Status.NOT_CONVERGED
