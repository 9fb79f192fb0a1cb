"""sim.interop: convert a fitted scikit-learn estimator to a kernel expansion.

The expansion is read from the estimator's attributes. The module does not import scikit-learn: it recognises
an estimator by its class name.  The decision functions are:

====================================  ==============================================================
SVC, NuSVC, SVR, NuSVR, OneClassSVM   ``dual_coef_ k(support_vectors_, x) + intercept_``; for more than
                                      two classes see :mod:`.multiclass`
KernelRidge                           ``dual_coef_ k(X_fit_, x)``
GaussianProcessRegressor, the mean    ``_y_train_std c alpha_ k(X_train_, x) + _y_train_mean``, for the
                                      kernel ``c k`` plus white noise
Toeplitz and kernel RLS, kernel LMS   ``dual_coef_ k(vectors, x) + intercept_`` (estimators of kerncast)
====================================  ==============================================================

A scaler before the estimator divides each column by a number, and so does a Gaussian process with one length
scale per column. These numbers are the `scale` of the model, and become factors of the gains of the columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array
from ..choices import ARGMAX
from ..data.predictor_file import TrainedModel
from ..errors import KerncastError, fail
from ..kernels import Kernel, Polynomial
from .multiclass import one_vs_rest, pairwise


def _name(estimator: object) -> str:
    return type(estimator).__name__


def _array(estimator: object, attribute: str) -> Array:
    """Return a fitted attribute of an estimator as float64.

    Raise E270 if it is missing, E274 if it is sparse.
    """
    found = getattr(estimator, attribute, None)
    if found is None:
        raise fail("E270", "the estimator is not fitted", where=_name(estimator), value=f"no {attribute}",
                   allowed="an estimator after fit(X, y)", remedy="fit the estimator first")
    if hasattr(found, "toarray"):
        raise fail("E274", "the support vectors of the estimator are sparse",
                   where=f"{_name(estimator)}.{attribute}",
                   value=type(found).__name__, allowed="dense arrays",
                   remedy="fit the estimator with a dense array: X.toarray()")
    return np.asarray(found, dtype=np.float64)


def _columns(alpha: Array) -> Array:
    """Reshape coefficients to (N,) for one output, or (N, C) for several."""
    columns = alpha.reshape(len(alpha), -1)
    return columns.ravel() if columns.shape[1] == 1 else columns


def _no_kernel(estimator: object, kernel: object, allowed: str) -> KerncastError:
    return fail("E272", "this kernel is not supported on the device", where=f"{_name(estimator)}.kernel",
                value=str(kernel)[:80], allowed=allowed,
                remedy="fit the estimator with one of these; rbf suits most data")


def _named_kernel(estimator: Any, gamma: float) -> dict[str, Any]:
    """Convert a kernel of scikit-learn to the keys of [kernel] in a spec.

    Raise E272 if the kernel is not supported.
    """
    kind = estimator.kernel
    allowed = "rbf, laplacian, poly with gamma > 0, linear; KernelRidge also RBF and Matern objects"
    if not isinstance(kind, str):
        raise _no_kernel(estimator, kind, allowed)
    if kind == "linear":
        return {"type": "linear"}
    if not gamma > 0:
        raise _no_kernel(estimator, f"{kind}, gamma = {gamma}", allowed)
    if kind == "rbf":
        return {"type": "gaussian", "sigma": math.sqrt(0.5 / gamma)}
    if kind == "laplacian":
        return {"type": "laplacian", "sigma": 1.0 / gamma}
    if kind in ("poly", "polynomial") and float(estimator.degree).is_integer():
        return {"type": "polynomial", "degree": int(estimator.degree), "gamma": gamma,
                "coef0": float(estimator.coef0)}
    raise _no_kernel(estimator, kind, allowed)


def _support_vectors(estimator: Any) -> TrainedModel:
    """Convert a support vector machine.

    With two classes, a positive output means the second class.
    """
    vectors = _array(estimator, "support_vectors_")
    classes = tuple(np.asarray(getattr(estimator, "classes_", ())).tolist())
    kernel = _named_kernel(estimator, float(getattr(estimator, "_gamma", 0.0)))
    if len(classes) > 2:
        return pairwise(estimator, kernel, vectors, _array(estimator, "dual_coef_"),
                        _array(estimator, "intercept_"))
    if _name(estimator) == "OneClassSVM":
        classes = (-1, 1)
    return TrainedModel(kernel, vectors, _array(estimator, "dual_coef_").ravel(),
                        float(_array(estimator, "intercept_").ravel()[0]), classes)


def _ridge(estimator: Any) -> TrainedModel:
    """Convert KernelRidge, which has no intercept; gamma is 1 / D by default."""
    alpha, vectors = _array(estimator, "dual_coef_"), _array(estimator, "X_fit_")
    if hasattr(estimator.kernel, "theta"):  # a kernel of Gaussian processes
        weights = _columns(alpha)
        return _of_covariance(estimator, estimator.kernel, vectors, weights, np.zeros(1))
    gamma = 1.0 / vectors.shape[1] if estimator.gamma is None else float(estimator.gamma)
    return _regression(_named_kernel(estimator, gamma), vectors, _columns(alpha), np.zeros(1))


def _regression(kernel: dict[str, Any], vectors: Array, alpha: Array, bias: Array,
                **more: Any) -> TrainedModel:
    """Return a regression model; `bias` has one element, or one per column of alpha."""
    given: Any = float(bias[0]) if alpha.ndim == 1 else np.broadcast_to(bias, alpha.shape[1:]).copy()
    return TrainedModel(kernel, vectors, alpha, given, **more)


class _Covariance(NamedTuple):
    """Covariance of two different samples, ``factor k(x / scale) + constant``.

    `kind` is the type of k in [kernel].
    """

    factor: float
    constant: float
    scale: Array | None
    kind: str = ""


#: Matern kernels by their smoothness; the limit is the RBF.
_SMOOTHNESS = {1.5: "matern32", 2.5: "matern52", math.inf: "gaussian"}
_CURVED = "ConstantKernel * RBF + WhiteKernel, or parts of it; or Matern, nu = 1.5 or 2.5, instead of RBF"


def _covariance(estimator: object, kernel: Any) -> _Covariance:
    """Convert a covariance kernel with at most one RBF or Matern to its covariance.

    The kernel may contain sums and products of constants, white noise and one RBF or Matern. Raise E272 for
    any other kernel.
    """
    kind = _name(kernel)
    known = "gaussian" if kind == "RBF" else _SMOOTHNESS.get(kernel.nu) if kind == "Matern" else None
    if known is not None:
        return _Covariance(1.0, 0.0, np.atleast_1d(np.asarray(kernel.length_scale, dtype=np.float64)), known)
    if kind == "ConstantKernel":
        return _Covariance(0.0, float(kernel.constant_value), None)
    if kind == "WhiteKernel":
        return _Covariance(0.0, 0.0, None)
    if kind in ("Sum", "Product"):
        a, b = _covariance(estimator, kernel.k1), _covariance(estimator, kernel.k2)
        if a.scale is None or b.scale is None:
            curved, plain = (a, b) if b.scale is None else (b, a)
            if kind == "Sum":
                return curved._replace(constant=a.constant + b.constant)
            return curved._replace(factor=curved.factor * plain.constant,
                                   constant=curved.constant * plain.constant)
    raise _no_kernel(estimator, kernel, _CURVED)


def _gaussian_process(estimator: Any) -> TrainedModel:
    """Convert the posterior mean of a Gaussian process, in the units of the targets."""
    vectors, alpha = _array(estimator, "X_train_"), _array(estimator, "alpha_")
    mean, deviation = (np.ravel(np.asarray(getattr(estimator, name), dtype=np.float64)) for name in
                       ("_y_train_mean", "_y_train_std"))
    weights = _columns(alpha) * (deviation if alpha.size > len(alpha) else deviation[0])
    return _of_covariance(estimator, estimator.kernel_, vectors, weights, mean)


def _of_covariance(estimator: Any, kernel: Any, vectors: Array, weights: Array, mean: Array) -> TrainedModel:
    """Convert an expansion with a kernel of Gaussian processes.

    Raise E272 if the kernel has no distance.
    """
    found = _covariance(estimator, kernel)
    if found.scale is None:
        raise _no_kernel(estimator, kernel, _CURVED)
    bias = mean + found.constant * np.atleast_1d(weights.sum(axis=0))
    scale = np.broadcast_to(found.scale, vectors.shape[1:])
    if np.all(scale == scale[0]):
        return _regression({"type": found.kind, "sigma": float(scale[0])}, vectors, found.factor * weights,
                           bias)
    return _regression({"type": found.kind, "sigma": 1.0}, vectors / scale, found.factor * weights, bias,
                       scale=np.array(scale))


def _ours(estimator: Any) -> TrainedModel:
    """Convert an estimator of kerncast."""
    alpha = _array(estimator, "dual_coef_")
    if getattr(estimator, "coef_", None) is not None and hasattr(estimator, "_learner"):
        raise fail("E271", "a linear part cannot be exported", where=_name(estimator),
                   value="linear", allowed="an estimator without a linear part",
                   remedy="fit the estimator without `linear`")
    kernel, vectors, weights = (
        estimator._expansion if hasattr(estimator, "_expansion") else
        (estimator._learner.kernel, estimator.support_vectors_, alpha))
    classes = tuple(np.asarray(getattr(estimator, "classes_", ())).tolist())
    columns = _columns(np.asarray(weights)) if alpha.size else np.ravel(weights)
    return _regression(_own_kernel(kernel), np.asarray(vectors), columns,
                       np.ravel(np.asarray(estimator.intercept_, dtype=np.float64)), classes=classes,
                       decision=ARGMAX if classes and columns.ndim == 2 else "")


def _own_kernel(kernel: Kernel) -> dict[str, Any]:
    """Convert a kernel of :mod:`..kernels` to the keys of [kernel] in a spec."""
    parameters = {f.name: getattr(kernel, f.name) for f in fields(kernel)}  # type: ignore[arg-type]
    if isinstance(kernel, Polynomial) and kernel.name == "linear":
        parameters = {}
    return {"type": kernel.name, **parameters}


def _pipeline(estimator: Any) -> TrainedModel:
    """Convert a pipeline that consists of column scalers and a supported estimator."""
    *scalers, last = (step for _, step in estimator.steps if step not in (None, "passthrough"))
    model = known_model(last)
    for scaler in reversed(scalers):
        scale, shift = _scaling(scaler, len(model.scales))
        if model.kernel["type"] in ("linear", "polynomial") or np.any(scale <= 0):
            raise fail("E271", "a scaler in the pipeline requires a kernel that depends on u - v only",
                       where=_name(scaler),
                       value=str(model.kernel["type"]), allowed="rbf, laplacian, Matern",
                       remedy="remove the scaler from the pipeline, scale the samples before you fit the "
                              "estimator, and pass input=dict(offset=..., gain=...)")
        # x = (sample / scale - shift) / model.scale: kernels of u - v ignore a shift common to u and v.
        model = replace(model, vectors=model.vectors + shift / model.scales, scale=model.scales * scale)
    return model


def _scaling(scaler: Any, columns: int) -> tuple[Array, Array]:
    """Return the scale and the shift of a fitted scaler, each of shape (D,).

    The scaler computes ``sample / scale - shift``. Raise E271 for a scaler that is not supported.
    """
    kind, ones = _name(scaler), np.ones(columns)
    if kind == "StandardScaler":
        scale = ones if scaler.scale_ is None else _array(scaler, "scale_")
        mean = 0.0 * ones if scaler.mean_ is None or not scaler.with_mean else _array(scaler, "mean_")
        return scale, mean / scale
    if kind == "MinMaxScaler" and not scaler.clip:
        return 1.0 / _array(scaler, "scale_"), -_array(scaler, "min_")
    if kind == "MaxAbsScaler":
        return _array(scaler, "scale_"), 0.0 * ones
    raise _unknown(scaler, "StandardScaler, MinMaxScaler or MaxAbsScaler before the estimator")


READERS: dict[str, Callable[[Any], TrainedModel]] = {
    **dict.fromkeys(("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"), _support_vectors),
    "KernelRidge": _ridge, "GaussianProcessRegressor": _gaussian_process, "Pipeline": _pipeline,
    "OneVsRestClassifier": lambda estimator: one_vs_rest(estimator, known_model),
    **dict.fromkeys(("ToeplitzRLSRegressor", "ToeplitzRLSClassifier", "KernelRLSRegressor",
                     "KernelRLSClassifier", "KernelLMSRegressor", "KernelLMSClassifier"), _ours)}


def _unknown(estimator: object, allowed: str) -> KerncastError:
    return fail("E271", "this kind of estimator cannot be exported", where="estimator",
                value=_name(estimator), allowed=allowed,
                remedy="use one of the allowed estimators, or write the model file yourself "
                       "(see kerncast.sim.data.predictor_file)")


def known_model(estimator: object) -> TrainedModel:
    """Convert a fitted estimator to a trained model.

    Parameters
    ----------
    estimator : estimator
        An instance of one of the classes in :data:`READERS`, or of a subclass.

    Raises
    ------
    KerncastError
        E270 if it is not fitted, E271 if its class is not supported, E272 if its kernel is not supported,
        E273 if its classes or outputs cannot be exported together, E274 if its support vectors are sparse.
    """
    names = [kind.__name__ for kind in type(estimator).__mro__
             if kind.__module__.partition(".")[0] in ("sklearn", __name__.partition(".")[0])]
    reader = next((READERS[name] for name in names if name in READERS), None)
    if reader is None:
        raise _unknown(estimator, ", ".join(READERS))
    model = reader(estimator)
    if not model.alpha.size:
        raise fail("E270",
                   "the estimator has no support vectors, so it predicts the same value for every sample",
                   where=_name(estimator), value="0 vectors", allowed="an estimator with support vectors",
                   remedy="for an SVR, lower epsilon (it exceeds all errors) or raise C; then fit the "
                          "estimator again")
    return replace(model, origin=_name(estimator))
