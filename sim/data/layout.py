"""sim.data: detect the layout of a CSV file from its first lines."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._arrays import Array
from ..errors import fail
from .clock import read_clock
from .csv_lines import decimal as parse_decimal
from .csv_lines import first_lines
from .samples.csv import decimal_comma, is_time, names_columns
from .samples.table import MISSING

#: Lines that decide the layout.
LINES = 1000
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*")
#: No integer is written so; as the text of one number it is common.
_FRACTION = re.compile(r"\s*(-0,\d+|[+-]?\d+,0\d+)\s*")
#: Names of a column of sampling instants; those in the second group only if the values increase.
_TIME_NAME = re.compile(r"(time|timestamp|date|datetime|date[ _]?time|zeit|zeitstempel|uhrzeit|datum)"
                        r"([ _]?(s|ms|us|ns|sec|seconds|utc|iso|stamp))?|"
                        r"(t|s|ms|us|sec|secs|seconds|millis|index|sample|samples|row|id|no|nr)")
_UNIT = re.compile(r"\s*[\[(].*[\])]\s*$")
_TARGET_NAMES = ("y", "target", "label", "class")
NUMBER, TIME, TEXT = "number", "time", "text"


@dataclass(frozen=True)
class Layout:
    """Layout of a CSV file.

    Parameters
    ----------
    separator, decimal : str
        The character between fields, and the decimal mark.
    names : tuple of str
        Names of the columns; ``column 0``, ``column 1`` and so on if there is no header.
    header : bool
        Whether the first line contains the names of the columns.
    kinds : tuple of str
        Kind of each column: number, time (ISO 8601) or text, whichever most of the first lines contain.
    instants : tuple of int
        Indices of the columns that contain sampling instants, recognised by their kind, by their name, or by
        a constant step.
    texts : tuple of tuple of str
        Some of the different values of each column.
    """

    separator: str
    decimal: str
    names: tuple[str, ...]
    header: bool
    kinds: tuple[str, ...]
    instants: tuple[int, ...]
    texts: tuple[tuple[str, ...], ...]

    @property
    def target(self) -> int:
        """Return the index of the likely target.

        It is the column with a typical name such as y, otherwise the last column without sampling instants.
        """
        named = [i for i, name in enumerate(self.names) if name.strip().lower() in _TARGET_NAMES]
        instants = set(self.instants)
        others = [i for i in range(len(self.names)) if i not in instants]
        return named[0] if len(named) == 1 else (others or [len(self.names) - 1])[-1]


def read_layout(path: Path, separator: str | None = None, decimal: str | None = None) -> Layout | None:
    """Detect the layout of a CSV file; return None if the file is empty.

    Raise E241 if it cannot be read, and E243 if the table does not begin in the first line.
    """
    lines = first_lines(path, LINES + 1)
    if not lines:
        return None
    if separator is None and decimal is None:
        _refuse_preamble(path, lines)
    separator, decimal = _marks(lines, separator, decimal)
    rows = [[field.strip() for field in row] for row in csv.reader(lines, delimiter=separator)]
    parse = parse_decimal if decimal == "." else decimal_comma
    header = names_columns(rows[0], parse)
    names = tuple(rows[0]) if header else tuple(f"column {i}" for i in range(len(rows[0])))
    body = [row for row in rows[header:] if len(row) == len(names)]
    columns = [[row[i] for row in body if row[i].lower() not in MISSING] for i in range(len(names))]
    kinds = tuple(_kind(column, decimal) for column in columns)
    instants = tuple(i for i, (name, kind, column) in enumerate(zip(names, kinds, columns, strict=True))
                     if kind == TIME or (kind == NUMBER and _is_clock(name, _numbers(column, decimal))))
    texts = tuple(tuple(dict.fromkeys(column))[:4] for column in columns)
    return Layout(separator, decimal, names, header, kinds, instants, texts)


def _refuse_preamble(path: Path, lines: list[str]) -> None:
    """Raise E243 if other lines, such as comments or a title, precede the table."""
    for separator in ";\t,":
        sizes = [len(row) for row in csv.reader(lines, delimiter=separator)]
        size = max(set(sizes), key=sizes.count)
        start = sizes.index(size)
        if size > 1 and (start == 0 or _is_spaced(lines)):
            return
        likely = start > 1 or size > 2 or lines[0].startswith("#")  # 0,5 is a number with a decimal comma
        if size > 1 and likely and start < len(sizes) - 2 and set(sizes[start:]) == {size}:
            raise fail("E243", "the table does not begin in the first line", where=f"{path}:1",
                       value=lines[0][:40], allowed=f"{size} fields in each line",
                       remedy="delete the lines above the names of the columns, such as comments")


def _marks(lines: list[str], separator: str | None, decimal: str | None) -> tuple[str, str]:
    """Return the separator and the decimal mark, detected if they are None."""
    first, body = lines[0], lines[1:]
    if separator is None:
        candidates = ";\t," if decimal != "," else ";\t"
        separator = max(candidates, key=first.count)
        # One column of decimal commas: every row has one. The first line is a header without a comma,
        # or a number too; then at least one row cannot be two integers.
        number = _DECIMAL_COMMA.fullmatch(first) is not None
        if body and all(map(_DECIMAL_COMMA.fullmatch, body)) and (
                any(map(_FRACTION.fullmatch, lines)) if number else not first.count(separator)):
            return ";", decimal or ","
        if not first.count(separator):
            separator = " " if _is_spaced(lines) else ";" if decimal == "," else ","
    if decimal is None:
        fields = [field for row in csv.reader(lines, delimiter=separator) for field in row]
        commas = sum(bool(_DECIMAL_COMMA.fullmatch(field)) for field in fields)
        points = sum("." in field and _is_number(field) for field in fields)
        decimal = "," if commas > points else "."
    return separator, decimal


def _is_spaced(lines: list[str]) -> bool:
    """Return whether single spaces separate the fields.

    All fields below the first line must be numbers.
    """
    rows = [line.split(" ") for line in lines]
    fields = [field for row in rows[1:] for field in row]
    return (len(rows[0]) > 1 and {len(row) for row in rows[1:]} == {len(rows[0])}
            and all(_is_number(field) or _DECIMAL_COMMA.fullmatch(field) for field in fields))


def _is_number(text: str) -> bool:
    try:
        parse_decimal(text)
    except ValueError:
        return False
    return True


def _kind(column: list[str], decimal: str) -> str:
    """Return the kind that most fields of a column have."""
    texts = [field.replace(",", ".") for field in column] if decimal == "," else column
    numbers = sum(map(_is_number, texts))
    times = sum(map(is_time, column))
    return NUMBER if 2 * numbers > len(column) or not column else TIME if 2 * times > len(column) else TEXT


def _numbers(column: list[str], decimal: str) -> Array:
    texts = [field.replace(",", ".") for field in column] if decimal == "," else column
    return np.array([parse_decimal(text) if _is_number(text) else np.nan for text in texts])


def _is_clock(name: str, values: Array) -> bool:
    """Return whether a column of numbers contains sampling instants."""
    match = _TIME_NAME.fullmatch(_UNIT.sub("", name).strip().lower())
    if match and match[1]:
        return True
    if len(values) < 3 or not np.isfinite(values).all():
        return False
    clock = read_clock(values)
    return clock.increases and (match is not None or (clock.lost == 0 and clock.deviation < 1e-3))
