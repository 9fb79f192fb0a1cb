"""sim.data.samples: read NPZ, LIBSVM and WAV files.

:func:`read_file` chooses the reader for a format.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._checks import free_bytes
from ..._files import UNREADABLE_NPZ, open_npz
from ..._optional import from_package
from ...errors import KerncastError, fail
from ..csv_lines import check_text, open_bytes
from .csv import Column, read_csv
from .table import Array, Labels, Numbered, SampleTable, check_values, no_samples
from .wav import read_sound

# A float64 here, two bytes during the check, and copies of later steps.
_BYTES_OF_AN_INPUT = 24
_COMPRESSED = (".gz", ".bz2")


def read_npz(path: Path, *, target: Column | None = None, inputs: str | None = None, labels: Labels = None,
             limit: int | None = None) -> SampleTable:
    """Read the arrays `inputs` (n, D) and `target` (n,) or (n, K) of an NPZ file.

    The default names of the arrays are X and y. If there is no array of inputs, the input is the sample
    number.

    Raises
    ------
    KerncastError
        E237 for too little memory, E241 if the file cannot be read, E245 and E251 for values that are not
        finite, E247 for no samples, E252 for text instead of numbers, E257 for names, shapes or types of
        arrays.
    """
    try:
        with open_npz(path) as file:
            members = ((name, file[name]) for name in file.files)
            arrays = {name: array for name, array in members if isinstance(array, np.ndarray)}
    except UNREADABLE_NPZ as error:
        reason = getattr(error, "strerror", None) or "not an NPZ file of plain arrays"
        raise _unreadable(path, reason, "an NPZ file of numpy.savez, without objects") from None
    y = _array(path, arrays, str(target or "y"))
    alone = inputs is None and not {"X", "x"} & set(arrays)
    if alone:
        _refuse_other_arrays(path, arrays, y)
    X = np.arange(len(y), dtype=np.float64) if alone else _array(path, arrays, inputs or "X")
    X = X[:, np.newaxis] if X.ndim == 1 else X
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if X.ndim != 2 or y.ndim not in (1, 2) or len(X) != len(y) or 0 in (X.shape[1], *y.shape[1:]):
        raise fail("E257", "the arrays do not form a training set", where=str(path),
                   value=f"inputs {X.shape}, target {y.shape}", allowed="(n, D) and (n,) or (n, K)",
                   remedy="reshape the arrays to one row per sample")
    _check_memory(path, len(X[:limit]), X.shape[1])
    table = SampleTable(_numbers(path, "inputs", X[:limit]),
                  y[:limit] if labels is not None and y.dtype.kind in "USb" else
                  _numbers(path, "target", y[:limit]),
                  ("sample",) if alone else Numbered(f"{inputs or 'X'}[:, ", X.shape[1], "]"),
                  str(target or "y"), lambda i: f"{path} sample {i}")
    check_values(table, path)
    return table


def _array(path: Path, arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    found = arrays.get(name, arrays.get(name.swapcase()))
    if not isinstance(found, np.ndarray) or found.ndim == 0:
        others = [key for key, value in arrays.items() if value.ndim > 0 and key not in ("X", "x")]
        last = f"\"{others[-1]}\"" if others else ""
        raise fail("E257", "the file does not contain this array", where=str(path), value=name,
                   allowed=_shapes(arrays) or "none",
                   remedy=f"choose the target: --target-column {last} with kerncast init, "
                   f"target_column = {last} in [data], or target={last} in load_samples" if last else
                   "save the samples as arrays X and y")
    return found


def _shapes(arrays: dict[str, NDArray[Any]]) -> str:
    return ", ".join(f"{key} {np.shape(value)}" for key, value in arrays.items())


def _refuse_other_arrays(path: Path, arrays: dict[str, NDArray[Any]], y: NDArray[Any]) -> None:
    """Raise E257 if other arrays have the length of the target.

    They could be the inputs.
    """
    others = [key for key, value in arrays.items() if value is not y and value.shape[:1] == y.shape[:1]]
    if others:
        target = next(key for key, value in arrays.items() if value is y)
        raise fail("E257", "the inputs are not an array X", where=str(path), value=", ".join(others),
                   allowed="the inputs as X; or, for a signal, the target alone",
                   remedy=f"in Python, save the arrays again: a = numpy.load(\"{path}\"); "
                   f"numpy.savez(\"{path.stem}-xy.npz\", X=a[\"{others[0]}\"], y=a[\"{target}\"])")


def _numbers(path: Path, what: str, values: NDArray[Any]) -> Array:
    if values.dtype.kind not in "biuf":
        raise fail("E252" if values.dtype.kind in "US" else "E257", "the array does not contain real numbers",
                   where=f"{path} {what}", value=values.dtype, allowed="integers or reals",
                   remedy="if these are classes, pass `labels`; otherwise convert the array to numbers")
    return values.astype(np.float64)


def read_libsvm(path: Path, *, columns: int | None = None, limit: int | None = None,
                labels: Labels = None) -> SampleTable:
    """Read a LIBSVM or SVMlight file, with lines ``target index:value ...``.

    The file can be compressed as .gz or .bz2.

    Parameters
    ----------
    path : Path
    columns : int, optional
        D, if the last columns can be missing in the file, as in a test set.
    limit : int, optional
        Maximum number of samples.
    labels : Labels
        Ignored, because the targets are always numbers.

    Raises
    ------
    KerncastError
        E237 for too little memory, E241 if the file cannot be read, E245 and E251 for values that are not
        finite, E247 for no samples, E252 for a line that is not in the format, E501 if scikit-learn is not
        installed.
    """
    try:
        check_text(path)
        sparse, y = from_package("sklearn.datasets", "scikit-learn", lambda sets: sets.load_svmlight_file(
            str(path), n_features=columns), "LIBSVM files need")
    except KerncastError:
        raise
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, getattr(error, "strerror", None) or "damaged", "a LIBSVM file") from None
    except (ValueError, OverflowError) as error:
        raise _first_wrong_line(path, columns, str(error)) from None
    sparse, y = sparse[:limit], y[:limit]
    n, D = sparse.shape
    _check_memory(path, n, D, ", or number the columns from 1 without gaps")
    table = SampleTable(sparse.toarray(), y, Numbered("column ", D), "target",
                  lambda i: f"{path}:{_line_of(path, i)}")
    check_values(table, path)
    return table


def _check_memory(path: Path, n: int, D: int, remedy: str = "") -> None:
    """Raise E237 if n x D inputs and their copies need more than the free memory."""
    if (wanted := _BYTES_OF_AN_INPUT * n * D) > (free := free_bytes()):
        raise fail("E237", f"{n:,} x {D:,} inputs do not fit in memory", where=str(path),
                   value=f"{wanted:,} bytes", allowed=f"{free:,} bytes, the free memory of this machine",
                   remedy=f"load fewer samples with `limit`{remedy}")


def _samples_of(path: Path) -> Any:
    """Yield the number and the fields of each line of a LIBSVM file with a sample.

    The fields are bytes, as in scikit-learn, because comments can be in any encoding.
    """
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.split(b"#")[0].split()
            if fields:
                yield number, fields


def _line_of(path: Path, sample: int) -> int:
    return next(int(number) for i, (number, _) in enumerate(_samples_of(path)) if i == sample)


def _first_wrong_line(path: Path, columns: int | None, reason: str) -> KerncastError:
    """Create the error for the line that scikit-learn rejected.

    The error of scikit-learn does not contain the number of the line.
    """
    most = columns or (1 << 63) - 1
    allowed = f"target index:value ..., with increasing indices, up to {most}"
    remedy = "correct the line, or give the number of columns"
    for number, fields in _samples_of(path):
        try:
            float(fields[0])
            pairs = [field.split(b":") for field in fields[1:] if not field.startswith(b"qid:")]
            indices = [int(index) for index, value in pairs if float(value) == float(value)]
            wrong = indices != sorted(set(indices)) or any(index > most for index in indices[-1:])
        except ValueError:
            wrong = True
        if wrong:
            return fail("E252", "the line is not in the LIBSVM format", where=f"{path}:{number}",
                        value=b" ".join(fields)[:60].decode("utf-8", "replace"), allowed=allowed,
                        remedy=remedy)
    return fail("E252", f"cannot read the file: {reason}", where=str(path), value="the whole file",
                allowed=allowed, remedy=remedy)


def read_wav(path: Path, *, target: Column | None = None, limit: int | None = None) -> SampleTable:
    """Read a recording in a WAV file.

    The input is the time in seconds. The targets are the channels, relative to full scale, from -1 to 1.
    `target` is the number of a channel; by default, there is one target per channel.

    Raises
    ------
    KerncastError
        E241 if the file cannot be read or is truncated, E242 if the channel does not exist, E245 and E251 for
        values that are not finite, E247 for no samples.
    """
    try:
        rate, channels = read_sound(path)
    except (OSError, MemoryError) as error:
        raise _unreadable(path, getattr(error, "strerror", None) or str(error), "a WAV file") from None
    if not len(channels):
        raise no_samples(path)
    if not rate:
        raise _unreadable(path, "its sampling rate is 0", "a WAV file")
    if target is not None:
        if not isinstance(target, int) or not 0 <= target < channels.shape[1]:
            raise fail("E242", "the recording does not have this channel", where=str(path),
                       value=repr(target),
                       allowed=f"0 to {channels.shape[1] - 1}", remedy="choose a channel by its number")
        channels = channels[:, [target]]
    y = _full_scale(channels[:limit])
    y = y[:, 0] if y.shape[1] == 1 else y
    table = SampleTable(np.arange(len(y))[:, np.newaxis] / rate, y, ("seconds",), "amplitude",
                        lambda i: f"{path} sample {i}")
    check_values(table, path)
    return table


def _full_scale(sound: NDArray[Any]) -> Array:
    """Scale integer samples to a full scale of 1; floats are unchanged.

    Samples of 8 bits are unsigned, and 128 represents 0.
    """
    if sound.dtype.kind == "f":
        return sound.astype(np.float64)
    if sound.dtype.kind == "u":
        return (sound.astype(np.float64) - 128.0) / 128.0
    return np.asarray(sound / -float(np.iinfo(sound.dtype).min))


def _unreadable(path: Path, reason: str, allowed: str) -> KerncastError:
    return fail("E241", f"cannot read the data file: {reason}", where=str(path), value=path.name,
                allowed=allowed, remedy="check the path, or name the file's format")


#: Every format by its name: the reader, and its file name endings.
FORMATS: dict[str, tuple[Callable[..., SampleTable], tuple[str, ...]]] = {
    "csv": (read_csv, (".csv", ".tsv", ".txt")),
    "npz": (read_npz, (".npz",)),
    "libsvm": (read_libsvm, (".libsvm", ".svm", ".svmlight")),
    "wav": (read_wav, (".wav",)),
}


def format_of(path: Path) -> str:
    """Return the format for the suffix of a file's name, or an empty text."""
    endings = [ending.lower() for ending in path.suffixes if ending.lower() not in _COMPRESSED]
    known = {ending: name for name, (_, its) in FORMATS.items() for ending in its}
    return known.get(endings[-1], "") if endings else ""


def read_file(path: Path, format: str | None, options: dict[str, Any]) -> SampleTable:
    """Read samples from a file in one of the formats.

    Raise E254 if the format is unknown, and E242 for options that it does not support.
    """
    name = format or format_of(path)
    if name not in FORMATS:
        endings = [ending for _, its in FORMATS.values() for ending in its]
        if path.is_dir():
            raise fail("E241", "the data file is a folder", where=str(path), value=path.name,
                       allowed=", ".join(endings), remedy="name a file in this folder")
        raise fail("E254", "kerncast does not support the format of this file", where=str(path),
                   value=format or path.name,
                   allowed=", ".join(endings),
                   remedy="rename the file to end in the suffix of its format, such as "
                   f"\"{path.stem}.csv\" for a table in text")
    reader = FORMATS[name][0]
    taken = reader.__kwdefaults__ or {}
    given = {key: value for key, value in options.items() if value is not None}
    strange = set(given) - set(taken)
    if strange:
        raise fail("E242", f"format {name} does not support this option", where=str(path),
                   value=", ".join(sorted(strange)), allowed=", ".join(taken),
                   remedy="omit the option")
    return reader(path, **given)
