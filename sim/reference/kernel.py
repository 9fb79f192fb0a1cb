"""sim.reference: the door to the solvers of kernel systems, and what "auto" chooses among them.

==================  ========================================  =========================================
method              how                                       memory, time
==================  ========================================  =========================================
cholesky            the whole matrix, factorised              O(n^2), O(n^3)
auto                cholesky
==================  ========================================  =========================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import finite_array, positive
from ..errors import fail
from ..kernels import Gaussian, Kernel
from .cholesky import cholesky
from .first_row import as_samples
from .solution import Solution
from .system import KernelSystem, System

Array = NDArray[np.float64]
Solver = Callable[..., Solution]

#: Every method by its name: ``solver(system, Y, **options) -> Solution``.
SOLVERS: dict[str, Solver] = {
    "cholesky": cholesky,
}
METHODS = ("auto", *SOLVERS)


def solve_kernel(X: ArrayLike, y: ArrayLike, sigma: float | Kernel, lam: float, method: str = "auto",
                 **options: Any) -> Solution:
    """Solve (K + lambda I) alpha = y for the kernel matrix K of the samples `X`.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n,)
        Samples.
    y : array_like of shape (n,) or (n, m)
        Targets, one column per output.
    sigma : float or Kernel
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), in the unit of `X`; or a kernel.
    lam : float
        lambda > 0, added to the diagonal as it stands, not times n.
    method : {"auto", "cholesky"}
        See the table of :mod:`kerncast.sim.reference.kernel`.
    **options
        Of the method.

    Returns
    -------
    Solution
        Its `x` is alpha, all zero unless the status is ``ok``.

    Raises
    ------
    KerncastError
        E220 sigma, E221 lambda, E224 samples, E225 targets, E237 memory, E238 method or options.

    Examples
    --------
    >>> solve_kernel([0., 1., 2.], [1., 0., 1.], sigma=1.0, lam=0.1).x.round(4)
    array([ 1.7653, -1.9468,  1.7653])
    """
    X = as_samples(X)
    Y = _targets(y, len(X))
    kernel = sigma if isinstance(sigma, Kernel) else Gaussian(sigma)
    system = KernelSystem(kernel, X, positive(lam, "lam", "E221", "start with 1"))
    return solve_system(system, Y, method, **options)


def solve_system(system: System, Y: Array, method: str = "auto", **options: Any) -> Solution:
    """Solve A x = y for a matrix however held; as :func:`solve_kernel` for what is common."""
    if method not in METHODS:
        raise fail("E238", "there is no such method for kernel systems", where="method",
                   value=repr(method), allowed=", ".join(METHODS), remedy="use auto")
    return SOLVERS["cholesky" if method == "auto" else method](system, Y, **options)


def _targets(y: ArrayLike, n: int) -> Array:
    Y = finite_array(y, "y", "E225")
    if Y.ndim not in (1, 2) or len(Y) != n or Y.size == 0:
        raise fail("E225", "the targets do not fit the samples", where="y", value=Y.shape,
                   allowed=f"shape ({n},) or ({n}, m)", remedy="one value per sample")
    return Y
