"""cli: ``kerncast cost``: what a generated library takes, by target and optimisation level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_BAD_INPUT, KerncastError, Problem
from .build import GeneratedFolder
from .shell import JsonFlag, columns, emit, show

if TYPE_CHECKING:
    from ..lab.costs import Costs

Targets = Annotated[list[str] | None, typer.Option(
    "--target", metavar="ID", show_default=False,
    help="Target, or `all`; may be given several times. By default that of the spec, and of its budget.")]


def cost(out: GeneratedFolder, target: Targets = None,
         levels: Annotated[str, typer.Option(help="Optimisation levels, with commas between.")] = "-O2,-Os",
         compiler: Annotated[str, typer.Option(help="auto, gcc, clang or zig.")] = "auto",
         as_json: JsonFlag = False) -> None:
    """Say what the library takes: flash, RAM, worst-case stack, and instructions or cycles by call.

    Counts are those of an emulator, the mean and the worst of the last 100 samples of the test vectors. Exits
    with 2 where more is taken than [budget] of the spec allows.

    Examples
    --------
    kerncast cost build/digits
    kerncast cost build/digits --target cortex-m0 --target atmega2560 --levels=-Os
    kerncast cost build/digits --target all --json
    """
    from ..codegen.generate import load_plan, load_vectors
    from ..codegen.targets import target_ids
    from ..lab.costs import measured_costs, over_budget

    plan, manifest = load_plan(out)
    budget = plan.evidence.get("budget", {})
    own = dict.fromkeys(name for name in (manifest.target, budget.get("target")) if name)
    targets = target_ids() if target == ["all"] else target or list(own)
    found: list[Costs] = []
    missing: list[Problem] = []
    for name in targets:
        for level in levels.split(","):
            try:
                found.append(measured_costs(plan, out, name, level.strip(), compiler=compiler,
                                            vectors=load_vectors(out)))
            except KerncastError as error:
                if target != ["all"]:
                    raise
                missing += error.problems
    problems = [problem for costs in found for problem in over_budget(plan, costs)]
    if as_json:
        emit({"plan": plan.hash, "costs": [costs.as_dict() for costs in found],
              "missing": [problem.as_dict() for problem in missing],
              "errors": [problem.as_dict() for problem in problems]})
        if problems:
            raise typer.Exit(EXIT_BAD_INPUT)
        return
    show({}, as_json, _text(found))
    for problem in missing:
        typer.echo(f"left out: {problem}", err=True)
    if problems:
        raise KerncastError(problems)


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
