"""sim.data: load samples as ADC counts, bundled or from the user's files.

All values are integers as an analog-to-digital converter returns them; [input] and [output] of the spec
define the conversion to physical units. :mod:`.raw` checks arrays that are passed through the Python API.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..errors import KerncastError, Problem, fail
from ..plan import SIZE_KEYS
from ..spec import Data, Input, Spec
from .builtin import BuiltinSamples, digits, ecg, equaliser
from .csv_lines import counted
from .raw import Words, check_raw
from .reading import ANY, counts_of, labels_of, read_values
from .windows import latest_first, tapped
from .words_csv import Column, column_names, read_words, targets_header


@dataclass(frozen=True)
class Dataset:
    """Training and test samples for a spec.

    Parameters
    ----------
    x_raw : ndarray of int64, shape (m, D)
        Inputs as ADC counts, in the range of [input] word. For scheme uniform, they are the grid ``offset +
        step * j``.
    y_raw : ndarray of int64, shape (m,)
        Targets as ADC counts in the range of [output] word, or class indices if [output] lists classes. The
        shape is (m, C) for several outputs. For a batch trainer, m is n.
    x_test_raw, y_test_raw : ndarray of int64 or None
        Test samples, if there are any.
    clean : ndarray of float64, shape (m,), or None
        The signal without noise, in units of y, if it is known.
    title, licence : str
        Description and licence of the data, for reports.
    """

    x_raw: Words
    y_raw: Words
    x_test_raw: Words | None
    y_test_raw: Words | None
    clean: NDArray[np.float64] | None
    title: str
    licence: str

    def __repr__(self) -> str:
        tests = 0 if self.y_test_raw is None else len(self.y_test_raw)
        return (f"Dataset: {self.title}\n  {len(self.y_raw):,} samples, inputs: {self.x_raw.shape[1]:,}, "
                f"test samples: {tests:,}, clean signal: {'unknown' if self.clean is None else 'known'}")


def load_dataset(spec: Spec, base_dir: str | Path = ".") -> Dataset:
    """Load the samples that [data] of the spec names.

    Parameters
    ----------
    spec : Spec
    base_dir : path
        Folder to which the paths of data files are relative; normally that of the spec.

    Raises
    ------
    KerncastError
        E240 if the spec has no [data]; E241 to E247, E251 to E253 and E259 for errors in files; E246 if
        bundled data exceed the range of the ADC counts; E501 if the package that contains the data is not
        installed.
    """
    if spec.data is None:
        raise fail("E240", "the spec has no data", where="[data]", allowed="builtin or file",
                   remedy="add [data] with builtin = \"ecg\" or file = \"train.csv\"")
    if spec.data.builtin is not None:
        made = {"ecg": ecg, "digits": digits, "equaliser": equaliser}[spec.data.builtin]
        return _builtin(spec, made(spec))
    return _files(spec, Path(base_dir))


def grid(spec: Spec, count: int) -> Words:
    """Return the inputs of a uniform grid as ADC counts.

    They are ``offset + step * j``, shape (count, 1).
    """
    step = 1 if spec.toeplitz is None else spec.toeplitz.step
    x: Words = (spec.input.offsets[0] + np.arange(count, dtype=np.int64) * step)[:, None]
    return x


def with_lags(spec: Spec, data: Dataset) -> Dataset:
    """Change the number of previous samples that form each input.

    Parameters
    ----------
    spec : Spec
        A spec with the key `lagged` in [data]; its number of columns is the new length. For any other spec,
        the data are returned unchanged.
    data : Dataset
        Samples of the file that the spec names, possibly with another number of columns.
    """
    columns = spec.input.columns
    if spec.data is None or not spec.data.lagged or data.x_raw.shape[1] == columns:
        return data
    x, y = _more_lags(data.x_raw, data.y_raw, columns)
    if data.x_test_raw is None or data.y_test_raw is None:
        return replace(data, x_raw=x, y_raw=y)
    x_test, y_test = _more_lags(data.x_test_raw, data.y_test_raw, columns)
    return replace(data, x_raw=x, y_raw=y, x_test_raw=x_test, y_test_raw=y_test)


def _more_lags(x: Words, y: Words, columns: int) -> tuple[Words, Words]:
    """Return windows of length `columns`, and the sample that follows each window."""
    signal = np.concatenate([x[0, ::-1], y])
    return latest_first(signal[:-1], columns), signal[columns:]


def _builtin(spec: Spec, samples: BuiltinSamples) -> Dataset:
    """Convert bundled samples to a dataset, and check the range of the ADC counts.

    For scheme uniform, the inputs are the points of the grid.
    """
    raw_x, raw_y = spec.input.format, spec.output.format
    n = len(samples.y) if spec.samples is None else spec.samples
    x, x_test = grid(spec, n) if samples.x is None else samples.x, samples.x_test
    if spec.input.delay:  # the bundled windows have the latest sample last
        x, x_test = x[:, ::-1], None if x_test is None else x_test[:, ::-1]
    return Dataset(
        check_raw(x[:n], raw_x, spec.input.columns, "[input] word"),
        check_raw(samples.y[:n], raw_y, None, "[output] word"),
        None if x_test is None else check_raw(x_test, raw_x, spec.input.columns, "test x"),
        None if samples.y_test is None else check_raw(samples.y_test, raw_y, None, "test y"),
        samples.clean, samples.title, samples.licence)


def _files(spec: Spec, base: Path) -> Dataset:
    """Load the user's training and test files, and report the problems of both."""
    assert spec.data is not None and spec.data.file is not None  # the spec's rules
    data, train_path = spec.data, base / spec.data.file
    test_path = None if data.test is None else base / data.test
    uniform = spec.uniform
    outputs = spec.output.targets
    problems: list[Problem] = []
    if data.is_table:
        train = _table(spec, data, train_path, problems, uniform)
        test = None if test_path is None else _table(
            spec, data.model_copy(update={"rows": None}), test_path, problems, False)
    else:
        train = _words(spec, train_path, problems, uniform or bool(data.lagged))
        test = None if test_path is None else _words(spec, test_path, problems, bool(data.lagged))
    least = _rows_of(spec, train, spec.samples or 1)
    if not problems and len(train) < least:
        size_key = SIZE_KEYS[spec.model.algorithm]
        problems.append(Problem("E247", "the file contains too few samples", str(train_path),
                                f"{len(train)} rows", f"{least} rows or more",
                                f"lower {size_key}, or add data" if spec.samples else "add data"))
    if not problems and test is not None and len(test) < (needed := _rows_of(spec, test, 1)):
        problems.append(Problem("E247", "the test set contains too few samples", str(test_path),
                                f"{len(test)} rows", f"{needed} rows or more",
                                "add samples, or omit [data] test"))
    if problems:
        raise KerncastError(counted(problems))
    train = _windowed(spec, train)
    test = None if test is None else _windowed(spec, test)
    rows = train if spec.samples is None else train[:spec.samples]
    return Dataset(grid(spec, least) if uniform else rows[:, :-outputs], _target_words(rows, outputs),
                   None if test is None else test[:, :-outputs],
                   None if test is None else _target_words(test, outputs), None, spec.data.file, "the user's")


