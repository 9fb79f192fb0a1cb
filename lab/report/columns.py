"""lab.report: encode a column compactly in JSON.

Numbers become typed arrays, and repeated values are stored once.

``{"f4": BASE64}`` is a column of float32 with six digits, NaN for missing values; ``{"f8":
BASE64}`` is one of float64, for integers that float32 cannot represent; ``{"of": [VALUE, ...], "at": BASE64,
"bytes": 1, 2 or 4}`` contains a list of values and an index into it for each row; ``{"hex": BASE64,
"bytes": N}`` contains hashes of N bytes.  All are little-endian.
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
    """Encode a column of numbers, texts, booleans or None in the smaller encoding.

    Parameters
    ----------
    values : sequence of int, float, str, bool or None
        The column; with more than 65,536 different texts, indices have 4 bytes.

    Returns
    -------
    dict
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
    """Encode numbers; None becomes NaN, and fractions have six digits."""
    numbers = np.array([np.nan if value is None else value for value in values], dtype="<f8")
    whole = numbers[np.isfinite(numbers) & (numbers == np.rint(numbers))]
    if np.all(whole == whole.astype("<f4")):
        return {"f4": _text(numbers.astype("<f4"))}
    return {"f8": _text(numbers)}


def packed_hashes(values: Sequence[str], size: int = 32) -> Column:
    """Encode hexadecimal hashes of `size` bytes; an empty one becomes zeros."""
    whole = b"".join(bytes.fromhex(value) if value else bytes(size) for value in values)
    return {"hex": base64.b64encode(whole).decode(), "bytes": size}


def _text(numbers: NDArray[Any]) -> str:
    return base64.b64encode(numbers.tobytes()).decode()
