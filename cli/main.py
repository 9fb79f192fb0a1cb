"""cli: the ``kerncast`` command: its list of commands, and nothing that they do.

Each command is a function in a module of its own; modules import what they need inside the function, so
that ``kerncast --help`` loads no mathematics.
"""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from .check import check
from .doctor import doctor
from .explain import explain
from .init import init
from .shell import Command, guarded
from .targets import targets

#: Every command by its name, in the order of a day's work, which is the order of --help.
COMMANDS: dict[str, Command] = {
    "init": init,
    "check": check,
    "targets": targets,
    "doctor": doctor,
    "explain": explain,
}

# No markup in help texts: [model] is a table of the spec there, not a colour.
app = typer.Typer(name="kerncast", add_completion=False, no_args_is_help=True, rich_markup_mode=None,
                  pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
                  epilog="Exit codes: 0 ok, 1 results differ, 2 bad input, 3 a tool is missing.")


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
    """The docstring, its examples kept line by line (``\\b`` on a line of its own says so)."""
    return (inspect.getdoc(command) or "").replace("\nExamples:\n", "\n\b\nExamples:\n")


for _name, _command in COMMANDS.items():
    app.command(_name, help=_help(_command))(guarded(_command))
