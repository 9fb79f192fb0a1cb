"""cli: print help and usage errors.

The help fits 80 columns, and groups commands in panels. Usage errors have the same format as other errors.
"""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ..sim.errors import EXIT_BAD_INPUT, Problem
from ._guard import report

#: A summary in the list of commands is no longer than this.
LONGEST_SUMMARY = 60

# Which module defines the base class of usage errors depends on the version of typer.
_UsageError: Any = typer.BadParameter.__mro__[1]
# The Python type that typer prints behind an argument's name.
_TYPE = re.compile(r" <[^>]*>$")


class Commands(TyperCommand):
    """Command whose help does not show the Python types of its arguments."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options to the help."""
        rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                is_option = param.param_type_name == "option"
                name = record[0] if is_option else _TYPE.sub("", record[0])
                rows["Options" if is_option else "Arguments"].append((name, _plain(record[1])))
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line, without braces around required arguments."""
        return [re.sub(r"^\{(.*)\}$", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]


def _plain(text: str) -> str:
    """Return the help of a parameter, with its default and its range in plain words."""
    text = re.sub(r"\[default: \((.*?)\)", r"[default: \1", text)
    text = re.sub(r"([\d.]+)<=x<=([\d.]+)", r"\1 to \2", text)
    return re.sub(r"x>=([\d.]+)", r"at least \1", text)


class Panels(TyperGroup):
    """Group of commands with panels in its help and with reported usage errors.

    A usage error has a code, a place, the value found, the allowed values and a remedy.
    """

    #: Title of each panel with its commands; commands of no panel are not listed.
    panels: Mapping[str, tuple[str, ...]] = {}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands to the help, panel by panel, each with its whole summary."""
        panels = self.panels or {"Commands": tuple(_visible(self, ctx))}
        longest = max(len(name) for names in panels.values() for name in names)
        for title, names in panels.items():
            rows = [(name.ljust(longest), _summary(self, ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl(rows)

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Parse the command line.

        Raises Abort if Ctrl-C is pressed, because Typer itself would not print anything.
        """
        try:
            return super().make_context(*args, **more)
        except KeyboardInterrupt:
            raise typer.Abort from None

    def invoke(self, ctx: Any) -> Any:
        """Run a command.

        A running command handles Ctrl-C itself. If Ctrl-C is pressed before it starts, Abort is raised.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None

    def main(self, args: Any = None, *more: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run the command line, and exit.

        A usage error is reported in the same format as other errors, with exit code 2.
        """
        run: Any = super().main
        if not standalone_mode:
            return run(args, *more, standalone_mode=False, **extra)
        try:
            code = run(args, *more, standalone_mode=False, **extra)
        except _UsageError as error:
            _report(error, list(sys.argv[1:] if args is None else args))
            code = EXIT_BAD_INPUT
        except typer.Abort:
            typer.echo("interrupted", err=True)
            code = 130
        sys.exit(code if isinstance(code, int) else 0)


def _summary(group: TyperGroup, ctx: Any, name: str) -> str:
    """Return the summary of a command, which is the first line of its help.

    `name` may consist of a group and a command.
    """
    command: Any = group
    for word in name.split():
        command = command.get_command(ctx, word)
    return str(command.help or "").split("\n")[0].rstrip(".")


def _report(error: Any, words: list[str]) -> None:
    """Report a usage error in the same format as other errors."""
    ctx = error.ctx
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message(), err=True)
        return
    path = _path(ctx, words)
    report([Problem("E194", *_described(error, ctx, words), f"correct the command; {path} --help shows how")],
           as_json="--json" in words)


def _path(ctx: Any, words: list[str]) -> str:
    """Return the command that failed.

    For some errors, the parser does not provide it; then it is taken from the command line.
    """
    if ctx is not None:
        return str(ctx.command_path)
    longest = 2 if words[:1] == ["hil"] else 1
    return " ".join(["kerncast", *itertools.takewhile(lambda one: not one.startswith("-"), words[:longest])])


def _described(error: Any, ctx: Any, words: list[str]) -> tuple[str, str, str, str]:
    """Return the message, the place, the value and the allowed values of an error."""
    path = _path(ctx, words)
    usage = "" if ctx is None else " ".join(ctx.get_usage().split()).removeprefix("Usage: ")
    kind, param = type(error).__name__, getattr(error, "param", None)
    name = "" if param is None else _name(param)
    message = str(error.format_message()).rstrip(".")
    if kind == "MissingParameter" and param is not None:
        return f"{name} is missing", path, "nothing", str(getattr(param, "help", "") or usage)
    if kind == "BadParameter" and param is not None:
        allowed = str(error.message).rstrip(".").removeprefix("Input should be ").partition(", unable")[0]
        allowed = allowed.partition(" is not one of ")[2].replace("'", "") or allowed
        return f"the value of {name} is not valid", path, _value(param, words), allowed
    if kind == "BadOptionUsage":
        return f"{error.option_name} needs a value", path, "nothing", usage or f"{error.option_name} VALUE"
    if kind == "NoSuchOption":
        near = ", ".join(sorted(error.possibilities or ()))
        return "no such option", path, str(error.option_name), near or usage
    found = re.fullmatch(r"No such command '(.*?)'(.*)", message)
    if found:
        others = re.findall(r"'(.*?)'", found[2]) or _visible(ctx.command, ctx)
        return "no such command", path, found[1], ", ".join(others)
    return message[:1].lower() + message[1:], path, "", usage


def _visible(group: Any, ctx: Any) -> list[str]:
    """Return the names of the commands that the help lists."""
    return [name for name in group.list_commands(ctx) if not group.get_command(ctx, name).hidden]


def _name(param: Any) -> str:
    """Return the name of a parameter on the command line.

    For an option, this is its longest form; for an argument, its placeholder in the help.
    """
    if param.param_type_name == "option":
        return str(max(param.opts, key=len))
    return str(param.metavar or param.name.upper())


def _value(param: Any, words: list[str]) -> str:
    """Return the value of an option on the command line; empty for an argument."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word in param.opts:
            return after
        if word.partition("=")[0] in param.opts:
            return word.partition("=")[2]
    return ""


def help_of(command: Callable[..., None]) -> str:
    """Return the help text of a command from its docstring.

    Examples are indented, and their lines are not joined.
    """
    text, _, examples = (inspect.getdoc(command) or "").partition("Examples\n--------\n")
    return f"{text}\b\nExamples:\n" + "".join(f"  {line}\n" for line in examples.splitlines())
