"""cli: what every command shares: errors and their exit codes, JSON, loading a spec.

Exit codes: 0 ok, 1 results differ, 2 bad input, 3 a tool is missing, 70 a mistake of kerncast itself, 130
interrupted.
"""

from __future__ import annotations

import functools
import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import EXIT_BAD_INPUT, KerncastError, Problem
from .complete import specs

if TYPE_CHECKING:
    from ..sim.plan import Plan
    from ..sim.spec import Spec

EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
DEBUG = "KERNCAST_DEBUG"

#: The parameter that every command has, under the name `as_json`.
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
#: The argument of every command that reads a spec.
SpecPath = Annotated[Path, typer.Argument(metavar="SPEC", help="A kerncast.toml.", autocompletion=specs,
                                          show_default=False)]

Command = Callable[..., None]


def guarded(command: Command) -> Command:
    """Wrap a command so that whatever goes wrong ends in a message and an exit code.

    A :class:`KerncastError` is printed on stderr, or as ``{"errors": [...]}`` on stdout where the
    command was given ``--json`` (its parameter `as_json`).
    """
    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        as_json = bool(kwargs.get("as_json"))
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except KerncastError as error:
            _report(error.problems, as_json)
            raise typer.Exit(error.exit_code) from None
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except KeyboardInterrupt as stop:
            typer.echo("; ".join(["interrupted", *map(str, stop.args)]), err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:  # the reader of a pipe left: nobody is there to be told
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as error:
            problem = Problem("E191", f"the system refused: {error.strerror or error}",
                              str(error.filename or ""), remedy="check the path and its permissions")
            _report([problem], as_json)
            raise typer.Exit(EXIT_BAD_INPUT) from None
        except Exception as error:
            _internal(error, as_json)
            raise typer.Exit(EXIT_INTERNAL) from None
    return run


def _report(problems: Sequence[Problem], as_json: bool) -> None:
    if as_json:
        emit({"errors": [problem.as_dict() for problem in problems]})
        return
    for problem in problems:
        typer.echo(str(problem), err=True)
    codes = sorted({problem.code for problem in problems})
    typer.echo(f"More on this: kerncast explain {codes[0]}" if len(codes) == 1 else
               f"{len(problems)} problems; more on each: kerncast explain CODE", err=True)


def warnings_of(spec: Spec, plan: Plan, as_json: bool) -> list[dict[str, str]]:
    """Warnings of a plan, for ``--json``; printed on stderr where that was not asked for."""
    from ..sim.planner.warnings import cautions

    found = cautions(plan)
    problems = spec.located(KerncastError(found)).problems if found else ()
    if not as_json:
        for problem in problems:
            typer.echo(f"warning: {problem}", err=True)
    return [problem.as_dict() for problem in problems]


def _internal(error: Exception, as_json: bool) -> None:
    """An unexpected exception: one line, and the traceback only where it is asked for."""
    if os.environ.get(DEBUG):
        traceback.print_exc()
    message = f"internal error, {type(error).__name__}: {error}"
    remedy = f"this is a mistake of kerncast; set {DEBUG}=1 to see where, and report it"
    if as_json:
        emit({"errors": [{"code": "internal", "message": message, "remedy": remedy}]})
    else:
        typer.echo(f"kerncast: {message}\n    do: {remedy}", err=True)


def emit(values: object) -> None:
    """Print one JSON object on stdout; null stands for infinity and NaN, which JSON does not know."""
    typer.echo(json.dumps(_finite(values), indent=2, allow_nan=False))


def _finite(values: object) -> object:
    """The same with None for every number that is not finite."""
    if isinstance(values, Mapping):
        return {key: _finite(value) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [_finite(value) for value in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values


def show(values: object, as_json: bool, text: str) -> None:
    """Print the result of a command: JSON, or text."""
    if as_json:
        emit(values)
    else:
        typer.echo(text)


def show_with(problems: Sequence[Problem], values: Mapping[str, object], as_json: bool, text: str) -> None:
    """Print what was found, and below it, or as ``errors``, what is wrong; exit with 2 where anything is."""
    found = {"errors": [problem.as_dict() for problem in problems]} if problems else {}
    show({**values, **found}, as_json, text)
    if problems:
        if not as_json:
            _report(problems, as_json)
        raise typer.Exit(EXIT_BAD_INPUT)


def columns(rows: Iterable[Sequence[str]]) -> str:
    """Rows of text in aligned columns, two spaces apart."""
    held = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*held, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
                     for row in held)


def load_spec(path: Path) -> Spec:
    """The spec of a command's argument; E101 and so on."""
    from ..sim.spec import Spec  # not at import: --help stays fast

    return Spec.load(path)
