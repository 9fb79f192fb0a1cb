"""sim: read files from untrusted sources, with limits on their size."""

from __future__ import annotations

import errno
import lzma
import os
import stat
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Bytes of a JSON file, a recording or a trained model, and characters of a spec.
MAX_BYTES, MAX_SPEC = 1 << 28, 1 << 22
#: Bytes of all arrays of an NPZ file, decompressed.
MAX_ARRAYS = 1 << 30

#: What numpy and zipfile raise for a damaged or foreign file: a member that is not .npy, a plain .npy, a
#: header that promises more than the memory or nests too deeply, an unknown method, an encrypted member.
UNREADABLE_NPZ = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
                  AttributeError, TypeError, LookupError, MemoryError, RuntimeError, ArithmeticError,
                  SyntaxError, tokenize.TokenError)


def _too_large(path: Path) -> OSError:
    return OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))


def refuse_special(path: Path) -> Path:
    """Return `path`; raise OSError if it is a FIFO, a socket or a device."""
    mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening a folder raises its own error
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a file of at most `most` bytes.

    Raise OSError if it is larger, or not a regular file.
    """
    with refuse_special(path).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise _too_large(path)
    return data


def read_text(path: Path, most: int = MAX_BYTES, encoding: str = "utf-8", piped: bool = False) -> str:
    """Read a text file of at most `most` characters.

    Raise OSError if it is longer, or if it is not a regular file and `piped` is false.
    """
    with (path if piped else refuse_special(path)).open(encoding=encoding) as file:
        text = file.read(most + 1)
    if len(text) > most:
        raise _too_large(path)
    return text


def unpacked_bytes(archive: zipfile.ZipFile) -> int:
    """Return the stated size of all members; check how they are compressed.

    Raise ValueError for an unusual method. If the size is false, reading a stored or deflated member in parts
    still takes little memory, but zipfile unpacks those of other methods without a limit.
    """
    for member in archive.infolist():
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{member.filename!r} is neither stored nor deflated")
    return sum(member.file_size for member in archive.infolist())


@contextmanager
def open_npz(path: Path) -> Iterator[Any]:
    """Open an NPZ file of at most :data:`MAX_ARRAYS` bytes; reject Python objects."""
    import numpy as np  # not at import: commands that read no arrays load no mathematics

    with zipfile.ZipFile(refuse_special(path)) as archive:
        if unpacked_bytes(archive) > MAX_ARRAYS:
            raise _too_large(path)
    with warnings.catch_warnings(), np.load(path, allow_pickle=False) as file:
        warnings.simplefilter("ignore")  # about files of Python 2
        yield file
