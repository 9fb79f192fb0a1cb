"""sim.data: read and write CSV files of ADC counts; every error states its line."""

from __future__ import annotations

import csv
import io
import math
import re
from array import array
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import KerncastError, Problem
from ..formats import Format
from .csv_lines import MOST_PROBLEMS, csv_lines, decimal
from .samples.table import not_finite

# Longer integers are read as floats: they exceed the range of any ADC.
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


#: Content of a column: ADC counts of a format, or classes by name.
Column = Format | tuple[str, ...]


def read_words(path: Path, formats: Mapping[str, Column], problems: list[Problem]) -> NDArray[np.int64]:
    """Read a CSV file of ADC counts; its first line names the columns, in any order.

    Parameters
    ----------
    path : Path
    formats : mapping of column name to Format or tuple of str
        The columns that the file must have. Each one has the format of its ADC counts, or the class names if
        it contains classes.
    problems : list of Problem
        List to which problems are added: E241 for the file, E242 for the header, E243 for rows, E244 to E246
        for values, E251 for an empty line within a signal, E253 for classes.

    Returns
    -------
    ndarray of int64, shape (rows, columns)
        The ADC counts and class indices, in the order of `formats`, without rows that have errors.
    """
    words = array("q")  # eight bytes per value: a file may have 20 million lines
    blank = array("q")  # empty lines since the last row
    try:
        lines = csv_lines(path, allowed="a CSV file; paths are relative to the spec",
                          remedy="check file in [data]")
        order = _header(path, next(lines, (1, []))[1], formats, problems)
        bounds = _bounds(order, formats)
        for number, fields in lines if order else ():
            if len(fields) == len(bounds) and (counts := _valid(fields, bounds)) and not blank:
                words.extend(counts)
                continue
            if not fields:
                blank.append(number)
            else:
                if is_signal(formats):  # an empty line is a missing sample
                    problems += [not_finite(f"{path}:{line}", "") for line in blank[:MOST_PROBLEMS]]
                del blank[:]
                words.extend(_row(f"{path}:{number}", fields, order, formats, problems))
            if len(problems) >= MOST_PROBLEMS:
                break
    except KerncastError as error:
        problems += error.problems
    return np.array(words, dtype=np.int64).reshape(-1, len(formats))


def is_signal(formats: Mapping[str, Column]) -> bool:
    """Return whether a file contains only targets, sampled at a constant step."""
    return not any(column.startswith("x") for column in formats)


def _header(path: Path, names: list[str], formats: Mapping[str, Column],
            problems: list[Problem]) -> list[int]:
    """Return the position of each required column in a line.

    The result is empty if the header is not valid; the problem is then added to `problems`.
    """
    names = [name.strip() for name in names]
    if sorted(names) == sorted(formats):
        return [names.index(column) for column in formats]
    needed = list(formats)
    listed = ",".join(needed) if len(needed) < 6 else f"{needed[0]},{needed[1]},...,{','.join(needed[-2:])}"
    keys = ["`columns` in [input]"] * (len(needed) == 1 or not is_signal(formats))
    keys += ["`outputs` in [output]"] * ("y0" in formats)
    problems.append(Problem("E242", f"the header must name {len(needed)} column{'s'[:len(needed) != 1]}",
                            f"{path}:1", ",".join(names)[:60], listed,
                            f"correct the first line, or correct {' or '.join(keys)}"))
    return []


def _bounds(order: list[int], formats: Mapping[str, Column]) -> list[tuple[int, int, int]]:
    """Return the position and the limits of each column.

    The result is empty if one of the columns contains classes.
    """
    kinds = [fmt for fmt in formats.values() if isinstance(fmt, Format)]
    if len(kinds) < len(formats):
        return []
    return [(index, fmt.lo, fmt.hi) for index, fmt in zip(order, kinds, strict=False)]


def _valid(fields: list[str], bounds: list[tuple[int, int, int]]) -> list[int]:
    """Return the ADC counts of a line; empty if a field is not an integer in range."""
    counts = []
    for index, lo, hi in bounds:
        if not _INTEGER.fullmatch(fields[index]) or not lo <= (count := int(fields[index])) <= hi:
            return []
        counts.append(count)
    return counts


