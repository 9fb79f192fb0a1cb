"""sim.data.samples: training samples in their own units.

Samples are loaded from a file or a named data set.

========  ==================================  ====================================================
format    file names end in                   options
========  ==================================  ====================================================
csv       .csv .tsv .txt, and .gz .bz2        target: column or columns, by name or number; by
                                              default the one named y, else the last.  inputs:
                                              columns, by default all others.  header: whether the
                                              first line names the columns; by default, if it
                                              holds no number.  time: column of the sampling
                                              instants, not an input.  decimal: "." or ",".
                                              separator: character between fields.  skip: rows
                                              before the first sample
npz       .npz                                target, inputs: names of arrays, by default y and X
libsvm    .libsvm .svm .svmlight, .gz .bz2    columns: D, if the last columns may be absent
wav       .wav                                target: number of the channel, by default all
========  ==================================  ====================================================

Without inputs, the sample number is the input: a signal.

==============================================================  ==================================
sets by name                                                    are
==============================================================  ==================================
ecg, ecg_360hz, glucose, sea_temperature                        signals
digits, breast_cancer, mnist_5k, mnist_10k, fashion_mnist,      classes
shuttle, faces, spam_assassin
covertype, ijcnn1, w8a, daimler, cbcl, 20newsgroups, webkb      classes, from the user's copy only
==============================================================  ==================================

Errors: E237 memory; E241 file; E242 columns or options; E243 ragged rows; E245 infinity; E247 no samples;
E251 missing values; E252 no numbers; E253 labels; E254 unknown format; E255 unknown or unavailable set;
E256 another set's copy; E257 arrays; E501 missing package.  :mod:`...data` reads the ADC counts that a spec
names; here values are in their own unit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checks import is_integer
from ...errors import fail
from .files import read_file
from .named import SETS, check_columns, place_of, read_set
from .table import Array, Labels, SampleTable, as_labels, check_values


@dataclass(frozen=True)
class Samples:
    """Inputs and targets, with their names and origin.

    Parameters
    ----------
    X : ndarray of float64, shape (n, D)
        Inputs; finite.
    y : ndarray of shape (n,) or (n, K)
        Targets: finite numbers, or class labels of any kind.
    title, licence : str
        Texts for reports.
    inputs : sequence of str
        Names of the columns of `X`.
    target : str
        Name of `y`.
    """

    X: Array
    y: NDArray[Any]
    title: str
    licence: str
    inputs: Sequence[str]
    target: str

    def __repr__(self) -> str:
        names = f"{', '.join(self.inputs[:3])}{', ...' if len(self.inputs) > 3 else ''}"
        return (f"Samples: {self.title}\n  {len(self.y):,} samples, inputs: {self.X.shape[1]:,} ({names})\n"
                f"  target: {self.target}{', K = ' + str(self.y.shape[1]) if self.y.ndim > 1 else ''}")

    def of_classes(self, *classes: Any) -> Samples:
        """Return the samples of the given classes in order.

        Raise E253 if a class does not occur.
        """
        for label in classes:
            if not np.any(self.y == label):
                raise fail("E253", "no sample has this label", where=self.target, value=repr(label),
                           allowed=", ".join(map(str, np.unique(self.y)[:20])), remedy="choose one of the "
                                                                                       "allowed values")
        chosen = np.isin(self.y, classes)
        return replace(self, X=self.X[chosen], y=self.y[chosen],
                       title=f"{self.title}, {' and '.join(map(str, classes))} only")


def load_samples(source: str | Path, *, copy: str | Path | None = None, labels: Labels = None,
                 limit: int | None = None, format: str | None = None, **options: Any) -> Samples:
    """Load samples from a file, or a data set by its name; nothing is downloaded.

    Parameters
    ----------
    source : str or Path
        A file, or a name: see the tables of :mod:`kerncast.sim.data.samples`.
    copy : str or Path, optional
        The user's copy of a named set.
    labels : {"any"}, sequence, mapping or None
        None: the target is a number, or as the named set defines it.  "any", a sequence or a mapping: it is
        a class label, of any value, of the sequence, or a key that maps to a value: {"cat": -1, "dog": 1}.
    limit : int, optional
        Largest number of samples, taken from the beginning.
    format : {"csv", "npz", "libsvm", "wav"}, optional
        Format of the file; by default inferred from its name.
    **options
        Options of the format: target, inputs, time, header, decimal, separator, columns; see the table.

    Returns
    -------
    Samples

    Examples
    --------
    >>> signal = load_samples("ecg")
    >>> signal.X.shape, signal.y.shape, signal.licence
    ((1024, 1), (1024,), 'PyWavelets, MIT')
    >>> load_samples("digits").of_classes(3, 8).X.shape
    (357, 64)
    """
    if limit is not None and (not is_integer(limit) or limit < 1):
        raise fail("E242", "the limit is not a number of samples", where="limit", value=repr(limit),
                   allowed="an integer >= 1", remedy="omit limit to load all samples")
    _check_arguments(source, copy, labels)
    if str(source) in SETS:
        return _named(str(source), copy, labels, limit, format, options)
    path = Path(source)
    if copy is not None or (not path.suffix and format is None and not path.exists()):
        raise fail("E255", "no data set has this name", where="source", value=repr(str(source)),
                   allowed=", ".join(SETS), remedy="choose one of the allowed values, or give the path of a "
                                                   "file")
    table = read_file(path, format, options | {"labels": labels, "limit": limit})
    return _samples(table, labels, None, path.name, "the user's")


def _check_arguments(source: Any, copy: Any, labels: Any) -> None:
    """Raise E255 if source or copy is not a path, E242 for invalid labels."""
    for name, value in (("source", source), ("copy", copy)):
        if not isinstance(value, str | PathLike) and (name, value) != ("copy", None):
            raise fail("E255", f"the {name} is neither a path nor a name", where=name, value=repr(value)[:60],
                       allowed="a path, or the name of a data set" if name == "source" else "a path",
                       remedy="pass text or a Path")
    named = labels == "any" if isinstance(labels, str) else isinstance(labels, Collection) and len(labels) > 0
    if labels is not None and not named:
        raise fail("E242", "labels has a value that is not allowed", where="labels", value=repr(labels)[:60],
                   allowed="\"any\", a list of labels, or a mapping from labels to values",
                   remedy="omit labels if the target is a number")


def _named(name: str, copy: str | Path | None, labels: Labels, limit: int | None, format: str | None,
           options: dict[str, Any]) -> Samples:
    """Load a data set by its name."""
    named, place = SETS[name], place_of(name, copy)
    title = f"{named.title}, the user's copy" if copy is not None else named.title
    chosen = "any" if labels is None and named.classes else labels
    if named.read is None:
        table = read_file(place, format, options | {"labels": chosen, "limit": limit})
    else:
        strange = [key for key, value in (options | {"format": format}).items() if value is not None]
        if strange:
            raise fail("E242", "a named data set does not support this option", where=name,
                       value=", ".join(strange),
                       allowed="labels, limit",
                       remedy="omit these options, or load the file by its path")
        table = read_set(name, place)
        check_values(table, place)
    check_columns(name, table, place)
    return _samples(table, chosen, limit, title, named.licence)


def _samples(table: SampleTable, labels: Labels, limit: int | None, title: str, licence: str) -> Samples:
    y = table.y if labels is None else as_labels(table, labels)
    return Samples(table.X[:limit], y[:limit], title, licence, table.inputs, table.target)
