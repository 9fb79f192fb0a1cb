"""cli: the ``kerncast`` command: its list of commands, and nothing that they do.

Each command is a function in a module of its own; modules import what they need inside the function, so
that ``kerncast --help`` loads no mathematics.
"""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from .build import build
from .check import check
from .cost import cost
from .demo import demo
from .doctor import doctor
from .estimate import estimate
from .explain import explain
from .explore import explore
from .fit import fit
from .gen import gen
from .hil import ACTIONS
from .init import init
from .plan import plan
from .report import report
from .row import row
from .schema import schema
from .shell import Command, guarded
from .sim import sim
from .sweep import sweep
from .targets import targets
from .test import test
from .verify import verify

#: Every command by its name, in the order of a day's work, which is the order of --help.
COMMANDS: dict[str, Command] = {
    "demo": demo,
    "init": init,
    "check": check,
    "schema": schema,
    "fit": fit,
    "row": row,
    "plan": plan,
    "sim": sim,
    "sweep": sweep,
    "explore": explore,
    "report": report,
    "gen": gen,
    "build": build,
    "cost": cost,
    "estimate": estimate,
    "test": test,
    "verify": verify,
    "targets": targets,
    "doctor": doctor,
    "explain": explain,
}

# No markup in help texts: [model] is a table of the spec there, not a colour.
app = typer.Typer(name="kerncast", add_completion=True, no_args_is_help=True, rich_markup_mode=None,
                  pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
                  epilog="Exit codes: 0 ok, 1 results differ, 2 bad input, 3 a tool is missing, "
                         "70 a mistake of kerncast itself, 130 interrupted.")


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"kerncast {__version__}")
        raise typer.Exit


@app.callback()
def _kerncast(version: Annotated[bool, typer.Option(
        "--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    """Kernel machines that train on the chip, held to the same integers everywhere."""


def _help(command: Command) -> str:
    """Help text from the docstring: its examples indented and kept line by line, as a backspace says."""
    text, _, examples = (inspect.getdoc(command) or "").partition("Examples\n--------\n")
    return f"{text}\b\nExamples:\n" + "".join(f"  {line}\n" for line in examples.splitlines())


for _name, _command in COMMANDS.items():
    app.command(_name, help=_help(_command))(guarded(_command))

_hil = typer.Typer(no_args_is_help=True, rich_markup_mode=None,
                   help="Boards, real and emulated: list them, run the vectors on one, record and replay.")
for _name, _action in ACTIONS.items():
    _hil.command(_name, help=_help(_action))(guarded(_action))
app.add_typer(_hil, name="hil")
