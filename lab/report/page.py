"""lab.report: collect the contents of a page.

They are taken from the folder of a sweep, a spec, or a generated folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ... import __version__
from ...codegen.generate import SPEC, load_plan, load_vectors
from ...codegen.manifest import MANIFEST
from ...sim._files import MAX_SPEC, read_text
from ...sim.data import Dataset, load_dataset
from ...sim.diagnostics.simulate import grid
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.replay.vectors import Vectors
from ...sim.spec import Spec
from ..one_output import refuse_several
from ..workflow import test_inputs
from .agreement import agreement
from .design import SampleView, design
from .program import program, samples_text
from .sweep import command, sweep_page

Progress = Callable[[int, int], None]
Page = dict[str, Any]


def gather_page(given: Path, results: Sequence[Path] = (),
             progress: Progress = lambda done, total: None) -> Page:
    """Return the contents of a page.

    Parameters
    ----------
    given : Path
        The folder of a sweep, a spec, or a generated folder.
    results : sequence of Path
        Files with results of back ends: the JSON output of ``kerncast test``, ``verify``, ``sweep --confirm``
        or ``demo``.
    progress : callable, optional
        Progress callback; receives the number of finished points, and the total number.

    Returns
    -------
    dict
        Data for the scripts of the page. All values can be encoded as JSON.

    Raises
    ------
    KerncastError
        E371 if `given` is none of the three, E372 if a file in `results` does not contain such JSON; other
        errors if a file cannot be read.
    """
    listed = agreement(given, results)
    if given.is_dir() and (given / MANIFEST).is_file():
        page = _of_folder(given)
    elif given.is_dir():
        from ..sweep import open_run
        from ..sweep.store import DATABASE

        if not (given / DATABASE).is_file():
            raise _nothing(given, f"a folder without {DATABASE} and {MANIFEST}")
        page = sweep_page(open_run(given), progress)
    elif given.is_file():
        page = _of_spec(given)
    else:
        raise _nothing(given, "nothing there")
    return {**page, "version": __version__, "agreement": listed}


def _nothing(given: Path, value: str) -> KerncastError:
    return fail("E371", "the path contains nothing that a report can show", where=str(given), value=value,
                allowed="the folder of a sweep, a folder made by kerncast gen, or a spec",
                remedy="run: kerncast sweep SPEC -o FOLDER")


def one_design(plan: Plan, samples: SampleView | None, toml: str, summary: str, about: str) -> Page:
    """Return the contents of the page for one design.

    Raises E124 if the design has classes or several outputs.
    """
    refuse_several(plan, "a report")
    return {"kind": "design", "name": plan.name, "algorithm": plan.algorithm, "summary": summary,
            "data": about, "designs": {"0": design(plan, samples)}, "spec": toml}


def _of_spec(path: Path) -> Page:
    spec = Spec.load(path)
    refuse_several(spec, "a report")
    page: Page = {
        "command": command("gen", path.name, "-o", f"build/{spec.model.name}"), "spec_hash": spec.hash,
        "again": [command("check", path.name), command("plan", path.name)]}
    if spec.data is None:
        plan = make_plan(spec)
        page["programs"] = {plan.hash: program(plan, spec)}
        return one_design(plan, None, spec.to_toml(), spec.summary(), "") | page
    data = load_dataset(spec, path.parent)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    page["again"] = [command("sim", path.name), *page["again"]]
    page |= {"programs": {plan.hash: program(plan, spec)}, "samples": samples_text(spec, data)}
    return one_design(plan, samples_of(spec, plan, data), spec.to_toml(), spec.summary(), data.title) | page


def samples_of(spec: Spec, plan: Plan, data: Dataset) -> SampleView:
    """Return the samples with which a spec's design is run."""
    return SampleView(data.x_raw, data.y_raw, test_inputs(plan, data), spec.passes)


def _of_folder(folder: Path) -> Page:
    plan, manifest = load_plan(folder)
    vectors, spec = load_vectors(folder), folder / SPEC
    if vectors is not None:
        vectors.check(plan, str(folder))
    toml = read_text(spec, MAX_SPEC) if spec.is_file() else ""
    page = one_design(plan, None if vectors is None else _replayed(plan, vectors), toml,
                      f"{plan.name}: {plan.algorithm}, {plan.word} bits, {manifest.target}",
                      "" if vectors is None else "the folder's vectors")
    name = folder.resolve().name
    page["programs"] = {plan.hash: program(plan, None, source=folder)}
    return page | {"spec_hash": str(plan.evidence.get("spec", "")),
                   "command": command("gen", f"{name}/{SPEC}", "-o", f"build/{plan.name}") if toml else "",
                   "again": [command("test", name, "--on", "host"), command("verify", name)]}


def _replayed(plan: Plan, vectors: Vectors) -> SampleView | None:
    """Return the samples of a folder's vectors.

    The result is None if the vectors do not consist of training or updates and a prediction.
    """
    learnt = [call for call in vectors.calls if call.name in ("train", "update")]
    asked = [call.x_raw for call in vectors.calls if call.name == "predict" and call.x_raw is not None]
    if not asked or (not learnt and not plan.fixed):
        return None
    if plan.fixed:
        return SampleView(asked[-1], None, asked[-1])
    first = learnt[0]
    x_raw = grid(plan) if first.x_raw is None else first.x_raw
    return SampleView(x_raw, first.y_raw, asked[-1], len(learnt))


def finite(values: Any) -> Any:
    """Replace NaN and infinity by None, because JSON does not support them."""
    if isinstance(values, dict):
        return {key: finite(value) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [finite(value) for value in values]
    return None if isinstance(values, float) and values - values != 0 else values


def as_json(page: Page) -> str:
    """Encode the contents of a page as JSON that can be embedded in HTML.

    The text cannot end a script element, and cannot begin a comment.
    """
    text = json.dumps(finite(page), separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
