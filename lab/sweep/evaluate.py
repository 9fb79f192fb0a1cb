"""lab.sweep: run points through planner and integer model, without generated code.

An :class:`Evaluator` is sent, with its samples, to the workers of joblib or of a cluster.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...codegen.firmware.targets import load_target
from ...codegen.generate import check_memory
from ...sim._arrays import Array
from ...sim.backend import Outputs, Raw
from ...sim.data import Dataset, load_dataset
from ...sim.diagnostics.simulate import (
    UNTRAINED,
    alpha_values,
    fit_backend,
    relative_error,
    worst_status,
    y_values,
)
from ...sim.errors import KerncastError
from ...sim.formats import Format
from ...sim.model import open_model
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.reference.backend import FloatReference
from ...sim.spec import Spec
from ..workflow import test_inputs
from .measures import computed
from .space import NUMBERS_ONLY, SENSORS, SOLVING, Inputs, Space, Values

#: Status of a point that no plan could be made for.
REFUSED = "refused"
_REFERENCES: OrderedDict[str, tuple[Array, Array]] = OrderedDict()
_MOST_REFERENCES = 64


@dataclass(frozen=True)
class Point:
    """Result of one point.

    Parameters
    ----------
    key : str
        Hash of its spec and of the samples, 64 hexadecimal digits.
    inputs : dict
        The swept keys and their values.
    status : str
        The model's worst status by name, or ``refused``.
    code, message : str
        Code and message of the first error, if the point was rejected.
    plan : str
        The plan's hash.
    words : str
        Digest of all results of the integer model and of its final structure: equal digests mean equal
        values.
    measures : dict of str to float
        Values by the names in :data:`.measures.MEASURES`; metrics without a value are absent.
    """

    key: str
    inputs: Inputs
    status: str
    code: str = ""
    message: str = ""
    plan: str = ""
    words: str = ""
    measures: dict[str, float] = field(default_factory=dict)

    @property
    def answers(self) -> bool:
        """Report whether the point has a model to predict with."""
        return self.status != REFUSED and self.status not in UNTRAINED


@dataclass(frozen=True)
class Task:
    """Targets of a design at given inputs in ADC counts.

    Parameters
    ----------
    x : ndarray of int64, shape (k, D), or None
        Inputs of the predictions; None if the prediction of each sample before its update is judged.
    truth : ndarray of float64, shape (k,)
        Targets in units of y.
    classes : bool
        Whether the targets have two values only, so that a prediction is correct or wrong.
    what : str
        Description for reports.
    """

    x: NDArray[np.int64] | None
    truth: Array
    classes: bool
    what: str

    def errors(self, f: Array) -> dict[str, float]:
        """Return ``error`` in percent and ``rms`` in units of y for predictions (k,)."""
        rms = float(np.sqrt(np.mean((f - self.truth) ** 2)))
        middle = (self.truth.max() + self.truth.min()) / 2
        if self.classes:
            return {"error": 100 * float(np.mean((f > middle) != (self.truth > middle))), "rms": rms}
        deviation = float(np.std(self.truth)) or 1.0
        return {"error": 100 * rms / deviation, "rms": rms}


class EvaluationData(NamedTuple):
    """Samples of a point in ADC counts, and unrounded targets in units of y.

    Attributes
    ----------
    data : Dataset
    y, y_test : ndarray of float64
        Targets in units of y; ``y_test`` is None if there are no test samples.
    classes : bool
        Whether the targets have two values only.
    """

    data: Dataset
    y: Array
    y_test: Array | None
    classes: bool


class Planned(NamedTuple):
    """Point before its model is run.

    Attributes
    ----------
    spec : Spec
    samples : EvaluationData
    plan : Plan
    """

    spec: Spec
    samples: EvaluationData
    plan: Plan


@dataclass(frozen=True)
class Evaluator:
    """Evaluates the points of a space.

    Parameters
    ----------
    space : Space
    base_dir : str
        Folder that the data files of the spec are relative to.
    beside_float : bool
        Whether float64 also runs, once per problem that is distinct in float64.
    datasets : dict
        Loaded samples, keyed by the settings that they depend on; an error if loading failed.
    """

    space: Space
    base_dir: str
    beside_float: bool = False
    datasets: dict[str, EvaluationData | KerncastError] = field(default_factory=dict, compare=False)

    def key(self, inputs: Inputs) -> str:
        """Return the hash of a point's tables and of the samples."""
        return self._key(self.space.values_of(inputs))

    def _key(self, values: Values) -> str:
        text = json.dumps([values, self.source], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def source(self) -> list[str]:
        """Return the digests of the base's data files."""
        data = self.space.base.data
        files = [] if data is None else [name for name in (data.file, data.test) if name]
        paths = [Path(self.base_dir) / name for name in files]
        return [hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "" for path in paths]

    def load(self, points: Iterable[Inputs]) -> None:
        """Load the samples of some points for the workers.

        Loading errors become the results of the points concerned.
        """
        for inputs in points:
            with suppress(KerncastError):
                self._samples(self.space.values_of(inputs))

    def _rounds(self, values: Values, table: str) -> bool:
        """Report whether samples are rounded to the point's sensor.

        Samples are not rounded if the offset of the sensor is swept, too.
        """
        swept = f"{table}.offset" in (axis.key for axis in self.space.axes)
        return bool(values[table]["word"] != self.space.values[table]["word"]) and not swept

    def _samples(self, values: Values) -> EvaluationData:
        """Return the samples, loaded and rounded once for all points that share them."""
        trainer = {name: {k: v for k, v in values[name].items() if k in ("n", "step", "scheme")}
                   for name in ("toeplitz", "cg") if name in values}
        key = json.dumps([values["input"], values["output"], values.get("data"), trainer])
        if key not in self.datasets:
            try:
                self.datasets[key] = self._loaded(values)
            except KerncastError as error:
                self.datasets[key] = error
        found = self.datasets[key]
        if isinstance(found, KerncastError):
            raise found
        return found

    def _loaded(self, values: Values) -> EvaluationData:
        base = self.space.values
        sensors = {name: {**values[name], "word": base[name]["word"], "offset": base[name].get("offset", 0)}
                   if self._rounds(values, name) else values[name] for name in SENSORS}
        data = load_dataset(Spec(**{**values, **sensors}), self.base_dir)
        output = sensors["output"]
        step = output.get("gain", 1.0) * float(Format.parse(output["word"]).lsb)
        zero = output.get("offset", 0)
        y = (data.y_raw - zero) * step
        y_test = None if data.y_test_raw is None else (data.y_test_raw - zero) * step
        for name in SENSORS:
            if self._rounds(values, name):
                data = _rounded(data, name, sensors[name], values)
        return EvaluationData(data, y, y_test, len(np.unique(y)) == 2)

    def spec_and_data(self, inputs: Inputs) -> tuple[Spec, Dataset]:
        """Return a point's spec, and its samples in the format of its sensors."""
        spec = self.space.spec(inputs)
        return spec, self._samples(self.space.values_of(inputs)).data

    def point(self, inputs: Inputs) -> Point:
        """Compute the plan, model and metrics of a point; an error is a result, too."""
        try:
            planned = self.planned(inputs)
        except KerncastError as error:
            return refused(self.key(inputs), inputs, error)
        return self.point_of(inputs, planned)

    def planned(self, inputs: Inputs) -> Planned:
        """Compute the spec, samples and plan of a point.

        Raises
        ------
        KerncastError
            Errors of spec, samples or plan; E301 for a plan that does not fit its target.
        """
        values = self.space.values_of(inputs)
        spec, samples = Spec(**values), self._samples(values)
        plan = make_plan(spec, samples.data.x_raw, samples.data.y_raw)
        check_memory(plan, load_target(spec.target.id))
        return Planned(spec, samples, plan)

    def point_of(self, inputs: Inputs, planned: Planned) -> Point:
        """Compute the model and metrics of a point from :meth:`planned`."""
        spec, samples, plan = planned
        point = Point(self.key(inputs), inputs, "", plan=plan.hash, measures=computed(plan))
        return self._run(point, plan, samples.data, _task(plan, samples), spec.passes)

    def _run(self, point: Point, plan: Plan, data: Dataset, task: Task, passes: int) -> Point:
        """Run the integer model on the samples."""
        model = open_model(plan)
        x = None if plan.uniform else data.x_raw
        learned = fit_backend(model, plan, x, data.y_raw, passes)
        shown = learned if task.x is None else model.predict(task.x)
        status = worst_status(learned)
        if worst_status(shown) in UNTRAINED:
            status = worst_status(shown)
        state = model.state()
        measures = {**point.measures, "saturations": float(sum(r.saturated for r in model.ranges))}
        if status not in UNTRAINED:
            measures |= task.errors(y_values(plan, shown["f"]))
            if self.beside_float:
                f, alpha = self._float(point.inputs, plan, x, data.y_raw, task, passes)
                own = task.errors(f)["error"]
                measures |= {"float_error": own, "excess": measures["error"] - own}
                if plan.trains:
                    measures["alpha_error"] = relative_error(alpha_values(plan, state), alpha)
        return replace(point, status=status, words=_digest(learned, shown, state), measures={
            name: value for name, value in measures.items() if np.isfinite(value)})

    def _float(self, inputs: Inputs, plan: Plan, x: Raw | None, y: Raw, task: Task,
               passes: int) -> tuple[Array, Array]:
        """Compute predictions and coefficients in float64, once per distinct problem."""
        values = self.space.values_of(inputs)
        key = json.dumps([self.source, {name: {k: v for k, v in table.items() if f"{name}.{k}" not in SOLVING}
                                        for name, table in values.items() if name not in NUMBERS_ONLY},
                          plan.looks_ahead], sort_keys=True)
        if key not in _REFERENCES:
            reference = FloatReference(plan)
            for _ in range(passes):
                alone = x is None or plan.trains
                f = reference.train(x, y).x if alone else reference.update(x, y)  # type: ignore[arg-type]
            _REFERENCES[key] = (f if task.x is None else reference.predict(task.x)), reference.alpha
            while len(_REFERENCES) > _MOST_REFERENCES:
                _REFERENCES.popitem(last=False)
        return _REFERENCES[key]

    def baseline(self) -> dict[str, float]:
        """Return ``error`` and ``rms`` of float64 with the spec as written.

        The result is empty if float64 has no solution.

        Raises
        ------
        KerncastError
            Errors of the spec, its data or its plan.
        """
        spec, values = self.space.spec({}), self.space.values
        samples = self._samples(values)
        data = samples.data
        plan = make_plan(spec, data.x_raw, data.y_raw)
        task = _task(plan, samples)
        x = None if plan.uniform else data.x_raw
        found = task.errors(self._float({}, plan, x, data.y_raw, task, spec.passes)[0])
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def judged_by(self) -> str:
        """Describe the targets that predictions are compared with, for reports."""
        return _task(make_plan(self.space.base), self._samples(self.space.values)).what


def refused(key: str, inputs: Inputs, error: KerncastError) -> Point:
    """Return the result of a point whose spec, plan or data is invalid."""
    first = error.problems[0]
    return Point(key, inputs, REFUSED, first.code, f"{first.where}: {first.message}")


def clear_float_cache() -> None:
    """Clear the float64 results that this process caches."""
    _REFERENCES.clear()


def _task(plan: Plan, samples: EvaluationData) -> Task:
    """Return the targets: the clean signal, test targets, or the samples."""
    data, y, y_test, classes = samples
    if data.clean is not None:
        return Task(test_inputs(plan, data), data.clean, False, "the clean signal")
    if y_test is not None:
        return Task(data.x_test_raw, y_test, classes, "test samples")
    if plan.trains:
        return Task(test_inputs(plan, data), y, classes,
                    "the training samples (the data have no test samples)")
    return Task(None, y, classes, "each sample before it is learnt")


def _rounded(data: Dataset, table: str, old: Values, values: Values) -> Dataset:
    """Round samples to a point's sensor format, half up, and clip to its range."""
    word, before = (Format.parse(text) for text in (values[table]["word"], old["word"]))
    zero, offset = (np.array(one.get("offset", 0), dtype=np.int64) for one in (old, values[table]))

    def rounded(words: Raw) -> Raw:
        away = words - zero
        finer = word.frac - before.frac
        away = away << finer if finer >= 0 else (away + (1 << (-finer - 1))) >> -finer
        fitting: Raw = np.clip(away + offset, word.lo, word.hi)
        return fitting

    if table == "output":
        return replace(data, y_raw=rounded(data.y_raw),
                       y_test_raw=None if data.y_test_raw is None else rounded(data.y_test_raw))
    if values.get("toeplitz", {}).get("scheme") == "uniform":  # the grid is counted, not sensed
        return data
    return replace(data, x_raw=rounded(data.x_raw),
                   x_test_raw=None if data.x_test_raw is None else rounded(data.x_test_raw))


def _digest(*answers: Outputs) -> str:
    """Return the SHA-256 of all values by name."""
    digest = hashlib.sha256()
    for answer in answers:
        for name in sorted(answer):
            digest.update(name.encode() + np.ascontiguousarray(answer[name], dtype="<i8").tobytes())
    return digest.hexdigest()
