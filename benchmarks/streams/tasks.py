"""Load the streams of two examples, in ADC counts and in physical units."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...sim.data import load_dataset
from ...sim.data.builtin import equalisation
from ...sim.data.windows import latest_first
from ...sim.formats import Format
from ...sim.spec import Spec
from ..papers.common import Array

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: Symbols to train with, and to count bit errors on.
TRAINING, TESTING = 1000, 2000
#: The word before the first difference of the ECG, and what a word is: that of an 11-bit converter.
FIRST, CONVERTER = 975, {"word": "u11f0", "offset": 1024}
#: Samples of the ECG that parameters are chosen on; the rest is reported.
CHOSEN_ON = 6000


@dataclass(frozen=True)
class Stream:
    """Samples of a stream in time order.

    Parameters
    ----------
    X : ndarray of float64, shape (m, D)
    y : ndarray of float64, shape (m,)
    x_raw, y_raw : ndarray of int64, of the same shapes
        The samples in ADC counts. `X` and `y` are their exact values in physical units.
    """

    X: Array
    y: Array
    x_raw: Any
    y_raw: Any

    def part(self, start: int, stop: int | None = None) -> Stream:
        """Return the samples from index `start` to `stop` (exclusive)."""
        return Stream(*(array[start:stop] for array in (self.X, self.y, self.x_raw, self.y_raw)))


def example(name: str) -> Spec:
    """Load the spec of an example."""
    return Spec.load(EXAMPLES / f"{name}.toml")


def changed(spec: Spec, **tables: dict[str, Any]) -> Spec:
    """Return a spec with changed keys; the value None removes a key."""
    values = spec.model_dump(by_alias=True, exclude_none=True)
    return Spec(**{name: values.get(name, {}) | tables.get(name, {}) for name in {*values, *tables}})


def _in_units(spec: Spec, x_raw: Any, y_raw: Any) -> Stream:
    x, y = spec.input, spec.output
    X = (x_raw - np.array(x.offsets)) * np.array(x.gains) * float(Format.parse(x.word).lsb)
    return Stream(X, (y_raw - y.offset) * y.gain * float(Format.parse(y.word).lsb), x_raw, y_raw)


def equaliser(seed: int, count: int = TRAINING + TESTING, echo: float | Array = 0.5) -> Stream:
    """Return the symbols after one realisation of the channel."""
    spec = example("equaliser")
    received, symbols = equalisation(count, spec.input.columns, seed, echo)
    raw = np.rint(received / float(Format.parse(spec.input.word).lsb)).astype(np.int64)
    return _in_units(spec, raw, symbols.astype(np.int64))


def ecg(columns: int, differences: bool = True) -> Stream:
    """Return the ECG in millivolts, or its differences between successive samples."""
    spec = changed(example("ecg_stream"), input={"columns": columns})
    if differences:
        data = load_dataset(spec, EXAMPLES)
        return _in_units(spec, data.x_raw, data.y_raw)
    spec = changed(spec, input=CONVERTER, output=CONVERTER)
    data = load_dataset(changed(example("ecg_stream"), input={"columns": 1}), EXAMPLES)
    words = FIRST + np.cumsum(np.concatenate([[0], data.x_raw[:1, 0], data.y_raw]))
    windows = latest_first(words, columns + 1)
    return _in_units(spec, windows[:, 1:], windows[:, 0])
