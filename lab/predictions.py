"""lab: predictions of a simulated spec in the user's units: table, CSV, chart."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np

from ..sim._arrays import Array
from ..sim._output_files import refuse_unwritable, whole_file
from ..sim.diagnostics.held_out import Judged
from ..sim.errors import fail
from ..sim.reference.backend import FloatReference
from .figures.style import BLACK, BLUE, GREY, ORANGE, pyplot
from .workflow import Simulated, test_inputs

#: Suffixes of a chart.
CHARTS = (".png", ".svg", ".pdf")
#: What would make two files of one chart differ, by suffix.
_DATES = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}


def columns(found: Simulated) -> dict[str, Array]:
    """Return the predictions, their inputs and their targets, one row per sample.

    They are for the test samples if there are any, else for the training samples.

    Returns
    -------
    dict of str to ndarray of float64, shape (k,)
        ``x`` or ``x0``, ``x1``, ... in units of x, and in units of y, or both in those of a file whose
        ranges [data] states: the target ``y``, the clean signal
        ``clean`` if it is known, ``f_float`` in float64, ``f_fixed`` in fixed point; and ``f_held_out``,
        which was predicted without this sample, NaN before the first one.
    """
    data, plan, result = found.data, found.plan, found.simulation
    reference = FloatReference(plan)
    X = reference.inputs(test_inputs(plan, data))
    y_raw = data.y_raw if data.y_test_raw is None else data.y_test_raw
    names = ["x"] if X.shape[1] == 1 else [f"x{i}" for i in range(X.shape[1])]
    made = dict(zip(names, X.T, strict=True)) | {"y": reference.targets(y_raw)}
    if data.clean is not None:
        made["clean"] = data.clean
    made |= {"f_float": result.f_float, "f_fixed": result.f}
    held = found.held_out
    if held is not None and held.judged in (Judged.LEFT_OUT, Judged.FOLDS, Judged.AHEAD) and not held.sampled:
        made["f_held_out"] = np.concatenate([np.full(held.first, np.nan), held.f])
    return {name: _in_units(found, name, values) for name, values in made.items()}


def _in_units(found: Simulated, name: str, values: Array) -> Array:
    """Convert a column to units of the file, if [data] states its ranges."""
    plan, data, word, x = found.plan, found.spec.data, found.spec.output, found.spec.input
    ranges = None if data is None else data.ranges
    if not ranges or data is None or (data.classes and not name.startswith("x")):
        return values
    target = data.target_column if data.target_column in ranges or data.classes else list(ranges)[-1]
    column, step, offset, fmt = target, Fraction(plan.units["y_raw"]), word.offset, word.format
    if name.startswith("x"):
        if plan.uniform:
            return values
        k = int(name[1:] or 0)
        names = [] if data.lagged else data.inputs or [each for each in ranges if each != target]
        column = names[k] if k < len(names) else target
        step, offset, fmt = Fraction(x.gains[k]) * x.format.lsb, x.offsets[k], x.format
    if column not in ranges:
        return values
    low, high = ranges[str(column)]
    raw = values / float(step) + offset
    return np.asarray(low + (raw - fmt.lo) * (high - low) / (fmt.hi - fmt.lo))


def _axis(name: str, found: Simulated) -> str:
    """Return x or y with its unit, unless the values are those of the user's file."""
    data, plan = found.spec.data, found.plan
    unit = plan.evidence.get("unit", {}).get(name)
    return f"{name} in {unit}" if isinstance(unit, str) and not (data and data.ranges) else name


def check_outputs(table: Path | None, chart: Path | None) -> None:
    """Raise an error for an output that cannot be written, before anything runs.

    Raises
    ------
    KerncastError
        E191 for the path, E254 for the suffix of a chart, E501 without matplotlib.
    """
    if table is not None:
        refuse_unwritable(table, "--out", "the table of predictions")
    if chart is not None:
        if chart.suffix not in CHARTS:
            raise fail("E254", "kerncast cannot write a file with this suffix", where="--plot",
                       value=chart.name, allowed=", ".join(CHARTS),
                       remedy="name a file such as predictions.png")
        refuse_unwritable(chart, "--plot", "the chart of predictions")
        pyplot()


def write_table(found: Simulated, path: Path) -> None:
    """Write the predictions as CSV, atomically; see :func:`columns`."""
    made = columns(found)
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(made)
        for row in zip(*made.values(), strict=True):
            writer.writerow(["" if np.isnan(value) else repr(float(value)) for value in row])


def draw(found: Simulated, path: Path) -> None:
    """Draw samples and predictions, and below them their difference, atomically."""
    made = columns(found)
    plt = pyplot()
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), layout="constrained", height_ratios=(2, 1),
                                         sharex=True)
    try:
        at = made["x"] if found.plan.uniform else np.arange(len(made["y"]))
        f = made["f_fixed"]
        top.plot(at, made["y"], ".", color=GREY, ms=3, label="samples")
        if "clean" in made:
            top.plot(at, made["clean"], color=BLACK, lw=1, label="clean signal")
        if found.plan.learns and "f_held_out" in made:
            f = made["f_held_out"]
            top.plot(at, f, color=BLUE, lw=1.2, label="predicted before it was learnt")
        else:
            top.plot(at, f, color=BLUE, lw=1.2, label="prediction in fixed point")
        # Units and names of the user are not TeX.
        top.set_ylabel(_axis("y", found), parse_math=False)
        top.legend(frameon=False, fontsize=8)
        bottom.plot(at, made["y"] - f, color=ORANGE, lw=0.8)
        bottom.set_ylabel("sample - prediction")
        bottom.set_xlabel(_axis("x", found) if found.plan.uniform else "sample", parse_math=False)
        quality = found.quality
        figure.suptitle(f"{found.plan.name}: {found.data.title}"
                        + ("" if quality is None else f"\n{quality.verdict}"), fontsize=10, parse_math=False)
        with whole_file(path) as part:
            figure.savefig(part, dpi=110, format=path.suffix[1:], metadata={_DATES[path.suffix]: None})
    finally:
        plt.close(figure)
