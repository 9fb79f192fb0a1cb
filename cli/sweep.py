"""cli: ``kerncast sweep``: compare errors and costs of designs; find the cheapest."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import EXIT_DIFFERENT, KerncastError, Problem
from ._complete import measures, sweep_keys
from ._options import JsonFlag, SpecPath, separated
from ._output import print_json, print_text, table
from ._progress import bar, steps
from ._spec import load_spec

if TYPE_CHECKING:
    from ..lab.sweep import Settings, SweepRun
    from ..lab.sweep.confirm import Confirmation
    from ..lab.sweep.evaluate import Point
    from ..lab.sweep.front import CheaperStep

_SHOWN = 20
_PICTURE = "front.png"
_DESIGN = "best.toml"

Grid = Annotated[list[str] | None, typer.Option(
    "--grid", metavar="KEY=VALUES", show_default=False, autocompletion=sweep_keys,
    help="A key of the spec and its values, V1,V2,... or LO..HI/COUNT; repeat the option for more keys.")]
Objectives = Annotated[list[str] | None, typer.Option(
    "--objective", metavar="MEASURE", show_default="error,ram", autocompletion=measures,
    help="Measure to minimise: error, rms, excess, alpha_error, ram, flash, operations or energy; repeat the "
         "option, or separate values by commas.")]
Limits = Annotated[list[str] | None, typer.Option(
    "--constraint", metavar="LIMIT", show_default=False, autocompletion=measures,
    help="Limit that each design must satisfy: 'ram <= 8 kB', 'error <= float + 1'; repeat the option for "
         "more.")]
Out = Annotated[Path | None, typer.Option(
    "-o", "--out", metavar="RUN", show_default="NAME.sweep",
    help="Folder of the run; an earlier run in it is resumed.")]
Trials = Annotated[int | None, typer.Option(
    "--trials", metavar="COUNT", min=1, max=10**6, show_default=False,
    help="Search with at most this many points, instead of evaluating the whole grid.")]
#: What --trials was called before; of `kerncast fit` the same word means samples.
OldTrials = Annotated[int | None, typer.Option("--samples", min=1, max=10**6, hidden=True)]
Seed = Annotated[int | None, typer.Option(metavar="NUMBER", min=0, show_default="0",
                                          help="Seed of the search.")]
Jobs = Annotated[int, typer.Option(metavar="COUNT", min=1, help="Processes on this machine.")]
Scheduler = Annotated[str | None, typer.Option(
    metavar="ADDR", show_default=False,
    help="Compute on the workers of this dask.distributed scheduler, tcp://HOST:PORT.")]
Confirm = Annotated[bool, typer.Option(
    "--confirm", help="Generate the best design, build it for this machine and for the emulated board, and "
                      "compare every value.")]
Export = Annotated[Path | None, typer.Option(
    metavar="FILE", show_default=False, help="Write every point to a .csv or .parquet file.")]


def sweep(path: SpecPath, grid: Grid = None, objective: Objectives = None, constraint: Limits = None,
          out: Out = None, trials: Trials = None, samples: OldTrials = None, seed: Seed = None,
          jobs: Jobs = 1, scheduler: Scheduler = None, confirm: Confirm = False, export: Export = None,
          as_json: JsonFlag = False) -> None:
    r"""Sweep formats and parameters; find the cheapest design.

    Any key of the spec can vary, such as numbers.word, numbers.rounding, numbers.exp_table, toeplitz.refine,
    toeplitz.lambda, online.budget, kernel.sigma or output.word. The table [sweep] of the spec can replace the
    options. Errors are measured on the data, in percent: the error rate of classes, or the RMS error relative
    to the standard deviation of the target. `float` is the error of the float64 model for the spec
    without changes. The measures ram, flash (tables only), operations and energy (estimates) are computed
    from the plan, without a compiler. A point that the planner rejects is a result, too.

    Every point is saved in the folder when it is finished. To resume, run the same command again. Exits with
    2 if no design satisfies all limits, and with 1 if --confirm finds a value that differs.

    Examples
    --------
    kerncast sweep ecg.toml --grid numbers.word=16,24,32
    kerncast sweep ecg.toml --grid n=64..256/7 --grid kernel.sigma=1..6/8 \
        --constraint 'ram <= 2 kB'
    kerncast sweep digits.toml --grid online.budget=8..64/10 \
        --constraint 'error <= float + 1' --confirm
    kerncast sweep digits.toml --grid sigma=5..20/16 --grid eta=0.1..1.5/15 \
        --trials 100 --jobs 4 -o run
    """
    from ..lab.inputs import refuse_inputs
    from ..lab.sweep import make_settings
    from ..lab.sweep.export import check_export

    spec = load_spec(path)
    settings = make_settings(spec, path.parent, grid=grid or (), objectives=separated(objective),
                             constraints=constraint or (), trials=trials or samples, seed=seed)
    for note in settings.notes:
        typer.echo(f"note: {note}", err=True)
    if export is not None:
        check_export(export)
        refuse_inputs(export, "--export", spec, path)
    run = _run(settings, out or Path(f"{spec.model.name}.sweep"), jobs, scheduler, as_json)
    _print(run, export, confirm, as_json)


def _run(settings: Settings, folder: Path, jobs: int, scheduler: str | None, as_json: bool) -> SweepRun:
    """Run a sweep, with progress on stderr."""
    from ..lab.sweep import run_sweep
    from ..lab.sweep.store import DATABASE

    try:
        with bar(as_json, "sweep") as progress:
            return run_sweep(settings, folder, jobs=jobs, scheduler=scheduler, progress=progress,
                             report=lambda text: typer.echo(text, err=True))
    except KeyboardInterrupt:
        if (folder / DATABASE).is_file():
            raise KeyboardInterrupt(f"{folder} keeps the completed points; run the same command again to "
                                    "resume") from None
        raise


def _print(run: SweepRun, export: Path | None, confirm: bool, as_json: bool) -> None:
    """Write and print the results of a sweep; exit with 2 or 1 if necessary."""
    from ..lab.sweep.export import export as write
    from ..lab.sweep.picture import draw_front

    picture = draw_front(run, run.folder / _PICTURE)
    if export is not None:
        write(run, export)
    confirmed = _design(run, confirm, as_json)
    problems = [] if run.best else [_none_feasible(run)]
    if as_json:
        print_json(_values(run, picture, confirmed) | {"errors": [p.as_dict() for p in problems]})
    else:
        print_text(_text(run, picture, confirmed))
    if problems and as_json:
        raise typer.Exit(KerncastError(problems).exit_code)
    if problems:
        raise KerncastError(problems)
    if confirmed is not None and confirmed.mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


def _design(run: SweepRun, confirm: bool, as_json: bool) -> Confirmation | None:
    """Write the spec of the best design, and confirm the design if requested."""
    if run.best is None:
        return None
    from ..lab.sweep.confirm import confirm as confirmed
    from ..lab.sweep.confirm import design_text, remove_other_answers
    from ..sim._output_files import write_whole

    remove_other_answers(run, run.best)
    write_whole(run.folder / _DESIGN, design_text(run, run.best))
    if not confirm:
        return None
    with steps(as_json) as step:
        return confirmed(run, run.best, step)


def _none_feasible(run: SweepRun) -> Problem:
    """Return E370 if no design is feasible.

    The problem contains the smallest excess over each limit that cannot be satisfied.
    """
    from ..lab.sweep.front import binding, nearest
    from ..lab.sweep.measures import quantity

    limits = run.settings.constraints
    allowed = ", ".join(limit.described(run.baseline) for limit in limits)
    found = [b for b in binding(run.points, limits, run.baseline) if b.point is not None and b.by > 0]
    misses = [f"{b.constraint.text}: missed by {quantity(b.constraint.name, b.by)}: the best design "
            + ("that satisfies the other limits " if len(limits) > 1 else "") + "has "
            + quantity(b.constraint.name, (b.point.measures if b.point else {}).get(b.constraint.name))
            for b in found]
    best = nearest(run.points, limits, run.baseline)
    if not misses and best is not None:
        misses = [f"{m.constraint.text}: the nearest design misses this limit by "
                  f"{quantity(m.constraint.name, m.by)}"
                for m in run.misses(best)]
    if not misses:
        return Problem("E370", "no point has a result", str(run.folder), _refused(run) or "no results",
                       allowed, "run kerncast explain CODE for each code, and sweep other values")
    binds = found[0].constraint if len(found) == 1 else None
    return Problem("E370", "no design satisfies every limit" + (f": {binds.text} binds" if binds else ""),
                   str(run.folder), "; ".join(misses), allowed,
                   f"relax {binds.name if binds else 'one of the limits'}, or sweep more values")


def _refused(run: SweepRun) -> str:
    from ..lab.sweep.front import refusals

    return ", ".join(f"{count} refused with {code}" for code, count in refusals(run.points).items())


def _values(run: SweepRun, picture: Path | None, confirmed: Confirmation | None) -> dict[str, Any]:
    """Return the JSON object for ``--json``."""
    from ..lab.sweep.front import refusals, statuses
    from ..lab.sweep.measures import MEASURES

    s = run.settings
    return {
        "run": str(run.folder), "points": len(run.points), "grid": s.space.size, "spec": s.space.base.hash,
        "judged_by": run.judged_by, "float": run.baseline, "objectives": list(s.objectives),
        "constraints": [{"text": c.text, "measure": c.name, "limit": c.limit(run.baseline)}
                        for c in s.constraints],
        "measures": {name: {"unit": unit, "origin": origin, "about": about}
                     for name, (unit, origin, about) in MEASURES.items()},
        "statuses": statuses(run.points), "refused": refusals(run.points),
        "front": [_point(p) for p in run.front], "best": None if run.best is None else _point(run.best),
        "why": [{"key": w.key, "before": w.before, "after": w.after, "narrowed": w.narrowed,
                 "status": w.point.status, "code": w.point.code, "measures": w.point.measures,
                 "broken": [{"constraint": m.constraint.text, "by": m.by} for m in w.broken]}
                for w in run.why],
        "picture": None if picture is None else str(picture),
        "confirmed": None if confirmed is None else confirmed.as_dict(),
        "mismatches": 0 if confirmed is None else confirmed.mismatches}


def _point(point: Point) -> dict[str, Any]:
    return {"key": point.key, "inputs": point.inputs, "status": point.status, "plan": point.plan,
            "words": point.words, "measures": point.measures}


def _text(run: SweepRun, picture: Path | None, confirmed: Confirmation | None) -> str:
    from ..lab.sweep.measures import quantity

    s, refused = run.settings, _refused(run)
    parts = [f"{len(run.points):,} of {s.space.size:,} points{', ' + refused if refused else ''}; "
             f"evaluated on {run.judged_by}; float64 with the spec as written: error "
             f"{quantity('error', run.baseline.get('error'))}",
             f"Pareto front, {len(run.front)} points{_shown(run)}:\n\n{_table(run, run.front[:_SHOWN])}"]
    if run.best is not None:
        parts += [_best(run, run.best), f"What limits it:\n\n{_why(run)}"]
    files = [f"wrote {run.folder / _DESIGN}: its spec, for kerncast gen"] if run.best is not None else []
    files += [f"wrote {picture}: the front"] if picture else []
    parts += ["\n".join(files)] if files else []
    if confirmed is not None:
        parts.append(_confirmed(confirmed))
    return "\n\n".join(parts)


def _shown(run: SweepRun) -> str:
    return f", the first {_SHOWN} of them" if len(run.front) > _SHOWN else ""


def _table(run: SweepRun, points: list[Point]) -> str:
    """Return a table of points with swept keys, objectives and limited measures."""
    from ..lab.sweep.measures import measured, quantity

    names = list(dict.fromkeys([*run.settings.objectives, *(c.name for c in run.settings.constraints)]))
    head = [f"{name}, {'measured' if measured(name) else 'computed'}" for name in names]
    rows = [[*(axis.key for axis in run.space.axes), *head, "status", "limits"]]
    rows += [[*(str(p.inputs[axis.key]) for axis in run.space.axes),
              *(quantity(name, p.measures.get(name)) for name in names), p.status,
              "missed" if run.misses(p) else "kept"] for p in points]
    return table(rows)


def _best(run: SweepRun, best: Point) -> str:
    """Return a description of the cheapest design, with its margin for every limit."""
    from ..lab.sweep.measures import quantity

    spare = [(limit.described(run.baseline), quantity(limit.name, best.measures[limit.name]),
              f"{quantity(limit.name, -limit.over(best.measures, run.baseline))} to spare")
             for limit in run.settings.constraints]
    chosen = ", ".join(f"{key} = {value}" for key, value in best.inputs.items())
    return "\n".join([f"The cheapest design within the limits: {chosen}", f"plan {best.plan}", "",
                      table([("limit", "this design", ""), *spare])])


def _why(run: SweepRun) -> str:
    from ..lab.sweep.front import NO_ALTERNATIVE
    from ..lab.sweep.measures import quantity

    def broken(step: CheaperStep) -> str:
        if step.point.code:
            return f"is rejected ({step.point.code})"
        if not step.point.answers:
            return f"has no usable model: {step.point.status}"
        misses = [f"{m.constraint.text} by {quantity(m.constraint.name, m.by)}" if math.isfinite(m.by)
                  else m.constraint.text for m in step.broken]
        return "violates " + ", ".join(misses) if misses else "meets every limit"

    rows = [(f"{w.key} {w.before} -> {w.after}", broken(w), "not swept: the next shorter word "
                                                            "length" * w.narrowed)
            for w in run.why]
    free = [axis.key for axis in run.space.axes if axis.key not in {w.key for w in run.why}]
    text = table(rows) if rows else NO_ALTERNATIVE
    return text + (f"\nno cheaper value: {', '.join(free)}" if free and rows else "")


def _confirmed(found: Confirmation) -> str:
    rows = [("back end", "values", "mismatches", "flash", "RAM", "first difference")]
    rows += [(r.backend, f"{r.words:,}", f"{r.mismatches:,}", str(r.costs.get("flash", "-")),
              str(r.costs.get("ram", "-")), r.first) for r in found.rows]
    counts = [f"{call} {count:,} {r.costs['unit']}" for r in found.rows
              for call, count in r.costs.get("counts", {}).items() if count is not None]
    return "\n".join([f"Confirmed with the generated C in {found.folder}. Flash and RAM are those of the "
                      "test firmware:", "",
                      table(rows), *([f"counted on the board: {', '.join(counts)}"] if counts else [])])