def sampling_instants(spec: Spec, base_dir: str | Path = ".") -> Array | None:
    """Return the sampling instants of the samples that a simulation predicts.

    These are the test samples if there are any, otherwise the training samples.

    Returns
    -------
    ndarray of float64, shape (k,), or None
        The values in the file; for dates and recordings, seconds since the first instant. None if the data
        have no time column.
    """
    data = spec.data
    if data is None or data.file is None or not data.is_table:
        return None
    name = data.file if data.test is None else data.test
    signal = bool(data.lagged) or (spec.uniform and data.test is None)
    reading = data if data.test is None else data.model_copy(update={"rows": None})
    values = read_values(Path(base_dir) / name, reading, signal=signal,
                         labels=ANY if spec.output.classes else data.classes or ())
    if values.time is None:
        return None
    line = spec.input
    if data.lagged:
        times = values.time[line.columns:]
    elif line.delay and values.X.shape[1] == line.per_reading:
        times = values.time[line.delay * line.per_sample - 1::line.per_sample]
    else:
        times = values.time
    return times if data.test is not None or spec.samples is None else times[:spec.samples]


def _target_words(rows: Words, outputs: int) -> Words:
    """Return the target columns, shape (m,), or (m, C) for several outputs."""
    return rows[:, -1] if outputs == 1 else rows[:, -outputs:]


