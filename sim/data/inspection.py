"""sim.data: detect the contents of a data file and the keys that read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from .._arrays import Array
from .._files import UNREADABLE_NPZ, open_npz
from ..errors import fail
from ..spec import Data
from .layout import NUMBER, TEXT, Layout, read_layout
from .reading import ANY, Values, label_names, read_values
from .samples.csv import unique_names
from .samples.files import format_of
from .words_csv import header

#: Integers are classes if there are few of them, with several samples each on average.
MAX_CLASSES, SAMPLES_PER_CLASS = 10, 5
#: Inputs that a spec can have.
MAX_INPUTS = 65_535
#: Columns that are compared with one another.
_MAX_COMPARED = 256


@dataclass(frozen=True)
class Inspection:
    """Contents of a data file.

    Parameters
    ----------
    path : Path
    values : Values
        The samples in the units of the file.
    counts : bool
        Whether the columns are ADC counts and are named x0, x1, ... and y.
    signal : bool
        Whether the file contains a sampled signal, without inputs.
    keys : mapping
        The keys of [data] that read the file in this way, except file, classes and ranges.
    classes : mapping of str to int
        The number of samples of each class; empty if the target is a number.
    constant : tuple of str
        Names of the inputs that never change.
    duplicates : tuple of (str, str)
        Pairs of inputs with equal values, the earlier one first.
    notes : mapping of str to str
        Properties that were detected because the user did not specify them, by topic.
    """

    path: Path
    values: Values
    counts: bool
    signal: bool
    keys: Mapping[str, Any]
    classes: Mapping[str, int] = field(default_factory=dict)
    constant: tuple[str, ...] = ()
    duplicates: tuple[tuple[str, str], ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def ranges(self) -> dict[str, list[float]]:
        """Return the range of each column, as in [data.ranges].

        A target that is a class has no range.
        """
        columns = dict(zip(self.values.names, [*self.values.X.T, self.values.y], strict=True))
        if self.classes:
            del columns[self.values.names[-1]]
        return {name: list(value_range(column)) for name, column in columns.items()}


def inspect_file(path: Path, options: Data, *, clock: bool = True, classes: Sequence[str] | None = None,
                 find_classes: bool = True) -> Inspection:
    """Detect the contents of a data file and the keys of [data] that read it.

    Parameters
    ----------
    path : Path
    options : Data
        The keys that the user specified; all others are detected.
    clock : bool
        Whether to look for a column of sampling instants.
    classes : sequence of str, optional
        Class labels that the user specified.
    find_classes : bool
        Whether to treat a target with few distinct integers as class labels.

    Raises
    ------
    KerncastError
        The errors of :func:`.reading.read_values`; E242 for too many columns, E247 for fewer than two
        samples, E249 if the target or every input is constant, E252 for a column of text.
    """
    layout = read_layout(path, options.separator, options.decimal) if format_of(path) == "csv" else None
    keys: dict[str, Any] = {key: getattr(options, key) for key in ("rows", "missing")
                            if getattr(options, key) is not None}
    notes: dict[str, str] = {}
    signal, labelled = options.inputs is None, classes is not None
    if layout is not None:
        _refuse_wide(path, len(layout.names) - 1 if options.inputs is None else 0)
        counts = _is_counts(layout, options)
        signal, labelled = _choose(path, layout, options, counts, clock, labelled, keys, notes)
        _refuse_label(path, layout, keys, labelled, signal, find_classes)
    else:
        counts = False
        keys |= {key: getattr(options, key) for key in ("target_column", "inputs", "time")
                 if getattr(options, key) is not None}
        alone, text = _arrays(path, options)
        signal, labelled = signal and alone, labelled or text
    data = Data.model_validate({"file": path.name or str(path), **keys})
    values = read_values(path, data, signal=signal, labels=tuple(classes or ANY) if labelled else ())
    _refuse_shape(path, values)
    values, found = _classes(path, values, labelled, find_classes and not signal, counts)
    _refuse_constant(path, values)
    constant, duplicates = _useless(values)
    counts = counts and all(_is_whole(column) for column in [*values.X.T, *([] if found else [values.y])])
    return Inspection(path, values, counts, signal, keys, found, constant, duplicates, notes)


def _refuse_wide(path: Path, inputs: int) -> None:
    """Raise E242 if the file has more inputs than a spec can have."""
    if inputs > MAX_INPUTS:
        raise fail("E242", "the file has too many columns", where=str(path), value=f"{inputs:,} inputs",
                   allowed=f"at most {MAX_INPUTS:,}",
                   remedy="choose inputs with --inputs, or use a file with fewer columns")


def _refuse_shape(path: Path, values: Values) -> None:
    """Raise E242 for too many columns or equal names, and E247 for too few rows."""
    _refuse_wide(path, values.X.shape[1])
    repeated = [name for name, count in Counter(values.names).items() if count > 1]
    if repeated:
        raise fail("E242", "two columns have the same name", where=f"{path}:1", value=repeated[0],
                   allowed="a different name for each column that is used",
                   remedy="rename one of them in the first line of the file, or omit one: pass the numbers "
                   "of the other columns, from 0, to --inputs")
    if len(values.y) < 2:
        raise fail("E247", "the file contains too few samples", where=str(path), value=len(values.y),
                   allowed="2 rows or more", remedy="give more data")


def _is_counts(layout: Layout, options: Data) -> bool:
    """Return whether the header belongs to a CSV file of ADC counts."""
    asked = any((options.target_column, options.inputs, options.time))
    return (not asked and layout.separator == "," and layout.header
            and sorted(layout.names) == sorted(header(len(layout.names) - 1)))


def _choose(path: Path, layout: Layout, options: Data, counts: bool, clock: bool, labelled: bool,
            keys: dict[str, Any], notes: dict[str, str]) -> tuple[bool, bool]:
    """Choose the columns; return whether there are no inputs, and whether labels.

    The choice is added to `keys`, and detected properties to `notes`.
    """
    names = layout.names
    if layout.separator != "," or layout.decimal == ",":  # a reader of decimal commas expects semicolons
        keys["separator"] = layout.separator
    if layout.decimal != ".":
        keys["decimal"] = layout.decimal
        if options.decimal is None:
            notes["decimal"] = "commas"
    target = layout.target if options.target_column is None else _index(path, names, options.target_column)
    labelled = labelled or layout.kinds[target] == TEXT
    if counts and not labelled and layout.kinds[target] == NUMBER:
        ordered = header(len(names) - 1)
        if len(names) > 1 and list(names) != ordered:
            keys["inputs"] = ordered[:-1]
        return len(names) == 1, False
    unique = unique_names(names)
    keys["target_column"] = _name(names, unique, target)
    instants = [i for i in layout.instants if i != target] if clock and not counts else []
    if options.time is not None:
        instants = [_index(path, names, options.time)]
    given = None if options.inputs is None else [_index(path, names, column) for column in options.inputs]
    instants = [i for i in instants if i not in (given or ())]
    left = {target, *instants}
    inputs = [i for i in range(len(names)) if i not in left] if given is None else given
    if instants:
        keys["time"] = _name(names, unique, instants[0])
        if options.time is None:
            notes["time"] = "it increases" if layout.kinds[instants[0]] == NUMBER else "ISO 8601"
    if given is not None or (len(instants) > 1 and inputs):
        keys["inputs"] = [_name(names, unique, i) for i in inputs]
    if len(instants) > 1:
        notes["left out"] = ", ".join(names[i] for i in instants[1:])
    _refuse_text(path, layout, inputs, target)
    return not inputs, labelled


def _index(path: Path, names: Sequence[str], column: str | int) -> int:
    """Return the index of a column, given by name or number; raise E242 if not found."""
    text = str(column)
    if names.count(text) == 1:
        return names.index(text)
    if text.isdigit() and int(text) < len(names):
        return int(text)
    raise fail("E242", "the column does not exist, or its name is not unique", where=f"{path}:1", value=text,
               allowed=f"a column name, or a column number, counted from 0: {', '.join(names)}"[:300],
               remedy="choose one of the allowed values")


def _name(names: Sequence[str], unique: Mapping[str, int], index: int) -> str | int:
    """Return the name of a column, or its number if the name is not unique."""
    name = names[index]
    return index if name == f"column {index}" or name not in unique or not name else name


def _refuse_text(path: Path, layout: Layout, inputs: Sequence[int], target: int) -> None:
    """Raise E252 if an input is text; the remedy contains options that are valid."""
    texts = [i for i in inputs if layout.kinds[i] == TEXT]
    if not texts:
        return
    usable = [i for i in inputs if i not in texts]
    listed = _option("inputs", [layout.names[i] if "," not in layout.names[i] else str(i) for i in usable])
    remedy = f"choose one as the target: {_option('target-column', [layout.names[texts[0]]])}"
    if usable:
        others = f" {listed}" if len(texts) > 1 or layout.kinds[target] == TEXT else ""
        leave = f"omit {'them' if len(texts) > 1 else 'it'}: {listed}"
        remedy = f"{leave}; or {remedy}{others}"
    raise fail("E252", f"{len(texts)} inputs are text" if len(texts) > 1 else "an input is text",
               where=f"{path}:{1 + layout.header} {', '.join(layout.names[i] for i in texts)}",
               value=", ".join(layout.texts[texts[0]][:3]), allowed="numbers", remedy=remedy)


def _refuse_label(path: Path, layout: Layout, keys: Mapping[str, Any], labelled: bool, signal: bool,
                  find_classes: bool) -> None:
    """Raise E252 if the target is text, but must be a number."""
    if not labelled or (find_classes and not signal):
        return
    target = _index(path, layout.names, keys["target_column"])
    remedy = _another_target(layout.names, target, [i for i, kind in enumerate(layout.kinds) if kind != TEXT])
    if signal and "time" in keys:
        remedy = f"pass the time as an input: {_option('inputs', [str(keys['time'])])}"
    raise fail("E252",
               "the target is a class, but the file has no input column" if signal else "the target is text",
               where=f"{path} {layout.names[target]}", value=", ".join(layout.texts[target][:3]),
               allowed="a number, or a class and inputs",
               remedy=remedy if signal else f"omit --classes none, or {remedy}")


def _option(name: str, columns: Sequence[str]) -> str:
    """Return an option of ``kerncast init`` whose value is a list of columns."""
    return f"--{name} \"{','.join(columns)}\""


def _another_target(names: Sequence[str], target: int, numbers: Sequence[int]) -> str:
    """Return a remedy with the options that choose another target.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.
    target : int
        Index of the column that cannot be the target.
    numbers : sequence of int
        Indices of the columns that contain numbers.
    """
    *others, last = [names[i] for i in numbers if i != target and "," not in names[i]] or [""]
    if not others:
        return "use a file with another column of numbers"
    return f"choose another target: {_option('target-column', [last])} {_option('inputs', others)}"


def _arrays(path: Path, options: Data) -> tuple[bool, bool]:
    """Return whether a file contains only a signal, and whether its target is text."""
    if format_of(path) != "npz":
        return format_of(path) == "wav", False
    try:
        with open_npz(path) as file:
            name = str(options.target_column or "y")
            name = name if name in file.files else name.swapcase()
            text = name in file.files and file[name].dtype.kind in "USb"
            return not {"X", "x"} & set(file.files), text
    except UNREADABLE_NPZ:
        return False, False  # the reader reports it


def _classes(path: Path, values: Values, labelled: bool, find: bool, counts: bool
             ) -> tuple[Values, dict[str, int]]:
    """Detect classes; return the samples, and the number of samples per class.

    If the target is a class, its labels are converted to text; otherwise the numbers are empty.
    """
    y = values.y
    if not labelled:
        found = np.unique(y)
        few = 2 <= len(found) <= MAX_CLASSES and len(y) >= max(20, SAMPLES_PER_CLASS * len(found))
        if not (find and few and _is_whole(found)) or (counts and found.tolist() == [-1, 1]):
            return values, {}
        values = replace(values, y=label_names(y))
    names, sizes = np.unique(values.y, return_counts=True)
    most = max(2, min(64, len(y) // SAMPLES_PER_CLASS))
    if len(names) > most:
        raise fail("E253", f"the target has {len(names)} different labels, too many for classes",
                   where=f"{path} {values.names[-1]}", value=", ".join(map(str, names[:4])),
                   allowed=f"at most {most} for {len(y)} rows", remedy=_of_numbers(values))
    order = sorted(range(len(names)), key=lambda i: _numeric_first(str(names[i])))
    return values, {str(names[i]): int(sizes[i]) for i in order}


def _of_numbers(values: Values) -> str:
    """Return a remedy with the options that choose an input as the target."""
    last = len(values.names) - 1
    return _another_target(values.names, last, range(last))


def _numeric_first(label: str) -> tuple[int, float, str]:
    """Return a sort key for a label: numbers by value, then text."""
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label


def _is_whole(column: Any) -> bool:
    return bool(np.all(np.asarray(column) == np.rint(column)))


def _refuse_constant(path: Path, values: Values) -> None:
    """Raise E249 if the target is constant, or if all inputs are."""
    if np.all(values.y == values.y[0]):
        raise fail("E249", "the target is constant: there is nothing to learn",
                   where=f"{path} {values.names[-1]}", value=str(values.y[0]),
                   allowed="a column with two or more different values",
                   remedy=f"{_of_numbers(values)}; or choose other rows with --rows")
    if values.X.size and not np.ptp(values.X, axis=0).any():
        raise fail("E249", "every input is constant: a model cannot learn from constant inputs",
                   where=f"{path} {', '.join(values.names[:-1])[:60]}",
                   value=", ".join(map(str, values.X[0]))[:60],
                   allowed="an input with two or more different values",
                   remedy="choose other inputs with --inputs, or other rows with --rows")


def _useless(values: Values) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the inputs that are constant, and the pairs of inputs that are equal."""
    constant: list[str] = []
    duplicates: list[tuple[str, str]] = []
    first: dict[bytes, str] = {}
    for name, column in zip(values.names[:-1], values.X.T[:_MAX_COMPARED], strict=False):
        if np.all(column == column[0]):
            constant.append(name)
        elif (seen := first.setdefault(column.tobytes(), name)) != name:
            duplicates.append((seen, name))
    return tuple(constant), tuple(duplicates)


def value_range(column: Array) -> tuple[float, float]:
    """Return the range of the values, widened to ends with few decimal digits.

    The extension is at most 1/1000 of the range.
    """
    low, high = float(column.min()), float(column.max())
    if low == high:
        return low, low + 1.0
    quantum = Decimal(10) ** (Decimal(high - low).adjusted() - 3)
    return (float((Decimal(low) / quantum).to_integral_value(ROUND_FLOOR) * quantum),
            float((Decimal(high) / quantum).to_integral_value(ROUND_CEILING) * quantum))
