"""sim.data: the lines of a CSV file, plain or compressed, with their numbers."""

from __future__ import annotations

import bz2
import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import fail

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}


def open_text(path: Path) -> IO[str]:
    """Open a text file in UTF-8, through gzip or bzip2 if its name ends so."""
    opener = _OPENERS.get(path.suffix.lower(), open)
    file: IO[str] = opener(path, "rt", newline="", encoding="utf-8-sig")
    return file


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
        reason = getattr(error, "strerror", None) or "not CSV in UTF-8"
        raise fail("E241", f"the data file cannot be read: {reason}", where=str(path), value=path.name,
                   allowed=allowed, remedy=remedy) from None
