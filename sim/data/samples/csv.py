"""sim.data.samples: read CSV files that contain numbers, times and labels.

Every error states the number of the line. Files of ADC counts are read by :mod:`..words_csv`.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import KerncastError, Problem, fail
from ..csv_lines import MOST_PROBLEMS, counted, csv_lines
from ..csv_lines import decimal as parse_decimal
from .table import MISSING, Labels, SampleTable, no_samples, not_finite

Column = str | int

_ISO_8601 = re.compile(r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?)"
                       r"(?:Z|([+-])(\d\d):?(\d\d))?", re.ASCII)


@dataclass
class _Reading:
    """State of a reader: the chosen columns, and the rows that have been read."""

    path: Path
    names: list[str]
    inputs: list[int]
    targets: list[int]
    labelled: bool
    headless: int  # number of the first line if it holds data, else 0
    parse: Callable[[str], float]  # a decimal number
    times: list[int]  # the column of the sampling instants, if there is one
    keep: bool  # missing values become NaN
    convert: dict[int, Callable[[str], float]] = field(default_factory=dict)
    blank: list[int] = field(default_factory=list)  # empty lines since the last row
    ignored: int = 0  # empty lines between rows of a table
    values: array[float] = field(default_factory=lambda: array("d"))
    labels: list[str] = field(default_factory=list)
    lines: array[int] = field(default_factory=lambda: array("q"))
    problems: list[Problem] = field(default_factory=list)


def read_csv(path: Path, *, target: Column | Sequence[Column] | None = None,
             inputs: Sequence[Column] | None = None, time: Column | None = None,
             header: bool | None = None, labels: Labels = None, limit: int | None = None, skip: int = 0,
             decimal: str = ".", separator: str | None = None,
             missing: str = "refuse") -> SampleTable:
    """Read a CSV file, plain or compressed as .gz or .bz2.

    Parameters
    ----------
    path : Path
    target : str, int or sequence of these, optional
        Column or columns of the target, by name or number (-1 is the last); by default y, or else the last.
    inputs : sequence of str or int, optional
        Columns of the inputs; by default all others. If there are none, the input is the sample number.
    time : str or int, optional
        Column of the sampling instants, which is not an input.
    header : bool, optional
        Whether the first line names the columns; by default this is so if it contains no number.
    labels : Labels
        Unless it is None, the target is a class label, and is read as text.
    limit, skip : int
        Maximum number of samples, and number of rows to skip before the first one.
    decimal, separator : str
        Decimal mark, and character between fields; by default the most frequent one in the first line.
    missing : {"refuse", "keep"}
        "keep" returns NaN for a missing number or an empty line in a signal; "refuse" raises E251.

    Raises
    ------
    KerncastError
        E241 for the file, E242 for columns, E243 for the length of a row, E245 for infinity, E247 for no
        samples, E251 for missing values, E252 for text instead of numbers.

    Notes
    -----
    Dates and times in ISO 8601 are converted to seconds since the first one of the column.
    """
    parse = parse_decimal if decimal == "." else decimal_comma
    lines = csv_lines(path, separator or (",;\t" if decimal == "." else ";\t"),
                      remedy="check the path and the file")
    line, first = next(((line, fields) for line, fields in lines if not is_blank(fields)), (0, []))
    if not first:
        raise no_samples(path)
    first = [text.strip() for text in first]
    named = header if header is not None else names_columns(first, parse)
    names = first if named else [f"column {index}" for index in range(len(first))]
    reading = _columns(path, line, names, named, target, inputs, time, labels is not None)
    reading.parse, reading.keep = parse, missing == "keep"
    return _read_rows(reading, lines if named else chain([(line, first)], lines), skip, limit)


def _read_rows(reading: _Reading, lines: Iterable[tuple[int, list[str]]], skip: int,
               limit: int | None) -> SampleTable:
    """Read the rows below the header and return the samples."""
    for number, fields in lines:
        if is_blank(fields):
            reading.blank += [number]
            continue
        if not reading.inputs:  # a signal: an empty line is a row
            skipped = min(skip, len(reading.blank))
            skip -= skipped
            del reading.blank[:skipped]
        if skip > 0:
            skip -= 1
            reading.blank = []
            continue
        _read_row(reading, number, fields)
        if len(reading.lines) >= (limit or len(reading.lines) + 1) or len(reading.problems) >= MOST_PROBLEMS:
            break
    if reading.problems:
        raise KerncastError(counted(reading.problems))
    if not reading.lines:
        raise no_samples(reading.path)
    return _table(reading, limit)


def _columns(path: Path, line: int, names: list[str], named: bool, target: Any, inputs: Any, time: Any,
             labelled: bool) -> _Reading:
    """Choose the columns; raise E242 if they do not form a training set."""
    if target is None:
        target = "y" if named and "y" in names else -1
    unique = unique_names(names)
    targets = [_index(path, line, names, unique, column) for column in _listed(target)]
    times = [] if time is None else [_index(path, line, names, unique, time)]
    if inputs is None:
        chosen = [index for index in range(len(names)) if index not in targets + times]
    else:
        chosen = [_index(path, line, names, unique, column) for column in _listed(inputs)]
    if set(chosen) & set(targets) or set(times) & {*targets, *chosen} or not targets or (
            labelled and len(targets) > 1):
        raise fail("E242", "the chosen columns do not form a training set", where=f"{path}:{line}",
                   value=f"inputs {[names[i] for i in chosen]}, target {[names[i] for i in targets]}"[:200],
                   allowed="one or more targets, but only one if it is a label; inputs that are neither "
                           "targets nor the time", remedy="choose columns that meet these conditions")
    return _Reading(path, names, chosen, targets, labelled, 0 if named else line, parse_decimal, times, False)


def _listed(columns: Any) -> list[Any]:
    return [columns] if isinstance(columns, str | int) else list(columns)


def unique_names(names: Sequence[str]) -> dict[str, int]:
    """Map each unique name to the index of its column."""
    counts = Counter(names)
    return {name: index for index, name in enumerate(names) if counts[name] == 1}


def _index(path: Path, line: int, names: list[str], unique: Mapping[str, int], column: Column) -> int:
    if isinstance(column, str) and column in unique:
        return unique[column]
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column % len(names)
    raise fail("E242", "the column does not exist, or its name is not unique", where=f"{path}:{line}",
               value=repr(column),
               allowed=f"a column name, or a column number, counted from 0: {', '.join(names)}"[:300],
               remedy="choose one of the allowed values; columns without a header have numbers, from 0")


def _read_row(reading: _Reading, number: int, fields: list[str]) -> None:
    """Add one row to the samples, or its errors to the problems."""
    where = f"{reading.path}:{number}"
    if len(fields) != len(reading.names):
        reading.problems.append(Problem("E243", "the row has the wrong number of fields", where,
                                        str(len(fields)), str(len(reading.names)),
                                        "correct the row: a separator is missing or repeated"))
        return
    numeric = _numeric(reading)
    found = len(reading.problems)
    if not reading.inputs and reading.blank:  # a signal: an empty line is a missing sample
        _read_gap(reading)
    elif reading.lines:
        reading.ignored += len(reading.blank)
    reading.blank = []
    try:
        row = [_convert(reading, index, fields[index]) for index in numeric]
    except ValueError:
        row = []
    if (numeric and not row) or not all(map(isfinite, row)):
        fields = [text.strip() for text in fields]
        reading.problems += [problem for index in numeric
                             if (problem := _mistake(number, reading, fields, index))]
    label = fields[reading.targets[0]].strip()
    if reading.labelled and label.lower() in MISSING and not reading.keep:
        reading.problems.append(not_finite(f"{where} {reading.names[reading.targets[0]]}", label))
    if len(reading.problems) == found:
        reading.values.extend(row)
        reading.lines.append(number)
        if reading.labelled:
            reading.labels.append("" if label.lower() in MISSING else label)


def _numeric(reading: _Reading) -> list[int]:
    return reading.inputs + ([] if reading.labelled else reading.targets) + reading.times


def _read_gap(reading: _Reading) -> None:
    """Add the empty lines before a row of a signal as missing samples or as problems."""
    for line in reading.blank:
        if reading.keep:
            reading.values.extend([nan] * len(_numeric(reading)))
            reading.lines.append(line)
            reading.labels += [""] * reading.labelled
        else:
            reading.problems.append(not_finite(f"{reading.path}:{line}", ""))


def _convert(reading: _Reading, index: int, text: str) -> float:
    """Convert a field to a number, in the notation of the first value of its column."""
    if reading.keep and text.strip().lower() in MISSING:
        return nan
    if index not in reading.convert:
        if text.strip().lower() in MISSING:
            return nan
        reading.convert[index] = _converter(text, reading.parse)
    return reading.convert[index](text)


def _mistake(line: int, reading: _Reading, fields: list[str], index: int) -> Problem | None:
    text, place = fields[index], f"{reading.path}:{line} {reading.names[index]}"
    if text.lower() in MISSING:
        return None if reading.keep else not_finite(place, text)
    try:
        return None if isfinite(_convert(reading, index, text)) else not_finite(place, text)
    except ValueError:
        if line == reading.headless:
            remedy = "if this line names the columns, use names that are not numbers"
        elif index in reading.targets:
            remedy = ("correct the field, or choose another target; load_samples reads classes with "
                      "labels=\"any\"")
        else:
            remedy = "correct the field, or choose other columns"
        if not reading.lines and line != reading.headless and all(
                problem.where.startswith(f"{reading.path}:{line} ") for problem in reading.problems[:1]):
            remedy += "; if this line states units, delete it"
        return Problem("E252", "the field is not a number", place, text[:40],
                       "numbers" if reading.convert[index] is reading.parse
                       else "dates and times in ISO 8601, as in the first row",
                       remedy)


def is_blank(fields: Sequence[str]) -> bool:
    """Return whether a line contains neither text nor separators."""
    return len(fields) < 2 and not any(map(str.strip, fields))


def names_columns(fields: Sequence[str], parse: Callable[[str], float] = parse_decimal) -> bool:
    """Return whether a line names the columns, so that no field is a number or a time."""
    return not any(_is_number(text, parse) for text in fields)


def decimal_comma(text: str) -> float:
    """Parse a number with a decimal comma; raise ValueError if it contains a point."""
    if "." in text:
        raise ValueError(text)
    return parse_decimal(text.replace(",", "."))


def is_time(text: str) -> bool:
    """Return whether a field is a date and time in the format of ISO 8601."""
    return bool(_ISO_8601.fullmatch(text.strip()))


def _is_number(text: str, parse: Callable[[str], float]) -> bool:
    """Return whether a field is a number or a time, not the name of a column."""
    try:
        return isfinite(_converter(text, parse)(text)) or text.lower() not in MISSING
    except ValueError:
        return False


def _converter(first: str, parse: Callable[[str], float]) -> Callable[[str], float]:
    """Return the function that converts the fields of a column to numbers.

    The first field determines whether the fields are times.
    """
    try:
        parse(first)
    except ValueError:
        try:
            start = _time(first)
        except ValueError:
            return parse
        return lambda text: _time(text) - start
    return parse


def _time(text: str) -> float:
    """Convert a date and time to seconds since 1970; the default time zone is UTC."""
    parts = _ISO_8601.fullmatch(text.strip())
    if not parts:
        raise ValueError("not a date and time")
    seconds = float(np.datetime64(parts[1].replace(" ", "T"), "us").astype(np.int64)) / 1e6
    sign = -1.0 if parts[2] == "-" else 1.0
    return seconds - sign * 60.0 * (60.0 * float(parts[3] or 0) + float(parts[4] or 0))


def _table(reading: _Reading, limit: int | None) -> SampleTable:
    n = len(reading.lines)
    width, D = len(_numeric(reading)), len(reading.inputs)
    values = np.frombuffer(reading.values, dtype=np.float64).reshape(n, width)[:limit] if width else \
        np.empty((n, 0))[:limit]
    X = np.ascontiguousarray(values[:, :D]) if D else np.arange(len(values), dtype=np.float64)[:, np.newaxis]
    end = width - len(reading.times)
    y: NDArray[Any] = np.array(reading.labels[:limit]) if reading.labelled else \
        np.ascontiguousarray(values[:, D:end])
    names = tuple(reading.names[index] for index in reading.inputs) or ("sample",)
    path, lines = reading.path, reading.lines
    return SampleTable(X, y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y, names,
                       ", ".join(reading.names[index] for index in reading.targets),
                       lambda i: f"{path}:{lines[i]}",
                       np.ascontiguousarray(values[:, end]) if reading.times else None, reading.ignored)
