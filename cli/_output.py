"""cli: print a result as lines that fit the terminal, or as a JSON object.

The width is COLUMNS if this variable is set, else that of the terminal. Output to a pipe or a file is not
wrapped: each row of a table is one line, so that grep and awk can be used.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import typer

from ..sim.errors import Problem, printable

#: The width of what has none.
UNLIMITED = 1_000_000
# A narrower terminal is treated as one of this width.
_LEAST_WIDTH = 40
# Columns of prose are wrapped, but not below this width.
_PROSE = 22
_GAP = 2
# The end of a line of a command that continues on the next.
_CONTINUES = " \\"
# A cell of a column of numbers, which is aligned to the right.
_NUMBER = re.compile(r"|-|[-+]?[\d.,]+(e[-+]?\d+)?( ?%)?( \([\d.,]+\))?( bits| bytes)?")


class Result(Protocol):
    """Result that a command can print."""

    def as_dict(self) -> Mapping[str, Any]:
        """Return the JSON object for ``--json``."""

    def lines(self) -> Iterable[str]:
        """Return the lines of the text."""


@dataclass(frozen=True)
class Answer:
    """Result with a ready JSON object and text.

    Parameters
    ----------
    values : mapping
        JSON object for ``--json``.
    text : str
        The result as text.
    after : sequence of str, optional
        Words of the recommended next command. It is printed only with the text.
    """

    values: Mapping[str, Any]
    text: str
    after: Sequence[str] = field(default=())

    def as_dict(self) -> Mapping[str, Any]:
        """Return the JSON object for ``--json``."""
        return self.values

    def lines(self) -> Iterable[str]:
        """Return the lines of the text and of the next command."""
        yield from self.text.split("\n")
        if self.after:
            yield from command_lines(self.after, "next: ").split("\n")


def emit(result: Result, as_json: bool) -> None:
    """Print a result to stdout, as a JSON object or as lines that fit the terminal."""
    if as_json:
        print_json(result.as_dict())
    else:
        print_text("\n".join(result.lines()))


def print_text(text: str) -> None:
    """Print text to stdout, wrapped to the width of the terminal.

    Commands that continue after a backslash are not wrapped. Control characters are escaped, because names in
    files may contain them.
    """
    lines = printable(text, len(text)).split("\n")
    typer.echo("\n".join(line if _CONTINUES in (line[-2:], before[-2:]) else fitted(line)
                         for before, line in zip(["", *lines], lines, strict=False)))


def print_json(values: object) -> None:
    """Print a JSON object; infinity and NaN become null, because JSON lacks them."""
    typer.echo(json.dumps(_plain(values), indent=2, allow_nan=False))


def _plain(values: object) -> object:
    """Prepare values for JSON: replace NaN and infinity by None.

    The entry `words` of an object is repeated as `values`, the current name of this entry.
    """
    if isinstance(values, Mapping):
        counted = {"values": values["words"]} if "values" not in values and _is_count(values) else {}
        return {key: _plain(value) for key, value in {**values, **counted}.items()}
    if isinstance(values, (list, tuple)):
        return [_plain(value) for value in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values


def _is_count(values: Mapping[str, object]) -> bool:
    words = values.get("words")
    return isinstance(words, int) and not isinstance(words, bool)


# ---- width ----
def width(stderr: bool = False) -> int:
    """Return the width of stdout, or of stderr, in characters."""
    given = os.environ.get("COLUMNS", "")
    if given.isdigit() and int(given) > 0:
        return max(int(given), _LEAST_WIDTH)
    stream = sys.stderr if stderr else sys.stdout
    return max(shutil.get_terminal_size().columns, _LEAST_WIDTH) if stream.isatty() else UNLIMITED


def fitted(line: str, limit: int | None = None, hang: int = 0) -> str:
    """Wrap a line between words.

    A word that is longer than the line, such as a path, is not split.

    Parameters
    ----------
    line : str
    limit : int, optional
        Maximum width; by default that of stdout.
    hang : int, optional
        Additional indentation of the continuation lines.
    """
    limit = width() if limit is None else limit
    if len(line) <= limit:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + hang)
    return "\n".join(textwrap.wrap(line, limit, subsequent_indent=indent, break_long_words=False,
                                   break_on_hyphens=False, drop_whitespace=True, replace_whitespace=False))


def command_lines(words: Sequence[str], label: str = "", limit: int | None = None) -> str:
    """Return a shell command that can be copied to a terminal.

    A long command is split into lines that end with a backslash.

    Parameters
    ----------
    words : sequence of str
        Words of the command. They are quoted for the shell, except ``&&``.
    label : str, optional
        Text before the command, such as ``next: ``.
    limit : int, optional
        Maximum width; by default that of stdout.
    """
    limit = width() if limit is None else limit
    lines: list[str] = []
    line = label
    for i, word in enumerate(word if word == "&&" else shlex.quote(word) for word in words):
        if i and len(line) + 1 + len(word) > limit - 2:
            lines, line = [*lines, line], f"    {word}"
        else:
            line += f" {word}" if i else word
    return " \\\n".join([*lines, line])


def fitted_problem(problem: Problem, before: str = "") -> str:
    """Return the text of a problem, wrapped to the width of stderr."""
    limit = width(stderr=True)
    head, *rest = f"{before}{problem}".split("\n")
    return "\n".join([fitted(head, limit, hang=4), *(fitted(line, limit, hang=4) for line in rest)])


# ---- tables ----
def table(rows: Iterable[Sequence[str]], keys: int = 1, limit: int | None = None) -> str:
    """Return a table with aligned columns that fits the width.

    Parameters
    ----------
    rows : iterable of sequence of str
        The rows; the first one may contain the headings.
    keys : int
        Number of leading columns that identify a row. A table that is too wide is split into several tables,
        and each of them contains these columns.
    limit : int, optional
        Maximum width; by default that of stdout.
    """
    held = [list(row) for row in rows]
    limit = width() if limit is None else limit
    columns = [list(column) for column in zip(*held, strict=True)]
    return "\n\n".join(_block(group, limit) for group in _groups(columns, keys, limit))


def _groups(columns: list[list[str]], keys: int, limit: int) -> Iterator[list[list[str]]]:
    """Split columns into groups that fit the width; each group begins with the keys."""
    named, rest = columns[:keys], columns[keys:]
    group = list(named)
    for column in rest:
        if len(group) > len(named) and _total([_least(c) for c in [*group, column]]) > limit:
            yield group
            group = list(named)
        group.append(column)
    yield group


def _block(columns: list[list[str]], limit: int) -> str:
    """Return one table; text columns are wrapped if necessary."""
    widths = [max(map(len, column)) for column in columns]
    least = [_least(column) for column in columns]
    while _total(widths) > limit and any(w > low for w, low in zip(widths, least, strict=True)):
        spare = [w - low for w, low in zip(widths, least, strict=True)]
        widest = max(range(len(widths)), key=lambda i: (spare[i] > 0, widths[i]))
        widths[widest] -= 1
    justify = [str.rjust if i and _is_numeric(column) else str.ljust for i, column in enumerate(columns)]
    lines: list[str] = []
    for row in zip(*columns, strict=True):
        cells = [fitted(cell, w).split("\n") for cell, w in zip(row, widths, strict=True)]
        height = max(map(len, cells))
        for line in zip(*(cell + [""] * (height - len(cell)) for cell in cells), strict=True):
            padded = (just(c, w) for just, c, w in zip(justify, line, widths, strict=True))
            lines.append((" " * _GAP).join(padded).rstrip())
    return "\n".join(lines)


def _is_numeric(column: Sequence[str]) -> bool:
    """Report whether all cells of a column below its heading are numbers."""
    return len(column) > 1 and any(column[1:]) and all(_NUMBER.fullmatch(cell) for cell in column[1:])


def _least(column: Sequence[str]) -> int:
    """Return the minimum width of a column.

    This is the maximum length over the words of long cells and over whole short cells.
    """
    return max((max(map(len, cell.split()), default=0) if len(cell) > _PROSE else len(cell)
                for cell in column), default=0)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)
