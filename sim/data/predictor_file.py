"""sim.data: read and write the file of a model trained elsewhere.

The model is ``f(x) = sum_i alpha_i k(v_i, x) + b``, and the file contains the vectors v_i, the coefficients
alpha_i and the intercept b in floating point. The file is JSON, so it contains no code, and its bytes are the
same on every machine::

    {"format": "kerncast model 1", "origin": "SVC", "kernel": {"type": "gaussian", "sigma": 10.0},
     "classes": [3, 8], "scale": [1.0, ...], "bias": 0.25, "alpha": [...], "vectors": [[...], ...]}

``classes`` contains the labels for f <= 0 and f > 0, and is empty for a regression. x is a sample divided by
``scale``, column by column.

A model with several outputs has ``"format": "kerncast model 2"``, a list of coefficients for each vector, and
a list of intercepts. A classifier also has a ``decision``; see :mod:`..decisions`. If there is one output per
pair of classes, the vectors are in the order of their classes, ``groups`` contains the number of vectors of
each class, and each vector has coefficients only for the pairs that contain its class.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from .._arrays import Array
from .._files import read_text
from .._json import parse_json
from ..choices import ARGMAX, KERNEL_KEYS, PAIRWISE
from ..decisions import spread
from ..errors import KerncastError, fail
from ..kernels import Kernel, make_kernel
from ..spec import Spec

FORMAT, FORMAT_SEVERAL = "kerncast model 1", "kerncast model 2"
_KEYS = ("format", "origin", "kernel", "classes", "scale", "bias", "alpha", "vectors")
_KEYS_SEVERAL = (*_KEYS, "decision", "groups")

#: Characters of the label of a class.
MOST_OF_LABEL = 200

_FORMATS = {1: FORMAT, 2: FORMAT_SEVERAL}


@dataclass(frozen=True)
class TrainedModel:
    """Kernel expansion in floating point.

    Parameters
    ----------
    kernel : dict
        ``type`` and its parameters, as in [kernel] of a spec.
    vectors : ndarray of float64, shape (N, D)
        Expansion vectors, in units of x.
    alpha : ndarray of float64, shape (N,), or (N, M) for several outputs
        Coefficients, in units of y.
    bias : float, or ndarray of float64, shape (C,)
        Intercept of each output, in units of y.
    classes : tuple
        The labels of a classifier; for two classes, those for f <= 0 and f > 0.  Empty for a regression.
    scale : ndarray of float64, shape (D,), or ()
        Divisor that converts samples from the units of the training data to x.
    origin : str
        Class name of the estimator that was trained.
    decision : str
        Rule that maps several outputs to a class; empty for a regression or one output.
    groups : tuple of int
        Number of vectors of each class, if there is one output per pair of classes; the vectors are then in
        the order of their classes. Otherwise empty.
    """

    kernel: dict[str, Any]
    vectors: Array
    alpha: Array
    bias: float | Array
    classes: tuple[Any, ...] = ()
    scale: Array = field(default_factory=lambda: np.ones(()))
    origin: str = ""
    decision: str = ""
    groups: tuple[int, ...] = ()

    @property
    def outputs(self) -> int:
        """Return the number of outputs."""
        return int(np.size(self.bias))

    @property
    def every_alpha(self) -> Array:
        """Return the coefficients of all outputs, shape (N, C), or (N,) for one output."""
        return spread(self.alpha, self.groups)

    @property
    def function(self) -> Kernel:
        """Return the kernel function in float64."""
        return make_kernel({"kernel": self.kernel["type"]} | {
            key: repr(self.kernel[key]) for key in KERNEL_KEYS[self.kernel["type"]]})

    @property
    def scales(self) -> Array:
        """Return the scale of each column, shape (D,)."""
        return np.broadcast_to(self.scale, self.vectors.shape[1:])

    def as_dict(self) -> dict[str, Any]:
        """Return the model without its vectors, for the evidence of a plan."""
        several = {"decision": self.decision, "groups": list(self.groups)} if self.alpha.ndim == 2 else {}
        return {"origin": self.origin, "kernel": self.kernel, "classes": list(self.classes), **several,
                "scale": self.scales.tolist(),
                "bias": self.bias if isinstance(self.bias, float) else self.bias.tolist(),
                "alpha": self.alpha.tolist()}

    def to_json(self) -> str:
        """Return the text of the model's file.

        Numbers are written in their shortest exact form, with one vector per line.
        """
        lines = [f"{json.dumps(key)}: {json.dumps(value)}"
                 for key, value in ({"format": _FORMATS[self.alpha.ndim]} | self.as_dict()).items()]
        rows = ",\n  ".join(json.dumps(_short(row)) for row in self.vectors)
        return "{" + ",\n ".join([*lines, f'"vectors": [\n  {rows}]']) + "}\n"


def _short(row: Array) -> list[float | int]:
    return [int(v) if v.is_integer() and abs(v) < 2**53 and math.copysign(1, v) > 0 else v
            for v in row.tolist()]


def digest(text: str) -> str:
    """Return the SHA-256 of the text of a model's file, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_model(text: str, where: str) -> TrainedModel:
    """Parse the text of a model's file; raise E275 if it is not valid."""
    try:
        whole = parse_json(text)
        several = whole.get("format") == FORMAT_SEVERAL
        missing = [key for key in (_KEYS_SEVERAL if several else _KEYS) if key not in whole]
        if missing or whole["format"] not in (FORMAT, FORMAT_SEVERAL):
            raise ValueError(f"no {missing[0]}" if missing else f"format {whole['format']!r}")
        vectors, alpha, scale, bias = (_numbers(whole[key], key)
                                       for key in ("vectors", "alpha", "scale", "bias"))
        if vectors.ndim != 2 or not vectors.size or alpha.shape[:1] != vectors.shape[:1] \
                or alpha.ndim != 1 + several or not alpha.size:
            raise ValueError(f"vectors {vectors.shape} and alpha {alpha.shape}")
        if not several and bias.ndim:
            raise ValueError("several intercepts for one output")
        kernel, classes = dict(whole["kernel"]), tuple(whole["classes"])
        if not (np.isfinite(vectors).all() and np.isfinite(alpha).all() and np.isfinite(bias).all()):
            raise ValueError("NaN or infinity")
        check_labels(classes)
        if scale.shape != vectors.shape[1:] or not (np.isfinite(scale).all() and np.all(scale > 0)):
            raise ValueError(f"a scale of shape {scale.shape}, or one that is not positive and finite")
        model = TrainedModel(kernel, vectors, alpha, bias if several else float(bias), classes, scale,
                             str(whole["origin"]),
                             *((whole["decision"], tuple(whole["groups"])) if several else ()))
        _check_outputs(model)
        _ = model.function
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, KerncastError) as error:
        reason = error.problems[0].message if isinstance(error, KerncastError) else str(error)
        raise fail("E275", f"the file does not contain a valid trained model: {reason[:120]}", where=where,
                   value=where.rpartition("/")[2], allowed="a file written by kerncast.export",
                   remedy="export the model again") from None
    return model


