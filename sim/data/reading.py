"""sim.data: read the file that [data] of a spec names.

The keys of [data] describe the file. ``kerncast init`` has options with the same names, so it reads a file in
the same way as the other commands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Words
from ..errors import KerncastError, Problem, fail
from ..formats import Format
from ..spec import Data
from .clock import FILL, Clock, even_stretch, longest_run, read_clock
from .csv_lines import counted
from .samples.files import format_of, read_file
from .samples.table import SampleTable, label_text
from .words_csv import find_label, no_class

#: Any label is accepted, and none is selected.
ANY = ("any",)
Columns = Sequence[str | int]


@dataclass(frozen=True)
class Values:
    """Samples of a file, in the units of the file.

    Parameters
    ----------
    names : tuple of str
        Names of the inputs, followed by that of the target.
    X : ndarray of float64, shape (n, D)
        The inputs; D is 0 for a sampled signal.
    y : ndarray of shape (n,)
        The targets, as float64, or as text if they are labels.
    clock : Clock or None
        Step and gaps of the sampling instants.
    place : callable
        Function that returns the place of sample i in the file.
    read : int
        Number of samples that were read, including those that were dropped.
    dropped : mapping of str to int
        Number of samples that were dropped, by reason.
    time : ndarray of float64, shape (n,), or None
        The sampling instants, as in the file, or in seconds since the first one if they are dates.
    ignored : int
        Number of empty lines between the rows of a table.
    """

    names: tuple[str, ...]
    X: Array
    y: NDArray[Any]
    clock: Clock | None
    place: Callable[[int], str]
    read: int
    dropped: Mapping[str, int]
    time: Array | None = None
    ignored: int = 0

    def choose(self, chosen: NDArray[np.bool_], reason: str) -> Values:
        """Select samples by a mask; add the number of dropped samples under `reason`."""
        lost = int((~chosen).sum())
        if not lost:
            return self
        which = np.flatnonzero(chosen)
        dropped = {**self.dropped, reason: self.dropped.get(reason, 0) + lost}
        return replace(self, X=self.X[which], y=self.y[which], place=lambda i: self.place(int(which[i])),
                       clock=None, time=None if self.time is None else self.time[which], dropped=dropped)


class _Loaded(NamedTuple):
    """Contents of a file before missing values and sampling instants are checked."""

    names: tuple[str, ...]
    X: Array
    y: NDArray[Any]
    time: Array | None
    place: Callable[[int], str]
    ignored: int


def row_range(rows: int | str | None) -> tuple[int, int | None]:
    """Convert the key ``rows`` to a range of rows.

    Return the index of the first row, counted from 0, and of the row after the last one, which is None if the
    range ends with the file.
    """
    if rows is None:
        return 0, None
    first, _, last = str(rows).rpartition("..")
    return (int(first) - 1 if first else 0), int(last)


def say_option(key: str, value: str) -> str:
    """Return a text that states how to set an option in a command and in a spec."""
    return f"--{key.replace('_', '-')} {value} with kerncast init, or {key} = \"{value}\" in [data]"


def read_values(path: Path, data: Data, *, signal: bool, labels: Sequence[str] = ()) -> Values:
    """Read the samples of a file.

    Parameters
    ----------
    path : Path
    data : Data
        The keys of [data], which describe the file.
    signal : bool
        Whether the file contains a sampled signal, in which no sample may be missing.
    labels : sequence of str
        Class labels, if the target is a class; samples with other labels are dropped. :data:`ANY` accepts all
        labels.

    Raises
    ------
    KerncastError
        The errors of :func:`.samples.load_samples`; E242 for columns that do not exist; E251 for missing
        samples; E253 for a class without samples; E259 if the sampling instants of a signal have no constant
        step.
    """
    first, last = row_range(data.rows)
    loaded = _load(path, data, signal, bool(labels), first, last)
    values = Values(loaded.names, loaded.X, loaded.y, None, loaded.place, len(loaded.y), {}, loaded.time,
                    loaded.ignored)
    missing = _missing(loaded)
    if missing.any() and (signal or data.missing != "drop"):
        raise _missing_error(loaded, missing, signal, first)
    if loaded.time is not None:
        clock = read_clock(loaded.time)
        values = replace(values, clock=clock)
        if signal:
            clock.refuse_uneven(loaded.time, loaded.place, first, str(data.time))
    values = values.choose(~missing, "missing values")
    return _of_classes(values, labels, path) if labels and labels != ANY else values


def _load(path: Path, data: Data, signal: bool, labelled: bool, first: int, last: int | None) -> _Loaded:
    kind = format_of(path)
    options: dict[str, Any] = {"limit": last, "labels": "any" if labelled else None,
                               "target": data.target_column, "decimal": data.decimal,
                               "separator": data.separator}
    if kind == "csv":
        options |= {"inputs": [] if signal else data.inputs, "time": data.time, "missing": "keep",
                    "skip": first, "limit": None if last is None else last - first}
        first = 0
    if kind == "wav":
        del options["labels"]
    table = read_file(path, None, options)
    if table.y.ndim > 1:
        count = table.y.shape[1]
        raise fail("E242", f"the file has {count} candidate targets, but a spec supports only one",
                   where=str(path),
                   value=f"{count} {'channels' if kind == 'wav' else 'columns'}", allowed="one",
                   remedy="choose the target by its number: " + say_option("target_column", "0"))
    X, names, time = table.X, tuple(table.inputs), table.time
    if kind == "wav":
        time, X, names = X[:, 0], X[:, :0], ()
    elif names == ("sample",):
        X, names = X[:, :0], ()
    elif kind != "csv":
        X, names, time = _chosen(path, table, data)
    target = label_names(table.y) if labelled else table.y
    place = table.place
    return _Loaded((*names, table.target), X[first:], target[first:],
                   None if time is None else time[first:], lambda i: place(i + first),
                   table.ignored)


def _chosen(path: Path, table: SampleTable, data: Data) -> tuple[Array, tuple[str, ...], Array | None]:
    """Select the columns of a file whose reader always returns all columns."""
    names = list(table.inputs)

    def index(column: str | int) -> int:
        if isinstance(column, str) and column in names:
            return names.index(column)
        if isinstance(column, int) and 0 <= column < len(names):
            return column
        raise fail("E242", "the column does not exist", where=str(path), value=repr(column),
                   allowed=f"0 to {len(names) - 1}, or a name: {', '.join(names[:20])}"[:300],
                   remedy="choose one of the allowed values")
    time = None if data.time is None else index(data.time)
    inputs = [i for i in range(len(names)) if i != time]
    if data.inputs is not None:
        inputs = [index(column) for column in data.inputs]
    return (table.X[:, inputs], tuple(names[i] for i in inputs),
            None if time is None else table.X[:, time])


def label_names(y: NDArray[Any]) -> NDArray[Any]:
    """Convert class labels to text; whole numbers are written without decimal point."""
    found, which = np.unique(y, return_inverse=True)
    return np.array([label_text(label) if str(label) else "" for label in found])[which]


def _missing(loaded: _Loaded) -> NDArray[np.bool_]:
    y: NDArray[np.bool_] = loaded.y == "" if loaded.y.dtype.kind in "US" else np.isnan(loaded.y)
    gone = np.logical_or(np.isnan(loaded.X).any(axis=1), y)
    return gone if loaded.time is None else np.logical_or(gone, np.isnan(loaded.time))


def _missing_error(loaded: _Loaded, missing: NDArray[np.bool_], signal: bool, first: int) -> KerncastError:
    """Create the error E251, with the place of each missing value."""
    if signal:
        start, end = _stretch(loaded.time, ~missing)
        remedy = FILL
        if end - start > 1:
            remedy += ", or use the longest run without a gap: " + say_option(
                "rows", f"{first + start + 1}..{first + end}")
    else:
        remedy = "fill the gaps, or drop these rows: " + say_option("missing", "drop")
    problems = []
    for row in np.flatnonzero(missing)[:10_000]:
        empty = [name for name, value in zip(loaded.names, [*loaded.X[row], loaded.y[row]], strict=True)
                 if value == "" or (not isinstance(value, str) and np.isnan(value))]
        problems.append(Problem("E251", "a value is missing", f"{loaded.place(int(row))} "
                                f"{', '.join(empty[:4]) or 'time'}", "an empty field, NA or NaN",
                                "finite numbers", remedy))
    return KerncastError(counted(problems))


def _stretch(time: Array | None, present: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the start and the end of the longest run of samples without a gap."""
    if time is None or len(time) < 2:
        return longest_run(present)
    steps = np.diff(time)
    steps = steps[np.isfinite(steps)]
    start, last = even_stretch(time, float(np.median(steps)) if len(steps) else 0.0, present)
    return start, last + 1


