"""cli: ``kerncast build``: a firmware image from a generated folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from .shell import JsonFlag, columns, show

GeneratedFolder = Annotated[Path, typer.Argument(metavar="OUT", help="A folder made by kerncast gen.",
                                                 show_default=False)]


def build(out: GeneratedFolder,
          board: Annotated[str, typer.Option("--board", help="Board to build for.")] = "mps2-an386",
          compiler: Annotated[str, typer.Option(help="auto, gcc, clang or zig.")] = "auto",
          optimise: Annotated[str, typer.Option("-O", "--optimise", help="-O0 to -O3, or -Os.")] = "-O2",
          trace: Annotated[bool, typer.Option(
              "--trace", help="With trace hooks, for kerncast test --bisect on a board.")] = False,
          as_json: JsonFlag = False) -> None:
    """Build the library and the HIL agent into an image, and say what it takes and what loads it.

    Exits with 2 where flash, RAM or stack are beyond the [budget] of the spec; kerncast cost counts as well.

    Examples
    --------
    kerncast build build/ecg
    kerncast build build/ecg --compiler zig --optimise=-Os
    """
    from ..codegen.firmware import build_firmware
    from ..codegen.generate import load_plan
    from ..hw.hil.flash import flash_commands
    from ..lab.costs import built_costs, over_budget
    from ..sim.errors import KerncastError

    plan, _ = load_plan(out)
    image = build_firmware(out, plan, board, compiler=compiler, optimise=optimise, traced=trace)
    costs = built_costs(plan, image)
    problems = over_budget(plan, costs, counted=False)
    if problems:
        raise KerncastError(problems)
    values = {"elf": str(image.elf), "board": board, "compiler": image.compiler,
              "optimise": image.optimise, "flash": image.flash_bytes, "ram": image.ram_bytes,
              "library": costs.flash["all"], "model": plan.state_bytes, "stack": costs.deepest,
              "stack_reserved": image.stack_bytes}
    loaders = flash_commands(image.board, image.elf)
    show({**values, "loaders": loaders}, as_json,
         columns([*((name, str(value)) for name, value in values.items()),
                  *((f"loaded by {name}", shlex.join(command)) for name, command in loaders.items())]))