def _table(spec: Spec, data: Data, path: Path, problems: list[Problem], uniform: bool) -> Words:
    """Read a file with the options of [data]; return its samples as ADC counts.

    The target is in the last column. Problems are added to `problems`.
    """
    signal = uniform or bool(data.lagged)
    inputs = 0 if signal else spec.input.per_reading if spec.input.delay else spec.input.columns
    try:
        classes = spec.output.classes
        values = read_values(path, data, signal=signal, labels=ANY if classes else data.classes or ())
        if classes:
            values = labels_of(values, classes)
        return counts_of(values, data, spec.input.format, spec.output.format,
                         inputs, data.classes or ())
    except KerncastError as error:
        problems += error.problems
        return np.zeros((0, inputs + 1), dtype=np.int64)


def _words(spec: Spec, path: Path, problems: list[Problem], signal: bool) -> Words:
    """Read a CSV file of ADC counts.

    The file of a sampled signal contains only targets. If the spec has a delay line, each row contains one
    reading, or a whole window if the file has more input columns than the line has channels.
    """
    line = spec.input
    one = bool(line.delay) and f"x{line.per_reading}" not in column_names(path)
    inputs = 0 if signal else line.per_reading if one else line.columns
    raw_x: Column = spec.input.format
    raw_y: Column = spec.output.classes or spec.output.format
    return read_words(path, dict.fromkeys((f"x{c}" for c in range(inputs)), raw_x)
                      | dict.fromkeys(targets_header(spec.output.targets), raw_y), problems)


def _slides(spec: Spec, rows: Words) -> bool:
    """Return whether each row contains one reading for the delay line, not a window."""
    return bool(spec.input.delay) and rows.shape[1] == spec.input.per_reading + spec.output.targets


def _rows_of(spec: Spec, rows: Words, samples: int) -> int:
    """Return the number of rows of a file that contain a number of samples.

    The first sample of a sampled signal or of a delay line needs a complete window.
    """
    if spec.data is not None and spec.data.lagged:
        return spec.input.columns + samples
    return ((spec.input.delay or 0) - 1 + samples) * spec.input.per_sample if _slides(spec, rows) else samples


def _windowed(spec: Spec, rows: Words) -> Words:
    """Return rows of inputs and targets, with windows formed from single samples."""
    if spec.data is not None and spec.data.lagged:
        return _lagged(spec, rows[:, 0])
    return _delayed(spec.input, rows) if _slides(spec, rows) else rows


def _delayed(line: Input, rows: Words) -> Words:
    """Return rows (x0, x1, ..., targets) with windows of a delay line.

    The target of a window is that of its latest reading.
    """
    assert line.delay is not None
    windows = tapped(rows[:, :line.per_reading], line.delay, line.per_sample)
    targets = rows[line.delay * line.per_sample - 1::line.per_sample, line.per_reading:]
    return np.hstack([windows, targets])


def _lagged(spec: Spec, y: Words) -> Words:
    """Return rows (x0, x1, ..., y) for the prediction of a signal.

    y is a sample of the signal, and the inputs are the samples before it, the latest first.
    """
    columns = spec.input.columns
    windows = latest_first(y, columns + 1)
    check_raw(windows[:, 1:], spec.input.format, columns, "[input] word")
    return np.hstack([windows[:, 1:], windows[:, :1]])
