"""lab: draft an initial spec from a data file and a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..codegen.generate import refuse_oversize
from ..sim.choices import MATERN
from ..sim.data.inspection import Inspection
from ..sim.data.windows import latest_first
from ..sim.data.words_csv import width
from ..sim.errors import KerncastError, fail
from ..sim.formats import Format
from ..sim.plan import SIZE_KEYS
from ..sim.spec import Spec
from ..sim.spec.rules import WITH_CLASSES

Values = dict[str, dict[str, Any]]

#: The target without a choice.
TARGET = "cortex-m4"
#: Bits of the converter for values in units; every column uses its full range.
BITS = 12
MIDDLE = 1 << (BITS - 1)
#: The largest n of an initial spec: training grows as n^2.
LARGEST_N = 1024
#: More columns get no linear part, whose memory and time grow as their square.
MANY_COLUMNS = 32
#: Ridge of the linear part, relative to the squared input range. Classes often have fewer samples per input.
OF_SIGNALS, OF_CLASSES = 1e-3, 0.06
#: Previous samples from which the next one of a signal is predicted.
LAGS = 8
#: Last errors that correct a prediction, if the samples are in order of time.
LAST_ERRORS = 6
#: Algorithms that predict a signal from its previous samples.
ONLINE = ("kernel_lms", "online_kernel_rls")
#: Factor of the kernel width for classes in random features. A narrow kernel needs more features.
WIDER = 4
PRODUCTS = ("polynomial", "linear")
# Limits of gain in [output].
_LEAST_GAIN, _LARGEST_GAIN = 1e-12, 1e12
# Usual lengths of ADC counts: the data need not contain the largest count.
_LENGTHS = (2, 5, 8, 10, 12, 14, 16, 24, 32)


def draft_spec(name: str, algorithm: str | None, kernel: str, target: str, seen: Inspection | None,
               file: str, lags: int | None = None) -> Values:
    """Return the tables of an initial spec.

    Parameters
    ----------
    name, kernel, target : str
        Name of the model, type of its kernel, and target id.
    algorithm : str or None
        Name of the algorithm. If it is None, an algorithm that suits the data is chosen.
    seen : Inspection or None
        Contents of the data file; None for a spec without data, which has one column.
    file : str
        Path of the data file, as written in the spec.
    lags : int, optional
        Number of previous samples of a signal from which the next one is predicted.

    Raises
    ------
    KerncastError
        E242 if the algorithm does not suit the columns of the file, E246 if values do not fit any word
        length, E253 if there are more classes than the algorithm supports.
    """
    values = _start(name, algorithm or "toeplitz_rls") if seen is None else \
        _fitted(name, algorithm, seen, file, lags)
    values["target"]["id"] = target
    values["kernel"] = {"type": kernel} | _parameters(kernel, values)
    if kernel in PRODUCTS:
        values["numbers"]["word"] = 32  # products of inputs are much larger than any lambda
        if seen is None or seen.counts:
            _scale(values)
    return values


def lower_to_fit(values: Values) -> str:
    """Reduce n or the dictionary size until the model fits its target.

    Returns a note on the change, or "" if there is none.
    """
    table, key = SIZE_KEYS[values["model"]["algorithm"]].strip("[").split("] ")
    wanted = values[table][key]
    low, high = 2, wanted
    if _fits(values, table, key, high):
        return ""
    if not _fits(values, table, key, low):
        values[table][key] = wanted  # no size fits: the check reports why
        return ""
    while high - low > max(1, wanted // 64):
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(values, table, key, middle) else (low, middle)
    values[table][key] = low
    return f"{key} = {low:,}, lowered from {wanted:,} to fit the RAM of {values['target']['id']}"


def _fits(values: Values, table: str, key: str, size: int) -> bool:
    """Report whether the model fits its target with a given size.

    All other errors of the spec are ignored.
    """
    values[table][key] = size
    try:
        refuse_oversize(Spec(**values))
    except KerncastError as error:
        return all(problem.code != "E301" for problem in error.problems)
    return True


def _parameters(kernel: str, values: Values) -> dict[str, Any]:
    """Return the initial parameters of a kernel.

    The width sigma in `values` was chosen for the Gaussian kernel.
    """
    found = values["kernel"]["sigma"]
    return {**{kind: {"sigma": found} for kind in ("gaussian", "laplacian", *MATERN)},
            "periodic": {"sigma": 1.0, "period": 10 * found},
            "polynomial": {"degree": 2, "gamma": 1 / values["input"]["columns"], "coef0": 1.0},
            }.get(kernel, {})


def _scale(values: Values) -> None:
    """Set offset and gain of the inputs so that all ADC counts map to [-1, 1]."""
    word = Format.parse(values["input"]["word"])
    values["input"] |= {"offset": (word.lo + word.hi + 1) // 2, "gain": 2.0 ** (1 - word.bits)}


def _start(name: str, algorithm: str) -> Values:
    """Return the tables of a spec without data: one input column, 16-bit word length."""
    values: Values = {
        "model": {"name": name, "algorithm": algorithm},
        "input": {"word": "u16f0", "columns": 1, "offset": 0, "gain": 1.0},
        "output": {"word": "s12f0", "offset": 0, "gain": 1.0},
        "kernel": {"type": "gaussian", "sigma": 3.0},
    }
    if algorithm == "kernel_cg":
        values["cg"] = {"n": 256, "lambda": 0.1, "steps": 32}
    elif algorithm == "toeplitz_rls":
        values["toeplitz"] = {"n": 256, "lambda": 0.1, "scheme": "uniform", "step": 1,
                              "solver": "auto"}
    elif algorithm == "online_kernel_rls":
        values["kernel"]["sigma"] = 10000.0  # random features cannot resolve a few ADC counts of 16 bits
        values["rls"] = {"features": 64, "forgetting": 0.999, "ridge": 0.001, "passes": 1}
    else:
        values["online"] = {"budget": 64, "eta": 0.2, "rho": 0.0, "reduction": "nt", "quantise": 0.8,
                            "linear": "rls", "linear_ridge": ridge(1 << 16), "gate": True, "passes": 1}
    return values | {"numbers": {"word": 16}, "target": {"id": TARGET},
                     "data": {"file": "train.csv"}}


def _fitted(name: str, algorithm: str | None, seen: Inspection, file: str, lags: int | None) -> Values:
    """Return the tables of a spec for a data file.

    The tables contain columns, formats, number of samples and an initial sigma.
    """
    columns, rows = seen.values.X.shape[1], len(seen.values.y)
    chosen = algorithm or ("kernel_lms" if columns or lags else "toeplitz_rls")
    if lags and (columns or chosen not in ONLINE):
        raise fail("E242", f"{chosen} does not predict a signal from its previous samples" if not columns else
                   "the file has input columns, so the target is not predicted from its previous values",
                   where="--lags", value=lags, allowed=f"one signal, and {' or '.join(ONLINE)}",
                   remedy="omit --lags" if columns else "omit --algorithm")
    if chosen == "kernel_cg" and not columns:
        raise fail("E242", f"{chosen} needs input columns, but the file has none", where=f"{seen.path}:1",
                   value=seen.values.names[-1], allowed="x0, x1, ..., y",
                   remedy="add the columns, or use toeplitz_rls with any kernel but polynomial and linear")
    values = _start(name, chosen)
    values["data"] = {"file": file, **seen.keys}
    _inputs(values, seen)
    _target(values, seen)
    if chosen in ONLINE and not columns:
        columns = min(lags or LAGS, max(1, rows // 4))
        _lagged(values, seen, columns)
    if not seen.counts:
        values["data"]["ranges"] = seen.ranges
    if chosen == "kernel_cg":
        values["cg"]["n"] = max(2, min(rows, LARGEST_N))
    elif chosen == "toeplitz_rls":
        values["toeplitz"]["n"] = max(2, min(rows, LARGEST_N))
        if columns:
            values["toeplitz"]["scheme"] = "diagonal_mean_biased"
            del values["toeplitz"]["step"], values["toeplitz"]["solver"]
    elif chosen == "kernel_lms":
        _learner(values, seen, columns)
    elif seen.classes:
        values["kernel"]["sigma"] = float(f"{WIDER * values['kernel']['sigma']:.3g}")
    return values


def _learner(values: Values, seen: Inspection, columns: int) -> None:
    """Set the options of an online learner.

    These are the dictionary size, the linear part, and the correction of predictions by the last errors.
    """
    online = values["online"]
    online |= {"budget": max(2, min(64, len(seen.values.y) // 4)), "passes": 4}
    classes = "classes" in values["output"]
    if columns > MANY_COLUMNS:
        for key in ("linear", "linear_ridge", "gate"):
            del online[key]
        online["eta"] = 0.5
        return
    largest = float(np.abs(seen.values.X if seen.values.X.size else seen.values.y).max()) \
        if seen.counts else 1.0
    online["linear_ridge"] = ridge(largest, OF_CLASSES if classes else OF_SIGNALS)
    if classes:
        del online["gate"]
        online["joint"] = True  # classes do not drift
    elif _in_order(values, seen):
        online["last_errors"] = LAST_ERRORS
        online["passes"] = online.pop("passes")  # written last


def _in_order(values: Values, seen: Inspection) -> bool:
    """Report whether the samples are in time order, at a constant step."""
    clock = seen.values.clock
    return "lagged" in values["data"] or (not seen.classes and clock is not None and clock.even)


def _lagged(values: Values, seen: Inspection, columns: int) -> None:
    """Set the keys to predict each sample of a signal from its previous samples."""
    y, word = seen.values.y, values["output"]["word"]
    values["data"]["lagged"] = True
    values["input"] |= {"word": word, "columns": columns}
    gain = 1.0
    if not seen.counts:
        low, high = seen.ranges[seen.values.names[-1]]
        y, gain = np.rint((y - low) / (high - low) * ((1 << BITS) - 1)), 1 / MIDDLE
        values["input"] |= {"offset": MIDDLE, "gain": gain}
    values["kernel"]["sigma"] = float(f"{width(latest_first(y.astype(np.int64), columns)) * gain:.3g}")


def ridge(largest: float, share: float = OF_SIGNALS) -> float:
    """Return the ridge of the linear part: a share of the square of the largest input."""
    return float(f"{min(max(share * largest**2, 1e-12), 1e12):.3g}")


def _inputs(values: Values, seen: Inspection) -> None:
    """Set the format of the inputs; physical units are mapped to the range -1 to 1."""
    X = seen.values.X
    if seen.counts:
        if X.shape[1]:
            word = _word(int(X.min()), int(X.max()), f"{seen.path} x")
            values["input"] |= {"word": word, "columns": X.shape[1]}
            values["kernel"]["sigma"] = width(X.astype(np.int64))
        return
    if X.shape[1]:
        of = seen.ranges
        ranges = np.array([of[name] for name in seen.values.names[:-1]])
        scaled = (X - ranges[:, 0]) / (ranges[:, 1] - ranges[:, 0]) * ((1 << BITS) - 1)
        values["input"] |= {"word": f"u{BITS}f0", "columns": X.shape[1], "offset": MIDDLE, "gain": 1 / MIDDLE}
        values["kernel"]["sigma"] = float(f"{width(np.rint(scaled).astype(np.int64)) / MIDDLE:.3g}")


def _target(values: Values, seen: Inspection) -> None:
    """Set the format of the target: ADC counts, physical units, or class labels."""
    y = seen.values.y
    if len(seen.classes) > 2 and values["model"]["algorithm"] in WITH_CLASSES:
        values["output"] = {"classes": list(seen.classes)}
        values["data"].pop("classes", None)
    elif seen.classes:
        values["output"] |= {"word": "s2f0"}
        values["data"]["classes"] = _two(seen)
    elif seen.counts:
        values["output"]["word"] = _word(int(y.min()), int(y.max()), f"{seen.path} y")
    else:
        low, high = seen.ranges[seen.values.names[-1]]
        step = (high - low) / ((1 << BITS) - 1)
        if not _LEAST_GAIN <= step <= _LARGEST_GAIN:
            raise fail("E246", "the range of the target makes the value of one ADC count too large or too "
                               "small for a spec",
                       where=f"{seen.path} {seen.values.names[-1]}", value=f"{low:g} to {high:g}",
                       allowed=f"{_LEAST_GAIN:g} to {_LARGEST_GAIN:g} per ADC count",
                       remedy="express the target in another unit")
        values["output"] |= {"word": f"u{BITS}f0", "offset": MIDDLE, "gain": float(f"{step:.12g}")}


def _two(seen: Inspection) -> list[str]:
    """Return the names of two classes; raise E253 if there are more."""
    names = list(seen.classes)
    if len(names) != 2:
        counts = ", ".join(f"{label} {count:,}" for label, count in seen.classes.items())
        number = all(label.lstrip("-").isdigit() for label in names)
        two = ",".join(sorted(names, key=lambda label: -seen.classes[label])[:2])
        raise fail("E253", f"the target has {len(names)} classes, but this algorithm separates only two",
                   where=f"{seen.path} {seen.values.names[-1]}", value=counts,
                   allowed="two classes, or algorithm kernel_lms, online_kernel_rls or kernel_cg",
                   remedy=f"choose two classes: --classes \"{two}\"; or use --algorithm kernel_lms"
                   + ("; if the target is a number: --classes none" if number else ""))
    return names


def _word(low: int, high: int, where: str) -> str:
    """Return the shortest common format that can represent all counts in a range."""
    bits = max(high.bit_length(), (-low - 1).bit_length() if low < 0 else 0) + (low < 0)
    if bits > _LENGTHS[-1]:
        raise fail("E246", "no word length can represent these values", where=where, value=f"{low} to {high}",
                   allowed=f"values that fit {_LENGTHS[-1]} bits", remedy="correct the data")
    return f"{'s' if low < 0 else 'u'}{next(b for b in _LENGTHS if b >= bits)}f0"


def describe(seen: Inspection, values: Values, lowered: str) -> dict[str, str]:
    """Return descriptions of the data and of their use in the spec, by topic."""
    data, algorithm = seen.values, values["model"]["algorithm"]
    lost = ", ".join(f"{count:,} ({reason})" for reason, count in data.dropped.items()) or "0"
    size = values.get("toeplitz") or values.get("cg")
    used = len(data.y) if size is None else size["n"]
    rows = f"{data.read:,} read, {lost} dropped, {used:,} used"
    if used < len(data.y):
        rows += f": {SIZE_KEYS[algorithm]} = {used:,}, the first of them" + \
            ("" if lowered else "; raise n to use more")
    if data.ignored:
        rows += f"; empty lines: {data.ignored:,}, ignored"
    found = {"file": str(seen.path), "rows": rows}
    if lowered:
        found["size"] = lowered
    target = data.names[-1]
    found["target"] = target if seen.classes else f"{target}, {_span(data.y)}"
    found["inputs"] = _listed(f"{name} ({_span(column)})" for name, column
                              in zip(data.names[:-1], data.X.T, strict=True)) or _no_inputs(values)
    found["time"] = _time(seen)
    found["classes"] = ", ".join(f"{label} ({count:,}{_sign(values, label)})" for label, count
                                 in seen.classes.items()) or "none: the target is a number"
    found |= {"constant": ", ".join(seen.constant)} if seen.constant else {}
    found |= {"duplicate": _listed(f"{copy} equals {name}" for name, copy in seen.duplicates)} \
        if seen.duplicates else {}
    found |= {key: note for key, note in seen.notes.items() if key != "time"}
    if "last_errors" in values.get("online", {}):
        found["errors"] = (f"each prediction is corrected with the last {LAST_ERRORS} errors, because the "
                           f"samples are in time order")
    if seen.counts:
        found["units"] = "ADC counts, as in the file"
    else:
        step = "" if seen.classes else f"; one count of {target} is {values['output']['gain']:.3g}"
        found["units"] = f"as in the file; [data.ranges] converts them to {BITS}-bit ADC counts{step}"
    return found


def _no_inputs(values: Values) -> str:
    if "lagged" not in values["data"]:
        return "none: a sampled signal, which the model smooths; --lags 8 predicts its next sample"
    return f"the {values['input']['columns']} samples before the target, the latest first"


def _sign(values: Mapping[str, Any], label: str) -> str:
    two = values["data"].get("classes")
    return "" if two is None else f", target {'-1' if label == two[0] else '1'}"


def _span(column: Any) -> str:
    return f"{column.min():.6g} to {column.max():.6g}"


def _listed(parts: Any) -> str:
    """Join parts with commas; abbreviate a long list."""
    every = list(parts)
    return ", ".join(every) if len(every) <= 8 else f"{', '.join(every[:4])}, ... ({len(every)} in all)"


def _time(seen: Inspection) -> str:
    clock = seen.values.clock
    name = seen.keys.get("time")
    if clock is None:
        return "no column" if name is None else f"{name}, not an input"
    what = f"step {clock.step:.6g}" if clock.even else "no constant step"
    gaps = f", {clock.lost:,} samples missing in gaps" if clock.even and clock.lost else ""
    how = f" ({seen.notes['time']})" if "time" in seen.notes else ""
    return f"{'the file' if name is None else name}{how}: {what}{gaps}; not an input"


