"""cli: ``kerncast check``: check a spec without running the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..sim.errors import KerncastError, Problem
from ._options import JsonFlag, SpecPath
from ._output import Answer, emit
from ._spec import load_spec, warnings_of

if TYPE_CHECKING:
    from ..sim.data import Dataset
    from ..sim.plan import Plan
    from ..sim.spec import Spec


def check(path: SpecPath, as_json: JsonFlag = False) -> None:
    """Check a spec and report every mistake at once.

    Checks the spec itself, its target, the plan of its formats, its CSV files, and [sweep]. Data sets that
    come with a Python package are not loaded.

    Examples
    --------
    kerncast check ecg.toml
    kerncast check ecg.toml --json
    """
    spec = load_spec(path)
    problems: list[Problem] = []
    seen: dict[Callable[..., Any], Any] = {}
    for look in (_target, _plan, _data, _sweep):
        seen[look], found = _looked(look, spec, path.parent)
        problems += found
    if problems:
        raise KerncastError(problems)
    made = _made(spec, seen[_data])
    values = {"spec": str(path), "hash": spec.hash, "summary": spec.summary(),
              "warnings": warnings_of(spec, made, as_json),
              "values": spec.model_dump(mode="json", by_alias=True, exclude_none=True)}
    emit(Answer(values, f"ok  {spec.summary()}", _next(spec, path)), as_json)


def _made(spec: Spec, seen: Dataset | None) -> Plan:
    """Return the plan of a spec; if there are data, it includes their rounding."""
    from ..sim.planner import make_plan

    made = make_plan(spec)
    if seen is None:
        return made
    from ..sim.planner.input_rounding import measure_rounding

    return measure_rounding(made, seen.x_raw, seen.y_raw)


def _next(spec: Spec, path: Path) -> tuple[str, ...]:
    """Return the next command: kerncast sim if the spec has data, else kerncast gen."""
    return ("kerncast", "sim", str(path)) if spec.data is not None else \
        ("kerncast", "gen", str(path), "-o", f"build/{spec.model.name}")


def _looked(look: Callable[[Spec, Path], Any], spec: Spec, folder: Path) -> tuple[Any, tuple[Problem, ...]]:
    """Run a check; return its result and its problems."""
    try:
        return look(spec, folder), ()
    except KerncastError as error:
        return None, spec.located(error).problems


def _target(spec: Spec, _: Path) -> None:
    from ..lab.costs.limits import refuse_unmeasurable

    refuse_unmeasurable(spec)


def _plan(spec: Spec, _: Path) -> None:
    from ..codegen.firmware.targets import target_ids
    from ..codegen.generate import refuse_oversize
    from ..sim.planner import make_plan

    if spec.target.id in target_ids():  # an unknown one is reported already
        refuse_oversize(spec)
    else:
        make_plan(spec)


def _data(spec: Spec, folder: Path) -> Dataset | None:
    if spec.data is None or spec.data.file is None:
        return None
    from ..sim.data import load_dataset

    return load_dataset(spec, folder)


def _sweep(spec: Spec, folder: Path) -> None:
    """Check the axes, objectives and limits in [sweep].

    Missing axes or data are not an error, because options of kerncast sweep may add them.
    """
    if spec.sweep is None:
        return
    from ..lab.sweep import make_settings

    try:
        make_settings(spec, folder)
    except KerncastError as error:
        found = [problem for problem in error.problems if problem.code not in ("E240", "E361")]
        if found:
            raise KerncastError(found) from None
