"""sim.interop: export a fitted estimator as a spec, a model file and a data file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._output_files import refuse_unwritable, write_whole
from ..data.words_csv import words_text
from ..decisions import decide
from ..errors import KerncastError, fail
from ..spec import Spec
from ..spec.text import bare
from ..spec.types import NAME_LENGTH
from .convert import ConvertedEstimator, convert_estimator, evaluate
from .plan import of_estimator, warn_apart


def export(estimator: object, X: ArrayLike, path: str | Path, y: ArrayLike | None = None, *,
           name: str | None = None, overwrite: bool = False, **choices: Any) -> Spec:
    """Export a fitted estimator as a spec with a model file and a data file.

    For the path ``digits.toml``, ``digits.json`` contains the model, whose hash is in the spec, and
    ``digits.csv`` contains the samples as ADC counts, which ``kerncast sim`` and ``kerncast test`` predict.

    Parameters
    ----------
    estimator : estimator
        Fitted estimator; see :mod:`kerncast.sim.interop.sklearn`.
    X : array_like of shape (m, D)
        Samples in the estimator's units that cover the full range of the inputs on the device.
    path : path
        Path of the spec, such as ``digits.toml``.
    y : array_like of shape (m,), or (m, C) for several outputs, optional
        Labels or targets of the samples; by default the estimator's predictions.
    name : str, optional
        Name of the model, the prefix of every C symbol; by default the name of the file.
    overwrite : bool
        Whether to replace existing files.
    **choices
        ``word``, ``target``, ``input``, ``output``, ``numbers``: see
        :func:`kerncast.sim.interop.convert`.

    Returns
    -------
    Spec
        The exported spec.

    Raises
    ------
    KerncastError
        E191 if a file cannot be written, E192 if a file exists, E248 if the shape of y does not match X, and
        the errors of :func:`kerncast.plan` for the estimator. Its warning W208 is issued too.

    Examples
    --------
    >>> kerncast.export(svc, X_test, "digits.toml", y_test)  # doctest: +SKIP
    """
    place = Path(path)
    made = convert_estimator(estimator, X, name=_name(place, name), **choices)
    files = _files(made, place, _targets(made, X, y))
    _check_places(place, list(files), overwrite)
    warn_apart(of_estimator(estimator, X, choices))
    for file, text in files.items():
        write_whole(file, text)
    return Spec.load(place)


def _files(made: ConvertedEstimator, place: Path, y_raw: NDArray[np.int64]) -> dict[Path, str]:
    """Return the contents of the spec, model and data files by their paths."""
    return {place: _spec_text(made, place), place.with_suffix(".json"): made.text,
            place.with_suffix(".csv"): words_text(np.column_stack([made.x_raw, y_raw]),
                                                  made.spec.output.classes or (), made.model.outputs)}


def _check_places(place: Path, files: list[Path], overwrite: bool) -> None:
    """Raise E192 if a file would be overwritten, E191 if a file cannot be written."""
    if len(files) < 3:
        raise fail("E192", "the spec would overwrite its own model or data", where="path",
                   value=str(place), allowed="a name that ends in .toml", remedy="name the spec NAME.toml")
    for file in files:
        refuse_unwritable(file, "path", "the exported model")
    there = [str(file) for file in files if file.exists()]
    if there and not overwrite:
        raise fail("E192", "the file exists already", where="path", value=", ".join(there),
                   allowed="file names that do not exist yet",
                   remedy="choose another name, or pass overwrite=True")


def _name(place: Path, name: str | None) -> str:
    """Return the model's name; by default the file's name, made a C identifier."""
    if name is not None:
        return name
    kept = "".join(c if c.isascii() and c.isalnum() else "_" for c in place.stem.lower())
    words = [word for word in kept.split("_") if word]
    return "_".join(words)[:NAME_LENGTH].rstrip("_") or "predictor"


def _spec_text(made: ConvertedEstimator, place: Path) -> str:
    values = made.spec.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_defaults=True)
    values["predictor"]["file"] = place.with_suffix(".json").name
    values["data"] = {"file": place.with_suffix(".csv").name}
    origin, count = made.model.origin, len(made.model.alpha)
    one_sign = made.model.classes and not made.model.decision
    labels = "; class {!r} where f > 0, else {!r}".format(*reversed(made.model.classes)) if one_sign else ""
    return (f"# {origin}, {count} centers, written by kerncast.export{labels}.\n\n"
            + bare(Spec(**values)))


def _targets(made: ConvertedEstimator, X: ArrayLike, y: ArrayLike | None) -> NDArray[np.int64]:
    """Return class indices, or targets as ADC counts that saturate at the format."""
    classes, fmt = made.model.classes, made.spec.output.format
    f = evaluate(made.model, np.asarray(X, dtype=np.float64))
    if made.model.decision:
        if y is None:
            return decide(made.model.decision, f, len(classes))[0]
        return _indices(np.asarray(y), classes, len(f))
    if y is None:
        values = np.where(f > 0, 1.0, -1.0) if classes else f
    else:
        given = np.asarray(y)
        if given.shape != f.shape:
            raise fail("E248", "the shape of y does not match X", where="y", value=given.shape,
                       allowed=f"{f.shape}",
                       remedy="pass one target per sample and output")
        values = _signs(given, classes) if classes else given.astype(np.float64)
    step = made.spec.output.gain * float(fmt.lsb)
    raw = np.rint(values / step) + made.spec.output.offset
    words: NDArray[np.int64] = np.clip(raw, fmt.lo, fmt.hi).astype(np.int64)
    return words


def _indices(y: NDArray[Any], classes: tuple[Any, ...], samples: int) -> NDArray[np.int64]:
    """Convert labels to class indices.

    Raise E248 for a wrong number of labels, E232 for a label that is not one of the classes.
    """
    if y.shape != (samples,):
        raise fail("E248", "the shape of y does not match X", where="y", value=y.shape,
                   allowed=f"({samples},)",
                   remedy="pass one label per sample")
    unknown = [label for label in y.tolist() if label not in classes]
    if unknown:
        raise _no_class(unknown[0], classes)
    return np.array([classes.index(label) for label in y.tolist()], dtype=np.int64)


def _no_class(label: object, classes: tuple[Any, ...]) -> KerncastError:
    return fail("E232", "the label is not one of the classes", where="y", value=repr(label),
                allowed=", ".join(map(repr, classes)), remedy="pass only labels of these classes")


def _signs(y: NDArray[Any], classes: tuple[Any, ...]) -> NDArray[np.float64]:
    """Convert labels of two classes to -1 and 1; raise E232 for any other label."""
    second = np.array([label == classes[1] for label in y.tolist()])
    unknown = [label for label, is_second in zip(y.tolist(), second, strict=True)
               if not is_second and label != classes[0]]
    if unknown:
        raise _no_class(unknown[0], classes)
    return np.where(second, 1.0, -1.0)
