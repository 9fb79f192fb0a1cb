"""lab: run the workflow of a spec.

The workflow consists of loading the data, planning, computing test vectors, generating code, and running back
ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..codegen.generate import generate, load_plan, load_vectors, refuse_oversize
from ..codegen.resources import read_text
from ..codegen.rtl import predictor_cycles
from ..sim._arrays import Array
from ..sim.data import Dataset, load_dataset
from ..sim.diagnostics.classes import labels_of, with_truth
from ..sim.diagnostics.held_out import HeldOut, held_out
from ..sim.diagnostics.quality import Quality, is_lagged, judge
from ..sim.diagnostics.simulate import Simulation, grid, observe, simulate, y_values
from ..sim.errors import KerncastError, Problem, fail
from ..sim.model import open_model
from ..sim.plan import Plan
from ..sim.planner import make_plan
from ..sim.replay.divergence import Report
from ..sim.replay.vectors import Vectors, limit_predictions, make_vectors, usual_calls
from ..sim.spec import Spec
from .compare.ledger import Row, run_backend
from .costs.limits import refuse_unmeasurable

BOARD = "emu:mps2-an386"
#: Clocks asked of a simulated circuit, which is some thousand times slower than the chip.
RTL_CYCLES = 60_000


@dataclass(frozen=True)
class Prepared:
    """Spec with its data, plan, test vectors, simulation and generated code.

    Parameters
    ----------
    spec : Spec
    data : Dataset
    plan : Plan
    vectors : Vectors
        Calls with the results of the integer model.
    simulation : Simulation
        Run of the integer model, compared with float64.
    folder : Path
        Folder of the generated code.
    """

    spec: Spec
    data: Dataset
    plan: Plan
    vectors: Vectors
    simulation: Simulation
    folder: Path

    @property
    def x_test(self) -> NDArray[np.int64]:
        """Return the inputs of predictions; see :func:`test_inputs`."""
        return test_inputs(self.plan, self.data)


@dataclass(frozen=True)
class Outcome:
    """Results of a spec on all back ends.

    Parameters
    ----------
    prepared : Prepared
    rows : tuple of Row
        The comparison of each back end with the integer model, which is the first row.
    errors : dict of str to dict
        Error metrics by back end (see :func:`measure`).
    missing : tuple of Problem
        Tools that are not installed, with the command that installs each. Back ends that need them were
        skipped.
    """

    prepared: Prepared
    rows: tuple[Row, ...]
    errors: dict[str, dict[str, float]]
    missing: tuple[Problem, ...]

    @property
    def mismatches(self) -> int:
        """Return the total number of mismatches of all back ends."""
        return sum(row.mismatches for row in self.rows)

    @property
    def words(self) -> int:
        """Return the total number of values compared on all back ends."""
        return sum(row.words for row in self.rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the results as a dictionary for ``--json`` and the results file."""
        plan = self.prepared.plan
        return {"name": plan.name, "plan": plan.hash, "spec": self.prepared.spec.hash,
                "data": self.prepared.data.title, "words": self.words,
                "mismatches": self.mismatches, "errors": self.errors,
                "backends": [row.as_dict() for row in self.rows],
                "missing": [problem.as_dict() for problem in self.missing]}


def test_inputs(plan: Plan, data: Dataset) -> NDArray[np.int64]:
    """Return the inputs of predictions in ADC counts.

    These are the test samples if there are any, else the uniform grid or the training inputs.
    """
    if data.x_test_raw is not None:
        return data.x_test_raw
    return grid(plan) if plan.uniform else data.x_raw


def test_targets(data: Dataset) -> NDArray[np.int64] | None:
    """Return the targets of :func:`test_inputs`; None if they are unknown."""
    return data.y_raw if data.x_test_raw is None else data.y_test_raw


