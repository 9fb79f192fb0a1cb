"""sim.reference: the first row of the Toeplitz kernel matrix, in O(n) memory.

S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate Regularized Least Squares by
Toeplitz Matrix": Lemma 1 (uniform sampling, exact) and Lemma 2 (nearest Toeplitz matrix).
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import finite_array
from ..errors import fail
from ..kernels import NEEDS, Gaussian, Kernel, require

Array = NDArray[np.float64]
Scheme = Literal["uniform", "diagonal_mean", "diagonal_mean_biased"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)

# A grid counts as uniform where no sample lies further from it than this part of a step: .01 %
# of jitter costs less than .01 % in alpha, 1 % costs .8 %.  Rounding of the samples themselves
# (a clock that counts from 1970) is allowed for on top, up to a thousandth of a step.
_JITTER = 1e-6
_ROUNDING_JITTER = 1e-3


def first_row(X: ArrayLike, sigma: float, scheme: str = "auto") -> Array:
    """First row r of the Toeplitz matrix T that stands for the Gaussian kernel matrix K of `X`.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n,)
        Samples, in the order that defines the diagonals.
    sigma : float
        Width of the Gaussian kernel, in the unit of `X`.
    scheme : {"auto", "uniform", "diagonal_mean", "diagonal_mean_biased"}
        ``uniform`` is Lemma 1, r_j = K(j Delta), exact; ``diagonal_mean`` is Lemma 2, the mean
        of diagonal j of K; ``diagonal_mean_biased`` divides the same sums by n, not by n - j;
        ``auto`` is uniform where `X` is a uniform grid of one column, else diagonal_mean_biased.

    Returns
    -------
    r : ndarray of shape (n,)
        T[i, j] = r[|i - j|]; r[0] = 1.  lambda is not yet added.

    Raises
    ------
    KerncastError
        E220 sigma, E222 unknown scheme, E223 samples that are not a uniform grid, E224 `X`.

    Notes
    -----
    Time O(n^2 D) (O(n) if uniform), memory O(n D): one diagonal at a time, never the matrix.

    T of diagonal_mean is the nearest Toeplitz matrix in the Frobenius norm, but it is often
    indefinite for samples in random order.  T of diagonal_mean_biased is positive semidefinite
    by construction (a mean of the shifted, zero-padded kernel matrices), which is why auto
    takes it.  On shuffled multivariate data both discard most of what K knows: the entries of a
    diagonal have nothing in common, r_1, r_2, ... are all near the mean of K, and the machine
    comes close to a kernel-mean (Parzen) classifier.  A small Frobenius distance does not
    predict a small test error.
    """
    X = as_samples(X)
    return kernel_first_row(X, Gaussian(sigma), choose_scheme(X) if scheme == "auto" else scheme)


def kernel_first_row(X: Array, kernel: Kernel, scheme: str) -> Array:
    """As :func:`first_row`, for any translation-invariant kernel and a scheme that is not auto."""
    require(kernel, "the Toeplitz trainer", *NEEDS["toeplitz_rls"])
    if check_scheme(scheme) == "uniform":
        return uniform_first_row(len(X), grid_step(X), kernel)
    return _diagonal_sums(X, kernel) / _divisors(len(X), scheme)


def uniform_first_row(n: int, step: float, kernel: Kernel) -> Array:
    """r_j = K(j Delta), j = 0 .. n-1: Lemma 1, equations (6) and (7).

    Parameters
    ----------
    n : int
        Number of samples.
    step : float
        Delta, the distance of neighbouring samples, in the unit of the inputs.
    kernel : Kernel
        Translation invariant.

    Returns
    -------
    r : ndarray of shape (n,)
    """
    grid = step * np.arange(n, dtype=np.float64)[:, np.newaxis]
    return kernel.pairs(grid, np.zeros(1))


def choose_scheme(X: Array) -> Scheme:
    """Return the scheme that ``auto`` stands for on samples `X` of shape (n, D)."""
    return "uniform" if X.shape[1] == 1 and _is_uniform(X[:, 0]) else "diagonal_mean_biased"


def check_scheme(scheme: str, others: tuple[str, ...] = ()) -> Scheme:
    """Return `scheme` if it is one of `SCHEMES`, else raise E222, which names `others` as allowed too."""
    if scheme not in SCHEMES:
        raise fail("E222", "there is no such scheme for the first row", where="scheme",
                   value=repr(scheme), allowed=", ".join(("auto", *SCHEMES, *others)),
                   remedy="use auto, or uniform for a uniformly sampled signal")
    return scheme


def grid_step(X: Array) -> float:
    """Return Delta of a uniform grid `X` of shape (n, 1), of either sign; E223 if it is none."""
    if X.shape[1] != 1:
        raise fail("E223", "scheme uniform takes samples of one column", where="X",
                   value=f"{X.shape[1]} columns", allowed="shape (n, 1)",
                   remedy="use scheme diagonal_mean_biased")
    if not _is_uniform(X[:, 0]):
        raise fail("E223", "the samples are not equally spaced in the order given", where="X",
                   value=f"steps from {np.diff(X[:, 0]).min():g} to {np.diff(X[:, 0]).max():g}",
                   allowed=f"x_j = x_0 + j Delta within {_JITTER:g} Delta",
                   remedy="sort the samples, resample onto a grid, or use scheme diagonal_mean_biased")
    return _mean_step(X[:, 0])


def as_samples(X: ArrayLike) -> Array:
    """Return `X` as a finite float64 array of shape (n, D), n and D at least 1; E224 if it is none."""
    X = finite_array(X, "X", "E224")
    if X.ndim == 1:
        X = X[:, np.newaxis]
    if X.ndim != 2 or X.size == 0:
        raise fail("E224", "the samples have no usable shape", where="X", value=X.shape,
                   allowed="(n, D) or (n,), n and D at least 1", remedy="one row per sample")
    return X


def _diagonal_sums(X: Array, kernel: Kernel) -> Array:
    """Sum each diagonal j of K, shape (n,), one diagonal at a time."""
    n = len(X)
    return np.array([kernel.pairs(X[: n - j], X[j:]).sum() for j in range(n)])


def _divisors(n: int, scheme: str) -> Array:
    """Divide the sums by these: the length n - j of the diagonal (Lemma 2), or n (biased)."""
    return np.full(n, float(n)) if scheme == "diagonal_mean_biased" else np.arange(n, 0.0, -1.0)


def _mean_step(x: Array) -> float:
    return float((x[-1] - x[0]) / (len(x) - 1)) if len(x) > 1 else 0.0


def _is_uniform(x: Array) -> bool:
    step = _mean_step(x)
    with np.errstate(over="ignore", invalid="ignore"):  # a NaN deviation is not within tolerance
        deviation = np.abs(x - (x[0] + step * np.arange(len(x)))).max()
        rounding = min(4.0 * np.finfo(np.float64).eps * np.abs(x).max(), _ROUNDING_JITTER * abs(step))
    return bool(deviation <= _JITTER * abs(step) + rounding)
