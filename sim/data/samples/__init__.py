"""sim.data.samples: load samples in their own units from files or data sets.

========  ==================================  ====================================================
format    file names end in                   options
========  ==================================  ====================================================
csv       .csv .tsv .txt, and .gz .bz2        target: column or columns, by name or number; by
                                              default y, or else the last column.  inputs:
                                              columns; by default all others.  header: whether the
                                              first line names the columns; by default this is so
                                              if it contains no number.  time: column of the
                                              sampling instants, which is not an input.  decimal:
                                              "." or ",".  separator: character between fields.
                                              skip: number of rows before the first sample
npz       .npz                                target, inputs: names of arrays; by default y and X
libsvm    .libsvm .svm .svmlight, .gz .bz2    columns: D, if the last columns can be missing
wav       .wav                                target: number of a channel; by default all channels
========  ==================================  ====================================================

If there are no inputs, the samples are a signal, and the input is the sample number.

==============================================================  ==================================
names of data sets                                              contents
==============================================================  ==================================
ecg, ecg_360hz, glucose, sea_temperature                        signals
digits, breast_cancer, mnist_5k, mnist_10k, fashion_mnist,      classes
shuttle, faces, spam_assassin
covertype, ijcnn1, w8a, daimler, cbcl, 20newsgroups, webkb      classes; require your own copy
==============================================================  ==================================

The errors are: E237 for too little memory; E241 for a file that cannot be read; E242 for columns or options;
E243 for rows of different lengths; E245 for infinity; E247 for no samples; E251 for missing values; E252 for
text instead of numbers; E253 for labels; E254 for an unknown format; E255 for an unknown or unavailable data
set; E256 for a copy of a different data set; E257 for arrays that do not form a training set; E501 for a
missing package. :mod:`...data` loads ADC counts for a spec.
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
    """Samples with the names of their columns, their title and their licence.

    Parameters
    ----------
    X : ndarray of float64, shape (n, D)
        Inputs, which are finite.
    y : ndarray of shape (n,) or (n, K)
        Targets: finite numbers, or class labels of any kind.
    title, licence : str
        Description and licence of the data, for reports.
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
        """Return the samples of some classes, in their original order.

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
    """Load samples from a file or a named data set; nothing is downloaded.

    Parameters
    ----------
    source : str or Path
        The path of a file, or the name of a data set. :mod:`kerncast.sim.data.samples` lists the formats and
        the names.
    copy : str or Path, optional
        Path of your own copy of a named data set.
    labels : {"any"}, sequence, mapping or None
        None if the target is a number; for a named data set, its definition then applies. "any" if the target
        is a class label. A sequence lists the allowed labels. A mapping also converts them, such as {"cat":
        -1, "dog": 1}.
    limit : int, optional
        Maximum number of samples, taken from the beginning.
    format : {"csv", "npz", "libsvm", "wav"}, optional
        Format of the file; by default the suffix of its name decides.
    **options
        Options of the format: target, inputs, time, header, decimal, separator, columns; see the table in
        :mod:`kerncast.sim.data.samples`.

    Returns
    -------
    Samples
        The samples, in the units of the file.

    Examples
    --------
    >>> signal = load_samples("ecg")
    >>> signal.X.shape, signal.y.shape, signal.licence
    ((1024, 1), (1024,), 'PyWavelets, MIT')
    >>> load_samples("digits").of_classes(3, 8).X.shape
    (357, 64)
    """
    if limit is not None and (not is_integer(limit) or limit < 1):
        raise fail("E242", "the limit is not a valid number of samples", where="limit", value=repr(limit),
                   allowed="an integer >= 1", remedy="omit `limit` to load all samples")
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
    """Raise E255 if `source` or `copy` has the wrong type, E242 for invalid labels."""
    for name, value in (("source", source), ("copy", copy)):
        if not isinstance(value, str | PathLike) and (name, value) != ("copy", None):
            raise fail("E255", f"the {name} is neither a path nor a name", where=name, value=repr(value)[:60],
                       allowed="a path, or the name of a data set" if name == "source" else "a path",
                       remedy="pass text or a Path")
    named = labels == "any" if isinstance(labels, str) else isinstance(labels, Collection) and len(labels) > 0
    if labels is not None and not named:
        raise fail("E242", "`labels` has a value that is not allowed", where="labels",
                   value=repr(labels)[:60],
                   allowed="\"any\", a list of labels, or a mapping from labels to values",
                   remedy="omit `labels` if the target is a number")


def _named(name: str, copy: str | Path | None, labels: Labels, limit: int | None, format: str | None,
           options: dict[str, Any]) -> Samples:
    """Load a named data set."""
    named, place = SETS[name], place_of(name, copy)
    title = f"{named.title}, the user's copy" if copy is not None else named.title
    chosen = "any" if labels is None and named.classes else labels
    if named.read is None:
        table = read_file(place, format, options | {"labels": chosen, "limit": limit})
    else:
        strange = [key for key, value in (options | {"format": format}).items() if value is not None]
        if strange:
            raise fail("E242", "a named data set supports only the options `copy`, `labels` and `limit`",
                       where=name, value=", ".join(strange), allowed="copy, labels, limit",
                       remedy="omit the other options, or load the file by its path")
        table = read_set(name, place)
        check_values(table, place)
    check_columns(name, table, place)
    return _samples(table, chosen, limit, title, named.licence)


def _samples(table: SampleTable, labels: Labels, limit: int | None, title: str, licence: str) -> Samples:
    y = table.y if labels is None else as_labels(table, labels)
    return Samples(table.X[:limit], y[:limit], title, licence, table.inputs, table.target)