def _row(where: str, fields: list[str], order: list[int], formats: Mapping[str, Column],
         problems: list[Problem]) -> list[int]:
    """Return the values of one line; empty if the line contains an error."""
    if len(fields) != len(order):
        problems.append(Problem("E243", "the row has the wrong number of fields", where,
                                str(len(fields)), str(len(order)),
                                "correct the row; commas separate the fields"))
        return []
    texts = [fields[index].strip() for index in order]
    words = [_word(text) if isinstance(fmt, Format) else find_label(text, fmt)
             for text, fmt in zip(texts, formats.values(), strict=True)]
    wrong = [_mistake(f"{where} {column}", text, word, fmt) if isinstance(fmt, Format)
             else no_class(f"{where} {column}", text, fmt) if word is None else None
             for (column, fmt), text, word in zip(formats.items(), texts, words, strict=True)]
    problems += [problem for problem in wrong if problem]
    return [] if any(wrong) else [int(word) for word in words if word is not None]


def find_label(text: str, names: tuple[str, ...]) -> int | None:
    """Return the index of a class, or None if not found; 3.0 matches a class named 3."""
    if text in names:
        return names.index(text)
    number = _word(text)
    whole = "" if number is None or not math.isfinite(number) or number % 1 else str(int(number))
    return names.index(whole) if whole in names else None


def no_class(where: str, text: str, names: tuple[str, ...]) -> Problem:
    """Create the problem of a label that is not one of the classes (E253)."""
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return Problem("E253", "the label is not one of the classes", where, abbreviate(text) or "an empty field",
                   shown, "add the class to [output] classes, correct the label, or remove the sample")


def _word(text: str) -> float | int | None:
    """Parse the number in a field; return None if it is not a number."""
    try:
        return int(text) if _INTEGER.fullmatch(text) else decimal(text)
    except ValueError:
        return None


def abbreviate(text: str) -> str:
    """Shorten a field to at most 24 characters for a message."""
    return text if len(text) <= 24 else text[:21] + "..."


def _mistake(where: str, text: str, word: float | int | None, fmt: Format) -> Problem | None:
    shown = abbreviate(text)
    if word is not None and not math.isfinite(word):
        return Problem("E245", "NaN or infinity in the data", where, shown, "finite numbers",
                       "remove or repair the sample")
    if word is None or word % 1:
        return Problem("E244", "ADC counts must be integers", where, shown or "an empty field", "integers",
                       "export ADC counts, which offset and gain of [input] convert. If the file contains "
                       "physical values, give its columns names other than x0, x1, ... and y; then kerncast "
                       "init --data converts them")
    if not fmt.lo <= word <= fmt.hi:
        return Problem("E246", f"the value does not fit the ADC format {fmt}", where, shown,
                       f"{fmt.lo} to {fmt.hi}", "use a wider format, or repair the sample")
    return None


def targets_header(outputs: int = 1) -> list[str]:
    """Return the names of the target columns: y, or y0, y1, ... for several outputs."""
    return ["y"] if outputs == 1 else [f"y{output}" for output in range(outputs)]


def header(columns: int, outputs: int = 1) -> list[str]:
    """Return the column names of a file of ADC counts: the inputs, then the targets."""
    return [*(f"x{column}" for column in range(columns)), *targets_header(outputs)]


def words_text(words: NDArray[np.int64], classes: tuple[str, ...] = (), outputs: int = 1) -> str:
    """Return the text of a CSV file of ADC counts, with the targets last.

    The ADC counts have shape (m, D + 1), or (m, D + outputs). If `classes` are passed, the targets are class
    indices and are written as class names.
    """
    outputs = 1 if classes else outputs
    rows = [[*row[:-1], classes[row[-1]]] if classes else row for row in words.tolist()]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [header(words.shape[1] - outputs, outputs), *rows])
    return text.getvalue()


def column_names(path: Path) -> list[str]:
    """Return the names in the first line of a file; empty if it cannot be read.

    The names are not checked.
    """
    try:
        return [name.strip() for name in next(csv_lines(path), (1, []))[1]]
    except KerncastError:
        return []


def width(x: NDArray[np.int64]) -> float:
    """Suggest a kernel width: a third of the median distance between samples.

    The samples are ADC counts. The result is 1 if all of them are equal.
    """
    some = x[:: max(1, len(x) // 200)].astype(np.float64)
    distances = np.sqrt(((some[:, None] - some[None]) ** 2).sum(axis=-1))
    apart = distances[distances > 0]
    return float(f"{np.median(apart) / 3:.3g}") if apart.size else 1.0
