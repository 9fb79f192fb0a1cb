"""sim: read JSON from an untrusted source; every fault raises a ValueError."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

from ._files import read_bytes


def parse_json(text: str | bytes) -> Any:
    """Parse JSON from an untrusted source.

    Parameters
    ----------
    text : str or bytes
        Bytes are UTF-8.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If the text is not JSON, is nested too deeply for Python, or contains half of a surrogate pair,
        which no output could print.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    escape = b"\\ud" if isinstance(text, bytes) else "\\ud"
    if escape in text.lower():  # type: ignore[operator]  # both are of one type
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair") from None
    return value


def read_json(path: Path) -> Any:
    """Read and parse a JSON file of at most :data:`._files.MAX_BYTES`.

    Raise ValueError as :func:`parse_json` does.
    """
    try:
        return parse_json(read_bytes(path))
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise ValueError(error.strerror) from None
