"""cli: assemble the command ``kerncast`` from its subcommands.

Each command is a function in its own module. These modules import what they need inside the function, so that
``kerncast --help`` does not load numerical libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from ._aliases import hil_list, hil_run
from ._guard import Command, guarded
from ._help import Commands, Panels, help_of
from .build import build
from .check import check
from .cost import cost
from .demo import demo
from .doctor import doctor
from .estimate import estimate
from .explain import explain
from .explore import explore
from .fit import fit
from .freeze import freeze
from .gen import gen
from .hil import ACTIONS
from .init import init
from .plan import plan
from .report import report
from .row import row
from .schema import schema
from .sim import sim
from .sweep import sweep
from .targets import targets
from .test import test
from .verify import verify

#: Every command by its name, in the order of --help.
COMMANDS: dict[str, Command] = {
    "init": init,
    "check": check,
    "explain": explain,
    "doctor": doctor,
    "demo": demo,
    "fit": fit,
    "sim": sim,
    "plan": plan,
    "sweep": sweep,
    "explore": explore,
    "report": report,
    "gen": gen,
    "build": build,
    "cost": cost,
    "estimate": estimate,
    "freeze": freeze,
    "test": test,
    "verify": verify,
    "targets": targets,
    "schema": schema,
}
#: The panels of --help.
PANELS: dict[str, tuple[str, ...]] = {
    "Start": ("init", "check", "explain", "doctor", "demo"),
    "Design": ("fit", "sim", "plan", "sweep", "explore", "report"),
    "Generate": ("gen", "build", "cost", "estimate", "freeze"),
    "Verify": ("test", "verify", *(f"hil {action}" for action in ACTIONS)),
    "Reference": ("targets", "schema"),
}
#: Commands that work but are not listed: old spellings, and tools of our own research.
HIDDEN: dict[str, Command] = {"row": row}
#: The same for actions of ``kerncast hil``.
HIDDEN_ACTIONS: dict[str, Command] = {"run": hil_run, "list": hil_list}


class _Kerncast(Panels):
    panels = PANELS


# No markup in help texts: [model] is a table of the spec there, not a colour.
app = typer.Typer(name="kerncast", cls=_Kerncast, add_completion=True, no_args_is_help=True,
                  rich_markup_mode=None, pretty_exceptions_enable=False,
                  context_settings={"help_option_names": ["-h", "--help"]},
                  epilog="Exit codes: 0 ok, 1 results differ, 2 bad input, 3 a tool is missing, "
                         "70 internal error, 130 interrupted.")


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"kerncast {__version__}")
        raise typer.Exit


@app.callback()
def _kerncast(version: Annotated[bool, typer.Option(
        "--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    """Train kernel machines on the chip, with the same integers everywhere."""


def _add(group: typer.Typer, commands: Mapping[str, Command], hidden: bool) -> None:
    for name, command in commands.items():
        group.command(name, cls=Commands, help=help_of(command), hidden=hidden)(guarded(command))


_hil = typer.Typer(cls=Panels, no_args_is_help=True, rich_markup_mode=None,
                   help="Record calls on a board, and replay them on another back end.")
_add(app, COMMANDS, hidden=False)
_add(app, HIDDEN, hidden=True)
_add(_hil, ACTIONS, hidden=False)
_add(_hil, HIDDEN_ACTIONS, hidden=True)
app.add_typer(_hil, name="hil")
