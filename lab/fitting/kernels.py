"""lab.fitting: find the width at which another kernel smooths equally.

On a long uniform grid of step 1, kernel least squares is a filter with the gain S(w) / (S(w) + lambda), where
S is the spectral density of the kernel and w the angular frequency. Two kernels smooth as much if their
filters have the same cutoff, the frequency with S(w) = lambda. The densities are those of C. E. Rasmussen
and C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006, equations 4.8 (Gaussian) and 4.15
(Matern).
"""

from __future__ import annotations

import math

#: Smoothness nu of the kernels of the Matern family; that of the Gaussian kernel is infinite.
_SMOOTHNESS = {"laplacian": 0.5, "matern32": 1.5, "matern52": 2.5}
#: Steps of the searches: the result is within a relative 1e-4.
_HALVINGS = 40


def density(kernel: str, sigma: float, frequency: float) -> float:
    """Return the spectral density of a kernel on the line.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "matern32", "matern52"}
    sigma : float
        Width, in units of x.
    frequency : float
        Angular frequency, in radians per unit of x.
    """
    if kernel == "gaussian":
        return math.sqrt(2 * math.pi) * sigma * math.exp(-0.5 * min((sigma * frequency)**2, 1e3))
    nu = _SMOOTHNESS[kernel]
    rate = 2 * nu / sigma**2
    ratio = math.gamma(nu + 0.5) / math.gamma(nu)
    return 2 * math.sqrt(math.pi) * ratio * math.pow(rate, nu) / math.pow(rate + frequency**2, nu + 0.5)


def cutoff(kernel: str, sigma: float, lam: float) -> float:
    """Return the frequency at which the gain is 1/2; 0 if there is none."""
    low, high = 0.0, 1e3 / sigma
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if density(kernel, sigma, middle) > lam else (low, middle)
    return low if low > 0 else 0.0


def equivalent_width(kernel: str, sigma: float, lam: float, other: str) -> float:
    """Return the width of another kernel with the same cutoff and lambda.

    The result is `sigma` if there is no cutoff, or if no width of `other` has it.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian", "matern32", "matern52"}
    sigma : float
        Width of `kernel`, in grid steps.
    lam : float
    other : {"laplacian", "matern32", "matern52"}
    """
    frequency = cutoff(kernel, sigma, lam)
    # From this width on, the density at the cutoff decreases.
    low = math.sqrt(2 * _SMOOTHNESS[other]) / frequency if frequency > 0 else math.inf
    if not math.isfinite(low) or density(other, low, frequency) < lam:
        return sigma
    high = 1e6 * low
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if density(other, middle, frequency) > lam else (low, middle)
    return low
