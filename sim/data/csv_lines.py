"""sim.data: the lines of a CSV file, plain or compressed, with their numbers."""

from __future__ import annotations

import bz2
import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from ..errors import Problem, fail

#: Problems that are listed, and rows of one column with the same problem that are listed each.
_MOST_LISTED, _MOST_REPEATS = 10, 3
#: Problems after which a file is not read further.
MOST_PROBLEMS = 100_000
_COLUMN = re.compile(r":\d+(?: (.*))?$")

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}


def open_text(path: Path) -> IO[str]:
    """Open a text file in UTF-8, through gzip or bzip2 if its name ends so."""
    opener = _OPENERS.get(path.suffix.lower(), open)
    file: IO[str] = opener(path, "rt", newline="", encoding="utf-8-sig")
    return file


def counted(problems: Sequence[Problem]) -> list[Problem]:
    """Replace the repeats of a problem in a column by the first of them, with their count and values."""
    alike: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        alike.setdefault(_kind(problem), []).append(problem)
    listed = []
    for problem in problems:
        group = alike[_kind(problem)]
        if len(group) <= _MOST_REPEATS:
            listed.append(problem)
        elif problem is group[0]:
            listed.append(_merged(group))
    more = len(listed) - _MOST_LISTED
    if more > 0:
        last = listed[_MOST_LISTED - 1]
        message = f"{last.message} ({more} more problems in the data)"
        listed[_MOST_LISTED - 1:] = [replace(last, message=message)]
    return listed


def _kind(problem: Problem) -> tuple[str, str, str]:
    """Code, message and column."""
    place = _COLUMN.search(problem.where)
    return problem.code, problem.message, (place[1] or "") if place else problem.where


def _merged(group: Sequence[Problem]) -> Problem:
    values = list(dict.fromkeys(problem.value for problem in group))
    shown = ", ".join(values[:3]) + (", ..." if len(values) > 3 else "")
    rows = f"{len(group):,} rows" + (" or more" if len(group) >= MOST_PROBLEMS else "")
    return replace(group[0], message=f"{group[0].message}, in {rows}", value=shown)


def csv_lines(path: Path, delimiters: str = ",", allowed: str = "a CSV file in UTF-8",
              remedy: str = "check the path and the file") -> Iterator[tuple[int, list[str]]]:
    """Yield number and fields of each line; an empty line has no fields.

    Parameters
    ----------
    path : Path
    delimiters : str
        Candidates; the one most frequent in the first line separates the fields.
    allowed, remedy : str
        For the message.

    Raises
    ------
    KerncastError
        E241 if the file cannot be read, or reading fails midway.
    """
    try:
        with open_text(path) as file:
            first = file.readline()
            file.seek(0)
            reader = csv.reader(file, delimiter=max(delimiters, key=first.count))
            for fields in reader:
                yield reader.line_num, fields
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or "not a CSV file in UTF-8"
        raise fail("E241", f"cannot read the data file: {reason}", where=str(path), value=path.name,
                   allowed=allowed, remedy=remedy) from None
