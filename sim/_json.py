"""sim: parse JSON from untrusted sources; every error is a ValueError."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

from ._files import read_bytes

#: Levels of lists and objects; no file of kerncast has a dozen.
MAX_DEPTH = 64


def parse_json(text: str | bytes) -> Any:
    """Parse JSON from an untrusted source.

    Parameters
    ----------
    text : str or bytes
        JSON text; bytes must be in UTF-8.

    Returns
    -------
    object
        The parsed value.

    Raises
    ------
    ValueError
        If the text is not JSON, if it is nested more than :data:`MAX_DEPTH` levels deep, or if it contains an
        unpaired surrogate, which cannot be printed.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    opening, escape = (b"[{", b"\\ud") if isinstance(text, bytes) else ("[{", "\\ud")
    if text.count(opening[:1]) + text.count(opening[1:]) > MAX_DEPTH:  # type: ignore[arg-type]  # one type
        _check_depth(value)
    if escape in text.lower():  # type: ignore[operator]  # both are of one type
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("an unpaired surrogate") from None
    return value


def _check_depth(value: Any) -> None:
    """Raise ValueError if a value is nested more than MAX_DEPTH levels deep."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for parent in level if isinstance(parent, (list, dict))
                 for child in (parent.values() if isinstance(parent, dict) else parent)
                 if isinstance(child, (list, dict))]
        if not level:
            return
    raise ValueError(f"nested more than {MAX_DEPTH} levels deep")


def read_json(path: Path) -> Any:
    """Read and parse a JSON file.

    Raise ValueError if it is larger than :data:`._files.MAX_BYTES`, or if :func:`parse_json` rejects it.
    """
    try:
        return parse_json(read_bytes(path))
    except OSError as error:
        if error.errno not in (errno.EFBIG, errno.EINVAL):
            raise
        raise ValueError(error.strerror) from None
