"""cli: convert exceptions of commands to messages and exit codes.

Exit codes: 0 success, 1 results differ, 2 invalid input, 3 a tool is missing, 70 internal error, 130
interrupted.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import typer

from ..sim.errors import EXIT_BAD_INPUT, KerncastError, Problem
from ._output import Result, emit, fitted, fitted_problem, print_json, width

EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
DEBUG = "KERNCAST_DEBUG"

#: Number of different problems that are printed; the others are counted.
MOST_PROBLEMS = 10

Command = Callable[..., None]


def guarded(command: Command) -> Command:
    """Wrap a command so that every exception becomes a message and an exit code.

    A :class:`KerncastError` is printed on stderr. If the command is called with ``--json`` (its parameter
    `as_json`), it is printed on stdout as ``{"errors": [...]}``.
    """
    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        as_json = bool(kwargs.get("as_json"))
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except KerncastError as error:
            report(error.problems, as_json)
            raise typer.Exit(error.exit_code) from None
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except KeyboardInterrupt as stop:
            typer.echo("; ".join(["interrupted", *map(str, stop.args)]), err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except BrokenPipeError:  # the reader of the pipe has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as error:
            _refuse(_of_system(error), as_json)
        except MemoryError as error:
            _refuse(_of_memory(error), as_json)
        except Exception as error:
            if isinstance(error.__cause__, KeyboardInterrupt):  # while Python made a class, before 3.12
                typer.echo("interrupted", err=True)
                raise typer.Exit(EXIT_INTERRUPTED) from None
            _internal(error, as_json)
            raise typer.Exit(EXIT_INTERNAL) from None
    return run


def _refuse(problem: Problem, as_json: bool) -> NoReturn:
    report([problem], as_json)
    raise typer.Exit(EXIT_BAD_INPUT) from None


def _of_system(error: OSError) -> Problem:
    """Return the problem for an error that the operating system reports for a path."""
    path = str(error.filename or "")
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Problem("E191", f"kerncast cannot write the output: {error.strerror}", path or "output",
                       path or "no space", "a disk with free space",
                       "free some space, then run the same command again")
    return Problem("E191", f"the operating system reported: {error.strerror or error}", path, path,
                   "an existing path, or a new path in an existing folder, that you have permission to use",
                   "check the path and its permissions")


def _of_memory(error: MemoryError) -> Problem:
    """Return the problem for an input that does not fit in memory."""
    return Problem("E237", "the input does not fit in memory", "memory", str(error) or "no memory left",
                   "an input that fits in the free memory of this machine",
                   "use fewer samples or columns, or a machine with more memory")


def report(problems: Sequence[Problem], as_json: bool = False) -> None:
    """Print problems to stderr, or as a JSON object to stdout.

    On stderr, at most ten problems are printed, followed by the number of the others.
    """
    if as_json:
        print_json({"errors": [problem.as_dict() for problem in problems]})
        return
    for problem in problems[:MOST_PROBLEMS]:
        typer.echo(fitted_problem(problem), err=True)
    codes = sorted({problem.code for problem in problems})
    left = len(problems) - MOST_PROBLEMS
    lines = [f"... and {left} more problems: --json lists them all"] if left > 0 else []
    lines += [f"More on this: kerncast explain {codes[0]}" if len(codes) == 1 else
              f"{len(problems)} problems; more on each: kerncast explain CODE"]
    typer.echo("\n".join(fitted(line, width(stderr=True)) for line in lines), err=True)


def _internal(error: Exception, as_json: bool) -> None:
    """Print one line for an unexpected exception.

    The traceback is printed only if the user requested it with an environment variable.
    """
    if os.environ.get(DEBUG):
        traceback.print_exc()
    message = f"internal error, {type(error).__name__}: {error}"
    remedy = f"set {DEBUG}=1 to see where the error occurred, and report it"
    if as_json:
        print_json({"errors": [{"code": "internal", "message": message, "remedy": remedy}]})
    else:
        typer.echo(f"kerncast: {message}\n    do: {remedy}", err=True)


class WithErrors:
    """Result together with problems, which ``--json`` lists under ``errors``."""

    def __init__(self, result: Result, problems: Sequence[Problem]) -> None:
        self._result, self._problems = result, problems

    def as_dict(self) -> Mapping[str, Any]:
        """Return the JSON object of the result, with the problems."""
        return {**self._result.as_dict(), "errors": [problem.as_dict() for problem in self._problems]}

    def lines(self) -> Any:
        """Return the lines of the result. The problems are printed separately."""
        return self._result.lines()


def emit_with(problems: Sequence[Problem], result: Result, as_json: bool) -> None:
    """Print a result and its problems; if there are problems, exit with 2 or 3."""
    if not problems:
        emit(result, as_json)
        return
    emit(WithErrors(result, problems), as_json)
    if not as_json:
        report(problems)
    raise typer.Exit(KerncastError(problems).exit_code)
