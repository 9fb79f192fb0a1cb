"""sim: kernels in float64, and the properties that the algorithms require of them.

A new kernel is one frozen dataclass below and one row in `KERNELS`.  Its flags decide which algorithms
accept it.  The Toeplitz trainer requires `translation_invariant` (Lemma 1 of S. Decherchi, P. Gastaldo,
R. Zunino, "Efficient Approximate Regularized Least Squares by Toeplitz Matrix").  FKLMS requires the
three properties of B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", 2003,
section 2.1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ._arrays import Array
from ._checks import is_real
from .choices import POLYNOMIALS as POLYNOMIALS
from .errors import fail

# sigma is squared below; within these limits the square is neither zero nor infinite.
_SIGMA_MIN, _SIGMA_MAX = 1e-150, 1e150

# exp(-746) is 0 in float64, whose smallest positive number is exp(-744.4).
_UNDERFLOW = 746.0
_UNDERFLOW_ROOT = math.sqrt(2.0 * _UNDERFLOW)

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


class Kernel(ABC):
    """Kernel k(u, v) with its known properties."""

    name: ClassVar[str]
    #: k(u, v) = K(u - v): Lemma 1 then gives a Toeplitz matrix on a uniform grid.
    translation_invariant: ClassVar[bool] = False
    #: k_ii = 1 (Mitchinson et al., section 2.1, first property).
    unit_diagonal: ClassVar[bool] = False
    #: k_i(.) >= 0 (second property).
    nonnegative: ClassVar[bool] = False
    #: a larger distance gives a smaller kernel (third property).
    decreasing: ClassVar[bool] = False

    #: The directions of its random Fourier features are normally distributed.
    random_features: ClassVar[bool] = False

    @property
    def support_radius(self) -> float:
        """Return the largest difference in one column with k(u, v) > 0 in float64."""
        return float("inf")

    @abstractmethod
    def __call__(self, U: Array, V: Array) -> Array:
        """Evaluate all k(u, v): `U` of shape (m, D), `V` of shape (n, D), result (m, n)."""

    @abstractmethod
    def pairs(self, U: Array, V: Array) -> Array:
        """Evaluate k(u_i, v_i): both of shape (..., D), result (...)."""


class DistanceKernel(Kernel):
    """Base class of kernels exp(-distance); the distance is a sum over the columns."""

    translation_invariant = True
    unit_diagonal = True
    nonnegative = True
    decreasing = True

    @abstractmethod
    def terms(self, difference: Array) -> Array:
        """Return each column's contribution to the distance, element by element."""

    @abstractmethod
    def of_distance(self, d: Array) -> Array:
        """Evaluate the kernel as a function of the distance, element by element."""

    def distances(self, U: Array, V: Array) -> Array:
        """Return the distances of all vectors of `U` (m, D) to all of `V` (n, D): (m, n).

        Columns are summed one at a time, so that no array exceeds the result.  The distance of equal
        vectors is exactly 0, unlike |u|^2 + |v|^2 - 2 u.v in floating point.
        """
        d = np.zeros((len(U), len(V)))
        with np.errstate(over="ignore"):  # an infinite distance is a kernel of 0, which is right
            for u, v in zip(U.T, V.T, strict=True):
                d += self.terms(u[:, np.newaxis] - v)
        return d

    def pair_distances(self, U: Array, V: Array) -> Array:
        """Return the distance of each vector of `U` to its partner in `V`: both (..., D)."""
        with np.errstate(over="ignore"):
            return np.asarray(self.terms(U - V).sum(axis=-1), dtype=np.float64)

    def __call__(self, U: Array, V: Array) -> Array:
        """Evaluate all k(u, v): `U` of shape (m, D), `V` of shape (n, D), result (m, n)."""
        return self.of_distance(self.distances(U, V))

    def pairs(self, U: Array, V: Array) -> Array:
        """Evaluate k(u_i, v_i): both of shape (..., D), result (...)."""
        return self.of_distance(self.pair_distances(U, V))


def _check_width(kernel: Gaussian | Laplacian | Periodic, what: str = "sigma") -> None:
    """Raise E220 if `what`, a width of the kernel, is not positive and finite."""
    value = getattr(kernel, what)
    if not is_real(value) or not _SIGMA_MIN <= value <= _SIGMA_MAX:  # also refuses NaN
        words = "width" if what == "sigma" else what
        raise fail("E220", f"the {words} of the {kernel.name.capitalize()} kernel is out of range",
                   where=what, value=value, allowed=f"a number from {_SIGMA_MIN:g} to {_SIGMA_MAX:g}",
                   remedy="start with the typical distance between neighbouring samples")


