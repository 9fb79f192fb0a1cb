"""sim: measured values, in whatever unit, as the raw words that a 12-bit converter would deliver."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import fail
from .samples import load_samples
from .words_csv import Survey, header, width, words_text

#: Bits of the converter: every column fills its range.
BITS = 12
MIDDLE = 1 << (BITS - 1)


@dataclass(frozen=True)
class Column:
    """What a column's words mean: ``value = low + step * raw``.

    Parameters
    ----------
    name : str
        As the file calls it.
    low, step : float
        Value of the word 0, and of a step, in the file's unit.
    """

    name: str
    low: float
    step: float


@dataclass(frozen=True)
class Measured:
    """A measured table in words.

    Parameters
    ----------
    words : ndarray of int64, shape (m, D + 1)
        The inputs' words u12f0 and, last, the target's.
    columns : tuple of Column
        One each column of `words`.
    survey : Survey
        The same as of a file of raw words; sigma is for inputs that go from -1 to 1.
    """

    words: NDArray[np.int64]
    columns: tuple[Column, ...]
    survey: Survey

    @property
    def legend(self) -> list[str]:
        """A line a column: what its words mean."""
        return [f"{column.name} = {column.low:.6g} + {column.step:.6g} * {new}"
                for new, column in zip(header(self.survey.columns), self.columns, strict=True)]

    def text(self) -> str:
        """The words as a CSV file."""
        return words_text(self.words)


def is_raw(path: Path) -> bool:
    """Whether the first line names columns as a file of raw words does, or there is none to be read."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            names = [name.strip() for name in file.readline().split(",")]
    except (OSError, UnicodeDecodeError):
        return True  # what is wrong is told by who reads it as such
    return sorted(names) == sorted(header(len(names) - 1))


def measured(path: Path) -> Measured:
    """Read a table of measured values; the target is the column y, else the last.

    Raises
    ------
    KerncastError
        Those of :func:`.samples.load_samples`; E247 for fewer than two samples, E252 for a target that is
        no column of numbers.
    """
    samples = load_samples(path)
    target = np.asarray(samples.y)
    if target.ndim != 1 or target.dtype.kind not in "fiu":
        raise fail("E252", "the target is not a column of numbers", where=str(path), value=samples.target,
                   allowed="numbers", remedy="a file whose last column is the target")
    if len(target) < 2:
        raise fail("E247", "the file holds too few samples", where=str(path), value=f"{len(target)} rows",
                   allowed="2 rows or more", remedy="give more data")
    signal = tuple(samples.inputs) == ("sample",)  # one column, the target
    values = target[:, None] if signal else np.column_stack([samples.X, target])
    names = [samples.target] if signal else [*samples.inputs, samples.target]
    top = (1 << BITS) - 1
    low, high = values.min(axis=0), values.max(axis=0)
    step = np.where(high > low, (high - low) / top, 1.0)
    words = np.rint((values - low) / step).astype(np.int64)
    survey = Survey(len(words), words.shape[1] - 1, (0, top), (0, top),
                    float(f"{width(words[:, :-1]) / MIDDLE:.3g}"))
    return Measured(words, tuple(map(Column, names, low.tolist(), step.tolist())), survey)
