"""cli: ``kerncast build``: a firmware image from a generated folder."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .complete import board_names, generated
from .shell import JsonFlag, columns, show

GeneratedFolder = Annotated[Path, typer.Argument(metavar="OUT", help="A folder made by kerncast gen.",
                                                 autocompletion=generated, show_default=False)]


def build(out: GeneratedFolder,
          board: Annotated[str, typer.Option("--board", autocompletion=board_names,
                                             help="Board to build for.")] = "mps2-an386",
          compiler: Annotated[str, typer.Option(help="auto, gcc, clang or zig.")] = "auto",
          optimise: Annotated[str | None, typer.Option(
              "-O", "--optimise", show_default=False,
              help="-O0 to -O3, or -Os; by default the level of the spec's budget, or -O2.")] = None,
          trace: Annotated[bool, typer.Option(
              "--trace", help="With trace hooks, for kerncast test --bisect on a board.")] = False,
          as_json: JsonFlag = False) -> None:
    """Build the library and the HIL agent into an image, and say what it takes and what loads it.

    Exits with 2 where flash, RAM or stack are beyond the [budget] of the spec, and says so where that is of
    another target or level; kerncast cost counts as well.

    Examples
    --------
    kerncast build build/ecg
    kerncast build build/ecg --compiler zig --optimise=-Os
    """
    from ..codegen.firmware.image import build_firmware
    from ..codegen.generate import load_plan
    from ..hw.hil.flash import flash_commands
    from ..lab.costs.limits import budget_of, looked_at, over_budget
    from ..lab.costs.measure import built_costs
    from ..sim.errors import KerncastError

    plan, _ = load_plan(out)
    image = build_firmware(out, plan, board, compiler=compiler, traced=trace,
                           optimise=optimise or budget_of(plan).get("optimise", "-O2"))
    costs = built_costs(plan, image)
    problems = over_budget(plan, costs, counted=False)
    if problems:
        raise KerncastError(problems)
    values = {"elf": str(image.elf), "board": board, "compiler": image.compiler,
              "optimise": image.optimise, "flash": image.flash_bytes, "ram": image.ram_bytes,
              "library": costs.flash["all"], "model": plan.state_bytes, "stack": costs.deepest,
              "stack_reserved": image.stack_bytes}
    loaders = flash_commands(image.board, image.elf)
    budget = looked_at(plan, [costs])
    show({**values, "loaders": loaders, "budget": budget}, as_json,
         columns([*((name, str(value)) for name, value in values.items()),
                  *((f"loaded by {name}", shlex.join(command)) for name, command in loaders.items())]))
    if not as_json:
        warn_of_budget(budget)


def warn_of_budget(budget: Mapping[str, Any] | None) -> None:
    """Say on stderr that a budget was not looked at, where it is of a target or level not built."""
    if budget and not budget["looked_at"]:
        typer.echo(f"warning: budget ({budget['target']}, {budget['optimise']}) not looked at", err=True)
