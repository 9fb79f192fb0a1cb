"""lab.explore: compute and cache the results for one page.

The results are points, designs and compiled programs. A moving slider requests many points, of which only the
last one is needed. Therefore, each request has a number. One request is computed at a time, and a request is
dropped if the same page has sent a newer one.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ... import __version__
from ...sim.errors import KerncastError, fail
from ...sim.spec import Spec
from ..one_output import refuse_several
from ..report.design import design
from ..report.page import samples_of
from ..report.program import program, samples_text
from ..report.sweep import command, format_columns, measures_of, point_columns, text_columns
from ..sweep import Settings, make_settings
from ..sweep.confirm import text_of
from ..sweep.evaluate import Planned, Point, refused
from ..sweep.front import misses
from ..sweep.measures import MEASURES
from ..sweep.run import checked_baseline
from ..sweep.space import Axis, Scalar, Space
from .controls import controls, inputs_of

Chosen = dict[str, Scalar | None]
Answer = dict[str, Any]
T = TypeVar("T")
#: Answers that are kept.
_MOST = 256


class Superseded(Exception):
    """Exception for a request if the same page has sent a newer one."""


class _Kept(OrderedDict[Any, Any]):
    """Cache of the most recently used results."""

    def of(self, key: Any, make: Callable[[], T]) -> T:
        """Return the cached value of a key, or compute and cache it."""
        if key not in self:
            self[key] = make()
            while len(self) > _MOST:
                self.popitem(last=False)
        self.move_to_end(key)
        found: T = self[key]
        return found


class Session:
    """Spec with its controls and the cached results.

    Parameters
    ----------
    spec : Spec
    base_dir : Path
        Folder to which the paths of the spec's data files are relative.
    work : Path
        Temporary folder for compilation.

    Raises
    ------
    KerncastError
        E124 if the spec has classes or several outputs, E240 if it has no data, E375 if the model was trained
        elsewhere, E364 if a limit refers to the error of float64 and float64 has no solution; the errors of
        the data and of the plan.
    """

    def __init__(self, spec: Spec, base_dir: Path, work: Path) -> None:
        if spec.predictor is not None:
            raise fail("E375", "a model that was trained elsewhere has no parameters to explore",
                       where=spec.place("model", "algorithm"), value=spec.model.algorithm,
                       allowed="an algorithm that trains on the device", remedy="run: kerncast report SPEC")
        refuse_several(spec, "kerncast explore")
        self.spec, self.work = spec, work
        self.controls = controls(spec)
        settings = make_settings(spec, base_dir, grid=["numbers.word=16"])
        axes = tuple(Axis(c.key, tuple(v for v in c.values if v is not None)) for c in self.controls)
        self.settings: Settings = replace(settings, space=Space(spec, axes), trials=None)
        self.evaluator = replace(self.settings.evaluator, beside_float=True)
        self.baseline = checked_baseline(self.evaluator, self.settings.constraints)
        self._lock, self._newest = threading.Lock(), dict[str, int]()
        self._points, self._designs, self._programs, self._plans = _Kept(), _Kept(), _Kept(), _Kept()

    # ---- what a page asks ----
    def point(self, asked: Mapping[str, Any]) -> Answer:
        """Return the status, measures, formats and spec of a point, or its errors."""
        chosen = self._checked(asked)
        return self._in_turn(asked, lambda: self._point(chosen))

    def design(self, asked: Mapping[str, Any]) -> Answer:
        """Return all results of a design; see :func:`~kerncast.lab.report.design.design`."""
        chosen = self._checked(asked)
        return self._in_turn(asked, lambda: self._design(chosen))

    def program(self, asked: Mapping[str, Any]) -> Answer:
        """Compile a design to WebAssembly; `asked` contains the hash of its plan."""
        plan_hash = asked.get("plan")
        if not isinstance(plan_hash, str) or plan_hash not in self._plans:
            raise fail("E376", "this design has not been explored", where="plan", value=plan_hash,
                       allowed="the hash of a design that this page shows",
                       remedy="choose the design again on the page")
        with self._lock:
            made: Answer = self._programs.of(plan_hash, lambda: program(
                *self._plans[plan_hash], build_dir=self.work))
        return made

    # ---- how it is answered ----
    def _in_turn(self, asked: Mapping[str, Any], answer: Callable[[], Answer]) -> Answer:
        page, number = str(asked.get("page", ""))[:32], int(asked.get("number", 0))
        self._newest[page] = max(number, self._newest.get(page, 0))
        with self._lock:
            if number < self._newest[page]:
                raise Superseded
            return answer()

    def _checked(self, asked: Mapping[str, Any]) -> Chosen:
        """Return the requested values of the controls.

        Raises E376 if a control does not offer the value.
        """
        given = asked.get("inputs")
        given = given if isinstance(given, dict) else {}
        return {c.key: c.offered(given.get(c.key, c.value)) for c in self.controls}

    def _planned(self, chosen: Chosen) -> Planned:
        planned = self.evaluator.planned(inputs_of(self.spec, self.controls, chosen))
        self._plans.of(planned.plan.hash, lambda: (planned.plan, planned.spec))
        return planned

    def _point(self, chosen: Chosen) -> Answer:
        inputs = inputs_of(self.spec, self.controls, chosen)
        return self._points.of(self.evaluator.key(inputs), lambda: self._evaluated(chosen))

    def _evaluated(self, chosen: Chosen) -> Answer:
        inputs = inputs_of(self.spec, self.controls, chosen)
        try:
            planned = self._planned(chosen)
        except KerncastError as error:
            point, plan = refused("", inputs, error), None
            problems = [p.as_dict() for p in error.problems]
        else:
            point, plan, problems = self.evaluator.point_of(inputs, planned), planned.plan, []
        settings = self.settings
        return {
            "inputs": chosen, "status": point.status, "code": point.code, "message": point.message,
            "plan": point.plan, "measures": point.measures, "problems": problems,
            "kept": int(point.answers and not misses(point, settings.constraints, self.baseline)),
            "formats": {} if plan is None else {n: str(s.format) for n, s in plan.signals.items()},
            "text": "" if plan is None else text_of(settings.space, inputs, settings.base_dir,
                                                    Path(settings.base_dir))}

    def _design(self, chosen: Chosen) -> Answer:
        spec, samples, plan = self._planned(chosen)
        made: Answer = self._designs.of((plan.hash, spec.passes),
                                        lambda: design(plan, samples_of(spec, plan, samples.data)))
        return made

    # ---- the page at its beginning ----
    def page(self) -> Answer:
        """Return the contents of the page for the spec as written: a sweep with one point.

        Raises
        ------
        KerncastError
            The errors of the spec as written.
        """
        chosen: Chosen = {c.key: c.value for c in self.controls}
        spec, samples, plan = self._planned(chosen)
        data = samples.data
        answer, shown = self._point(chosen), measures_of(self.settings)
        point = Point("", chosen, answer["status"], plan=plan.hash,  # type: ignore[arg-type]
                      measures=answer["measures"])
        limits = [c.described(self.baseline) for c in self.settings.constraints]
        return {
            "kind": "sweep", "live": True, "name": spec.model.name, "algorithm": spec.model.algorithm,
            "summary": spec.summary(), "spec": spec.to_toml(), "spec_hash": spec.hash,
            "data": f"{data.title}; judged by {self.evaluator.judged_by()}", "limits": limits,
            "points": point_columns([point], list(chosen), shown, [bool(answer["kept"])]),
            "formats": format_columns([plan]), "texts": text_columns([answer["text"]]),
            "axes": [], "objectives": list(self.settings.objectives),
            "measures": {name: list(MEASURES[name.split(".")[0]]) for name in shown},
            "front": [0] if point.answers else [], "best": None, "float": self.baseline,
            "designs": {"0": self._design(chosen)}, "controls": [c.as_dict() for c in self.controls],
            "programs": {}, "samples": samples_text(spec, data), "agreement": [], "version": __version__,
            "command": "", "again": [command("explore", f"{spec.model.name}.toml"),
                                     command("report", f"{spec.model.name}.toml")]}
