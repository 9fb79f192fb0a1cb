"""sim.reference.first_row: the first row of the Toeplitz kernel matrix.

The computation needs O(n) memory. It follows S. Decherchi, P. Gastaldo, R. Zunino, "Efficient Approximate
Regularized Least Squares by Toeplitz Matrix". By Lemma 1, the kernel matrix of a uniform grid is a Toeplitz
matrix, and Lemma 2 gives the Toeplitz matrix that is nearest to any kernel matrix.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..._arrays import Array
from ..._checks import finite_array
from ...errors import fail
from ...kernels import NEEDS, DistanceKernel, Gaussian, Kernel, require
from .diagonal_sums import Progress, diagonal_sums
from .random_features import random_feature_sums

Scheme = Literal["uniform", "diagonal_mean", "diagonal_mean_biased", "rff"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
#: The choice of "auto" without a uniform grid.
DIAGONAL_MEANS: Scheme = "diagonal_mean_biased"

# A grid counts as uniform if no sample is further from it than this part of a step: .01 % of
# jitter costs less than .01 % in alpha, 1 % costs .8 %.  Rounding of the samples themselves (a
# clock that counts from 1970) is tolerated in addition, up to a thousandth of a step.
_JITTER = 1e-6
_ROUNDING_JITTER = 1e-3


def first_row(X: ArrayLike, sigma: float, scheme: str = "auto", *, dtype: str = "float64",
              progress: Progress | None = None, scheduler: str | None = None,
              checkpoint: str | Path | None = None, features: int = 1024, seed: int = 0) -> Array:
    """Compute the first row r of a Toeplitz approximation T of the kernel matrix.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n,)
        Samples; their order defines the diagonals of the kernel matrix.
    sigma : float
        Width of the Gaussian kernel, in the unit of `X`.
    scheme : {"auto", "uniform", "diagonal_mean", "diagonal_mean_biased", "rff"}
        ``uniform`` is r_j = K(j Delta), exact for a uniform grid (Lemma 1). ``diagonal_mean`` is the mean of
        diagonal j of K (Lemma 2); ``diagonal_mean_biased`` divides its sum by n instead of n - j. ``rff``
        estimates the biased means from random Fourier features. ``auto`` selects uniform for a uniform grid,
        otherwise diagonal_mean_biased (with a warning if there is only one column).
    dtype : {"float64", "float32"}
        Type of the kernel values or features. float32 is twice as fast, with errors of about 1e-6.
    progress : callable ``progress(done, total)``, optional
    scheduler, checkpoint : str or path, optional
        For diagonal means: address of a dask.distributed scheduler whose workers compute the sums; file for
        intermediate results, from which an interrupted run resumes.
    features, seed : int
        For rff: number of features, with an error of order 1 / sqrt(features), and their random seed.

    Returns
    -------
    r : ndarray of shape (n,)
        First row of T, so that T[i, j] = r[|i - j|]. It does not include lambda, and r[0] = 1.

    Raises
    ------
    KerncastError
        E220 for sigma, E222 for scheme, E223 if the samples are not a uniform grid, E224 for `X`, E237 for
        too little memory, E238 for features or seed, E191, E260 and E261 for the checkpoint, E262 for the
        scheduler, E263 for dtype, E501 if dask.distributed is not installed.

    Notes
    -----
    The time is O(n^2 D) for diagonal means, O(n) for uniform, and O(features n (D + log n)) for rff. T of
    diagonal_mean is closest to K in the Frobenius norm, but is often indefinite. T of diagonal_mean_biased is
    positive semidefinite, because it is a mean of shifted, zero-padded kernel matrices. For multivariate data
    in random order, both retain little of K: r_1, r_2, ... are all close to the mean of K, and the trained
    model is close to a kernel-mean (Parzen) classifier.
    """
    X = as_samples(X)
    scheme = _automatic_scheme(X) if scheme == "auto" else scheme
    return kernel_first_row(X, Gaussian(sigma), scheme, dtype=dtype, progress=progress, features=features,
                            seed=seed, scheduler=scheduler, checkpoint=checkpoint)


def kernel_first_row(X: Array, kernel: Kernel, scheme: str, *, dtype: str = "float64",
                     progress: Progress | None = None, features: int = 1024, seed: int = 0,
                     **means: Any) -> Array:
    """Compute the first row for any translation-invariant kernel; see `first_row`."""
    require(kernel, "the Toeplitz trainer", *NEEDS["toeplitz_rls"])
    if dtype not in ("float64", "float32"):
        raise fail("E263", "this precision is not supported", where="dtype", value=repr(dtype),
                   allowed="float64, float32", remedy="use float64")
    scheme, kernel = check_scheme(scheme), cast(DistanceKernel, kernel)
    if scheme == "uniform":
        return uniform_first_row(len(X), grid_step(X), kernel)
    _check_run(scheme, progress, **means)
    if scheme == "rff":
        return random_feature_sums(X, kernel, features, seed, dtype, progress) / len(X)
    return diagonal_sums(X, kernel, dtype, progress, **means) / _divisors(len(X), scheme)


def _check_run(scheme: Scheme, progress: object, scheduler: object = None, checkpoint: object = None) -> None:
    """Check progress, scheduler and checkpoint; raise E238, E262 or E191."""
    allowed = "none with scheme rff" if scheme == "rff" else ""
    if progress is not None and not callable(progress):
        raise fail("E238", "the progress callback is not callable", where="progress", value=repr(progress),
                   allowed="a function of (done, total)", remedy="omit the argument")
    if scheduler is not None and (allowed or not isinstance(scheduler, str)):
        raise fail("E262", "this is not the address of a scheduler", where="scheduler", value=repr(scheduler),
                   allowed=allowed or "the address of a dask.distributed scheduler, tcp://HOST:PORT",
                   remedy="omit the argument")
    if checkpoint is not None and (allowed or not isinstance(checkpoint, str | Path)):
        raise fail("E191", "cannot write the checkpoint", where="checkpoint", value=repr(checkpoint),
                   allowed=allowed or "the path of a file", remedy="omit the argument")


def uniform_first_row(n: int, step: float, kernel: Kernel) -> Array:
    """Return r_j = K(j Delta) for j = 0 to n - 1 (Lemma 1, equations (6) and (7)).

    Parameters
    ----------
    n : int
        Number of samples.
    step : float
        Delta, the distance between adjacent samples, in the unit of the inputs.
    kernel : Kernel
        A translation-invariant kernel.

    Returns
    -------
    r : ndarray of shape (n,)
    """
    grid = step * np.arange(n, dtype=np.float64)[:, np.newaxis]
    return kernel.pairs(grid, np.zeros(1))


def choose_scheme(X: Array) -> Scheme:
    """Return the scheme that ``auto`` selects for samples `X` of shape (n, D)."""
    return "uniform" if X.shape[1] == 1 and _is_uniform(X[:, 0]) else DIAGONAL_MEANS


def _automatic_scheme(X: Array) -> Scheme:
    """Choose the scheme; warn if it approximates the kernel matrix of a signal."""
    scheme = choose_scheme(X)
    if scheme == DIAGONAL_MEANS and X.shape[1] == 1:
        warnings.warn(f"the samples do not lie on a uniform grid, so scheme = \"{scheme}\" would discard "
                      f"most of the kernel matrix. Use solve_kernel, which is exact, or pass the scheme "
                      f"explicitly to use it anyway.", stacklevel=3)
    return scheme


def check_scheme(scheme: object, others: tuple[str, ...] = ()) -> Scheme:
    """Return `scheme` if it is valid, otherwise raise E222.

    The error lists `SCHEMES` and `others` as allowed values.
    """
    if isinstance(scheme, str) and scheme.startswith("rff_"):
        raise fail("E222", "random features support only scheme = \"rff\"", where="scheme",
                   value=repr(scheme),
                   allowed="rff", remedy="use rff; dividing by the length n - j of a short diagonal would "
                                         "multiply its error by n / (n - j) and make T indefinite")
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise fail("E222", "this scheme for the first row is not supported", where="scheme",
                   value=repr(scheme), allowed=", ".join(("auto", *SCHEMES, *others)),
                   remedy="use scheme = \"auto\", or \"uniform\" for a uniformly sampled signal")
    return scheme


def grid_step(X: Array) -> float:
    """Return the step Delta of a uniform grid `X` of shape (n, 1).

    Delta can be negative. Raise E223 if `X` is not a uniform grid.
    """
    if X.shape[1] != 1:
        raise fail("E223", "scheme = \"uniform\" needs samples of one column", where="X",
                   value=f"{X.shape[1]} columns", allowed="shape (n, 1)",
                   remedy="use scheme diagonal_mean_biased")
    if not _is_uniform(X[:, 0]):
        raise fail("E223", "the samples are not equally spaced in the order given", where="X",
                   value=f"steps from {np.diff(X[:, 0]).min():g} to {np.diff(X[:, 0]).max():g}",
                   allowed=f"x_j = x_0 + j Delta within {_JITTER:g} Delta",
                   remedy="sort the samples, resample onto a grid, or use scheme = \"diagonal_mean_biased\"")
    return _mean_step(X[:, 0])


def as_samples(X: ArrayLike) -> Array:
    """Convert `X` to a finite float64 array of shape (n, D).

    Raise E224 if this is not possible, or if n or D is 0.
    """
    X = finite_array(X, "X", "E224")
    if X.ndim == 1:
        X = X[:, np.newaxis]
    if X.ndim != 2 or X.size == 0:
        raise fail("E224", "the shape of the samples is not supported", where="X", value=X.shape,
                   allowed="(n, D) or (n,), n and D at least 1", remedy="pass one row per sample")
    return X


def _divisors(n: int, scheme: str) -> Array:
    """Return the divisors that convert the sums of the diagonals to means.

    They are n - j, the lengths of the diagonals (Lemma 2), or n for the biased means.
    """
    return np.full(n, float(n)) if scheme == "diagonal_mean_biased" else np.arange(n, 0.0, -1.0)


def _mean_step(x: Array) -> float:
    with np.errstate(over="ignore"):  # an infinite step is not that of a grid
        return float((x[-1] - x[0]) / (len(x) - 1)) if len(x) > 1 else 0.0


def _is_uniform(x: Array) -> bool:
    step = _mean_step(x)
    with np.errstate(over="ignore", invalid="ignore"):  # a NaN deviation is not within tolerance
        deviation = np.abs(x - (x[0] + step * np.arange(len(x)))).max()
        rounding = min(4.0 * np.finfo(np.float64).eps * np.abs(x).max(), _ROUNDING_JITTER * abs(step))
    return bool(deviation <= _JITTER * abs(step) + rounding)
