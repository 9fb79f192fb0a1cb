"""cli: ``kerncast cost``: what a generated library takes, by target and optimisation level."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_BAD_INPUT, KerncastError, Problem, fail
from .build import GeneratedFolder, warn_of_budget
from .complete import target_names
from .progress import steps
from .shell import JsonFlag, columns, emit, show

if TYPE_CHECKING:
    from ..lab.costs.measure import Costs
    from ..sim.plan import Plan

Targets = Annotated[list[str] | None, typer.Option(
    "--target", metavar="ID", show_default=False, autocompletion=target_names,
    help="Target, or `all`; may be given several times. By default that of the spec, and of its budget.")]


def cost(out: GeneratedFolder, target: Targets = None,
         levels: Annotated[str | None, typer.Option(
             show_default=False, help="Optimisation levels, with commas between. By default -O2, -Os and "
                                      "that of the spec's budget.")] = None,
         compiler: Annotated[str, typer.Option(help="auto, gcc, clang or zig.")] = "auto",
         as_json: JsonFlag = False) -> None:
    """Say what the library takes: flash, RAM, worst-case stack, and instructions or cycles by call.

    Counts are those of an emulator, the mean and the worst of the last 100 samples of the test vectors. Exits
    with 2 where more is taken than [budget] of the spec allows, and says so where its target and level are
    not among those measured.

    Examples
    --------
    kerncast cost build/digits
    kerncast cost build/digits --target cortex-m0 --target atmega2560 --levels=-Os
    kerncast cost build/digits --target all --json
    """
    from ..codegen.generate import load_plan, load_vectors
    from ..lab.costs.limits import budget_of
    from ..lab.costs.measure import measured_costs

    plan, manifest = load_plan(out)
    budget, vectors = budget_of(plan), load_vectors(out)
    of_all = "all" in (target or ())
    names = _targets(target or [manifest.target, budget.get("target", "")])
    chosen = levels.split(",") if levels is not None else ["-O2", "-Os", budget.get("optimise", "-O2")]
    found: list[Costs] = []
    missing: list[Problem] = []
    with steps(as_json) as step:
        for name, level in product(names, dict.fromkeys(level.strip() for level in chosen)):
            step(f"{name} {level}")
            try:
                found.append(measured_costs(plan, out, name, level, compiler=compiler, vectors=vectors))
            except KerncastError as error:
                if not of_all:
                    raise
                missing += error.problems
    if not found:
        raise KerncastError(dict.fromkeys(missing))
    _tell(plan, found, missing, as_json)


def _tell(plan: Plan, found: list[Costs], missing: list[Problem], as_json: bool) -> None:
    """Print what was measured, what was not, and what is over budget."""
    from ..lab.costs.limits import looked_at, over_budget

    problems = [problem for costs in found for problem in over_budget(plan, costs)]
    seen = looked_at(plan, found)
    if as_json:
        emit({"plan": plan.hash, "budget": seen, "costs": [costs.as_dict() for costs in found],
              "missing": [problem.as_dict() for problem in missing],
              "errors": [problem.as_dict() for problem in problems]})
        if problems:
            raise typer.Exit(EXIT_BAD_INPUT)
        return
    show({}, as_json, _text(found))
    for problem in missing:
        typer.echo(f"left out: {problem}", err=True)
    warn_of_budget(seen)
    if problems:
        raise KerncastError(problems)


def _targets(given: list[str]) -> list[str]:
    """The targets given, each once, with every target in the place of `all`; E323 for an unknown one."""
    from ..codegen.firmware.targets import load_target, target_ids

    names = [name for one in given if one for name in (target_ids() if one == "all" else (one,))]
    if not names:  # generated for none, from Python
        raise fail("E323", "no target is named", where="--target", value="none",
                   allowed=", ".join(target_ids()), remedy="name one, or `all`")
    return [load_target(name).id for name in dict.fromkeys(names)]


def _text(found: list[Costs]) -> str:
    heads = ("target", "level", "compiler", "flash: predict", "+ learn", "+ save", "image", "RAM", "stack",
             "unit", "train", "update", "predict")
    rows: list[tuple[str, ...]] = [heads]
    for c in found:
        counts = {name: f"{n.mean:,} ({n.worst:,})" for name, n in c.counts.items()}
        rows.append((c.target, c.optimise, f"{c.compiler} {c.version}",
                     *(f"{c.flash[part]:,}" for part in ("predict", "learn", "all", "image")),
                     f"{sum(c.ram.values()):,}", "-" if c.deepest is None else f"{c.deepest:,}",
                     c.unit or "not measured",
                     *(counts.get(name, "-") for name in ("train", "update", "predict"))))
    notes = ("flash of a program that only predicts, that learns too, that saves and restores too, and of\n"
             "the test firmware; RAM of the model; stack at most of training, updating and predicting,\n"
             "without interrupts; a call on average (and the worst seen)")
    return f"{columns(rows)}\n\n{notes}"
