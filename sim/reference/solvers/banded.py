"""sim.reference: samples of one column: K is a band as narrow as the kernel, O(n b) memory, O(n b^2) time.

In ascending order of the samples K + lambda I has b diagonals on either side in which kernel values are more
than rounding; Cholesky's factorisation keeps the band.  The result is exact kernel regression, at regular
times or not; it pays where the kernel spans few of the samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array
from ...errors import fail
from ...kernels import Kernel
from ..check import judged
from ..options import samples_of
from ..result import Solution, Status
from ..systems.system import REAL_BYTES, KernelSystem, System, refuse_beyond_memory
from ..toeplitz.product import largest_norm

# A kernel value below this part of k(x, x) is less than the rounding of the largest.
_NOTHING = 1e-18


def bandwidth(system: System) -> int | None:
    """Return b of the samples in ascending order; None where K is no band.

    Parameters
    ----------
    system : System
        A :class:`KernelSystem` of one column, and of a kernel that falls to nothing, has a band.
    """
    if not isinstance(system, KernelSystem) or system.X.shape[1] != 1 or not system.kernel.reach < np.inf:
        return None
    x = np.sort(system.X[:, 0])
    ends = np.searchsorted(x, x + _span(system.kernel), side="right")
    return int(np.max(ends - np.arange(len(x)))) - 1


def banded(system: System, Y: Array) -> Solution:
    """Solve A x = y by Cholesky's factorisation of the band.

    Parameters
    ----------
    system : KernelSystem
        Of one column, of the Gaussian or the Laplacian kernel.
    Y : ndarray of shape (n,) or (n, m)
        Right-hand sides; finite.

    Returns
    -------
    Solution
        ``not_positive_definite`` where a pivot is not positive.

    Raises
    ------
    KerncastError
        E237 where the band does not fit the memory; E238 for a system without one.
    """
    from scipy.linalg import LinAlgError, cho_solve_banded, cholesky_banded

    b, given = bandwidth(system), samples_of(system, "banded")
    if b is None:
        raise fail("E238", "K is not banded", where="method", value="banded",
                   allowed="one column, and a kernel that falls to zero: gaussian, laplacian",
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
    return judged(system, Y, x, status, method="banded", why=why, found=found, bytes=2 * band.nbytes,
                  kernel_values=n * (b + 1), operations=n * b * (b + 3) // 2 + 2 * columns * n * (b + 1))


def _span(kernel: Kernel) -> float:
    """Distance beyond which a kernel value is nothing, by bisection."""
    near, far = 0.0, kernel.reach
    for _ in range(60):
        middle = 0.5 * (near + far)
        value = float(kernel(np.array([[middle]]), np.zeros((1, 1)))[0, 0])
        near, far = (middle, far) if value > _NOTHING else (near, middle)
    return far


def _band(system: KernelSystem, order: NDArray[np.int64], b: int) -> Array:
    """Diagonal j of A in row j, as LAPACK has the lower half: shape (b + 1, n)."""
    X = system.X[order]
    band = np.zeros((b + 1, system.n))
    for j in range(b + 1):
        band[j, : system.n - j] = system.kernel.pairs(X[: system.n - j], X[j:])
    band[0] += system.lam
    return band


def _product(band: Array, x: Array) -> Array:
    """A x of the band, one diagonal after the other."""
    d = band.reshape(*band.shape, *[1] * (x.ndim - 1))
    product = d[0] * x
    for j in range(1, len(band)):
        product[j:] += d[j, :-j] * x[:-j]
        product[:-j] += d[j, :-j] * x[j:]
    return np.asarray(product)
