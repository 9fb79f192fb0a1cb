"""sim.interop: convert a fitted estimator to a spec and a trained model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import Array
from .._checks import finite_array
from ..data.predictor_file import TrainedModel, check_labels, digest
from ..data.raw import Words, quantise
from ..errors import fail
from ..plan import Plan
from ..spec import Spec
from .sklearn import known_model

#: Bits of the ADC counts that represent real inputs, by the word length on the device.
_RAW_BITS = {16: 16, 24: 24, 32: 24}
#: Word lengths on the device.
WORDS = tuple(_RAW_BITS)


@dataclass(frozen=True)
class ConvertedEstimator:
    """Fitted estimator, converted to a spec and a trained model.

    Parameters
    ----------
    spec : Spec
        A spec of algorithm ``kernel_predictor``.
    model : TrainedModel
        The model, in floating point.
    text : str
        Contents of the model's file; the spec contains its hash.
    x_raw : ndarray of int64, shape (m, D)
        The samples as ADC counts.
    f : ndarray of float64, shape (m,), or (m, C) for several outputs
        The estimator's predictions for the samples.
    """

    spec: Spec
    model: TrainedModel
    text: str
    x_raw: Words
    f: Array


def is_estimator(value: object) -> bool:
    """Return whether a value has the interface of a scikit-learn estimator."""
    return not isinstance(value, type) and all(hasattr(value, name) for name in ("fit", "get_params"))


def convert_estimator(estimator: object, X: ArrayLike | None = None, *, name: str = "predictor",
                      word: int = 16, target: str = "cortex-m4", input: Mapping[str, Any] | None = None,
                      output: Mapping[str, Any] | None = None,
                      numbers: Mapping[str, Any] | None = None) -> ConvertedEstimator:
    """Convert a fitted estimator to a spec and a trained model.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator; see :mod:`.sklearn`.
    X : array_like of shape (m, D), optional
        Samples in the estimator's units that cover the full range of the inputs on the device. They set the
        formats of inputs and predictions. By default, the vectors that the estimator stores.
    name : str
        Name of the model, the prefix of every C symbol.
    word : int
        Word length on the device, 16, 24 or 32.
    target : str
        ID of a target.
    input, output : mapping, optional
        Keys of [input] and [output], such as ``word``, ``offset`` and ``gain``. By default, integer samples
        are ADC counts, and other samples are quantised with a step that is a power of two.
    numbers : mapping, optional
        Other keys of [numbers] of the spec.

    Raises
    ------
    KerncastError
        E109 for the word length; E122 for class labels; E245, E247 or E248 for X; E246 if X exceeds the range
        of `input`; E270 to E274 for the estimator; E1xx for other keys of the spec.
    """
    if not isinstance(word, int) or word not in WORDS:
        raise fail("E109", "`word` is not a supported word length", where="word", value=repr(word),
                   allowed=", ".join(map(str, WORDS)),
                   remedy="use 16 for small and fast code, 32 for results close to floating point")
    model = _of_labels(known_model(estimator))
    scale = model.scales
    samples = model.vectors * scale if X is None else _samples(X, len(scale))
    words = _input(samples, scale, _RAW_BITS[word]) if input is None else dict(input)
    gains = np.broadcast_to(np.asarray(words.pop("gain", 1.0), dtype=np.float64), scale.shape)
    words = {"columns": len(scale), **_named(words, scale), "gain": _one_or_each((gains / scale).tolist())}
    text, f = model.to_json(), evaluate(model, samples)
    spec = Spec(model={"name": name, "algorithm": "kernel_predictor"}, input=words,
                output={**(output or _output(f, word, model)), **_target(model)}, kernel=model.kernel,
                predictor={"file": f"{name}.json", "sha256": digest(text)},
                numbers={"word": word, **(numbers or {})}, target={"id": target})
    fmt = spec.input.format
    steps = np.array(spec.input.gains) * float(fmt.lsb) * scale
    return ConvertedEstimator(spec, model, text, quantise(samples, steps, spec.input.offsets, fmt, "X"), f)


def _of_labels(model: TrainedModel) -> TrainedModel:
    """Return the model; raise E122 if its file cannot store one of the class labels."""
    try:
        check_labels(model.classes)
    except ValueError as error:
        raise fail("E122", str(error), where="estimator.classes_", value=repr(model.classes),
                   allowed="numbers, or short printable texts",
                   remedy="rename the labels, and train again") from None
    return model


def _named(words: Mapping[str, Any], scale: Array) -> dict[str, Any]:
    """Return the keys of [input], without `unit` if the columns are scaled."""
    return {key: value for key, value in words.items() if key != "unit" or np.all(scale == 1)}


def evaluate(model: TrainedModel, X: Array) -> Array:
    """Evaluate a model at samples (m, D) in float64.

    The result has shape (m,), or (m, C) for several outputs.
    """
    from ..reference.online.expansion import expand  # not at import: a spec is planned without it

    return expand(model.function, X / model.scale, model.vectors, model.every_alpha) + model.bias


def _target(model: TrainedModel) -> dict[str, Any]:
    """Return the keys of [output] for a model with classes or several outputs.

    A model with two classes needs no key.
    """
    if model.decision:
        return {"classes": [str(name) for name in model.classes]}
    return {"outputs": model.outputs} if model.outputs > 1 else {}


def _one_or_each(values: list[float]) -> float | list[float]:
    return values[0] if len(set(values)) == 1 else values


def _samples(X: ArrayLike, columns: int) -> Array:
    """Return samples as float64 (m, D).

    Raise E274 if they are sparse, E245 for NaN or infinity, E247 if there are none, and E248 for the wrong
    shape.
    """
    if hasattr(X, "toarray"):
        raise fail("E274", "the samples are sparse", where="X", value=type(X).__name__,
                   allowed="a dense array", remedy="pass X.toarray()")
    array = finite_array(X, "X", "E245")
    if array.ndim != 2 or array.shape[1] != columns:
        raise fail("E248", "the array has the wrong shape", where="X", value=array.shape,
                   allowed=f"(m, {columns}), as in the training data",
                   remedy="pass one row per sample, with the columns of the training data")
    if not len(array):
        raise fail("E247", "there are no samples", where="X", value="0 samples", allowed="1 sample or more",
                   remedy="pass samples, such as the training data")
    return array


def _input(X: Array, scale: Array, raw_bits: int) -> dict[str, Any]:
    """Return the keys of [input] that represent samples of shape (m, D).

    Integer samples are used as ADC counts. Other samples are quantised with a step that is a power of two,
    or, if a column is scaled, with one step per column.
    """
    signed, most = bool((X < 0).any()), np.abs(X).max(axis=0)
    if np.all(X % 1 == 0) and most.max(initial=0) < 2**31:
        bits = max(1, int(most.max(initial=0)).bit_length()) + signed
        return {"word": f"{'s' if signed else 'u'}{bits}f0"}
    room, kind = (1 << (raw_bits - signed)) - 1, f"{'s' if signed else 'u'}{raw_bits}"
    if np.all(scale == 1.0):
        return {"word": f"{kind}f{_frac(float(most.max()), room)}"}
    return {"word": f"{kind}f0", "gain": [2.0 ** -_frac(float(m), room) for m in most]}


def _frac(most: float, room: int) -> int:
    """Return the largest number of fraction bits for which `most` does not overflow.

    With this number of bits, `most`, rounded to an integer, is at most the integer `room`.
    """
    if most == 0.0:
        return 0
    frac = room.bit_length() - int(np.frexp(most)[1])
    return frac - 1 if round(Fraction(most) * Fraction(2) ** frac) > room else frac


def _output(f: Array, word: int, model: TrainedModel) -> dict[str, Any]:
    """Return the keys of [output] for predictions `f`.

    The full scale is at least twice the largest prediction.
    """
    most = max(float(np.abs(f).max(initial=0.0)), 1.0 if model.classes else 0.0)
    bits = word - 1
    return {"word": f"s{bits}f{_frac(most, (1 << (bits - 1)) - 1)}"}


def raw_inputs(plan: Plan, X: ArrayLike) -> Words:
    """Convert samples in the estimator's units to ADC counts.

    Parameters
    ----------
    plan : Plan
        Plan of an estimator, or of any other spec.
    X : array_like of shape (m, D)
        Samples in the units of the estimator's training data, or in units of x if the plan is not that of an
        estimator.

    Returns
    -------
    ndarray of int64, shape (m, D)
        The inputs of the device.

    Raises
    ------
    KerncastError
        E245 if X contains NaN or infinity, E246 if it exceeds the range of the ADC counts, E248 for the wrong
        number of columns.
    """
    steps = np.array([float(Fraction(step)) for step in plan.units["x_raw"].split()])
    scale = np.array(plan.evidence.get("trained", {}).get("scale", 1.0), dtype=np.float64)
    samples = _samples(X, plan.sizes["D"])
    return quantise(samples, steps * scale, plan.integers("x_offset"), plan.signals["x_raw"].format, "X")
