"""sim.reference.solvers: banded Cholesky factorisation for samples of one column.

If the samples are sorted, only b diagonals of K on each side of the main diagonal contain kernel values that
are not negligible, and the Cholesky factor has the same band. The result is exact kernel regression, for
uniformly or nonuniformly sampled data. The method needs O(n b) memory and O(n b^2) time, so it is efficient
if the kernel spans few samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ...errors import fail
from ...kernels import Kernel
from ..check import check_solution
from ..options import samples_of
from ..result import Solution, Status
from ..systems.system import REAL_BYTES, KernelSystem, System, refuse_beyond_memory
from ..toeplitz.product import largest_norm

# A kernel value below this part of k(x, x) is below the rounding of the largest one.
_ZERO_KERNEL = 1e-18


def bandwidth(system: System) -> int | None:
    """Return the bandwidth of K for the sorted samples, or None if K is not banded.

    Parameters
    ----------
    system : System
        Any system; only a :class:`KernelSystem` of one column, whose kernel decays to 0, is banded.
    """
    if not isinstance(system,
                      KernelSystem) or system.X.shape[1] != 1 or not system.kernel.support_radius < np.inf:
        return None
    x = np.sort(system.X[:, 0])
    ends = np.searchsorted(x, x + _span(system.kernel), side="right")
    return int(np.max(ends - np.arange(len(x)))) - 1


def banded(system: System, Y: Array) -> Solution:
    """Solve A x = y by a banded Cholesky factorisation.

    Parameters
    ----------
    system : KernelSystem
        System of one column, with a Gaussian, Laplacian or Matern kernel.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        The status is ``not_positive_definite`` if a pivot is not positive.

    Raises
    ------
    KerncastError
        E237 if the band does not fit in memory, E238 if the system is not banded.
    """
    from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

    b, given = bandwidth(system), samples_of(system, "banded")
    if b is None:
        raise fail("E238", "K is not banded", where="method", value="banded",
                   allowed="one column, and a kernel that decays to zero (any except periodic)",
                   remedy="use auto")
    n, columns = given.n, Y.size // given.n
    refuse_beyond_memory(2 * REAL_BYTES * n * (b + 1), f"a band of {b} diagonals and {n} rows")
    order = np.argsort(given.X[:, 0], kind="stable")
    band = _band(given, order, b)
    x, status, why, found = np.zeros_like(Y), Status.OK, f"{b} diagonals on either side of the main one", 0.0
    try:
        factor = cholesky_banded(band, lower=True, check_finite=False)
        x[order] = cho_solve_banded((factor, True), Y[order], check_finite=False)
        found = largest_norm(Y[order] - _product(band, x[order]))
    except LinAlgError as error:
        status, why = Status.NOT_POSITIVE_DEFINITE, str(error)
    return check_solution(system, Y, x, status, method="banded", why=why, found=found, bytes=2 * band.nbytes,
                          kernel_values=n * (b + 1),
                          operations=n * b * (b + 3) // 2 + 2 * columns * n * (b + 1))


def _span(kernel: Kernel) -> float:
    """Find, by bisection, the distance beyond which the kernel is negligible."""
    near, far = 0.0, kernel.support_radius
    for _ in range(60):
        middle = 0.5 * (near + far)
        value = float(kernel(np.array([[middle]]), np.zeros((1, 1)))[0, 0])
        near, far = (middle, far) if value > _ZERO_KERNEL else (near, middle)
    return far


def _band(system: KernelSystem, order: NDArray[np.int64], b: int) -> Array:
    """Return the lower half of A in LAPACK's band storage, shape (b + 1, n).

    Diagonal j is in row j.
    """
    X = system.X[order]
    band = np.zeros((b + 1, system.n))
    for j in range(b + 1):
        band[j, : system.n - j] = system.kernel.pairs(X[: system.n - j], X[j:])
    band[0] += system.lam
    return band


def _product(band: Array, x: Array) -> Array:
    """Return A x for a matrix in band storage, computed diagonal by diagonal."""
    d = band.reshape(*band.shape, *[1] * (x.ndim - 1))
    product = d[0] * x
    for j in range(1, len(band)):
        product[j:] += d[j, :-j] * x[:-j]
        product[:-j] += d[j, :-j] * x[j:]
    return np.asarray(product)
