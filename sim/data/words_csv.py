"""sim.data: CSV files of ADC counts; every error names its line."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import KerncastError, Problem
from ..formats import Format
from .csv_lines import MOST_PROBLEMS, counted, csv_lines, decimal
from .samples.table import not_finite

# Longer integers are read as floats: they exceed the range of any ADC.
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


def read_words(path: Path, formats: Mapping[str, Format], problems: list[Problem]) -> NDArray[np.int64]:
    """Read the columns of a CSV file whose first line names them, in any order.

    Parameters
    ----------
    path : Path
    formats : mapping of column name to Format
        The required columns, exactly, with the formats of their ADC counts.
    problems : list of Problem
        Receives the problems found: E241 file, E242 header, E243 row, E244 to E246 value, E251 an empty line
        within a signal.

    Returns
    -------
    ndarray of int64, shape (rows, columns)
        In the order of `formats`, without invalid rows.
    """
    words = array("q")  # eight bytes per value: a file may have 20 million lines
    blank = array("q")  # empty lines since the last row
    try:
        lines = csv_lines(path, allowed="a CSV file; paths are relative to the spec",
                          remedy="check file in [data]")
        order = _header(path, next(lines, (1, []))[1], formats, problems)
        for number, fields in lines if order else ():
            if not fields:
                blank.append(number)
            else:
                if len(formats) == 1:  # a signal: an empty line is a missing sample
                    problems += [not_finite(f"{path}:{line}", "") for line in blank[:MOST_PROBLEMS]]
                del blank[:]
                words.extend(_row(f"{path}:{number}", fields, order, formats, problems))
            if len(problems) >= MOST_PROBLEMS:
                break
    except KerncastError as error:
        problems += error.problems
    return np.array(words, dtype=np.int64).reshape(-1, len(formats))


def _header(path: Path, names: list[str], formats: Mapping[str, Format],
            problems: list[Problem]) -> list[int]:
    """Return the index of each required column in a line.

    The result is empty if the header is wrong.
    """
    names = [name.strip() for name in names]
    if sorted(names) == sorted(formats):
        return [names.index(column) for column in formats]
    needed = list(formats)
    listed = ",".join(needed) if len(needed) < 6 else f"{needed[0]},{needed[1]},...,{needed[-2]},y"
    problems.append(Problem("E242", f"the header must name {len(needed)} column{'s'[:len(needed) != 1]}",
                            f"{path}:1", ",".join(names)[:60], listed,
                            "correct the first line, or columns in [input]"))
    return []


def _row(where: str, fields: list[str], order: list[int], formats: Mapping[str, Format],
         problems: list[Problem]) -> list[int]:
    """Return the counts of one line; empty if it contains an error."""
    if len(fields) != len(order):
        problems.append(Problem("E243", "the row has the wrong number of fields", where,
                                str(len(fields)), str(len(order)),
                                "correct the row; commas separate the fields"))
        return []
    words = [_word(fields[index].strip()) for index in order]
    wrong = [_mistake(f"{where} {column}", fields[index].strip(), word, fmt)
             for (column, fmt), index, word in zip(formats.items(), order, words, strict=True)]
    problems += [problem for problem in wrong if problem]
    return [] if any(wrong) else [int(word) for word in words if word is not None]


def _word(text: str) -> float | int | None:
    """Return the number in a field, or None; a whole float counts as an integer."""
    try:
        return int(text) if _INTEGER.fullmatch(text) else decimal(text)
    except ValueError:
        return None


def _mistake(where: str, text: str, word: float | int | None, fmt: Format) -> Problem | None:
    shown = text if len(text) <= 24 else text[:21] + "..."
    if word is not None and not math.isfinite(word):
        return Problem("E245", "NaN or infinity in the data", where, shown, "finite numbers",
                       "remove or repair the sample")
    if word is None or word % 1:
        return Problem("E244", "ADC counts are integers", where, shown or "an empty field", "integers",
                       "export ADC counts, which offset and gain of [input] convert. If the file contains "
                       "physical values, give its columns names other than x0, x1, ... and y; then kerncast "
                       "init --data converts them")
    if not fmt.lo <= word <= fmt.hi:
        return Problem("E246", f"the value does not fit the ADC format {fmt}", where, shown,
                       f"{fmt.lo} to {fmt.hi}", "use a wider format, or repair the sample")
    return None


@dataclass(frozen=True)
class Survey:
    """Summary of a data file, before there is a spec.

    Parameters
    ----------
    rows, columns : int
        Samples, and inputs per sample (0 if the file contains y only).
    x_range, y_range : tuple of int
        Lowest and highest ADC count of all inputs, and of the target.
    sigma : float
        Initial kernel width: a third of the median distance between samples.
    """

    rows: int
    columns: int
    x_range: tuple[int, int]
    y_range: tuple[int, int]
    sigma: float


def survey(path: Path) -> Survey:
    """Summarise a data file without a spec; raise E241 to E247."""
    columns = max(_columns(path), 0)
    wide = dict.fromkeys(header(columns), Format(True, 33, 0))
    problems: list[Problem] = []
    words = read_words(path, wide, problems)
    if not problems and len(words) < 2:
        problems.append(Problem("E247", "the file contains too few samples", str(path), f"{len(words)} rows",
                                "2 rows or more", "give more data"))
    if problems:
        raise KerncastError(counted(problems))
    x, y = words[:, :-1], words[:, -1]
    return Survey(len(words), columns, (int(x.min()), int(x.max())) if columns else (0, 0),
                  (int(y.min()), int(y.max())), width(x))


def header(columns: int) -> list[str]:
    """Return the column names of a file of ADC counts: the inputs, and the target."""
    return [*(f"x{column}" for column in range(columns)), "y"]


def words_text(words: NDArray[np.int64]) -> str:
    """Return a CSV file of ADC counts, shape (m, D + 1), the target last."""
    rows = words.tolist()
    return "\n".join([",".join(header(words.shape[1] - 1)), *(",".join(map(str, row)) for row in rows), ""])


def _columns(path: Path) -> int:
    """Return the number of input columns in the header; reading checks it."""
    try:
        return len(next(csv_lines(path), (1, []))[1]) - 1
    except KerncastError:
        return 0


def width(x: NDArray[np.int64]) -> float:
    """Return a third of the median distance between samples in ADC counts.

    It is 1 if all samples are equal.
    """
    some = x[:: max(1, len(x) // 200)].astype(np.float64)
    distances = np.sqrt(((some[:, None] - some[None]) ** 2).sum(axis=-1))
    apart = distances[distances > 0]
    return float(f"{np.median(apart) / 3:.3g}") if apart.size else 1.0
