"""sim.data: measured values in any unit, quantised as a 12-bit converter would."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._files import refuse_special
from ..errors import fail
from .csv_lines import MAX_LINE
from .samples import load_samples
from .words_csv import Survey, header, width, words_text

#: Bits of the converter; every column uses its full range.
BITS = 12
MIDDLE = 1 << (BITS - 1)


@dataclass(frozen=True)
class Column:
    """The meaning of a column's ADC counts: ``value = low + step * raw``.

    Parameters
    ----------
    name : str
        Name in the file.
    low, step : float
        Value of the count 0, and of one step, in the file's unit.
    """

    name: str
    low: float
    step: float


@dataclass(frozen=True)
class QuantisedTable:
    """Table of measured values as ADC counts.

    Parameters
    ----------
    words : ndarray of int64, shape (m, D + 1)
        ADC counts u12f0 of the inputs and, last, the target.
    columns : tuple of Column
        One per column of `words`.
    survey : Survey
        As for a file of ADC counts; sigma is for inputs from -1 to 1.
    """

    words: NDArray[np.int64]
    columns: tuple[Column, ...]
    survey: Survey

    @property
    def legend(self) -> list[str]:
        """Return one line per column with the meaning of its counts."""
        return [f"{column.name} = {column.low:.6g} + {column.step:.6g} * {new}"
                for new, column in zip(header(self.survey.columns), self.columns, strict=True)]

    def text(self) -> str:
        """Return the counts as a CSV file."""
        return words_text(self.words)


def is_raw(path: Path) -> bool:
    """Return whether the first line names the columns of a file of ADC counts.

    A missing first line counts as one.
    """
    try:
        with refuse_special(path).open(encoding="utf-8-sig") as file:
            names = [name.strip() for name in file.readline(MAX_LINE).split(",")]
    except (OSError, UnicodeDecodeError):
        return True  # the reader of ADC counts reports what is wrong
    return sorted(names) == sorted(header(len(names) - 1))


def quantise_table(path: Path) -> QuantisedTable:
    """Read a table of measured values.

    The target is the column y, otherwise the last one.

    Raises
    ------
    KerncastError
        Those of :func:`.samples.load_samples`; E247 for fewer than two samples, E252 for a target that is
        not a column of numbers.
    """
    samples = load_samples(path)
    target = np.asarray(samples.y)
    if target.ndim != 1 or target.dtype.kind not in "fiu":
        raise fail("E252", "the target is not a column of numbers", where=str(path), value=samples.target,
                   allowed="numbers", remedy="a file whose last column is the target")
    if len(target) < 2:
        raise fail("E247", "the file contains too few samples", where=str(path), value=f"{len(target)} rows",
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
    return QuantisedTable(words, tuple(map(Column, names, low.tolist(), step.tolist())), survey)