def _numbers(value: Any, key: str) -> Array:
    """Convert a number of JSON, or nested lists of numbers, to float64.

    Raise ValueError for text, although NumPy would convert it to numbers, and for true and false.
    """
    found = np.array(value)
    if found.dtype.kind in "USb":
        raise ValueError(f"{key} does not contain numbers")
    return found.astype(np.float64)


def check_labels(classes: Sequence[Any]) -> None:
    """Check the labels of classes.

    Raise ValueError unless the labels are numbers or short printable texts, and all different.
    """
    if not all(isinstance(label, str | int | float) for label in classes):
        raise ValueError("a class label is neither a number nor text")
    names = [str(label) for label in classes]
    for name in names:
        if not 1 <= len(name) <= MOST_OF_LABEL or not name.isprintable():
            raise ValueError(f"{name[:40]!r} cannot be the label of a class: a label has 1 to "
                             f"{MOST_OF_LABEL} printable characters")
    if len(set(names)) < len(names):
        raise ValueError("two classes have the same label")


def _check_outputs(model: TrainedModel) -> None:
    """Raise ValueError if classes, decision, groups and shapes are not consistent."""
    classes, columns = len(model.classes), model.alpha.shape[1] if model.alpha.ndim == 2 else 0
    if not columns:
        if classes not in (0, 2):
            raise ValueError("one output, but not two classes")
        return
    pairwise = model.decision in PAIRWISE
    expected = {"": (0, model.outputs), ARGMAX: (model.outputs, model.outputs)}.get(
        model.decision, (classes, classes - 1) if pairwise else (-1, -1))
    if (classes, columns) != expected or not model.outputs >= 1:
        raise ValueError(f"decision {model.decision!r} with {classes} classes and {columns} coefficients "
                         "per vector")
    if not pairwise:
        if model.groups:
            raise ValueError("groups, but not one output per pair of classes")
        return
    if (classes < 3 or model.outputs != classes * (classes - 1) // 2 or len(model.groups) != classes
            or not all(isinstance(count, int) and count >= 0 for count in model.groups)
            or sum(model.groups) != len(model.vectors)):
        raise ValueError(f"groups {list(model.groups)[:8]} do not match {classes} classes")


