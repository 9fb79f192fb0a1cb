"""hw: measure the clock cycles of a core's operations in a simulator.

The tests compare them with the formulas of the plan.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...codegen.rtl import RtlCore, rtl_sources, vectors
from ...codegen.rtl.frames import model_frame, sample_frame, state_frames
from ...codegen.rtl.ranged import system_frame
from ...sim.backend import Raw, field_arrays
from ...sim.errors import KerncastError, fail
from ...sim.model import open_model
from ...sim.plan import Plan
from ...sim.statuses import TRAINED
from .simulators import Operation, Simulation
from .trainer_backend import training_script


def count_clocks(plan: Plan, folder: Path, core: RtlCore, lanes: int, simulator: str) -> int:
    """Return the clock cycles of one operation of full size, without stalls.

    Parameters
    ----------
    plan : Plan
    folder : Path
        A generated folder.
    core : RtlCore
        A core that supports the plan.
    lanes : int
        Number of lanes, a power of two.
    simulator : str
        ``icarus`` or ``verilator``.

    Returns
    -------
    int
        Clock cycles from simulation; ``core.cycles`` predicts the same number.

    Raises
    ------
    KerncastError
        E420, E501 or E513 if the simulator is not available; E432 if the simulation ends early, in which case
        its folder with the log is kept; E343 if no samples with a positive definite system were found.
    """
    operations = script_of(plan, core)
    work = Path(tempfile.mkdtemp(prefix="kerncast-"))
    try:
        simulation = Simulation(rtl_sources(folder, plan, core), f"{plan.name}_{core.name}", simulator, work,
                                core.parameters(plan, lanes))
        # A memory of one column takes several times longer to load than to pass over.
        span = simulation.run(operations, 20 * core.cycles(plan) + 1000)[-1][-1]
    except KerncastError:  # it names the log
        raise
    except BaseException:
        shutil.rmtree(work)
        raise
    shutil.rmtree(work)
    return int(span[0] if isinstance(span, list) else span)


def script_of(plan: Plan, core: RtlCore) -> list[Operation]:
    """Return a testbench script that measures one operation of full size.

    Raises E343 if no samples with a positive definite system were found.
    """
    return {"predictor": _predict, "learner": _learn, "solver": _solve, "trainer": _train}[core.name](plan)


def _predict(plan: Plan) -> list[Operation]:
    """Return a script for a prediction with a model of full size."""
    exponent = plan.integer("alpha_exp_max") if "alpha_exp_max" in plan.constants else 0
    state = field_arrays(plan, {"trained": 1, "count": vectors(plan), "alpha_exp": exponent})
    return [("model", model_frame(plan, state)), ("sent",), ("watch",), ("sample", [0] * plan.sizes["D"]),
            ("answers", 1), ("spans",)]


def _learn(plan: Plan) -> list[Operation]:
    """Return a script for an update of a full dictionary.

    In this state, the nearest neighbour of each center is the next center.
    """
    if plan.second_order:
        return _descend(plan)
    held = np.arange(plan.sizes["N"])
    state = field_arrays(plan, {"count": len(held), "age_order": held, "nearest_idx": np.roll(held, -1)})
    frame = sample_frame(plan, np.zeros(plan.sizes["D"], dtype=np.int64), 0)
    return [("restore", *state_frames(plan, state)), ("watch",), ("sample", frame, True), ("answers", 1),
            ("spans",)]


def _descend(plan: Plan) -> list[Operation]:
    """Return a script for an update of kernel RLS that takes all steps.

    Raises E343 if no suitable sample is found.
    """
    x_raw, y_raw = (plan.signals[name].format for name in ("x_raw", "y_raw"))
    steps = plan.integer("rls_steps")
    fewer = replace(plan, constants={**plan.constants, "rls_steps": steps - 1})
    for seed in range(16):
        chance = np.random.default_rng(seed)
        x = chance.integers(x_raw.lo, x_raw.hi + 1, (1, plan.sizes["D"]))
        y = chance.integers(y_raw.lo, y_raw.hi + 1, 1)
        w = []
        for one in (plan, fewer):
            model = open_model(one)
            model.update(x, y)
            w.append(model.state()["rls_w"])
        if (w[0] != w[1]).any():  # a step changes a coefficient
            return [("watch",), ("sample", sample_frame(plan, x[0], y[0]), True), ("answers", 1), ("spans",)]
    raise fail("E343", "the clock cycles of an update cannot be counted: no sample needs all steps",
               where="[rls] steps", value=steps, allowed="a number of steps that the first sample needs",
               remedy="lower `steps`, or omit --simulate")


def _solve(plan: Plan) -> list[Operation]:
    """Return a script for a solution: r is 0 off the diagonal, every target is 1.

    The system is positive definite for any lambda. For the banded solver, the targets are 0, so that no block
    exponent increases.
    """
    n = plan.sizes["n"]
    if plan.banded:
        return [("watch", 0), ("y", system_frame(plan, [0] * n)), ("solution",), ("spans",)]
    return [("watch", 0), ("r", [0] * n), ("y", [1] * n), ("solution",), ("spans",)]


def _train(plan: Plan) -> list[Operation]:
    """Return a script for a training with a positive definite system.

    Other systems end the training early. Raises E343 if no suitable samples are found.
    """
    y_raw = np.full(plan.sizes["n"], min(1, plan.signals["y_raw"].format.hi), dtype=np.int64)
    for x_raw in _samples(plan):
        if int(open_model(plan).train(x_raw, y_raw)["status"][0]) in TRAINED:
            return [("watch",), *training_script(plan, x_raw, y_raw), ("spans",)]
    raise fail("E343", "the clock cycles of training cannot be counted: the system is not positive definite",
               where="[toeplitz] lambda", value=plan.options["lambda"],
               allowed="a system that can be trained",
               remedy="raise lambda, or omit --simulate")


def _samples(plan: Plan) -> Iterator[Raw | None]:
    """Yield candidates for the inputs (n, D): random values, then equal values.

    For a uniform grid, the only candidate is None.
    """
    if plan.uniform:
        yield None
        return
    x, shape = plan.signals["x_raw"].format, (plan.sizes["n"], plan.sizes["D"])
    for seed in range(4):
        yield np.random.default_rng(seed).integers(x.lo, x.hi + 1, shape)
    yield np.full(shape, x.hi, dtype=np.int64)
