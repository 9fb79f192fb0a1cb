"""sim: kernels of a distance in float64: Gaussian, Laplacian, Matern and periodic.

A Matern kernel of smoothness nu = 3/2 or 5/2 is the covariance of a process with one or two derivatives; nu =
1/2 is the Laplacian kernel of one column, and the limit of a large nu the Gaussian kernel.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ._arrays import Array
from ._checks import is_real
from .errors import fail

# sigma is squared below; within these limits the square is neither zero nor infinite.
_SIGMA_MIN, _SIGMA_MAX = 1e-150, 1e150

# exp(-746) is 0 in float64, whose smallest positive number is exp(-744.4).
_UNDERFLOW = 746.0
_UNDERFLOW_ROOT = math.sqrt(2.0 * _UNDERFLOW)


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


def _check_width(kernel: Gaussian | Laplacian | Matern | Periodic, what: str = "sigma") -> None:
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
class Matern(DistanceKernel):
    """Base class of the Matern kernels.

    They are polynomials of x = sqrt(2 nu) r / sigma times exp(-x), with the Euclidean distance r: equation
    (4.14) of C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006, and
    scikit-learn's Matern with length_scale = sigma.

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

    #: The smoothness nu.
    nu: ClassVar[float]

    def __post_init__(self) -> None:
        _check_width(self)

    @property
    def scale(self) -> float:
        """Return ``sqrt(2 nu) / sigma``."""
        return math.sqrt(2.0 * self.nu) / self.sigma

    def terms(self, difference: Array) -> Array:
        """Return ``(u - v)^2``."""
        return difference * difference

    @property
    def support_radius(self) -> float:
        """Return the largest difference in one column with k(u, v) > 0 in float64."""
        return _UNDERFLOW / self.scale

    def of_distance(self, d: Array) -> Array:
        """Evaluate the kernel of squared distances, element by element."""
        x = np.minimum(np.sqrt(d) * self.scale, _UNDERFLOW)  # an infinite x would be inf * 0
        return np.asarray(self.polynomial(x) * np.exp(-x), dtype=np.float64)

    @abstractmethod
    def polynomial(self, x: Array) -> Array:
        """Return the factor of exp(-x), x = sqrt(2 nu) r / sigma."""


@dataclass(frozen=True)
class Matern32(Matern):
    """Matern kernel (1 + x) exp(-x), x = sqrt(3) |u - v| / sigma."""

    name = "matern32"
    nu = 1.5

    def polynomial(self, x: Array) -> Array:
        """Return ``1 + x``."""
        return 1.0 + x


@dataclass(frozen=True)
class Matern52(Matern):
    """Matern kernel (1 + x + x^2 / 3) exp(-x), x = sqrt(5) |u - v| / sigma."""

    name = "matern52"
    nu = 2.5

    def polynomial(self, x: Array) -> Array:
        """Return ``1 + x + x^2 / 3``."""
        return 1.0 + x + x * x / 3.0


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