def load_model(spec: Spec) -> TrainedModel:
    """Load the model from the file that [predictor] of a spec names.

    Raises
    ------
    KerncastError
        E275 if the file cannot be read or is not valid, E276 if its hash is not the one in the spec, E277 if
        the model does not match the spec.
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
                   remedy="export the model again, which writes the file and its hash; or write the new "
                          "hash into sha256")
    model = read_model(text, str(path))
    check_fit(spec, model)
    return model


def model_file(spec: Spec) -> dict[str, str]:
    """Return the name and the text of the model's file, so that it can be copied.

    The result is empty if the spec has no [predictor], or if the file is outside the folder of the spec.
    """
    if spec.predictor is None:
        return {}
    path = spec.folder / spec.predictor.file
    if not is_inside(spec.predictor.file) or not path.is_file():
        return {}
    return {str(PurePosixPath(spec.predictor.file)): read_text(path)}


def is_inside(file: str) -> bool:
    """Report whether the path of a model's file stays inside the folder of its spec."""
    name = PurePosixPath(file)
    return not (name.is_absolute() or ".." in name.parts or "\\" in file)


def check_fit(spec: Spec, model: TrainedModel) -> None:
    """Raise E277 if a model does not match its spec.

    The columns, the kernel, the classes and the outputs must be equal.
    """
    _check_target(spec, model)
    if model.vectors.shape[1] != spec.input.columns:
        raise fail("E277", "the trained model and the spec have different numbers of columns",
                   where="[input] columns",
                   value=spec.input.columns, allowed=str(model.vectors.shape[1]),
                   remedy="correct `columns` in [input], or export the model again")
    asked = {"type": spec.kernel.type, **spec.kernel.parameters}
    if model.kernel != asked:
        raise fail("E277", "the trained model and the spec have different kernels",
                   where="[kernel] type", value=str(asked), allowed=str(model.kernel),
                   remedy="set [kernel] to this kernel, or train and export the model again")


def _check_target(spec: Spec, model: TrainedModel) -> None:
    """Raise E277 if the classes or outputs of a model differ from its spec.

    The spec of a model with two classes can omit their names.
    """
    names, given = tuple(map(str, model.classes)), spec.output.classes
    if names != given and not (given is None and model.outputs == 1):
        raise fail("E277", "the trained model and the spec have different classes", where="[output] classes",
                   value="none" if given is None else ", ".join(given), allowed=", ".join(names) or "none",
                   remedy="write these classes into [output], in this order, or export the model again")
    outputs = spec.output.targets
    if given is None and outputs != model.outputs:
        raise fail("E277", "the trained model and the spec have different numbers of outputs",
                   where="[output] outputs", value=outputs, allowed=str(model.outputs),
                   remedy=f"write outputs = {model.outputs} into [output], or export the model again")
