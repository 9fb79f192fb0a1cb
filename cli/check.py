"""cli: ``kerncast check``: everything that can be said about a spec without running it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..sim.errors import KerncastError, Problem
from .shell import JsonFlag, SpecPath, load_spec, show, warnings_of

if TYPE_CHECKING:
    from ..sim.data import Dataset
    from ..sim.spec import Spec


def check(path: SpecPath, as_json: JsonFlag = False) -> None:
    """Check a spec and report every mistake at once.

    Looks at the spec itself, its target, whether formats can be planned, and at the CSV files it names.
    Bundled data are not loaded.

    Examples
    --------
    kerncast check ecg.toml
    kerncast check ecg.toml --json
    """
    from ..sim.diagnostics.input_rounding import measure_rounding
    from ..sim.planner import make_plan

    spec = load_spec(path)
    problems: list[Problem] = []
    for look in (_target, _plan, _data):
        problems += _problems(look, spec, path.parent)
    if problems:
        raise KerncastError(problems)
    seen = _data(spec, path.parent)
    made = make_plan(spec) if seen is None else measure_rounding(make_plan(spec), seen.x_raw, seen.y_raw)
    show({"spec": str(path), "hash": spec.hash, "summary": spec.summary(),
          "warnings": warnings_of(spec, made, as_json),
          "values": spec.model_dump(mode="json", by_alias=True, exclude_none=True)},
         as_json, f"ok  {spec.summary()}")


def _problems(look: Callable[[Spec, Path], Any], spec: Spec, folder: Path) -> tuple[Problem, ...]:
    try:
        look(spec, folder)
    except KerncastError as error:
        return spec.located(error).problems
    return ()


def _target(spec: Spec, _: Path) -> None:
    from ..lab.costs.limits import refuse_unmeasurable

    refuse_unmeasurable(spec)


def _plan(spec: Spec, _: Path) -> None:
    from ..codegen.firmware.targets import target_ids
    from ..codegen.generate import refuse_oversize
    from ..sim.planner import make_plan

    if spec.target.id in target_ids():  # else that is told already
        refuse_oversize(spec)
    else:
        make_plan(spec)


def _data(spec: Spec, folder: Path) -> Dataset | None:
    if spec.data is None or spec.data.file is None:
        return None
    from ..sim.data import load_dataset

    return load_dataset(spec, folder)
