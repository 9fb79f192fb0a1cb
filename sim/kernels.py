"""sim: kernels in float64, and the properties that the algorithms ask of them.

A new kernel is one frozen dataclass below and one row in `KERNELS`.  What it is allowed to do
follows from its flags: the Toeplitz trainer asks for `translation_invariant` (Lemma 1 of
Decherchi et al.), FKLMS for the three properties of report 836, section 2.1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .checks import is_real
from .errors import fail

Array = NDArray[np.float64]

# sigma is squared below; within these limits the square is neither zero nor infinite.
_SIGMA_MIN, _SIGMA_MAX = 1e-150, 1e150


def pair_distances(U: Array, V: Array) -> Array:
    """Squared Euclidean distance of each vector of `U` to its partner in `V`.

    Parameters
    ----------
    U, V : ndarray of shape (..., D)
        Vectors in the last axis; the leading axes broadcast.

    Returns
    -------
    d2 : ndarray of shape (...)
        sum (u - v)^2, in squared units of the input; exactly 0 for equal vectors, which
        the expansion |u|^2 + |v|^2 - 2 u.v would not give in floating point.
    """
    with np.errstate(over="ignore"):  # an infinite distance is a kernel of 0, which is right
        difference = U - V
        return np.asarray(np.einsum("...d,...d->...", difference, difference), dtype=np.float64)


def squared_distances(U: Array, V: Array) -> Array:
    """Squared Euclidean distances of all vectors of `U` to all of `V`.

    Parameters
    ----------
    U : ndarray of shape (m, D)
    V : ndarray of shape (n, D)

    Returns
    -------
    d2 : ndarray of shape (m, n)
        sum (u - v)^2, added one column at a time so that nothing larger than the result is held.
    """
    d2 = np.zeros((len(U), len(V)))
    with np.errstate(over="ignore"):
        for u, v in zip(U.T, V.T, strict=True):
            difference = u[:, np.newaxis] - v
            d2 += difference * difference
    return d2


class Kernel(ABC):
    """A kernel k(u, v), and what is known about it."""

    name: ClassVar[str]
    #: k(u, v) = K(u - v): Lemma 1 then gives a Toeplitz matrix on a uniform grid.
    translation_invariant: ClassVar[bool] = False
    #: k_ii = 1 (report 836, section 2.1, first property).
    unit_diagonal: ClassVar[bool] = False
    #: k_i(.) >= 0 (second property).
    nonnegative: ClassVar[bool] = False
    #: a larger distance gives a smaller kernel (third property).
    decreasing: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, U: Array, V: Array) -> Array:
        """Evaluate all k(u, v): `U` of shape (m, D), `V` of shape (n, D), result (m, n)."""

    @abstractmethod
    def pairs(self, U: Array, V: Array) -> Array:
        """Evaluate k(u_i, v_i): both of shape (..., D), result (...)."""


class RadialKernel(Kernel):
    """A kernel that is a function of the Euclidean distance alone."""

    translation_invariant = True

    @abstractmethod
    def of_squared_distance(self, d2: Array) -> Array:
        """Evaluate the kernel as a function of |u - v|^2, element by element."""

    def __call__(self, U: Array, V: Array) -> Array:
        """Evaluate all k(u, v): `U` of shape (m, D), `V` of shape (n, D), result (m, n)."""
        return self.of_squared_distance(squared_distances(U, V))

    def pairs(self, U: Array, V: Array) -> Array:
        """Evaluate k(u_i, v_i): both of shape (..., D), result (...)."""
        return self.of_squared_distance(pair_distances(U, V))


@dataclass(frozen=True)
class Gaussian(RadialKernel):
    """k(u, v) = exp(-|u - v|^2 / (2 sigma^2)): report 836 (15); Decherchi et al., section 3.4.

    Some authors write exp(-|u - v|^2 / s^2); their s is sqrt(2) sigma.

    Parameters
    ----------
    sigma : float
        Width, in the unit of the inputs; positive and finite.

    Raises
    ------
    KerncastError
        E220 where sigma is not a positive finite number.
    """

    sigma: float

    name = "gaussian"
    unit_diagonal = True
    nonnegative = True
    decreasing = True

    def __post_init__(self) -> None:
        if not is_real(self.sigma) or not _SIGMA_MIN <= self.sigma <= _SIGMA_MAX:  # also refuses NaN
            raise fail("E220", "the width of the Gaussian kernel is out of range", where="sigma",
                       value=self.sigma, allowed=f"a number from {_SIGMA_MIN:g} to {_SIGMA_MAX:g}",
                       remedy="try the typical distance between neighbouring samples")

    def of_squared_distance(self, d2: Array) -> Array:
        """Evaluate exp(-d2 / (2 sigma^2)), element by element."""
        return np.asarray(np.exp(d2 / (-2.0 * self.sigma * self.sigma)), dtype=np.float64)


#: Every kernel by its name in a spec.
KERNELS: dict[str, type[Kernel]] = {Gaussian.name: Gaussian}


def gaussian(U: Array, V: Array, sigma: float) -> Array:
    """Gaussian kernel matrix.

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
        E220 where sigma is not a positive finite number.
    """
    return Gaussian(sigma)(U, V)


def gaussian_of_distance(d2: Array, sigma: float) -> Array:
    """Gaussian kernel of **squared** distances `d2`, of any shape: exp(-d2 / (2 sigma^2))."""
    return Gaussian(sigma).of_squared_distance(d2)


def require(kernel: Kernel, user: str, *properties: str) -> None:
    """Refuse a kernel that lacks a property which an algorithm builds on.

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
        E231 with the properties that are missing.
    """
    missing = [name for name in properties if not getattr(kernel, name)]
    if missing:
        able = [name for name, kind in KERNELS.items() if all(getattr(kind, p) for p in properties)]
        raise fail("E231", f"{user} needs a kernel that is {', '.join(missing).replace('_', ' ')}",
                   where="kernel", value=kernel.name, allowed=", ".join(able),
                   remedy="choose one of these kernels, or another algorithm")
