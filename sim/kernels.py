"""sim: kernels in float64, and the properties that the algorithms require of them.

A new kernel is one frozen dataclass, below or in :mod:`.distance_kernels`, and one row in `KERNELS`.  Its
flags decide which algorithms accept it.  The Toeplitz trainer requires `translation_invariant` (Lemma 1 of
S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by Toeplitz Matrix").
FKLMS requires the three properties of B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel
Models", 2003, section 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ._arrays import Array
from .choices import MATERN
from .choices import POLYNOMIALS as POLYNOMIALS
from .distance_kernels import DistanceKernel as DistanceKernel
from .distance_kernels import Gaussian as Gaussian
from .distance_kernels import Kernel as Kernel
from .distance_kernels import Laplacian as Laplacian
from .distance_kernels import Matern as Matern
from .distance_kernels import Matern32 as Matern32
from .distance_kernels import Matern52 as Matern52
from .distance_kernels import Periodic as Periodic
from .errors import fail

#: Descriptions of a kernel's flags.
PROPERTIES = {
    "translation_invariant": "translation invariant (k(u, v) depends on u - v only)",
    "unit_diagonal": "of unit diagonal (k(v, v) = 1)",
    "nonnegative": "nonnegative",
    "decreasing": "decreasing (k(u, v) decreases with a distance of u and v)",
    "random_features": "Gaussian (its random directions are normally distributed)",
}
#: Properties that each algorithm requires.
NEEDS = {
    "toeplitz_rls": ("translation_invariant",),
    "kernel_lms": ("unit_diagonal", "nonnegative", "decreasing"),
    "online_kernel_rls": ("random_features",),
}


@dataclass(frozen=True)
class Polynomial(Kernel):
    """Polynomial kernel, k(u, v) = (gamma u.v + coef0)^degree.

    It equals scikit-learn's polynomial_kernel.  It is positive semidefinite if gamma > 0, coef0 >= 0 and
    degree is an integer.  It is neither translation invariant nor decreasing.

    Parameters
    ----------
    degree : int
    gamma, coef0 : float
    """

    degree: int
    gamma: float
    coef0: float

    name = "polynomial"

    def __call__(self, U: Array, V: Array) -> Array:
        """Evaluate all k(u, v): `U` of shape (m, D), `V` of shape (n, D), result (m, n)."""
        return np.asarray((self.gamma * (U @ V.T) + self.coef0) ** self.degree, dtype=np.float64)

    def pairs(self, U: Array, V: Array) -> Array:
        """Evaluate k(u_i, v_i): both of shape (..., D), result (...)."""
        return np.asarray((self.gamma * np.sum(U * V, axis=-1) + self.coef0) ** self.degree,
                          dtype=np.float64)


@dataclass(frozen=True)
class Linear(Polynomial):
    """Linear kernel, k(u, v) = u.v: the polynomial kernel of degree 1."""

    degree: int = 1
    gamma: float = 1.0
    coef0: float = 0.0

    name = "linear"


#: Every kernel, by its name in a spec.
KERNELS: dict[str, type[Kernel]] = {kind.name: kind for kind in (
    Gaussian, Laplacian, Matern32, Matern52, Periodic, Polynomial, Linear)}


def make_kernel(options: Mapping[str, str]) -> Kernel:
    """Return the kernel of a plan's options: ``kernel`` and its parameters, as text."""
    kind, o = options["kernel"], options
    if kind == "polynomial":
        return Polynomial(int(o["degree"]), float(o["gamma"]), float(o["coef0"]))
    if kind == "linear":
        return Linear()
    if kind == "periodic":
        return Periodic(float(o["sigma"]), float(o["period"]))
    width = float(o["sigma"])
    if kind in MATERN:
        return Matern32(width) if kind == "matern32" else Matern52(width)
    return Laplacian(width) if kind == "laplacian" else Gaussian(width)


def gaussian(U: Array, V: Array, sigma: float) -> Array:
    """Return the Gaussian kernel matrix.

    Parameters
    ----------
    U : ndarray of shape (m, D)
    V : ndarray of shape (n, D)
    sigma : float
        Width, in the unit of the inputs.

    Returns
    -------
    K : ndarray of shape (m, n)
        exp(-|u - v|^2 / (2 sigma^2)).

    Raises
    ------
    KerncastError
        E220 if sigma is not a positive finite number.
    """
    return Gaussian(sigma)(U, V)


def gaussian_of_distance(d2: Array, sigma: float) -> Array:
    """Return exp(-d2 / (2 sigma^2)) of **squared** distances `d2`, of any shape."""
    return Gaussian(sigma).of_distance(d2)


def squared_distances(U: Array, V: Array) -> Array:
    """Return squared Euclidean distances of all `U` (m, D) to all `V` (n, D): (m, n)."""
    return Gaussian(1.0).distances(U, V)


def lacking(kernel: Kernel | type[Kernel], properties: tuple[str, ...]) -> tuple[str, str]:
    """Return descriptions of missing properties, and the kernels that have them all."""
    missing = [PROPERTIES[name] for name in properties if not getattr(kernel, name)]
    able = [name for name, kind in KERNELS.items() if all(getattr(kind, p) for p in properties)]
    return " and ".join(missing), ", ".join(able)


def require(kernel: Kernel, user: str, *properties: str) -> None:
    """Raise E231 if a kernel lacks a property that an algorithm requires.

    Parameters
    ----------
    kernel : Kernel
    user : str
        The algorithm, for the message.
    *properties : str
        Names of flags of :class:`Kernel`.

    Raises
    ------
    KerncastError
        E231, naming the missing properties.
    """
    missing, able = lacking(kernel, properties)
    if missing:
        raise fail("E231", f"{user} needs a kernel that is {missing}", where="kernel", value=kernel.name,
                   allowed=able, remedy="choose one of the allowed kernels, or another algorithm")
