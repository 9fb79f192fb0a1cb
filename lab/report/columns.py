"""lab.report: encode columns of values compactly in JSON.

A column of numbers is ``{"f4": BASE64}`` (float32; fractions keep six digits; a missing value is NaN) or
``{"f8": BASE64}`` (float64, if it contains integers that float32 cannot represent). A column with repeated
values is ``{"of": [VALUE, ...], "at": BASE64, "bytes": 1, 2 or 4}``: the distinct values, and the index of
each row, with its size in bytes. A column of hashes with N bytes is ``{"hex": BASE64, "bytes": N}``. All
arrays are little-endian.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = dict[str, Any]
_FEW, _MOST = 1 << 8, 1 << 16


def packed(values: Sequence[Any]) -> Column:
    """Encode a column of numbers, texts, booleans or None.

    If there are texts, or only a few distinct values, the distinct values and an index are stored; otherwise,
    the numbers are stored.

    Parameters
    ----------
    values : sequence of int, float, str, bool or None
        The column.

    Returns
    -------
    dict
        The encoded column; see the module.
    """
    # 1, 1.0 and True are equal as keys, and are not the same text.
    different = {(type(value), value): value for value in values}
    few = len(different) <= min(_MOST, max(_FEW, len(values) // 2))
    if not few and not any(isinstance(value, str) for value in values):
        return packed_numbers(values)
    place = {key: at for at, key in enumerate(different)}
    size = 1 if len(different) <= _FEW else 2 if len(different) <= _MOST else 4
    index = np.array([place[type(value), value] for value in values], dtype=f"<u{size}")
    return {"of": list(different.values()), "at": _text(index), "bytes": size}


def packed_numbers(values: Sequence[float | None] | NDArray[np.float64]) -> Column:
    """Encode numbers; None becomes NaN. Fractions keep about six digits."""
    numbers = np.array([np.nan if value is None else value for value in values], dtype="<f8")
    whole = numbers[np.isfinite(numbers) & (numbers == np.rint(numbers))]
    if np.all(whole == whole.astype("<f4")):
        return {"f4": _text(numbers.astype("<f4"))}
    return {"f8": _text(numbers)}


def packed_hashes(values: Sequence[str], size: int = 32) -> Column:
    """Encode hexadecimal hashes of `size` bytes; an empty text becomes zero bytes."""
    whole = b"".join(bytes.fromhex(value) if value else bytes(size) for value in values)
    return {"hex": base64.b64encode(whole).decode(), "bytes": size}


def _text(numbers: NDArray[Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode()