def _of_classes(values: Values, classes: Sequence[str], path: Path) -> Values:
    """Select the samples of the classes; raise E253 for a class without samples."""
    found = list(np.unique(values.y))
    absent = [name for name in classes if name not in found]
    if absent:
        raise fail("E253", "no sample has this label", where=f"{path} {values.names[-1]}", value=absent[0],
                   allowed=", ".join(map(str, found[:20])), remedy="choose two of the allowed labels")
    return values.choose(np.isin(values.y, classes), "other classes")


def labels_of(values: Values, classes: tuple[str, ...]) -> Values:
    """Convert the labels of samples to class indices.

    Raise E253 for a label that is not one of the classes.
    """
    names = [str(name).strip() for name in values.y]
    labels = [find_label(name, classes) for name in names]
    problems = [no_class(f"{values.place(row)} {values.names[-1]}", names[row], classes)
                for row, label in enumerate(labels) if label is None]
    if problems:
        raise KerncastError(counted(problems))
    return replace(values, y=np.array(labels, dtype=np.int64))


def counts_of(values: Values, data: Data, inputs: Format, output: Format, count: int | None,
              classes: Sequence[str] = ()) -> Words:
    """Convert samples to ADC counts, shape (n, D + 1), with the target last.

    Parameters
    ----------
    values : Values
    data : Data
        The keys of [data]. If there are ranges, they convert physical values to ADC counts; otherwise the
        values must be ADC counts.
    inputs, output : Format
        Formats of the ADC counts.
    count : int or None
        The required number of inputs; None accepts any number.
    classes : sequence of str
        If the target is one of two classes, their labels, which become -1 and 1.

    Raises
    ------
    KerncastError
        E242 for a wrong number of inputs or a missing range, E244 and E246 for values that are not ADC
        counts.
    """
    if count is not None and len(values.names) - 1 != count:
        raise fail("E242", f"the file has {len(values.names) - 1} inputs, but the spec has {count}",
                   where=values.place(0), value=", ".join(values.names[:-1])[:60],
                   allowed=f"{count} inputs", remedy="correct `inputs` in [data], or `columns` in [input]")
    columns = [*values.X.T, values.y]
    formats = [inputs] * (len(columns) - 1) + [output]
    problems: list[Problem] = []
    made = []
    for name, column, fmt in zip(values.names, columns, formats, strict=True):
        if column.dtype.kind in "US":
            made.append(np.where(column == classes[0], -1, 1).astype(np.int64))
        elif column.dtype.kind == "i":  # labels
            made.append(column)
        else:
            made.append(_counts(column, name, fmt, data, values.place, problems))
    if problems:
        raise KerncastError(counted(problems))
    return np.column_stack(made)