def prepare(spec: Spec, base: Path, folder: Path) -> Prepared:
    """Load a spec's data, make its plan, run the integer model, and generate code.

    Parameters
    ----------
    spec : Spec
    base : Path
        Folder to which the paths of the spec's data files are relative.
    folder : Path
        Folder for the generated code.
    """
    refuse_unmeasurable(spec)
    refuse_oversize(spec)
    data = load_dataset(spec, base)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    vectors = _vectors(spec, plan, data)
    generate(plan, folder, spec.target.id, vectors=vectors, spec=spec)
    return Prepared(spec, data, plan, vectors, _simulation(spec, plan, data), folder)


class Inputs(NamedTuple):
    """Generated folder with its plan, and its vectors if there are any."""

    folder: Path
    plan: Plan
    vectors: Vectors | None


def load_inputs(source: Path, folder: Path, needed: bool = True) -> Inputs:
    """Load a generated folder with its plan and its vectors.

    If `source` is a spec, the folder is generated first.

    Parameters
    ----------
    source : Path
        A spec, or a generated folder.
    folder : Path
        An empty folder for code that is generated from a spec.
    needed : bool
        Whether vectors are required.

    Raises
    ------
    KerncastError
        E308 if vectors are required and there are none, E309 or E211 if they belong to another plan, E305 if
        kerncast did not generate the folder; the errors of the spec.
    """
    if source.is_file():
        spec, out = Spec.load(source), folder / "out"
        plan, vectors = plan_and_vectors(spec, source.parent)
        generate(plan, out, spec.target.id, vectors=vectors, spec=spec)
    else:
        out, plan, vectors = source, load_plan(source)[0], load_vectors(source)
        if vectors is not None:
            vectors.check(plan, str(source))
    if vectors is None and needed:
        raise fail("E308", "there are no test vectors", where=str(source),
                   allowed="a spec with [data], or a folder generated from one",
                   remedy="add [data] to the spec, and generate the folder again")
    return Inputs(out, plan, vectors)


def plan_and_vectors(spec: Spec, base: Path, *, vectors: bool = True) -> tuple[Plan, Vectors | None]:
    """Return the plan of a spec, and the test vectors for its data.

    Without [data], or if `vectors` is false, there are no test vectors.
    """
    if spec.data is None:
        return make_plan(spec), None
    data = load_dataset(spec, base)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    return plan, _vectors(spec, plan, data) if vectors else None


def observed_plan(spec: Spec, base: Path) -> Plan:
    """Return the plan of a spec, with the ranges that signals have on its data.

    A run of the integer model determines the ranges. Without data, they are unknown.
    """
    if spec.data is None:
        return make_plan(spec)
    data = load_dataset(spec, base)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    return observe(plan, training_inputs(plan, data), data.y_raw, spec.passes)


class Simulated(NamedTuple):
    """Results of the integer model on the data of a spec.

    Attributes
    ----------
    spec : Spec
    data : Dataset
    plan : Plan
    simulation : Simulation
        Run of the integer model, compared with float64.
    held_out : HeldOut or None
        Predictions of samples by models that were not trained on them; None if there are too few samples.
    quality : Quality or None
        Error of these predictions, compared with baselines.
    """

    spec: Spec
    data: Dataset
    plan: Plan
    simulation: Simulation
    held_out: HeldOut | None
    quality: Quality | None

    @property
    def is_judged(self) -> bool:
        """Report whether the model can be compared with baselines."""
        return _is_judged(self.plan)


def _is_judged(plan: Plan) -> bool:
    """Report whether a model can be compared with baselines.

    This is the case for models with one output, and for models that learn classes.
    """
    return not plan.fixed if plan.decision else plan.outputs == 1


def simulate_spec(spec: Spec, base: Path) -> Simulated:
    """Run the integer model and float64 on the data of a spec.

    Raises E240 if the spec has no data.
    """
    data = load_dataset(spec, base)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    found = held_out(spec, data) if _is_judged(plan) else None
    return Simulated(spec, data, plan, _simulation(spec, plan, data), found,
                     None if found is None else judge(found, is_lagged(spec)))


