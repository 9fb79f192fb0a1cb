"""lab.report: arrange a sweep's points in columns, and describe the best designs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...sim.errors import fail
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.spec.keys import CALLS
from ..sweep import Settings, SweepRun
from ..sweep.confirm import design_text
from ..sweep.evaluate import Point
from ..sweep.front import NO_ALTERNATIVE, refusals, statuses
from ..sweep.measures import MEASURES, names, quantity
from ..workflow import test_inputs
from .columns import packed, packed_hashes
from .design import SampleView, design
from .program import program, samples_text

Progress = Callable[[int, int], None]
#: Designs whose words are shown: the front, spread over it where it has more.
CLOSER = 16


def sweep_page(run: SweepRun, progress: Progress) -> dict[str, Any]:
    """Return the contents of the page of a sweep.

    Raises
    ------
    KerncastError
        E373 if the sweep has no points, E369 if a plan differs from that of the sweep; the errors of the
        data.
    """
    if not run.points:
        raise fail("E373", "the sweep has no points yet", where=str(run.folder), value="0 points",
                   allowed="at least one point", remedy="run the same sweep again; it resumes")
    front = {p.key for p in run.front}
    at = {p.key: index for index, p in enumerate(run.points)}
    best = None if run.best is None else at[run.best.key]
    closer = _closer([at[p.key] for p in run.front], best)
    plans, texts = _plans(run, progress)
    settings, base = run.settings, run.space.base
    shown = measures_of(settings)
    return {
        "kind": "sweep", "name": base.model.name, "algorithm": base.model.algorithm,
        "summary": base.summary(), "data": _judged(run), "spec": base.to_toml(), "spec_hash": base.hash,
        "points": point_columns(run.points, [axis.key for axis in run.space.axes], shown,
                                [not run.misses(p) and p.answers for p in run.points]),
        "formats": format_columns(plans), "texts": text_columns(texts),
        "axes": [axis.key for axis in run.space.axes], "objectives": list(settings.objectives),
        "measures": {name: list(MEASURES[name.split(".")[0]]) for name in shown},
        "limits": [_limit(run, c) for c in settings.constraints],
        "front": [index for index, p in enumerate(run.points) if p.key in front], "best": best,
        "why": _why(run), "no_alternative": NO_ALTERNATIVE,
        "statuses": statuses(run.points), "refused": refusals(run.points),
        "grid": run.space.size, "float": run.baseline,
        "designs": {str(index): _design(run, run.points[index], plans[index]) for index in closer},
        **_program(run, best if best is not None else closer[0] if closer else None, plans),
        "command": "", "again": [_sweep_command(run), command("report", run.folder.resolve().name)]}


def _judged(run: SweepRun) -> str:
    return f"evaluated on {run.judged_by}"


def measures_of(settings: Settings) -> list[str]:
    """List the requested measures, then the others.

    The measures of the call that learns have a short name, without the call.
    """
    algorithm = settings.space.base.model.algorithm
    asked = [*settings.objectives, *(c.name for c in settings.constraints)]
    learning = f".{CALLS[algorithm][0]}"
    return list(dict.fromkeys([*asked, *(n for n in names(algorithm) if not n.endswith(learning))]))


def _closer(front: Sequence[int], best: int | None) -> list[int]:
    """Return the indices of the best design and of designs on the Pareto front.

    The number of designs is limited.
    """
    places = np.linspace(0, len(front) - 1, min(CLOSER, len(front))).astype(int)
    return sorted({*(front[place] for place in places), *([] if best is None else [best])})


def _plans(run: SweepRun, progress: Progress) -> tuple[list[Plan | None], list[str]]:
    """Return the plan and the text of the spec for every point.

    The plan is None and the text is empty if the point was rejected.
    """
    plans: list[Plan | None] = []
    texts: list[str] = []
    for done, point in enumerate(run.points, 1):
        plan, text = (None, "") if not point.plan else (_plan(run, point), design_text(run, point))
        plans.append(plan)
        texts.append(text)
        progress(done, len(run.points))
    return plans, texts


def _plan(run: SweepRun, point: Point) -> Plan:
    spec, data = run.settings.evaluator.spec_and_data(point.inputs)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    if plan.hash != point.plan:
        raise fail("E369", "the plan of a design differs from its plan in the sweep", where=str(run.folder),
                   value=plan.hash, allowed=point.plan, remedy="run the sweep again in a new folder")
    return plan


def _design(run: SweepRun, point: Point, plan: Plan | None) -> dict[str, Any]:
    assert plan is not None  # a point of the front has an answer
    spec, data = run.settings.evaluator.spec_and_data(point.inputs)
    return design(plan, SampleView(data.x_raw, data.y_raw, test_inputs(plan, data), spec.passes))


def _program(run: SweepRun, index: int | None, plans: Sequence[Plan | None]) -> dict[str, Any]:
    """Return the compiled program and the samples; empty if there is no design."""
    plan = None if index is None else plans[index]
    if index is None or plan is None:
        return {}
    spec, data = run.settings.evaluator.spec_and_data(run.points[index].inputs)
    return {"programs": {plan.hash: program(plan, spec)}, "samples": samples_text(spec, data)}


def point_columns(points: Sequence[Point], axes: Sequence[str], measures: Sequence[str],
                  kept: Sequence[bool]) -> dict[str, Any]:
    """Return the swept keys, measures, status, error, plan and feasibility as columns."""
    return {"count": len(points), "plan": packed_hashes([p.plan for p in points]),
            "status": packed([p.status for p in points]), "kept": packed([int(k) for k in kept]),
            "code": packed([p.code for p in points]), "message": packed([p.message for p in points]),
            "inputs": {key: packed([p.inputs[key] for p in points]) for key in axes},
            "measures": {name: packed([p.measures.get(name) for p in points]) for name in measures}}


def format_columns(plans: Sequence[Plan | None]) -> dict[str, Any]:
    """Return the formats of all points as columns, by signal.

    A value is None if a point has no plan or no such signal.
    """
    signals = dict.fromkeys(name for plan in plans if plan is not None for name in plan.signals)
    return {name: packed([str(plan.signals[name].format) if plan is not None and name in plan.signals
                          else None for plan in plans]) for name in signals}


def text_columns(texts: Sequence[str]) -> list[Any]:
    """Return the specs of all points as columns, one for each table.

    The entries of a point, joined, are the text of its spec.
    """
    split = [text.replace("\n[", "\n\0[").split("\0") for text in texts]
    most = max(len(parts) for parts in split)
    return [packed([parts[i] if i < len(parts) else "" for parts in split]) for i in range(most)]


def _limit(run: SweepRun, constraint: Any) -> dict[str, Any]:
    """Return the value of a constraint, and the margin of the best design."""
    limit = constraint.limit(run.baseline)
    best = None if run.best is None else run.best.measures.get(constraint.name)
    return {"text": constraint.text, "measure": constraint.name, "most": constraint.most, "number": limit,
            "limit": quantity(constraint.name, limit), "best": quantity(constraint.name, best),
            "spare": "-" if best is None else
            quantity(constraint.name, abs(limit - best))}


def _why(run: SweepRun) -> list[list[str]]:
    """Return cheaper alternatives to the best design, with the limits they violate."""
    rows = []
    for step in run.why:
        if step.point.code:
            verdict = f"is rejected ({step.point.code})"
        elif not step.point.answers:
            verdict = f"has no usable model: {step.point.status}"
        else:
            broken = [f"{m.constraint.text} by {quantity(m.constraint.name, m.by)}"
                      if np.isfinite(m.by) else m.constraint.text for m in step.broken]
            verdict = "violates " + ", ".join(broken) if broken else "meets every limit"
        rows.append([step.key, str(step.before), str(step.after), verdict,
                     "not swept: the next shorter word length" if step.narrowed else ""])
    return rows


def command(*words: str) -> str:
    """Return a kerncast command, quoted for a shell."""
    return shlex.join(["kerncast", *words])


def _sweep_command(run: SweepRun) -> str:
    """Return the command that repeats a sweep."""
    s = run.settings
    parts = ["sweep", f"{run.space.base.model.name}.toml"]
    for axis in run.space.axes:
        parts += ["--grid", f"{axis.key}={','.join(_written(v) for v in axis.values)}"]
    for name in s.objectives:
        parts += ["--objective", name]
    for constraint in s.constraints:
        parts += ["--constraint", constraint.text]
    if s.trials is not None:
        parts += ["--trials", str(s.trials), "--seed", str(s.seed)]
    return command(*parts, "-o", run.folder.resolve().name)


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