@dataclass(frozen=True)
class Gaussian(DistanceKernel):
    """Gaussian kernel, k(u, v) = exp(-|u - v|^2 / (2 sigma^2)).

    It is equation (15) of Mitchinson et al., and in section 3.4 of Decherchi et al.  Some authors write
    exp(-|u - v|^2 / s^2); their s is sqrt(2) sigma.

    Parameters
    ----------
    sigma : float
        Width, in the unit of the inputs; positive and finite.

    Raises
    ------
    KerncastError
        E220 if sigma is not a positive finite number.
    """

    sigma: float

    name = "gaussian"
    random_features = True

    def __post_init__(self) -> None:
        _check_width(self)

    def terms(self, difference: Array) -> Array:
        """Return ``(u - v)^2``."""
        return difference * difference

    @property
    def support_radius(self) -> float:
        """Return the largest difference in one column with k(u, v) > 0 in float64."""
        return _UNDERFLOW_ROOT * self.sigma

    def of_distance(self, d: Array) -> Array:
        """Evaluate exp(-d / (2 sigma^2)) of squared distances, element by element."""
        return np.asarray(np.exp(d / (-2.0 * self.sigma * self.sigma)), dtype=np.float64)


@dataclass(frozen=True)
class Laplacian(DistanceKernel):
    """Laplacian kernel, k(u, v) = exp(-|u - v|_1 / sigma).

    It equals scikit-learn's laplacian_kernel with gamma = 1 / sigma.

    Parameters
    ----------
    sigma : float
        Width, in the unit of the inputs; positive and finite.

    Raises
    ------
    KerncastError
        E220 if sigma is not a positive finite number.
    """

    sigma: float

    name = "laplacian"

    def __post_init__(self) -> None:
        _check_width(self)

    def terms(self, difference: Array) -> Array:
        """Return ``|u - v|``."""
        return np.abs(difference)

    @property
    def support_radius(self) -> float:
        """Return the largest difference in one column with k(u, v) > 0 in float64."""
        return _UNDERFLOW * self.sigma

    def of_distance(self, d: Array) -> Array:
        """Evaluate exp(-d / sigma) of distances in the 1-norm, element by element."""
        return np.asarray(np.exp(d / -self.sigma), dtype=np.float64)


@dataclass(frozen=True)
class Periodic(DistanceKernel):
    """Periodic kernel.

    k(u, v) = exp(-2 sum_c sin^2(pi (u_c - v_c) / period) / sigma^2).

    This is equation (47) of D. J. C. MacKay, "Introduction to Gaussian Processes", 1998: the Gaussian
    kernel of points on a circle of radius 1/2 for each column.

    Parameters
    ----------
    sigma : float
        Width relative to the sine, therefore without a unit; positive and finite.
    period : float
        Period, in the unit of the inputs; positive and finite.

    Raises
    ------
    KerncastError
        E220 if sigma or period is not a positive finite number.
    """

    sigma: float
    period: float

    name = "periodic"

    def __post_init__(self) -> None:
        _check_width(self)
        _check_width(self, "period")

    def terms(self, difference: Array) -> Array:
        """Return ``sin^2(pi (u - v) / period)``."""
        return np.asarray(np.sin(np.pi * np.mod(difference / self.period, 1.0)) ** 2, dtype=np.float64)

    def of_distance(self, d: Array) -> Array:
        """Evaluate exp(-2 d / sigma^2) of sums of squared sines, element by element."""
        return np.asarray(np.exp(d / (-0.5 * self.sigma * self.sigma)), dtype=np.float64)


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
KERNELS: dict[str, type[Kernel]] = {kind.name: kind for kind in (Gaussian, Laplacian, Periodic, Polynomial,
                                                                 Linear)}


def make_kernel(options: Mapping[str, str]) -> Kernel:
    """Return the kernel of a plan's options: ``kernel`` and its parameters, as text."""
    kind, o = options["kernel"], options
    if kind == "polynomial":
        return Polynomial(int(o["degree"]), float(o["gamma"]), float(o["coef0"]))
    if kind == "linear":
        return Linear()
    if kind == "periodic":
        return Periodic(float(o["sigma"]), float(o["period"]))
    return Laplacian(float(o["sigma"])) if kind == "laplacian" else Gaussian(float(o["sigma"]))


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
