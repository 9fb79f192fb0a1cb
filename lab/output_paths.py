"""lab: where a file is to be written, looked at before the hours of work that fill it."""

from __future__ import annotations

import os
from pathlib import Path

from ..sim.errors import fail


def refuse_unwritable(path: Path, where: str, what: str) -> None:
    """E191 where no file of this name can be written.

    Parameters
    ----------
    path : Path
    where : str
        The option that names it.
    what : str
        What it is to hold, as the message says it.

    Raises
    ------
    KerncastError
        E191 for a folder, a file that is read only, and a name in a folder that is not there or not writable.
    """
    folder = path.absolute().parent
    taken = path.is_dir() or (path.exists() and not os.access(path, os.W_OK))
    if taken or not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise fail("E191", f"cannot write {what}", where=where, value=str(path),
                   allowed="a file in a folder that exists and is writable",
                   remedy="name a file in such a folder")
