"""lab.sweep: confirm a design by running its generated C.

The code runs on the host and on an emulated board.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...codegen.generate import generate, refuse_oversize
from ...hw.hil.board_backend import default_emulator
from ...sim._output_files import write_whole
from ...sim.errors import fail
from ...sim.model import open_model
from ...sim.planner import make_plan
from ...sim.replay.vectors import make_vectors, usual_calls
from ...sim.spec import Spec
from ..compare.ledger import Row, run_backend
from ..costs.measure import board_of
from ..workflow import test_inputs
from .evaluate import Point
from .run import SweepRun
from .space import SENSORS, Inputs, Space

#: The folder of the generated design, inside of the run's.
FOLDER = "best"
#: File with the results of back ends, next to those of the sweep, for kerncast report.
CONFIRMED = "confirmed.json"


@dataclass(frozen=True)
class Confirmation:
    """Comparison of a design's generated C with the integer model.

    Parameters
    ----------
    rows : tuple of Row
        The result of each back end. That of the board contains its costs: flash, RAM, stack, counts.
    folder : Path
        Folder of the generated code.
    """

    rows: tuple[Row, ...]
    folder: Path

    @property
    def mismatches(self) -> int:
        """Return the number of values that differ from the integer model."""
        return sum(row.mismatches for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for ``--json``."""
        return {"folder": str(self.folder), "words": sum(row.words for row in self.rows),
                "mismatches": self.mismatches, "backends": [row.as_dict() for row in self.rows]}


def confirm(run: SweepRun, point: Point, report: Callable[[str], None]) -> Confirmation:
    """Run the generated C of a point on host and emulated board; compare all values.

    Parameters
    ----------
    run : SweepRun
    point : Point
    report : callable
        Progress callback; receives the name of the current step.

    Raises
    ------
    KerncastError
        E369 if the plan differs from that of the sweep; other errors of generation, build and run.
    """
    spec, data = run.settings.evaluator.spec_and_data(point.inputs)
    refuse_oversize(spec)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    if plan.hash != point.plan:
        raise fail("E369", "the plan of the design differs from its plan in the sweep", where=str(run.folder),
                   value=plan.hash, allowed=point.plan, remedy="run the sweep again in a new folder")
    inputs = None if plan.uniform else data.x_raw
    vectors = make_vectors(open_model(plan), usual_calls(plan, inputs, data.y_raw, test_inputs(plan, data),
                                             spec.passes))
    report("the best design: generated code")
    generate(plan, run.folder / FOLDER, spec.target.id, vectors=vectors)
    board = board_of(spec.target.id)
    rows = []
    for name in ("host", f"emu:{board.id}:{default_emulator(board)}"):
        report(f"the best design: {name}")
        rows.append(run_backend(plan, vectors, name, run.folder / FOLDER))
    confirmed = {"plan": plan.hash, "backends": [row.as_dict() for row in rows]}
    write_whole(run.folder / CONFIRMED, json.dumps(confirmed, indent=1) + "\n")
    return Confirmation(tuple(rows), run.folder / FOLDER)


def remove_other_answers(run: SweepRun, point: Point) -> None:
    """Remove stored confirmation results if they are for another design."""
    path = run.folder / CONFIRMED
    if path.exists() and json.loads(path.read_text(encoding="utf-8")).get("plan") != point.plan:
        path.unlink()


def design_text(run: SweepRun, point: Point) -> str:
    """Return a point's spec as TOML for the folder of its run; see :func:`text_of`."""
    return text_of(run.space, point.inputs, run.settings.base_dir, run.folder)


def text_of(space: Space, inputs: Inputs, base_dir: str, folder: Path) -> str:
    """Return the spec of a point as TOML, with paths relative to `folder`.

    If the format of a sensor was swept, [data] is omitted, because the data files contain counts of another
    format.
    """
    values = space.values_of(inputs)
    base, data = space.base, values.get("data", {})
    sensed = any(values[name]["word"] != getattr(base, name).word for name in SENSORS)
    if "file" in data and sensed:
        del values["data"]
    for name in ("file", "test"):
        if name in data:
            data[name] = os.path.relpath(Path(base_dir, data[name]), folder)
    return Spec(**values).to_toml()
