"""sim.reference.selection: leave-one-out errors from a single training run.

The formula is LOOE = c / diag(G^-1) of R. Rifkin, "Regularized Least Squares", lecture notes of MIT course
9.520, 2006; see :mod:`.path`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._arrays import Array
from ..._checks import finite_array, positive
from ...errors import fail
from ...kernels import Kernel, Linear
from ..first_row import as_samples
from ..options import check_choice, check_values, kernel_of, targets
from ..solvers.nystrom import Landmarks, partial_cholesky
from ..solvers.subset import SubsetPath
from ..systems.system import KernelSystem
from .path import CholeskyPath, EigenPath, GramPath, RidgePath, SvdPath

METHODS = ("auto", "cholesky", "eigh", "linear_svd", "linear_direct", "subset")


def loo_errors(X: ArrayLike, y: ArrayLike, sigma: float | Kernel, lams: ArrayLike, *, method: str = "auto",
               fit_intercept: bool = False, landmarks: Landmarks = None, seed: int = 0) -> Array:
    """Compute the leave-one-out errors y_i - f_i(x_i) for several lambda.

    Parameters
    ----------
    X : array_like of shape (n, D) or (n,)
        Samples.
    y : array_like of shape (n,) or (n, m)
        Targets.
    sigma : float or Kernel
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma^2)), or a kernel object.
    lams : array_like of shape (n_lams,)
        Values of lambda > 0, each added to the diagonal (not multiplied by n), or a number.
    method : {"auto", "cholesky", "eigh", "linear_svd", "linear_direct", "subset"}
        "auto" selects linear_svd for a linear kernel with fewer columns than samples, otherwise cholesky for
        one lambda and eigh for several. With subset, a left-out landmark remains a regressor.
    fit_intercept : bool
        Fit an unregularised bias, as LS-SVM does.
    landmarks, seed
        For subset: number or indices of the landmarks, and the random seed.

    Returns
    -------
    errors : ndarray of shape (n_lams, n) or (n_lams, n, m)

    Raises
    ------
    KerncastError
        E220 for sigma, E221 for lams, E224 for the samples, E225 for the targets, E237 for too little memory,
        E238 for method or landmarks, E239 if the system is too ill-conditioned for float64.

    Examples
    --------
    >>> errors = loo_errors([0., 1., 2., 3.], [0., 1., 0., 1.], 1.0, [0.1, 1.0])
    >>> errors.shape, int(np.argmin(np.mean(errors**2, axis=1)))
    ((2, 4), 1)
    """
    X = as_samples(X)
    Y = targets(y, len(X))
    kernel = kernel_of(sigma)
    values = _lambdas(lams)
    check_values(KernelSystem(kernel, X, 0.0))
    check_choice(method, "method", METHODS)
    _check_samples(len(X), fit_intercept)
    if method == "auto":
        method = _choose(kernel, X, values)
    path = _path(method, kernel, X, Y, landmarks=landmarks, seed=seed)
    return np.stack([_errors(path, lam, fit_intercept) for lam in values])


def _check_samples(n: int, fit_intercept: bool) -> None:
    """Raise E224 if leave-one-out with a bias has too few samples."""
    if fit_intercept and n < 2:
        raise fail("E224", "leave-one-out errors with a bias need at least two samples", where="X",
                   value="1 sample", allowed="2 samples or more", remedy="add samples, or omit fit_intercept")


def _errors(path: RidgePath, lam: float, fit_intercept: bool) -> Array:
    """Compute the errors for one lambda; raise E239 if float64 cannot represent them."""
    if fit_intercept and lam < np.finfo(np.float64).eps * path.largest:
        raise fail("E239", "with a bias, lambda must exceed the rounding error of K", where="lams",
                   value=lam, allowed=f"lambda above eps |K|, {np.finfo(np.float64).eps * path.largest:.1e}",
                   remedy="use a larger lambda, or omit the bias")
    with np.errstate(all="ignore"):
        errors = path.loo_errors(lam, fit_intercept)
    if not np.all(np.isfinite(errors)):
        raise fail("E239", "the errors exceed the range of float64", where="lams", value=lam,
                   allowed="lambda and targets with a finite |y| / lambda",
                   remedy="use a larger lambda, or scale the targets to smaller magnitudes")
    return errors


def _lambdas(lams: ArrayLike) -> list[float]:
    """Return the values of lambda as a list; raise E221 if any is not positive."""
    asked = np.atleast_1d(finite_array(lams, "lams", "E221"))
    if asked.ndim != 1 or not asked.size:
        raise fail("E221", "lams is not a list of numbers", where="lams", value=asked.shape,
                   allowed="shape (n_lams,), n_lams >= 1", remedy="pass a list of numbers")
    return [positive(float(lam), "lams", "E221", "start with 1") for lam in asked]


def _choose(kernel: Kernel, X: Array, lams: list[float]) -> str:
    """Return the method that "auto" selects."""
    if isinstance(kernel, Linear) and X.shape[1] < len(X):
        return "linear_svd"
    rounding = len(X) * np.finfo(np.float64).eps * float(kernel.pairs(X, X).sum())  # the trace bounds |K|
    return "cholesky" if len(lams) == 1 and lams[0] > rounding else "eigh"


def _path(method: str, kernel: Kernel, X: Array, Y: Array, **options: Any) -> RidgePath:
    """Create the regularisation path for a method."""
    system = KernelSystem(kernel, X, 0.0)
    if method == "cholesky":
        return CholeskyPath(system.dense(3), Y)
    if method == "eigh":
        return EigenPath(system.dense(4), Y)
    if method == "subset":
        return SubsetPath(partial_cholesky(system, **options), Y)
    if not isinstance(kernel, Linear):
        raise fail("E238", f"method {method} needs the linear kernel", where="method", value=kernel.name,
                   allowed="linear", remedy="use eigh")
    return (SvdPath if method == "linear_svd" else GramPath)(X, Y)
