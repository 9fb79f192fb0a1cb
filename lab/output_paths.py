"""lab: check that an output path is writable before a long run."""

from __future__ import annotations

import os
from pathlib import Path

from ..sim.errors import fail


def refuse_unwritable(path: Path, where: str, what: str) -> None:
    """Raise E191 if no file of this name can be written.

    Parameters
    ----------
    path : Path
    where : str
        The option that names it.
    what : str
        Contents of the file, for the message.

    Raises
    ------
    KerncastError
        E191 for a folder, a link, a device, a FIFO, a read-only file, and a name in a folder that does not
        exist or is not writable.
    """
    folder = path.absolute().parent
    # A link, a device or a FIFO would be replaced by a regular file.
    special = path.is_symlink() or (path.exists() and not path.is_file())
    taken = special or (path.exists() and not os.access(path, os.W_OK))
    if taken or not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise fail("E191", f"{what} cannot be written", where=where, value=str(path),
                   allowed="a new or regular file in a folder that exists and is writable",
                   remedy="name a file in such a folder")
