"""lab.sweep: export all points as a CSV or Parquet table."""

from __future__ import annotations

import csv
from importlib import import_module
from pathlib import Path
from typing import Any

from ...sim._optional import missing
from ...sim._output_files import refuse_unwritable, whole_file
from ...sim.errors import fail
from .run import SweepRun

_PLAIN = ("key", "status", "code", "plan", "words")
ENDINGS = (".csv", ".parquet")


def check_export(path: Path) -> None:
    """Check that a table can be written, before the sweep.

    Raises E254 if the suffix is not supported, and E191 if the file cannot be written.
    """
    if path.suffix not in ENDINGS:
        raise fail("E254", "kerncast cannot write a file with this suffix", where="--export", value=path.name,
                   allowed=", ".join(ENDINGS), remedy="name a file such as points.csv")
    refuse_unwritable(path, "--export", "the table of points")


def export(run: SweepRun, path: Path) -> None:
    """Write a table of all points: swept keys, status, error code, plan and measures.

    The cell of an absent measure is empty.

    Raises
    ------
    KerncastError
        E254 if the suffix is not supported, E501 if pyarrow is not installed.
    """
    check_export(path)
    measures = sorted({name for point in run.points for name in point.measures})
    swept = [axis.key for axis in run.space.axes]
    columns: dict[str, list[Any]] = {name: [getattr(p, name) for p in run.points] for name in _PLAIN}
    columns |= {name: [p.inputs[name] for p in run.points] for name in swept}
    columns |= {name: [p.measures.get(name) for p in run.points] for name in measures}
    if path.suffix == ".csv":
        with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise missing("Parquet files need", "pyarrow", "python -m pip install pyarrow", "--export") from None
    with whole_file(path) as part:
        parquet.write_table(arrow.table(columns), part)