def _counts(column: Array, name: str, fmt: Format, data: Data, place: Callable[[int], str],
            problems: list[Problem]) -> Words:
    """Convert one column to ADC counts; add problems to `problems`."""
    if data.ranges is None:
        raw, allowed = column, f"{fmt.lo} to {fmt.hi}"
        remedy = "use a wider format, or repair the sample"
        for row in np.flatnonzero(raw != np.rint(raw))[:10_000]:
            problems.append(Problem("E244", "ADC counts must be integers", f"{place(int(row))} {name}",
                                    f"{raw[row]:.12g}", "integers",
                                    "state the values of the lowest and highest ADC count: "
                                    f"ranges = {{ \"{name}\" = [LOW, HIGH] }} in [data]"))
    else:
        if name not in data.ranges:
            raise fail("E242", f"column {name} has no range", where="[data.ranges]",
                       value=", ".join(data.ranges)[:60],
                       allowed="one entry per input, and one for the target",
                       remedy=f"add a line \"{name}\" = [LOW, HIGH], the values of the lowest and highest "
                              "ADC count")
        low, high = data.ranges[name]
        raw = np.rint((column - low) / ((high - low) / (fmt.hi - fmt.lo))) + fmt.lo
        allowed = f"{low:g} to {high:g}"
        remedy = "widen its range in [data.ranges], or repair the sample"
    for row in np.flatnonzero((raw < fmt.lo) | (raw > fmt.hi))[:10_000]:
        problems.append(Problem("E246", f"the value does not fit the ADC format {fmt}",
                                f"{place(int(row))} {name}", f"{column[row]:.12g}", allowed, remedy))
    return np.clip(raw, fmt.lo, fmt.hi).astype(np.int64)
