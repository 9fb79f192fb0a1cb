"""cli: ``kerncast build``: build a firmware image from a generated folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ._options import BoardId, Compiler, GeneratedFolder, JsonFlag, level
from ._output import Answer, command_lines, emit, table

Level = Annotated[str | None, typer.Option(
    "-O", "--optimise", metavar="LEVEL", show_default=False,
    help="Optimisation level: -O0 to -O3, or -Os. Default: the level in [budget] of the spec, else -O2.")]
Trace = Annotated[bool, typer.Option(
    "--trace", help="Build with trace hooks, for kerncast test --bisect on a board.")]


def build(out: GeneratedFolder, board: BoardId = "mps2-an386", compiler: Compiler = "auto",
          optimise: Level = None, trace: Trace = False, as_json: JsonFlag = False) -> None:
    """Build a firmware image and print its size.

    The image contains the library and the hardware-in-the-loop agent. The commands that flash it are printed,
    too. Exits with 2 if flash, RAM or stack exceeds the [budget] of the spec. Prints a warning if the
    [budget] is for another target or optimisation level. To measure run time as well, use kerncast cost.

    Examples
    --------
    kerncast build build/ecg
    kerncast build build/ecg --board nucleo-f446re
    kerncast build build/ecg --compiler zig -Os
    """
    from ..codegen.firmware.image import build_firmware
    from ..codegen.generate import load_plan
    from ..hw.backends import board_id
    from ..hw.hil.flash import flash_commands
    from ..lab.costs.limits import budget_of, budget_status, over_budget
    from ..lab.costs.measure import built_costs
    from ..sim.errors import KerncastError

    plan, _ = load_plan(out)
    name, port = board_id(board)
    image = build_firmware(out, plan, name, compiler=compiler, traced=trace,
                           optimise=level(optimise or budget_of(plan).get("optimise", "-O2")))
    costs = built_costs(plan, image)
    problems = over_budget(plan, costs, counted=False)
    if problems:
        raise KerncastError(problems)
    values = {"elf": str(image.elf), "board": name, "compiler": image.compiler,
              "optimise": image.optimise, "flash": image.flash_bytes, "ram": image.ram_bytes,
              "library": costs.flash["all"], "model": plan.state_bytes, "stack": costs.deepest,
              "stack_reserved": image.stack_bytes}
    loaders = flash_commands(image.board, image.elf, port)
    budget = budget_status(plan, [costs])
    text = "\n".join([table([(name, str(value)) for name, value in values.items()]),
                      *(command_lines(command, f"load with {tool}: ") for tool, command in loaders.items())])
    on = f"board:{name}@{port}" if loaders else f"emu:{name}"
    after = ("kerncast", "test", str(out), "--on", on)
    emit(Answer({**values, "loaders": loaders, "budget": budget}, text, after), as_json)
    if not as_json:
        warn_of_budget(budget)


def warn_of_budget(budget: Mapping[str, Any] | None) -> None:
    """Print a warning if the limits are for another target or optimisation level."""
    if budget and not budget["looked_at"]:
        typer.echo(f"warning: the limits of [budget] were not checked; they apply to "
                   f"{budget['target']} at {budget['optimise']}", err=True)
