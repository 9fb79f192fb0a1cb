"""sim.data: read the lines of a plain or compressed CSV file."""

from __future__ import annotations

import bz2
import csv
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, AnyStr

from .._files import refuse_special
from ..errors import KerncastError, Problem, fail

#: Problems that are listed, and rows of one column with the same problem that are listed each.
_MOST_LISTED, _MOST_REPEATS = 10, 3
#: Problems after which a file is not read further.
MOST_PROBLEMS = 100_000
_COLUMN = re.compile(r":\d+(?: (.*))?$")

#: Limits of a data file, after decompression: characters of a line, of the file, and lines.
MAX_LINE, MAX_TEXT, MAX_LINES = 1 << 24, 1 << 30, 20_000_000
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}


def open_text(path: Path) -> IO[str]:
    """Open a text file as UTF-8; decompress it if its name ends in .gz or .bz2."""
    opener = _OPENERS.get(path.suffix.lower(), open)
    file: IO[str] = opener(refuse_special(path), "rt", newline="", encoding="utf-8-sig")
    return file


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file; decompress it if its name ends in .gz or .bz2."""
    file: IO[bytes] = _OPENERS.get(path.suffix.lower(), open)(refuse_special(path), "rb")
    return file


def counted(problems: Sequence[Problem]) -> list[Problem]:
    """Merge similar problems of one column into the first of them.

    The merged problem states the number of rows and some of the values.
    """
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
    """Return the code, the message and the column, which are the same for repeats."""
    place = _COLUMN.search(problem.where)
    return problem.code, problem.message, (place[1] or "") if place else problem.where


def _merged(group: Sequence[Problem]) -> Problem:
    values = list(dict.fromkeys(problem.value for problem in group))
    shown = ", ".join(values[:3]) + (", ..." if len(values) > 3 else "")
    rows = f"{len(group):,} rows" + (" or more" if len(group) >= MOST_PROBLEMS else "")
    return replace(group[0], message=f"{group[0].message}, in {rows}", value=shown)


def csv_lines(path: Path, delimiters: str = ",", allowed: str = "a CSV file in UTF-8",
              remedy: str = "check the path and the file") -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line; an empty line has no fields.

    Parameters
    ----------
    path : Path
    delimiters : str
        Possible separators; the one that is most frequent in the first line is used.
    allowed, remedy : str
        Allowed values and remedy for the error message.

    Raises
    ------
    KerncastError
        E241 if the file cannot be opened, decompressed or decoded.
    """
    with _reading(path, allowed, remedy) as file:
        lines = _limited(file, path)
        first = next(lines, "")
        reader = csv.reader(chain([first], lines), delimiter=max(delimiters, key=first.count))
        for fields in reader:
            yield reader.line_num, fields


def first_lines(path: Path, count: int) -> list[str]:
    """Return the first `count` non-empty lines of a text file.

    Raise E241 if the file cannot be read.
    """
    with _reading(path, "a CSV file in UTF-8", "check the path and the file") as file:
        return list(islice((line.rstrip("\r\n") for line in _limited(file, path) if line.strip()), count))


@contextmanager
def _reading(path: Path, allowed: str, remedy: str) -> Iterator[IO[str]]:
    """Open a text file; raise E241 if it cannot be opened, decompressed or decoded."""
    try:
        with open_text(path) as file:
            yield file
    except KerncastError:
        raise
    except UnicodeDecodeError:
        raise fail("E241", "the data file is not UTF-8 text", where=str(path), value=path.name,
                   allowed=allowed,
                   remedy=f"save the file as UTF-8, for example with: iconv -f {_encoding(path)} "
                   f"-t UTF-8 \"{path}\" > \"{path.stem}-utf8{path.suffix}\"") from None
    except (OSError, EOFError, zlib.error, ValueError, csv.Error) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or "not CSV in UTF-8"
        raise fail("E241", f"the data file cannot be read: {reason}", where=str(path), value=path.name,
                   allowed=allowed, remedy=remedy) from None


def _encoding(path: Path) -> str:
    """Return the likely encoding of a text file that is not UTF-8."""
    with open_bytes(path) as file:
        return "UTF-16" if file.read(2) in (b"\xff\xfe", b"\xfe\xff") else "LATIN1"


def decimal(text: str) -> float:
    """Parse a decimal number.

    Raise ValueError for texts such as 1_0 and for non-ASCII digits, although Python accepts them.
    """
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return float(text)


def check_text(path: Path) -> None:
    """Check the size of a text file by reading it once.

    Raise E241 if a line, the whole text or the number of lines is too large.
    """
    with open_bytes(path) as file:
        for _ in _limited(file, path):
            pass


def _limited(file: IO[AnyStr], path: Path) -> Iterator[AnyStr]:
    """Yield the lines of a file.

    Raise E241 if a line, the whole text or the number of lines is too large.
    """
    size = 0
    for count in range(MAX_LINES + 1):
        line = file.readline(MAX_LINE + 1)
        if not line:
            return
        size += len(line)
        if len(line) > MAX_LINE or size > MAX_TEXT or count == MAX_LINES:
            raise fail("E241", "the data file is too large", where=f"{path}:{count + 1}", value=path.name,
                       allowed=f"at most {MAX_LINE:,} characters per line, {MAX_LINES:,} lines and "
                       f"{MAX_TEXT:,} characters, after decompression",
                       remedy="check that the file is a text file, or split it")
        yield line
