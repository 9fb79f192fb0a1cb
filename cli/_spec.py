"""cli: load the spec of a command, report its errors, and print warnings."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..sim.errors import KerncastError, Problem
from ._output import fitted_problem

if TYPE_CHECKING:
    from ..sim.plan import Plan
    from ..sim.spec import Spec

_LINE = re.compile(r":(\d+)(?: |$)")


def load_spec(path: Path) -> Spec:
    """Load a spec, and report all of its errors together.

    Raises
    ------
    KerncastError
        E101 and others. An unknown target (E323) is reported together with the errors of the spec.
    """
    from ..sim.spec import Spec  # not at import: --help stays fast

    try:
        return Spec.load(path)
    except KerncastError as error:
        problems = [*error.problems, *_wrong_target(path)]
        # By line; a mistake at no line, such as a missing table, comes last.
        raise KerncastError(sorted(problems, key=_line)) from None


def _wrong_target(path: Path) -> tuple[Problem, ...]:
    """Return E323 if the target of a spec is unknown.

    The check works even if the spec has other errors.
    """
    from ..codegen.firmware.targets import load_target
    from ..sim.spec.source import Source

    with contextlib.suppress(KerncastError):  # a file that is not TOML is reported already
        source = Source.read(path)
        table = source.values.get("target")
        name = table.get("id") if isinstance(table, dict) else None
        if isinstance(name, str):
            try:
                load_target(name)
            except KerncastError as error:
                return tuple(replace(problem, where=source.where(("target", "id")))
                             for problem in error.problems)
    return ()


def _line(problem: Problem) -> float:
    found = _LINE.search(problem.where)
    return int(found[1]) if found else float("inf")


def warnings_of(spec: Spec, plan: Plan, as_json: bool) -> list[dict[str, str]]:
    """Return the warnings of a plan for ``--json``; without it, print them to stderr."""
    from ..sim.planner.warnings import cautions

    found = cautions(plan)
    problems = spec.located(KerncastError(found)).problems if found else ()
    if not as_json:
        for problem in problems:
            typer.echo(fitted_problem(problem, "warning: "), err=True)
    return [problem.as_dict() for problem in problems]
