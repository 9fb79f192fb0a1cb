"""lab.report: encode a column compactly in JSON.

Numbers become typed arrays, and repeated values are stored once.

``{"f4": BASE64}`` is a column of float32, which holds six digits, NaN where there is no value; ``{"f8":
BASE64}`` of float64, if integers are too large for that; ``{"of": [VALUE, ...], "at": BASE64,
"bytes": 1, 2 or 4}`` gives an index into a list of values for each place; ``{"hex": BASE64,
"bytes": N}`` are hashes of N bytes.  All are little-endian.
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
    """Encode a column of numbers, texts, booleans or None in the smaller of two ways.

    Parameters
    ----------
    values : sequence of int, float, str, bool or None
        More than 65,536 different texts are none that this is for.

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
    """Encode numbers; NaN becomes None, and fractions have six digits."""
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
