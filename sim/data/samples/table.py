"""sim.data.samples: the table of samples of a file, and the conversion of labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ..._arrays import Array as Array
from ...errors import KerncastError, Problem, fail

#: None: the target is a number; "any": a class label, unchanged; else the classes, or a mapping of them.
Labels = Literal["any"] | Sequence[Any] | Mapping[Any, Any] | None

#: Largest number of problems reported per file.
MAX_PROBLEMS = 10
#: Fields that mean a missing value, in upper or lower case.
MISSING = ("", "?", "na", "n/a", "nan", "null")


class Numbered(Sequence[str]):
    """Sequence that creates a numbered name on each access.

    This saves memory, because a file can have ten million columns.

    Parameters
    ----------
    before : str
        Text before each number.
    count : int
        Number of names; the numbers are 0 to count - 1.
    after : str
        Text after each number.
    """

    def __init__(self, before: str, count: int, after: str = "") -> None:
        self._before, self._numbers, self._after = before, range(count), after

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        """Return the name at an index, or the names in a slice."""
        if isinstance(index, slice):
            return tuple(f"{self._before}{number}{self._after}" for number in self._numbers[index])
        return f"{self._before}{self._numbers[index]}{self._after}"

    def __repr__(self) -> str:
        return repr(self[:]) if len(self) <= 3 else f"({self[0]!r}, {self[1]!r}, ..., {self[-1]!r})"


@dataclass(frozen=True)
class SampleTable:
    """Samples of a file.

    Parameters
    ----------
    X : ndarray of float64, shape (n, D)
        Inputs.
    y : ndarray of shape (n,) or (n, K)
        Targets, as numbers, or as text if they are class labels.
    inputs : sequence of str
        Names of the columns of `X`.
    target : str
        Name of the target.
    place : callable
        Function that returns the place of sample i, for messages.
    time : ndarray of float64, shape (n,), or None
        The sampling instants, if a time column was chosen.
    ignored : int
        Number of empty lines between the rows.
    """

    X: Array
    y: NDArray[Any]
    inputs: Sequence[str]
    target: str
    place: Callable[[int], str]
    time: Array | None = None
    ignored: int = 0


def as_labels(table: SampleTable, labels: Labels) -> NDArray[Any]:
    """Convert the targets of a table to class labels.

    Parameters
    ----------
    table : SampleTable
    labels : Labels
        "any", the allowed labels, or a mapping of each label in the file to a new label. Labels are compared
        as text, so 3, 3.0 and "3" are equal.

    Returns
    -------
    y : ndarray of shape (n,)

    Raises
    ------
    KerncastError
        E253 for a label that `labels` does not contain, with its place; E257 for several targets.
    """
    if table.y.ndim != 1:
        raise fail("E257", "a sample has more than one class label", where=table.target, value=table.y.shape,
                   allowed="one column", remedy="choose one target")
    found, which = np.unique(table.y, return_inverse=True)
    if isinstance(labels, str) or labels is None:
        return _plain(found)[which]
    wanted = {label_text(old): new for old, new in
              (labels.items() if isinstance(labels, Mapping) else ((label, label) for label in labels))}
    texts = [label_text(label) for label in found]
    unknown = [number for number, text in enumerate(texts) if text not in wanted]
    problems = [Problem("E253", "the label is not one of the classes",
                        f"{table.place(int(np.argmax(which == number)))} {table.target}", texts[number],
                        ", ".join(wanted), "add this label, or remove its samples")
                for number in unknown[:MAX_PROBLEMS]]
    if problems:
        raise KerncastError(problems)
    return np.array([wanted[text] for text in texts])[which]


def label_text(label: Any) -> str:
    """Convert a label to text; a whole number is written without decimal point."""
    text = str(label).strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else repr(number)


def _plain(found: NDArray[Any]) -> NDArray[Any]:
    """Convert labels to integers or floats if possible, otherwise to text."""
    try:
        numbers = found.astype(np.float64)
    except ValueError:
        return found.astype(str)
    whole = bool(np.all(np.abs(numbers) < 2.0**53) and np.all(numbers % 1 == 0))
    return numbers.astype(np.int64) if whole else numbers


def check_values(table: SampleTable, path: Path) -> None:
    """Check that a table has samples, and that all values are finite.

    Raise E247 for no samples, E251 for missing values and E245 for infinity, with their places.
    """
    if not len(table.X):
        raise no_samples(path)
    problems: list[Problem] = []
    targets = table.y.reshape(len(table.y), -1) if table.y.dtype.kind == "f" else np.zeros((len(table.y), 0))
    for values, names in ((table.X, table.inputs), (targets, (table.target,) * targets.shape[1])):
        for row, column in np.argwhere(~np.isfinite(values))[:MAX_PROBLEMS]:
            problems.append(not_finite(f"{table.place(int(row))} {names[column]}", str(values[row, column])))
    if problems:
        raise KerncastError(problems[:MAX_PROBLEMS])


def not_finite(where: str, text: str) -> Problem:
    """Create the problem of a missing value (E251) or an infinite one (E245)."""
    if text.lower() in MISSING:
        return Problem("E251", "a value is missing", where, text or "an empty field", "finite numbers",
                       "fill the gap, or remove the sample")
    return Problem("E245", "infinity in the data", where, text, "finite numbers",
                   "remove or repair the sample")


def no_samples(path: Path) -> KerncastError:
    """Create the error E247 for a file without samples."""
    return fail("E247", "the file contains no samples", where=str(path), value="0 samples",
                allowed="1 sample or more", remedy="add data")