def _vectors(spec: Spec, plan: Plan, data: Dataset) -> Vectors:
    return make_vectors(open_model(plan), usual_calls(plan, training_inputs(plan, data), data.y_raw,
                                          test_inputs(plan, data), spec.passes))


def _simulation(spec: Spec, plan: Plan, data: Dataset) -> Simulation:
    found = simulate(plan, training_inputs(plan, data), data.y_raw, test_inputs(plan, data),
                     passes=spec.passes)
    return replace(found, classes=with_truth(plan, found.classes, test_targets(data)))


def training_inputs(plan: Plan, data: Dataset) -> NDArray[np.int64] | None:
    """Return the training inputs, of shape (n, D); None for a uniform grid."""
    return None if plan.uniform else data.x_raw


def shipped_spec(name: str) -> Spec:
    """Load a spec from the folder ``examples``."""
    return Spec.from_text(read_text(f"examples/{name}.toml"), f"examples/{name}.toml")


def demo_backends() -> list[str]:
    """Return the names of the back ends that the demo uses."""
    return ["host", f"{BOARD}:unicorn", f"{BOARD}:qemu", "rtl:icarus"]


def run_example(prepared: Prepared, backends: list[str], report: Report) -> Outcome:
    """Replay the test vectors of an example on all back ends.

    A back end is skipped if its tool is not installed; the missing tool is part of the outcome.
    """
    rows = [_model_row(prepared)]
    missing: list[Problem] = []
    for name in backends:
        report(f"{prepared.plan.name}: {name}")
        vectors, opened = prepared.vectors, name
        if name.startswith("rtl:"):  # learning takes a simulator minutes
            vectors = limit_predictions(vectors, max(1, RTL_CYCLES // predictor_cycles(prepared.plan)))
            opened = f"{name}:predictor"
        try:
            rows.append(run_backend(prepared.plan, vectors, opened, prepared.folder))
        except KerncastError as error:
            if not all(p.code.startswith("E5") for p in error.problems):
                raise
            missing += error.problems
    errors = {"float": measure(prepared, prepared.simulation.f_float, None)}
    for row in rows:
        # An error over the first few predictions cannot be compared with one over all.
        if row.answers and len(row.answers[-1]["f"]) == len(prepared.x_test):
            f = y_values(prepared.plan, row.answers[-1]["f"])
            errors[row.backend] = measure(prepared, f, prepared.simulation.alpha_error)
    return Outcome(prepared, tuple(rows), errors, tuple(missing))


def _model_row(prepared: Prepared) -> Row:
    answers = tuple(call.expected for call in prepared.vectors.calls)
    return Row("model", 0, 0, answers=answers)


def measure(prepared: Prepared, f: Array, alpha_error: float | None) -> dict[str, float]:
    """Return the error metrics of predictions.

    Parameters
    ----------
    prepared : Prepared
    f : ndarray of float64
        Predictions in units of y, one for each of the test inputs.
    alpha_error : float, optional
        Relative error of the coefficients in fixed point, with respect to those in float64. Omit it if it is
        not defined.

    Returns
    -------
    dict
        ``rms``: RMS difference from the clean signal, if it is known; ``accuracy``: fraction of correctly
        classified test samples, if there are classes; ``alpha_error``, if it is given.
    """
    data = prepared.data
    found: dict[str, float] = {}
    if data.clean is not None:
        found["rms"] = float(np.sqrt(np.mean((f - data.clean) ** 2)))
    classes = prepared.simulation.classes
    if prepared.plan.decision and classes is not None and classes.truth is not None:
        found["accuracy"] = float(np.mean(labels_of(prepared.plan, f) == classes.truth))
    elif data.y_test_raw is not None:
        found["accuracy"] = float(np.mean((f > 0) == (data.y_test_raw > 0)))
    if alpha_error is not None and np.isfinite(alpha_error):
        found["alpha_error"] = alpha_error
    return found
