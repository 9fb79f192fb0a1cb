"""sim.data: the file of a model trained elsewhere.

It contains vectors, coefficients and intercept.

``f(x) = sum_i alpha_i k(v_i, x) + b``, in real numbers.  The file is JSON of plain numbers: it contains no
code, and has the same bytes on every machine::

    {"format": "kerncast model 1", "origin": "SVC", "kernel": {"type": "gaussian", "sigma": 10.0},
     "classes": [3, 8], "scale": [1.0, ...], "bias": 0.25, "alpha": [...], "vectors": [[...], ...]}

``classes`` is empty, or the labels for f below and above 0; x is a sample divided by ``scale``, column by
column.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from .._arrays import Array
from .._files import read_text
from .._json import parse_json
from ..choices import KERNEL_KEYS
from ..errors import KerncastError, fail
from ..kernels import Kernel, make_kernel
from ..spec import Spec

FORMAT = "kerncast model 1"
_KEYS = ("format", "origin", "kernel", "classes", "scale", "bias", "alpha", "vectors")


@dataclass(frozen=True)
class TrainedModel:
    """Kernel expansion in real numbers.

    Parameters
    ----------
    kernel : dict
        ``type`` and its parameters, as in [kernel] of a spec.
    vectors : ndarray of float64, shape (N, D)
        Expansion vectors, in units of x.
    alpha : ndarray of float64, shape (N,)
        Coefficients, in units of y.
    bias : float
        Intercept, in units of y.
    classes : tuple
        The two labels of a classifier, for f <= 0 and f > 0; else empty.
    scale : ndarray of float64, shape (D,), or ()
        x is a sample in the units of training, divided by this.
    origin : str
        The class of estimator that trained it.
    """

    kernel: dict[str, Any]
    vectors: Array
    alpha: Array
    bias: float
    classes: tuple[Any, ...] = ()
    scale: Array = field(default_factory=lambda: np.ones(()))
    origin: str = ""

    @property
    def function(self) -> Kernel:
        """Return the kernel in float64."""
        return make_kernel({"kernel": self.kernel["type"]} | {
            key: repr(self.kernel[key]) for key in KERNEL_KEYS[self.kernel["type"]]})

    @property
    def scales(self) -> Array:
        """Return the scale of each column, shape (D,)."""
        return np.broadcast_to(self.scale, self.vectors.shape[1:])

    def as_dict(self) -> dict[str, Any]:
        """Return its numbers, for the evidence of a plan."""
        return {"origin": self.origin, "kernel": self.kernel, "classes": list(self.classes),
                "scale": self.scales.tolist(), "bias": self.bias, "alpha": self.alpha.tolist()}

    def to_json(self) -> str:
        """Return the text of its file.

        Numbers are in the shortest exact form, with one vector per line.
        """
        lines = [f"{json.dumps(key)}: {json.dumps(value)}"
                 for key, value in ({"format": FORMAT} | self.as_dict()).items()]
        rows = ",\n  ".join(json.dumps(_short(row)) for row in self.vectors)
        return "{" + ",\n ".join([*lines, f'"vectors": [\n  {rows}]']) + "}\n"


def _short(row: Array) -> list[float | int]:
    return [int(v) if v.is_integer() and abs(v) < 2**53 and math.copysign(1, v) > 0 else v
            for v in row.tolist()]


def digest(text: str) -> str:
    """Return the SHA-256 of a model's file, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_model(text: str, where: str) -> TrainedModel:
    """Parse the text of :meth:`TrainedModel.to_json`; raise E275 if it is invalid."""
    try:
        whole = parse_json(text)
        missing = [key for key in _KEYS if key not in whole]
        if missing or whole["format"] != FORMAT:
            raise ValueError(f"no {missing[0]}" if missing else f"format {whole['format']!r}")
        vectors, alpha = (np.array(whole[key], dtype=np.float64) for key in ("vectors", "alpha"))
        if vectors.ndim != 2 or not vectors.size or alpha.shape != vectors.shape[:1]:
            raise ValueError(f"vectors {vectors.shape} and alpha {alpha.shape}")
        bias, kernel, classes = float(whole["bias"]), dict(whole["kernel"]), tuple(whole["classes"])
        if not (np.isfinite(vectors).all() and np.isfinite(alpha).all() and math.isfinite(bias)):
            raise ValueError("NaN or infinity")
        scale = np.array(whole["scale"], dtype=np.float64)
        if len(classes) not in (0, 2) or not all(isinstance(label, str | int | float) for label in classes):
            raise ValueError("the classes are not two numbers or two texts")
        if scale.shape != vectors.shape[1:] or not (np.isfinite(scale).all() and np.all(scale > 0)):
            raise ValueError(f"a scale of shape {scale.shape}, or one that is not positive and finite")
        model = TrainedModel(kernel, vectors, alpha, bias, classes, scale, str(whole["origin"]))
        _ = model.function
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, KerncastError) as error:
        reason = error.problems[0].message if isinstance(error, KerncastError) else str(error)
        raise fail("E275", f"not the file of a trained model: {reason[:120]}", where=where,
                   value=where.rpartition("/")[2], allowed="a file written by kerncast.export",
                   remedy="export the model again") from None
    return model


def load_model(spec: Spec) -> TrainedModel:
    """Load the model whose file [predictor] names, relative to the spec.

    Raises
    ------
    KerncastError
        E275 if it is unreadable, E276 if its hash differs from the spec's, E277 if it does not match the
        spec.
    """
    assert spec.predictor is not None
    path = spec.folder / spec.predictor.file
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise fail("E275", f"cannot read the trained model: {reason}", where="[predictor] file",
                   value=str(path),
                   allowed="a file written by kerncast.export; the path is relative to the " "spec",
                   remedy="check the path, or export the model again") from None
    found = digest(text)
    if spec.predictor.sha256 not in (None, found):
        raise fail("E276", "the trained model differs from the one that the spec names",
                   where="[predictor] sha256", value=f"{found} of {path}", allowed=str(spec.predictor.sha256),
                   remedy="export the model again, which writes both; or write the new hash into sha256")
    model = read_model(text, str(path))
    check_fit(spec, model)
    return model


def model_file(spec: Spec) -> dict[str, str]:
    """Return name and text of the file of [predictor], to copy it with the spec.

    Without one the result is empty.

    A file outside the spec's folder cannot be copied along and is omitted.
    """
    if spec.predictor is None:
        return {}
    name = PurePosixPath(spec.predictor.file)
    path = spec.folder / spec.predictor.file
    if name.is_absolute() or ".." in name.parts or "\\" in spec.predictor.file or not path.is_file():
        return {}
    return {str(name): read_text(path)}


def check_fit(spec: Spec, model: TrainedModel) -> None:
    """Raise E277 if columns or kernel of a model differ from its spec's."""
    if model.vectors.shape[1] != spec.input.columns:
        raise fail("E277", "the trained model and the spec have different numbers of columns",
                   where="[input] columns",
                   value=spec.input.columns, allowed=str(model.vectors.shape[1]),
                   remedy="correct columns in [input], or export the model again")
    asked = {"type": spec.kernel.type, **spec.kernel.parameters}
    if model.kernel != asked:
        raise fail("E277", "the trained model has another kernel than the spec",
                   where="[kernel] type", value=str(asked), allowed=str(model.kernel),
                   remedy="write this kernel into [kernel], or train and export again")
