"""sim.data.samples: CSV files of numbers, times and labels.

Every error names its line.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import KerncastError, Problem, fail
from ..csv_lines import MOST_PROBLEMS, counted, csv_lines, decimal
from .table import MISSING, Labels, SampleTable, no_samples, not_finite

Column = str | int

_ISO_8601 = re.compile(r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?)"
                       r"(?:Z|([+-])(\d\d):?(\d\d))?", re.ASCII)


@dataclass
class _Reading:
    """State of a reader: columns, and the rows read so far."""

    path: Path
    names: list[str]
    inputs: list[int]
    targets: list[int]
    convert: list[Callable[[str], float]]
    labelled: bool
    headless: int  # number of the first line if it holds data, else 0
    values: array[float] = field(default_factory=lambda: array("d"))
    labels: list[str] = field(default_factory=list)
    lines: array[int] = field(default_factory=lambda: array("q"))
    problems: list[Problem] = field(default_factory=list)


def read_csv(path: Path, *, target: Column | Sequence[Column] | None = None,
             inputs: Sequence[Column] | None = None, header: bool | None = None, labels: Labels = None,
             limit: int | None = None) -> SampleTable:
    """Read a plain, .gz or .bz2 CSV file with comma, semicolon or tab as separator.

    Parameters
    ----------
    path : Path
    target : str, int or sequence of these, optional
        Column of the target, or columns, by name or number (from 0; from -1 backwards); by default the
        column named y, or else the last.
    inputs : sequence of str or int, optional
        Columns of the inputs; by default all others.  If there are none, the sample number.
    header : bool, optional
        Whether the first line names the columns; by default, if no field of it is a number.
    labels : Labels
        Unless None, the target is a class label and read as text.
    limit : int, optional
        Largest number of samples.

    Raises
    ------
    KerncastError
        E241 file, E242 columns, E243 ragged row, E245 infinity, E247 no samples, E251 missing value, E252
        not a number; repeats in a column are counted.

    Notes
    -----
    A column whose first value is an ISO 8601 date and time is read as seconds since that value.
    """
    reading: _Reading | None = None
    for number, fields in csv_lines(path, ",;\t", remedy="check the path, or name its format"):
        if not any(fields):
            continue
        if reading is None:
            fields = [text.strip() for text in fields]
            named = header if header is not None else not any(map(_is_number, fields))
            names = fields if named else [f"column {index}" for index in range(len(fields))]
            reading = _columns(path, number, names, named, target, inputs, labels is not None)
            if named:
                continue
        _read_row(reading, number, fields)
        if len(reading.lines) == limit or len(reading.problems) >= MOST_PROBLEMS:
            break
    if reading is not None and reading.problems:
        raise KerncastError(counted(reading.problems))
    if reading is None or not reading.lines:
        raise no_samples(path)
    return _table(reading)


def _columns(path: Path, line: int, names: list[str], named: bool, target: Any, inputs: Any,
             labelled: bool) -> _Reading:
    """Choose the columns."""
    if target is None:
        target = "y" if named and "y" in names else -1
    targets = [_index(path, line, names, column) for column in _listed(target)]
    if inputs is None:
        chosen = [index for index in range(len(names)) if index not in targets]
    else:
        chosen = [_index(path, line, names, column) for column in _listed(inputs)]
    if set(chosen) & set(targets) or not targets or (labelled and len(targets) > 1):
        raise fail("E242", "the columns chosen are not a training set", where=f"{path}:{line}",
                   value=f"inputs {[names[i] for i in chosen]}, target {[names[i] for i in targets]}"[:200],
                   allowed="one or several targets, one if it is a label; a target cannot be an input",
                   remedy="choose other columns")
    return _Reading(path, names, chosen, targets, [], labelled, 0 if named else line)


def _listed(columns: Any) -> list[Any]:
    return [columns] if isinstance(columns, str | int) else list(columns)


def _index(path: Path, line: int, names: list[str], column: Column) -> int:
    if isinstance(column, str) and names.count(column) == 1:
        return names.index(column)
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column % len(names)
    raise fail("E242", "no such column, or two columns of this name", where=f"{path}:{line}",
               value=repr(column), allowed=f"a name or a number: {', '.join(names)}"[:300],
               remedy="choose one of these; columns without a header have numbers, from 0")


def _read_row(reading: _Reading, number: int, fields: list[str]) -> None:
    """Add one row, or its problems."""
    where = f"{reading.path}:{number}"
    if len(fields) != len(reading.names):
        reading.problems.append(Problem("E243", "the row has the wrong number of fields", where,
                                        str(len(fields)), str(len(reading.names)),
                                        "correct the row; a separator is missing or doubled"))
        return
    numeric = reading.inputs + ([] if reading.labelled else reading.targets)
    if not reading.convert:
        reading.convert = [_converter(fields[index]) for index in numeric]
    found = len(reading.problems)
    try:
        row = [convert(fields[index]) for convert, index in zip(reading.convert, numeric, strict=True)]
    except ValueError:
        row = []
    if (numeric and not row) or not all(map(isfinite, row)):
        fields = [text.strip() for text in fields]
        reading.problems += [problem for convert, index in zip(reading.convert, numeric, strict=True)
                             if (problem := _mistake(number, reading, convert, fields, index))]
    label = fields[reading.targets[0]].strip()
    if reading.labelled and label.lower() in MISSING:
        reading.problems.append(not_finite(f"{where} {reading.names[reading.targets[0]]}", label))
    if len(reading.problems) == found:
        reading.values.extend(row)
        reading.lines.append(number)
        if reading.labelled:
            reading.labels.append(label)


def _mistake(line: int, reading: _Reading, convert: Callable[[str], float], fields: list[str],
             index: int) -> Problem | None:
    text, place = fields[index], f"{reading.path}:{line} {reading.names[index]}"
    if text.lower() in MISSING:
        return not_finite(place, text)
    try:
        return None if isfinite(convert(text)) else not_finite(place, text)
    except ValueError:
        if line == reading.headless:
            remedy = "if this line names the columns, give each a name that is not a number"
        elif index in reading.targets:
            remedy = "if the target is a class, ask for labels; otherwise correct the field"
        else:
            remedy = "choose other columns, or correct the field"
        return Problem("E252", "not a number", place, text[:40],
                       "numbers" if convert is decimal
                       else "dates and times of ISO 8601, like the first row",
                       remedy)


def _is_number(text: str) -> bool:
    """Return whether a field is a number or a time, not a column name."""
    try:
        return isfinite(_converter(text)(text)) or text.lower() not in MISSING
    except ValueError:
        return False


def _converter(first: str) -> Callable[[str], float]:
    """Return the conversion of a column's fields to numbers.

    The first field determines it.
    """
    try:
        decimal(first)
    except ValueError:
        try:
            start = _time(first)
        except ValueError:
            return decimal
        return lambda text: _time(text) - start
    return decimal


def _time(text: str) -> float:
    """Return the seconds since 1970 of a date and time; the default zone is UTC."""
    parts = _ISO_8601.fullmatch(text.strip())
    if not parts:
        raise ValueError("not a date and time")
    seconds = float(np.datetime64(parts[1].replace(" ", "T"), "us").astype(np.int64)) / 1e6
    sign = -1.0 if parts[2] == "-" else 1.0
    return seconds - sign * 60.0 * (60.0 * float(parts[3] or 0) + float(parts[4] or 0))


def _table(reading: _Reading) -> SampleTable:
    n = len(reading.lines)
    values = np.frombuffer(reading.values, dtype=np.float64).reshape(n, -1) if reading.values else \
        np.empty((n, 0))
    D = len(reading.inputs)
    X = np.ascontiguousarray(values[:, :D]) if D else np.arange(n, dtype=np.float64)[:, np.newaxis]
    y: NDArray[Any] = np.array(reading.labels) if reading.labelled else np.ascontiguousarray(values[:, D:])
    names = tuple(reading.names[index] for index in reading.inputs) or ("sample",)
    path, lines = reading.path, reading.lines
    return SampleTable(X, y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y, names,
                 ", ".join(reading.names[index] for index in reading.targets),
                 lambda i: f"{path}:{lines[i]}")
