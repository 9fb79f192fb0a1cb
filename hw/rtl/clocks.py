"""hw: clocks of one operation of a core, counted in a simulator, to be held beside the plan's formula."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from ...codegen.rtl import Core, model_tag, rtl_sources, vectors
from ...codegen.rtl.solver import first_row
from ...sim.plan import Plan
from .simulators import Operation, Simulation


def counted_clocks(plan: Plan, folder: Path, core: Core, lanes: int, simulator: str) -> int:
    """Clocks of one operation of full size when no stream waits.

    Parameters
    ----------
    plan : Plan
    folder : Path
        A generated folder.
    core : Core
        One that the plan has.
    lanes : int
        Of a core that has them as a parameter; 1 elsewhere.
    simulator : str
        ``icarus`` or ``verilator``.

    Returns
    -------
    int
        What ``core.cycles`` states.

    Raises
    ------
    KerncastError
        E420, E501, E513 where the simulator is not to be had, E432 where the simulation breaks off.
    """
    script = {"predictor": _predict, "learner": _learn, "solver": _solve, "trainer": _train}[core.name]
    parameters = {"LANES": lanes} if core.name in ("solver", "trainer") else {}
    operations = script(plan)
    limit = 4 * core.cycles(plan) + 1000
    with tempfile.TemporaryDirectory(prefix="kerncast-") as work:
        simulation = Simulation(rtl_sources(folder, plan, core), f"{plan.name}_{core.name}", simulator,
                                Path(work), parameters)
        span = simulation.run(operations, limit)[-1][-1]
    return int(span[0] if isinstance(span, list) else span)


def _predict(plan: Plan) -> list[Operation]:
    """A model with as many vectors as fit, and one sample."""
    held, columns = vectors(plan), plan.sizes["D"]
    exponent = plan.integer("alpha_exp_max") if "alpha_exp_max" in plan.constants else 0
    frame = [model_tag(plan), held, exponent & ((1 << plan.word) - 1), *[0] * (held * (columns + 1))]
    return [("model", frame), ("sent",), ("watch",), ("sample", [0] * columns), ("answers", 1), ("spans",)]


def _learn(plan: Plan) -> list[Operation]:
    """Samples enough to fill the memory, and one more: all are unlike, so that none is merged."""
    budget, columns, fmt = plan.sizes["N"], plan.sizes["D"], plan.signals["x_raw"].format
    chance = np.random.default_rng(1)
    operations: list[Operation] = []
    for row in chance.integers(0, 1 << fmt.bits, (budget + 1, columns)).tolist():
        operations += [("sample", [*row, 1], True), ("answers", 1)]
    return [*operations[:-2], ("watch",), *operations[-2:], ("spans",)]


def _solve(plan: Plan) -> list[Operation]:
    """The first row of the plan's grid, or of a system without neighbours; every target 1."""
    n = plan.sizes["n"]
    row = first_row(plan).tolist() if plan.options["scheme"] == "uniform" else [0] * n
    return [("watch", 0), ("r", row), ("y", [1] * n), ("solution",), ("spans",)]


def _train(plan: Plan) -> list[Operation]:
    """Raw targets, every one 1."""
    return [("watch",), ("targets", [1] * plan.sizes["n"]), ("model",), ("spans",)]
