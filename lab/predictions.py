"""lab: write and draw the predictions of a simulation in the user's units."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sim._arrays import Array, Words
from ..sim._output_files import refuse_unwritable, whole_file
from ..sim.data import sampling_instants
from ..sim.diagnostics.classes import UNKNOWN
from ..sim.diagnostics.held_out import HeldOut, Judged
from ..sim.errors import fail
from ..sim.reference.backend import FloatReference
from ..sim.spec import Spec
from .figures.predictions import add_leverage, draw_labels, draw_outputs, draw_signal
from .figures.style import pyplot
from .inputs import refuse_inputs
from .workflow import Simulated, test_inputs

#: Suffixes of a chart.
CHARTS = (".png", ".svg", ".pdf")
#: What would make two files of one chart differ, by suffix.
_DATES = {".png": "Software", ".svg": "Date", ".pdf": "CreationDate"}


def columns(found: Simulated) -> dict[str, NDArray[Any]]:
    """Return the predictions with their inputs and targets, as columns by name.

    The rows are the test samples if there are any, else the training samples.

    Returns
    -------
    dict of str to ndarray, shape (k,)
        ``x`` or ``x0``, ``x1``, ...: inputs in units of x. In units of y: ``y``, the target; ``clean``, the
        clean signal, if it is known; ``f_float`` and ``f_fixed``, predictions in float64 and in fixed point;
        ``f_held_out``, predictions by a model that was not trained on this sample (NaN if there is none). If
        [data] contains ranges, the units are the same as in the file. Several outputs are numbered from 0. If
        [output] contains classes, there are class names instead: ``class`` (the true class), ``label_float``,
        ``label_fixed`` and ``label_held_out``; ``margin`` is that of ``label_fixed``.
    """
    data, plan = found.data, found.plan
    reference = FloatReference(plan)
    X = reference.inputs(test_inputs(plan, data))
    names = ["x"] if X.shape[1] == 1 else [f"x{i}" for i in range(X.shape[1])]
    made: dict[str, NDArray[Any]] = dict(zip(names, X.T, strict=True))
    if found.spec.output.classes is not None:
        return {name: _in_units(found, name, values) for name, values in made.items()} | _labels(found)
    y_raw = data.y_raw if data.y_test_raw is None else data.y_test_raw
    made |= _by_output("y", reference.targets(y_raw))
    if data.clean is not None:
        made["clean"] = data.clean
    made |= _by_output("f_float", found.simulation.f_float) | _by_output("f_fixed", found.simulation.f)
    held = _in_all_rows(found)
    if held is not None:
        made["f_held_out"] = np.concatenate([np.full(held.first, np.nan), held.f])
    return {name: _in_units(found, name, values) for name, values in made.items()}


def _by_output(name: str, values: Array) -> dict[str, NDArray[Any]]:
    """Return values of shape (k,) as one column, or (k, C) as C numbered columns."""
    return {name: values} if values.ndim == 1 else {f"{name}{i}": each for i, each in enumerate(values.T)}


def _in_all_rows(found: Simulated) -> HeldOut | None:
    """Return the held-out predictions if they are for all training samples; else None."""
    held = found.held_out
    kept = held is not None and held.judged in (Judged.LEFT_OUT, Judged.FOLDS, Judged.AHEAD)
    return held if held is not None and kept and not held.sampled else None


def _labels(found: Simulated) -> dict[str, NDArray[Any]]:
    """Return the true class and the predicted label of each sample, by column name."""
    classes, held = found.simulation.classes, _in_all_rows(found)
    assert classes is not None
    names = np.array([*classes.names, UNKNOWN])
    made = {} if classes.truth is None else {"class": names[classes.truth]}
    made |= {"label_float": names[classes.labels_float], "label_fixed": names[classes.labels],
             "margin": classes.margins}
    if held is not None:
        made["label_held_out"] = names[held.f.astype(np.int64)]
    return made


def _in_units(found: Simulated, name: str, values: Array) -> Array:
    """Convert a column to the units of the data file if [data] contains its ranges."""
    plan, data, x = found.plan, found.spec.data, found.spec.input
    if not name.startswith("x"):
        units = plan.evidence.get("file")
        return np.asarray(units["zero"] + units["scale"] * values) if units else values
    if data is None or not data.ranges or plan.uniform:
        return values
    k, target = int(name[1:] or 0), data.ranged_target
    if x.delay and not data.lagged:  # the columns of the file are the channels
        k %= x.per_reading
    names = [] if data.lagged else data.inputs or [each for each in data.ranges if each != target]
    column = names[k] if k < len(names) else target
    if column not in data.ranges:
        return values
    low, high = data.ranges[str(column)]
    raw = values / float(Fraction(x.gains[k]) * x.format.lsb) + x.offsets[k]
    return np.asarray(low + (raw - x.format.lo) * (high - low) / (x.format.hi - x.format.lo))


def check_outputs(spec: Spec, place: Path, table: Path | None, chart: Path | None) -> None:
    """Check that the output files can be written, before the simulation.

    Parameters
    ----------
    spec : Spec
    place : Path
        The file of the spec.
    table, chart : Path or None
        The output files.

    Raises
    ------
    KerncastError
        E191 if a file cannot be written, E192 if it is an input, E254 if the suffix of the chart is not
        supported, E501 if matplotlib is not installed.
    """
    if table is not None:
        refuse_inputs(table, "--out", spec, place)
        refuse_unwritable(table, "--out", "the table of predictions")
    if chart is not None:
        if chart.suffix not in CHARTS:
            raise fail("E254", "kerncast cannot write a file with this suffix", where="--plot",
                       value=chart.name, allowed=", ".join(CHARTS),
                       remedy="name a file such as predictions.png")
        refuse_inputs(chart, "--plot", spec, place)
        refuse_unwritable(chart, "--plot", "the chart of predictions")
        pyplot()


def write_table(found: Simulated, base: Path, path: Path) -> None:
    """Write the predictions to a CSV file; see :func:`columns`.

    If the data file contains sampling instants, the first column is ``time``: as in the file, or in seconds
    since the first instant.

    Parameters
    ----------
    found : Simulated
    base : Path
        Folder to which the paths of the data files are relative.
    path : Path
        The file to write.
    """
    time = sampling_instants(found.spec, base)
    made = ({} if time is None else {"time": time}) | columns(found)
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(made)
        for row in zip(*made.values(), strict=True):
            writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if np.isnan(value) else repr(float(value))


def draw(found: Simulated, path: Path, novelty: Words | None = None) -> None:
    """Draw the predictions to a file.

    For one output, the samples, the predictions and their difference are drawn. Several outputs have one
    panel each. For classes, the confusion matrix is drawn. With `novelty`, the result of
    :func:`..sim.diagnostics.novelty.learn_novelty`, a further panel shows the leverage of the
    training samples.
    """
    plt = pyplot()
    several = draw_outputs if found.plan.outputs > 1 else draw_signal
    figure = (draw_labels if found.simulation.classes else several)(found, columns(found))
    try:
        if novelty is not None:
            add_leverage(figure, found, novelty)
        # Names of the user are not TeX.
        quality = found.quality
        figure.suptitle(f"{found.plan.name}: {found.data.title}"
                        + ("" if quality is None else f"\n{quality.verdict}"), fontsize=10, parse_math=False)
        with whole_file(path) as part:
            figure.savefig(part, dpi=110, format=path.suffix[1:], metadata={_DATES[path.suffix]: None})
    finally:
        plt.close(figure)
