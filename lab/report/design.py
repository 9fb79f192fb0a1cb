"""lab.report: run a design in the integer model and in float64 for a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...codegen.firmware.targets import load_target, target_ids
from ...codegen.generate import check_memory
from ...sim._arrays import Array, Words
from ...sim.candidates import chosen_plan
from ...sim.diagnostics.simulate import Simulation, fit_backend, simulate, y_values
from ...sim.errors import KerncastError
from ...sim.model import open_model
from ...sim.model.toeplitz.first_row import row_of
from ...sim.model.toeplitz.ranged import unit_of
from ...sim.plan import Plan
from ...sim.reference.backend import FloatReference
from ...sim.reference.toeplitz.levinson import levinson
from .columns import packed_numbers
from .words import histograms, signal_rows

#: Points of a curve, at most.
_DRAWN = 240


@dataclass(frozen=True)
class SampleView:
    """Samples on which a design is run, in ADC counts.

    Parameters
    ----------
    x_raw : ndarray of int64, shape (m, D)
        The training inputs, or the grid points if the inputs form a uniform grid.
    y_raw : ndarray of int64, shape (m,), or None
        The targets; None if the model was trained elsewhere.
    x_test : ndarray of int64, shape (k, D)
        The inputs of the predictions.
    passes : int
        Number of times that an online learner is trained on all samples.
    """

    x_raw: Words
    y_raw: Words | None
    x_test: Words
    passes: int = 1


def design(plan: Plan, samples: SampleView | None) -> dict[str, Any]:
    """Run a design, and return the contents of its page.

    Parameters
    ----------
    plan : Plan
    samples : SampleView, or None
        The samples. Without them, the page describes only the plan.

    Returns
    -------
    dict
        ``plan`` (hash), ``status``, ``signals``, ``histograms``, ``budget``, ``xi``, ``curve``,
        ``memory``, ``operations``, ``tables``, ``ram``, ``flash``, ``y_unit`` and ``targets``. Values that
        need samples are None or absent if there are none.
    """
    found: dict[str, Any] = {
        "plan": plan.hash, "status": None, "histograms": None, "budget": None, "xi": None, "curve": None,
        "memory": [[f.name, f.ctype, f.formula, f.bytes, f.meaning] for f in (*plan.memory, *plan.workspace)],
        "operations": [[call, what.replace("_", " "), o.formula, o.count]
                       for call, counts in plan.operations.items() for what, o in counts.items()],
        "tables": [[name, str(t.format), len(t.values), t.bytes] for name, t in plan.tables.items()],
        "ram": plan.ram_bytes, "flash": plan.table_bytes, "y_unit": plan.y_unit,
        "targets": targets(plan)}
    if samples is None:
        return found | {"signals": signal_rows(plan, None)}
    uniform = plan.uniform
    run = simulate(plan, None if uniform else samples.x_raw, samples.y_raw, samples.x_test,
                   passes=samples.passes)
    return found | {
        "signals": signal_rows(plan, run), "status": run.status,
        "histograms": histograms(plan, run, samples.x_raw, samples.y_raw, samples.x_test),
        "budget": None if run.budget is None else run.budget.as_dict(),
        **_curves(plan, run, samples, uniform)}


def targets(plan: Plan) -> list[dict[str, Any]]:
    """Return the memory of each target, and the reason if the model does not fit."""
    rows = []
    for name in target_ids():
        target = load_target(name)
        try:
            check_memory(plan, target)
            refused = ""
        except KerncastError as error:
            refused = f"{error.problems[0].code}: {error.problems[0].message}"
        rows.append({"id": name, "title": target.title, "fpu": target.fpu, "intrinsics": target.intrinsics,
                     "room": target.ram_bytes - target.stack_bytes, "flash": target.flash_bytes,
                     "refused": refused})
    return rows


def _curves(plan: Plan, run: Simulation, samples: SampleView, uniform: bool) -> dict[str, Any]:
    """Return the learning curve of a design and, for a Toeplitz trainer, xi.

    The curve shows the prediction error power of Levinson's recursion, the residual of conjugate gradients,
    or the error of an online learner.
    """
    if plan.fixed or samples.y_raw is None:
        return {}
    plan = chosen_plan(plan, run.state)
    reference = FloatReference(plan)
    if plan.algorithm == "toeplitz_rls":
        # The system over 1 + lambda, whose diagonal is 1, of the row's words.
        row = row_of(plan, run.state).astype(np.float64) * 2.0 ** -plan.signals["r"].format.frac
        row *= unit_of(plan)
        row[0] = 1.0
        xi = levinson(row, np.ones_like(row)).xi
        exact = reference.train(None if uniform else samples.x_raw, samples.y_raw).xi
        return {"xi": {"row": packed_numbers(xi), "float64": packed_numbers([] if exact is None else exact)},
                "curve": _curve("order m of the recursion", "prediction error power eps",
                                row=np.cumprod(1 - np.asarray(xi) ** 2),
                                float64=np.cumprod(1 - np.asarray(exact) ** 2))}
    if plan.algorithm == "kernel_cg":
        history = np.array(reference.train(samples.x_raw, samples.y_raw).history)
        return {"curve": _curve("step", "residual, relative to that before the first step",
                                float64=history / (history[0] or 1.0))} if history.size else {}
    y = reference.targets(samples.y_raw)
    model = open_model(plan)
    found = y_values(plan, fit_backend(model, plan, samples.x_raw, samples.y_raw)["f"])
    exact = reference.update(samples.x_raw, samples.y_raw)
    classes = len(np.unique(y)) == 2
    return {"curve": _curve("sample; each is predicted before it is learnt",
                            "error rate so far" if classes else f"RMS error so far, in {plan.y_unit}",
                            words=_so_far(found, y, classes), float64=_so_far(exact, y, classes))}


def _so_far(f: Array, y: Array, classes: bool) -> Array:
    """Return the running error rate, or the running RMS error, by sample."""
    middle = (y.max() + y.min()) / 2
    each = (f > middle) != (y > middle) if classes else (f - y) ** 2
    mean: Array = np.cumsum(each) / (np.arange(len(y)) + 1)
    return mean if classes else np.sqrt(mean)


def _curve(x: str, y: str, **lines: NDArray[np.floating[Any]]) -> dict[str, Any]:
    """Return a curve with its axis titles, reduced to a limited number of points."""
    drawn = {}
    for name, values in lines.items():
        at = np.unique(np.linspace(0, len(values) - 1, min(_DRAWN, len(values))).astype(int))
        drawn[name] = {"x": packed_numbers(at + 1.0), "y": packed_numbers(np.asarray(values)[at])}
    return {"x": x, "y": y, "lines": drawn}
