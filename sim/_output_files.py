"""sim: write output files atomically, and reject paths that cannot be written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import fail

_ALLOWED = "a new file, or a regular file, in a writable folder"


def refuse_unwritable(path: Path, where: str, what: str) -> None:
    """Raise E191 if a file cannot be written at this path.

    Parameters
    ----------
    path : Path
    where : str
        The option that names the file, for the error message.
    what : str
        Contents of the file, for the error message.

    Raises
    ------
    KerncastError
        E191 if the path is a folder, a link, a device, a FIFO or a read-only file, or if its folder does not
        exist or is not writable.
    """
    folder = path.absolute().parent
    taken = _is_special(path) or (path.exists() and not os.access(path, os.W_OK))
    if taken or not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise fail("E191", f"{what} cannot be written", where=where, value=str(path), allowed=_ALLOWED,
                   remedy="name a file in a writable folder")


def _is_special(path: Path) -> bool:
    """Report whether a path is a link, a folder, a device or a FIFO."""
    return path.is_symlink() or (path.exists() and not path.is_file())


def partial_path(path: Path) -> Path:
    """Return the temporary path of a file that is being written."""
    return path.with_name(f".{path.name}.kerncast-part")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path, and rename the file to `path` if the block succeeds.

    Raises E191 if `path` is a folder, a link, a device or a FIFO.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = partial_path(path)
    for taken in (path, part):  # writing to a link or a FIFO of the temporary name would do the same harm
        if _is_special(taken):
            raise fail("E191", "another kind of file has the name of an output", where=str(taken),
                       value="a link" if taken.is_symlink() else "not a regular file", allowed=_ALLOWED,
                       remedy="remove it, or write to another folder")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically."""
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
