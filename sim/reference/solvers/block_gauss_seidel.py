"""sim.reference: domain decomposition, which is block Gauss-Seidel, in O(k n) memory.

W. Li, K.-H. Lee, K.-S. Leung, "Large-Scale RLSC Learning Without Agony", ICML 2007, with the paper's names:
the samples s are divided into subsets s_1 ... s_l of k; each sweep solves, one subset after the other,
A_{s_i,s_i} c_i = y_{s_i} for what is left of y, and takes A_{s,s_i} c_i off y.

In the reproducing kernel Hilbert space of A one such step projects the function f that is left on the span
H_i of the kernel functions at s_i, and takes the projection off f: a sweep is a round of von Neumann's
alternating projections on the complements of H_1 ... H_l.  It converges wherever A is positive definite, at a
rate set by the angles between the H_i: fast at first, where neighbours explain each other, then slowly.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from ..._arrays import Array
from ..check import judged
from ..options import check_count, check_tolerance
from ..result import Solution, Status
from ..systems.system import BLOCK_VALUES, REAL_BYTES, Cost, System, refuse_beyond_memory
from .cg import MAX_STEPS, TOLERANCE, preconditioned
from .cholesky import lapack

#: Samples in a subset, where nobody says otherwise.
DEFAULT_BLOCK = 500

# Where sweeps that should converge have made the residual this much larger, A is not positive definite.
_DIVERGED = 1e6

# Rounding makes the residual that sweeps update drift from the true one; so often it is computed afresh.
_RESTARTS = 5


class Domains:
    """The subsets s_i (steps 1, 2), their factors for step 7, and step 8 on some rows at a time.

    Parameters
    ----------
    system : System
    k : int
        Size of a subset; the last may be smaller.
    workers : int
        Threads that share step 8.  The answer is the same for any number, to the last bit.

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
        """Steps 6 to 10 in place: `y` and `c` of shape (n, m); y past the subset `skip` is of no use."""
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
        """Step 8, y = y - A_{s,s_i} c_i, on some of the rows s."""
        y[rows] -= self._system.block(rows, s_i) @ c_i


class SymmetricSweep:
    """One sweep forward and one back, from 0: C^-1 for conjugate gradients.

    Parameters
    ----------
    domains : Domains
    n : int
    values_per_entry : int
        Kernel values that an entry of A takes.
    """

    def __init__(self, domains: Domains, n: int, values_per_entry: int) -> None:
        self._domains, self.positive, self.kernel_values = domains, domains.positive, 0
        entries = 2 * max(0, len(domains.s) - 1) * n * (n // len(domains.s))
        self.cost = Cost(entries + 2 * n * (n // len(domains.s)), entries * values_per_entry, domains.bytes)
        self.note = f"conjugate gradients on sweeps of {len(domains.s)} subsets"

    def solve(self, V: Array) -> Array:
        """C^-1 V for `V` of shape (n, m)."""
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
        k, the samples in a subset: memory is O(k n).  At most n are taken.
    tolerance : float
        Each |y - A c| <= tolerance |y|, measured on the true residual.
    max_sweeps : int
        Sweeps at most.
    interleave : bool
        Interleave with conjugate gradients, the paper's further work: each sweep goes forward and back,
        and CG makes of its outcome, as of a preconditioner's, the next direction.
    workers : int
        Threads that share step 8.

    Returns
    -------
    Solution
        `iterations` and `history` count sweeps.  ``not_positive_definite`` where a subset's own matrix is
        not, or the sweeps diverge; ``not_converged`` where `max_sweeps` did not suffice or the tolerance
        is out of the reach of float64.

    Notes
    -----
    A sweep takes n^2 kernel values; interleaved, three times as many at most.  It leads in the first sweeps
    only: to small residuals conjugate gradients, above all with landmarks, take far less.

    Raises
    ------
    KerncastError
        E236 tolerance, E237 memory, E238 another option.
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
    """Sweep, and tell what came of it and what it cost."""
    n, columns, k = system.n, Y.size // system.n, domains.s[0].stop
    c = np.zeros((n, columns))
    history: list[float] = []
    with np.errstate(all="ignore"):  # what overflows here is caught by the verdict
        status = _sweeps(system, domains, Y.reshape(c.shape), c, tolerance, max_sweeps, history)
    sweeps = len(history) - 1
    why = {Status.NOT_CONVERGED: f"the tolerance {tolerance:g} was not reached, ",
           Status.NOT_POSITIVE_DEFINITE: "a subset is not positive definite, or the sweeps diverge, "}
    return judged(system, Y, c.reshape(Y.shape), status, limit=1.01 * tolerance, method="block_gauss_seidel",
                  iterations=sweeps, why=why.get(status, "") + f"{len(domains.s)} subsets",
                  bytes=domains.bytes + 2 * c.nbytes, history=tuple(history),
                  kernel_values=(sweeps + 1) * n * n * system.values_per_entry,
                  operations=n * k**2 // 6 + columns * sweeps * n * (n + k))


def _sweeps(system: System, domains: Domains, Y: Array, c: Array, tolerance: float, max_sweeps: int,
            history: list[float]) -> Status:
    """Steps 3 to 11: sweep until the true residual is below the tolerance."""
    y, size = Y.copy(), np.linalg.norm(Y, axis=0)
    history.append(float(size.max()))
    if not domains.positive:
        return Status.NOT_POSITIVE_DEFINITE
    afresh = 0
    for _ in range(max_sweeps):
        domains.sweep(y, c, range(len(domains.s)))
        left = np.linalg.norm(y, axis=0)
        history.append(float(left.max()))
        if not np.all(left <= _DIVERGED * size):  # also catches NaN
            return Status.NOT_POSITIVE_DEFINITE
        if np.all(left <= tolerance * size):
            y = np.asarray(Y - system @ c)
            if np.all(np.linalg.norm(y, axis=0) <= tolerance * size):
                return Status.OK
            afresh += 1
        if afresh == _RESTARTS:
            break
    return Status.NOT_CONVERGED
