"""cli: ``kerncast cost``: measure the costs of a generated library.

The costs are measured for each target and optimisation level.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_BAD_INPUT, KerncastError, Problem, fail
from ._options import Compiler, GeneratedFolder, JsonFlag, Levels, OldLevels, Targets, level, separated
from ._output import Answer, emit, fitted_problem, print_json, table
from ._progress import steps
from .build import warn_of_budget

if TYPE_CHECKING:
    from ..lab.costs.measure import Costs
    from ..sim.plan import Plan


Clock = Annotated[float | None, typer.Option("--clock", metavar="MHZ", min=0.001, max=10000,
                                             show_default=False,
                                             help="Clock frequency of your chip: also print the time of "
                                                  "the slowest call, at one instruction per clock "
                                                  "cycle.")]


def cost(out: GeneratedFolder, target: Targets = None, optimise: Levels = None, levels: OldLevels = None,
         compiler: Compiler = "auto", clock: Clock = None, as_json: JsonFlag = False) -> None:
    """Measure flash, RAM, stack and instructions per call.

    An emulator counts the instructions or cycles per call: the mean and the maximum over the last 100 samples
    of the test vectors. Exits with 2 if the library exceeds the [budget] of the spec. Prints a warning if the
    target and optimisation level of the [budget] are not among those measured. --json also lists the flash
    of each function.

    Examples
    --------
    kerncast cost build/digits
    kerncast cost build/digits --target cortex-m0,atmega2560 -Os
    kerncast cost build/digits --clock 168
    kerncast cost build/digits --target all --json
    """
    from ..codegen.generate import load_plan, load_vectors
    from ..lab.costs.limits import budget_of
    from ..lab.costs.measure import measured_costs

    plan, manifest = load_plan(out)
    budget, vectors = budget_of(plan), load_vectors(out)
    given = separated(target)
    names = _targets(given or [manifest.target, budget.get("target", "")])
    chosen = separated([*(optimise or ()), *(levels or ())]) or ["-O2", "-Os", budget.get("optimise", "-O2")]
    found: list[Costs] = []
    missing: list[Problem] = []
    with steps(as_json) as step:
        for name, one in product(names, dict.fromkeys(map(level, chosen))):
            step(f"{name} {one}")
            try:
                found.append(measured_costs(plan, out, name, one, compiler=compiler, vectors=vectors))
            except KerncastError as error:
                if "all" not in given:
                    raise
                missing += error.problems
    if not found:
        raise KerncastError(dict.fromkeys(missing))
    _print(plan, found, missing, clock, as_json)


def _print(plan: Plan, found: list[Costs], missing: list[Problem], clock: float | None,
           as_json: bool) -> None:
    """Print the costs, the targets that were skipped, and the exceeded limits."""
    from ..lab.costs.limits import budget_status, over_budget

    problems = [problem for costs in found for problem in over_budget(plan, costs)]
    seen = budget_status(plan, found)
    if as_json:
        costs = [one.as_dict() | ({} if clock is None else {"us": one.microseconds(clock)}) for one in found]
        print_json({"plan": plan.hash, "budget": seen, "costs": costs,
                    "missing": [problem.as_dict() for problem in missing],
                    "errors": [problem.as_dict() for problem in problems]})
        if problems:
            raise typer.Exit(EXIT_BAD_INPUT)
        return
    emit(Answer({}, "\n".join([_text(found), *_times(found, clock)])), as_json)
    for problem in missing:
        typer.echo(fitted_problem(problem, "left out: "), err=True)
    warn_of_budget(seen)
    if problems:
        raise KerncastError(problems)


def _targets(given: list[str]) -> list[str]:
    """Return target ids without duplicates; `all` selects every target.

    Raises E323 if a target is unknown, or if none is given.
    """
    from ..codegen.firmware.targets import load_target, target_ids

    names = [name for one in given if one for name in (target_ids() if one == "all" else (one,))]
    if not names:  # generated for none, from Python
        raise fail("E323", "no target is given", where="--target", value="none",
                   allowed=", ".join(target_ids()), remedy="name a target, or `all`")
    return [load_target(name).id for name in dict.fromkeys(names)]


_NOTES = """\
flash: size of a program that only predicts, of one that also learns, and of one that also saves and
restores its state; image: the test firmware.
RAM: size of the model. stack: maximum of training, updating and predicting, without interrupts.
train, update, predict: mean count per call, with the worst call in brackets."""


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
    return f"{table(rows, keys=2)}\n\n{_NOTES}"


def _times(found: list[Costs], clock: float | None) -> list[str]:
    """Return lines with the maximum time of each call at a clock frequency in MHz."""
    if clock is None:
        return []
    lines = [f"{c.target} {c.optimise}: " + ", ".join(f"{call} {us:,} µs" for call, us
                                                      in c.microseconds(clock).items())
             for c in found if c.counts]
    return ["", f"Time of the worst call at {clock:g} MHz and one instruction per clock cycle; most chips "
                f"need more:",
            *lines]
