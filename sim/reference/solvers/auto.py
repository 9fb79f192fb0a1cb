"""sim.reference.solvers: entry points of the kernel solvers, and "auto".

==================  =====================================================  =========  ====================
method              description                                            memory     time
==================  =====================================================  =========  ====================
elimination         Gaussian elimination; any nonsingular matrix           O(n^2)     O(n^3)
cholesky            A = R'R; positive definite matrices                    O(n^2)     O(n^3), half as long
                                                                                      as elimination
eigh                A = Q Lambda Q'; any nonsingular matrix                O(n^2)     O(n^3), 14 times as
                                                                                      long as elimination
cg                  conjugate gradients to a tolerance, or some steps      O(n s)     O(n^2) per step
block_gauss_seidel  k samples at a time, to a tolerance                    O(n k)     O(n^2) per sweep
wavelet             sparse matrix in a wavelet basis; for a uniform grid,  O(n^2)     O(n^2)
                    memory and time are O(n)
banded              samples of one column; the support of the kernel       O(n b)     O(n b^2)
                    contains b neighbours
linear_svd          linear kernel: X = U S V'                              O(n D)     O(n D^2)
linear_direct       linear kernel: X'X, which squares the condition        O(n D)     O(n D^2)
                    number of X
subset              s regressors, trained on all samples                   O(n s)     O(n s^2)
==================  =====================================================  =========  ====================

The solver of a device is chosen by :mod:`...planner.toeplitz.automatic`. Here, "auto" selects the first of
the following that applies.

* linear_svd for a linear kernel with fewer columns than samples
* the method "auto" of :mod:`..toeplitz.auto` for a large Toeplitz matrix, including that of many samples on a
  uniform grid
* banded for many samples of one column, if the support of the kernel contains few neighbours
* cg for many samples that are interpolated from a grid
* cholesky if A needs at most half of the free memory, and elimination if A is not positive definite
* cg with the preconditioner nystrom

Solution.why gives the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

from numpy.typing import ArrayLike

from ..._arrays import Array
from ..._checks import free_bytes, positive
from ...errors import fail
from ...kernels import Kernel, Linear
from ..bias import solve_with_bias
from ..first_row import as_samples, choose_scheme, grid_step, uniform_first_row
from ..options import check_values, kernel_of, targets
from ..result import Solution
from ..systems.grid import GridSystem
from ..systems.system import REAL_BYTES, KernelSystem, System, ToeplitzSystem
from ..toeplitz.auto import solve_toeplitz
from ..wavelet import wavelet
from .banded import banded, bandwidth
from .block_gauss_seidel import block_gauss_seidel
from .cg import cg
from .cholesky import cholesky
from .eigen import eigh
from .elimination import elimination
from .linear import linear_direct, linear_svd
from .subset import subset

Solver = Callable[..., Solution]

#: Methods for any system: ``solver(system, Y, **options) -> Solution``.
SOLVERS: dict[str, Solver] = {
    "elimination": elimination,
    "cholesky": cholesky,
    "eigh": eigh,
    "cg": cg,
    "block_gauss_seidel": block_gauss_seidel,
    "wavelet": wavelet,
}
#: Methods that require a kernel and samples.
SAMPLE_SOLVERS: dict[str, Solver] = {
    "banded": banded,
    "linear_svd": linear_svd,
    "linear_direct": linear_direct,
    "subset": subset,
}
METHODS = ("auto", *SOLVERS, *SAMPLE_SOLVERS)

# Smaller systems are factorised, Toeplitz or not, which takes less than a second.
_FFT_FROM = 1000
# A band narrower than n divided by this is factorised as a band.
_NARROW = 8


def solve_kernel(X: ArrayLike, y: ArrayLike, sigma: float | Kernel, lam: float, method: str = "auto", *,
                 fit_intercept: bool = False, **options: Any) -> Solution:
    """Solve (K + lambda I) alpha = y for the kernel matrix K of the samples `X`.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n,)
        Samples.
    y : array_like of shape (n,) or (n, m)
        Targets, one column per output.
    sigma : float or Kernel
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), in the unit of `X`; or a kernel object.
    lam : float
        lambda > 0, added to the diagonal (not multiplied by n).
    method : str
        "auto", or a method in the table of :mod:`kerncast.sim.reference.solvers.auto`.
    fit_intercept : bool
        Whether to solve (K + lambda I) alpha + b 1 = y and 1'alpha = 0 (LS-SVM); `bias` of the solution is
        then b.
    **options
        Options of the method, which are the arguments of its function.

    Returns
    -------
    Solution
        `x` is alpha; all its elements are 0 unless the status is ``ok``. For the method subset, `x` is c,
        with one row per sample in `support`.

    Raises
    ------
    KerncastError
        E220 for sigma, E221 for lambda, E224 for the samples, E225 for the targets, E236 for tolerance or
        preconditioner, E237 for too little memory, E238 for method or options.

    Examples
    --------
    >>> solve_kernel([0., 1., 2.], [1., 0., 1.], sigma=1.0, lam=0.1).x.round(4)
    array([ 1.7653, -1.9468,  1.7653])
    """
    X = as_samples(X)
    Y = targets(y, len(X))
    system = KernelSystem(kernel_of(sigma), X, positive(lam, "lam", "E221", "start with 1"))
    return solve_system(system, Y, method, fit_intercept=fit_intercept, **options)


def solve_system(system: System, Y: ArrayLike, method: str = "auto", *, fit_intercept: bool = False,
                 **options: Any) -> Solution:
    """Solve A x = y for a matrix in any form of storage.

    `method`, `fit_intercept`, the options and the result are those of :func:`solve_kernel`.

    Parameters
    ----------
    system : System
        ``DenseSystem(A)``, ``KernelSystem(kernel, X, lam)`` or ``ToeplitzSystem(r)``, created from float64
        arrays.
    Y : array_like of shape (n,) or (n, m)
        Right-hand sides.  Raises E225.

    Examples
    --------
    >>> import numpy as np
    >>> from kerncast import DenseSystem, ToeplitzSystem
    >>> solve_system(ToeplitzSystem(np.array([2.0, 1.0, 0.5])), [1.0, 2.0, 3.0], "cg").x.round(6) + 0.0
    array([0.      , 0.333333, 1.333333])
    >>> solve_system(DenseSystem(np.diag([1.0, 2.0, 4.0])), np.ones(3)).x
    array([1.  , 0.5 , 0.25])
    """
    Y = targets(Y, system.n)
    if method not in METHODS:
        raise fail("E238", "no such method for kernel systems", where="method",
                   value=repr(method), allowed=", ".join(METHODS), remedy="use auto")
    if isinstance(system, KernelSystem):
        check_values(system)
    solver: Solver = _automatic if method == "auto" else (SOLVERS | SAMPLE_SOLVERS)[method]
    _check_names(method, solver, options)
    if fit_intercept and method == "subset":  # has its own bias, as its x has other rows
        return solver(system, Y, fit_intercept=True, **options)
    solve = partial(solver, system, **options)
    return solve_with_bias(solve, Y) if fit_intercept else solve(Y)


def _check_names(method: str, solver: Solver, options: dict[str, Any]) -> None:
    """Raise E238 if the method does not have one of the options."""
    known = [name for name in signature(solver).parameters if name not in ("system", "Y", "fit_intercept")]
    for name in options:
        if name not in known:
            raise fail("E238", f"method {method} does not support this option", where=name,
                       value=options[name],
                       allowed=", ".join(known) or "no options",
                       remedy="correct the name of the option, or omit the option")


def _automatic(system: System, Y: Array) -> Solution:
    """Solve by the method that "auto" selects; if it fails, try another one."""
    n = system.n
    if isinstance(system, KernelSystem) and isinstance(system.kernel, Linear) and system.X.shape[1] < n:
        return _because(linear_svd(system, Y), f"linear kernel of {system.X.shape[1]} columns")
    r = _first_column(system) if n >= _FFT_FROM else None
    if r is not None:
        solution = solve_toeplitz(r, Y)
        return replace(solution, why=f"a Toeplitz matrix of {n} rows; {solution.why}")
    b = bandwidth(system) if n >= _FFT_FROM else None
    if b is not None and _NARROW * (b + 1) <= n:
        return _because(banded(system, Y), f"a band, {n} rows")
    reason = f"{n} rows, positive definite"
    if isinstance(system, GridSystem) and n >= _FFT_FROM:
        solution = _because(cg(system, Y), f"{n} rows, multiplied by FFT")
        if solution.ok:
            return solution
        reason = f"not {solution.why}"
    matrix, free = REAL_BYTES * n * n, free_bytes()
    if 2 * matrix > free:
        return _because(cg(system, Y),
                        f"the matrix ({matrix:,} bytes) needs more than half of the free memory, "
                        f"{free:,} bytes")
    solution = cholesky(system, Y)
    if solution.ok:
        return _because(solution, reason)
    return _because(elimination(system, Y), f"not cholesky: {solution.status}, {solution.why}")


def _first_column(system: System) -> Array | None:
    """Return the first column of a Toeplitz matrix or a uniform grid, otherwise None."""
    if isinstance(system, ToeplitzSystem):
        return system.r
    if not isinstance(system, KernelSystem) or not system.kernel.translation_invariant:
        return None
    if choose_scheme(system.X) != "uniform":
        return None
    r = uniform_first_row(system.n, grid_step(system.X), system.kernel)
    r[0] += system.lam
    return r


def _because(solution: Solution, reason: str) -> Solution:
    return replace(solution, why="; ".join(filter(None, (f"{solution.method}: {reason}", solution.why))))
