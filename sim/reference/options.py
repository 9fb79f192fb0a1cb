"""sim.reference: validation of solver options."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import finite_array, is_integer, is_real
from ..errors import fail
from ..kernels import Gaussian, Kernel
from .systems.system import KernelSystem, System


def check_tolerance(tolerance: float) -> None:
    """Raise E236 if a tolerance is too small for float64, or too large to be useful."""
    if not is_real(tolerance) or not 1e-15 <= tolerance <= 1e-2:  # also refuses NaN
        raise fail("E236", "the tolerance of an iteration is out of range", where="tolerance",
                   value=tolerance, allowed="a number from 1e-15 to 1e-2", remedy="start with 1e-10")


def check_count(value: int, where: str, least: int = 1, most: int | None = None) -> None:
    """Raise E238 if an option is not an integer from `least` to `most`."""
    if not is_integer(value) or value < least or (most is not None and value > most):
        upper = "" if most is None else f" and at most {most}"
        raise fail("E238", "an option of the method is out of range", where=where, value=value,
                   allowed=f"an integer, at least {least}{upper}",
                   remedy="choose a value in the allowed range, or omit the option to use its default")


def check_choice(value: str, where: str, choices: Iterable[str]) -> None:
    """Raise E238 if an option is not one of its choices."""
    if value not in (allowed := tuple(choices)):
        raise fail("E238", "the method does not support this value of the option", where=where,
                   value=repr(value), allowed=", ".join(map(str, allowed)),
                   remedy="choose one of the allowed values, or omit the option to use its default")


def samples_of(system: System, method: str) -> KernelSystem:
    """Return `system` if it has samples and a kernel, otherwise raise E238."""
    if not isinstance(system, KernelSystem):
        raise fail("E238", f"method {method} needs a kernel and samples", where="method",
                   value=type(system).__name__, allowed="solve_kernel, or a KernelSystem",
                   remedy="use method \"cholesky\" for a matrix")
    return system


def check_values(system: KernelSystem) -> None:
    """Raise E224 if a kernel value overflows.

    It is sufficient to check the diagonal, because k(u, v)^2 <= k(u, u) k(v, v).
    """
    with np.errstate(over="ignore"):
        bad = np.flatnonzero(~np.isfinite(system.diagonal()))
    if bad.size:
        raise fail("E224", "a kernel value overflows", where=f"X[{bad[0]}]", value="a value beyond float64",
                   allowed="samples with finite k(x, x)",
                   remedy="scale the samples to smaller magnitudes")


def kernel_of(sigma: float | Kernel) -> Kernel:
    """Return `sigma` if it is a kernel, otherwise a Gaussian kernel of width `sigma`.

    Raise E220 if the width is not valid.
    """
    return sigma if isinstance(sigma, Kernel) else Gaussian(sigma)


def targets(y: ArrayLike, n: int) -> NDArray[np.float64]:
    """Convert `y` to a finite float64 array of shape (n,) or (n, m), with m >= 1.

    Raise E225 if this is not possible.
    """
    Y = finite_array(y, "y", "E225")
    if Y.ndim not in (1, 2) or len(Y) != n or Y.size == 0:
        raise fail("E225", "the targets and the samples have different lengths", where="y", value=Y.shape,
                   allowed=f"shape ({n},) or ({n}, m)", remedy="pass one value per sample")
    return Y
