"""sim.reference.first_row: diagonal sums of a kernel matrix by random features.

The method follows A. Rahimi, B. Recht, "Random Features for Large-Scale Kernel Machines", NIPS 2007. If
frequencies w are drawn from the spectrum of the kernel, K is the mean of z z*, where z_i = exp(1j w.x_i). The
sums of the diagonals of z z* are the autocorrelation of z, which two FFTs compute, so m features need O(m n
log n) time. Each matrix z z* is positive semidefinite, and so is the Toeplitz matrix of the sums divided by
n. Division by n - j would amplify the noise of the short diagonals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._arrays import Array
from ...errors import fail
from ...kernels import DistanceKernel, Gaussian, Laplacian, Matern, Periodic
from ..options import check_count
from ..systems.system import refuse_beyond_memory

# Complex values per block.
_VALUES = 1 << 17
# Above this mean a Poisson number is normal, to every significant bit.
_NORMAL_FROM = 1e12


def random_feature_sums(X: Array, kernel: DistanceKernel, features: int = 1024, seed: int = 0,
                        dtype: str = "float64", progress: Callable[[int, int], None] | None = None) -> Array:
    """Estimate the sum of each diagonal j of K.

    Parameters
    ----------
    X : ndarray of shape (n, D)
        Samples; finite.
    kernel : DistanceKernel
    features, seed : int
        Number of features m, with an error of order 1 / sqrt(m), and the random seed.
    dtype : {"float64", "float32"}
        Type of the features.
    progress : callable, optional
        ``progress(done, total)``, with numbers of features.

    Returns
    -------
    sums : ndarray of shape (n,)
        The estimated sum of each diagonal.

    Raises
    ------
    KerncastError
        E224 if w.x overflows, E237 for too little memory, E238 for features or seed.
    """
    from scipy.fft import fft, ifft, next_fast_len

    check_count(features, "features")
    check_count(seed, "seed", 0)
    n = len(X)
    size = int(next_fast_len(2 * n - 1))
    at_once = max(1, _VALUES // size)
    refuse_beyond_memory(48 * size * at_once + 16 * size + 8 * features * X.shape[1],
                         f"random features of {n:,} samples")
    w = frequencies(kernel, X.shape[1], features, np.random.default_rng(seed)).astype(dtype)
    centred = _centred(X, w)
    power = np.zeros(size)
    for start in range(0, features, at_once):
        phase = w[start: start + at_once] @ centred.T
        z = np.cos(phase) + 1j * np.sin(phase)
        spectrum = fft(z, size, axis=1, overwrite_x=True)
        power += np.sum(spectrum.real**2 + spectrum.imag**2, axis=0, dtype=np.float64)
        if progress is not None:
            progress(min(start + at_once, features), features)
    sums = np.array(ifft(power / features)[:n].real)
    sums[0] = n  # k(x, x) = 1
    return sums


def _centred(X: Array, w: Array) -> Array:
    """Return X minus its mean in the precision of the frequencies `w`.

    Raise E224 if w.x overflows.
    """
    with np.errstate(all="ignore"):
        centred: Array = (X - X.mean(axis=0)).astype(w.dtype)
        bound = np.abs(w).max(axis=0) @ np.abs(centred).max(axis=0)
    if not np.isfinite(bound):
        raise fail("E224", "the samples are too far from each other for random features", where="X",
                   value=f"w.x beyond {w.dtype}",
                   allowed="samples whose distance, divided by the kernel width, is finite",
                   remedy="use scheme = \"diagonal_mean_biased\", or scale the samples to smaller magnitudes")
    return centred


def frequencies(kernel: DistanceKernel, columns: int, features: int, rng: np.random.Generator) -> Array:
    """Draw frequencies w from the spectrum of a kernel: k(u, v) = E cos(w.(u - v)).

    In each column, the spectrum is a normal distribution for the Gaussian kernel, and a Cauchy distribution
    for the Laplacian kernel. For the Matern kernels, it is a multivariate Student's t distribution with 2 nu
    degrees of freedom (C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006,
    section 4.2.1). For the periodic kernel, a frequency is 2 pi / period times the difference of two
    Poisson-distributed numbers with mean 1 / (2 sigma^2) (J. G. Skellam, 1946), because exp((cos t - 1) /
    sigma^2) = sum_k exp(-1 / sigma^2) I_k(1 / sigma^2) cos(k t).

    Returns
    -------
    w : ndarray of shape (features, columns)
        Frequencies in radians per unit of the inputs.
    """
    shape = (features, columns)
    if isinstance(kernel, Gaussian):
        return rng.normal(size=shape) / kernel.sigma
    if isinstance(kernel, Laplacian):
        return rng.standard_cauchy(size=shape) / kernel.sigma
    if isinstance(kernel, Matern):
        normal, freedom = rng.normal(size=shape), 2.0 * kernel.nu
        return np.asarray(normal / kernel.sigma / np.sqrt(rng.chisquare(freedom, (features, 1)) / freedom))
    assert isinstance(kernel, Periodic)
    mean = 0.5 / kernel.sigma**2
    if mean > _NORMAL_FROM:
        number = np.rint(rng.normal(size=shape) / kernel.sigma)
    else:
        number = (rng.poisson(mean, shape) - rng.poisson(mean, shape)).astype(np.float64)
    return np.asarray(number * (2.0 * np.pi / kernel.period))
