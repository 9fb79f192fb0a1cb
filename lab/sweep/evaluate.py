"""lab.sweep: evaluate points with the planner and the integer model.

No code is generated. An :class:`Evaluator` and its samples are sent to the workers of joblib or of a cluster.
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
    """Result of the evaluation of one point.

    Parameters
    ----------
    key : str
        Hash of the spec and the samples, 64 hexadecimal digits.
    inputs : dict
        The swept keys and their values.
    status : str
        Name of the worst status of the model, or ``refused``.
    code, message : str
        Code and message of the first error, if the point was rejected.
    plan : str
        The plan's hash.
    words : str
        Digest of all results of the integer model and of its final state. Equal digests mean equal values.
    measures : dict of str to float
        Measures by their names in :data:`.measures.MEASURES`. Measures that do not apply are absent.
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
        """Report whether the point has a model that can predict."""
        return self.status != REFUSED and self.status not in UNTRAINED


@dataclass(frozen=True)
class Task:
    """Targets with which the predictions of a design are compared.

    Parameters
    ----------
    x : ndarray of int64, shape (k, D), or None
        Inputs of the predictions in ADC counts. If None, each sample is predicted before it is learnt.
    truth : ndarray of float64, shape (k,)
        Targets in units of y.
    classes : bool
        Whether the targets have only two values, so that a prediction is either correct or wrong.
    what : str
        Description of the targets for reports.
    """

    x: NDArray[np.int64] | None
    truth: Array
    classes: bool
    what: str

    def errors(self, f: Array) -> dict[str, float]:
        """Return the errors of predictions (k,).

        They are ``error`` in percent, and ``rms`` in units of y. For two classes, ``error`` is the error
        rate; otherwise, it is the RMS error relative to the standard deviation of the targets.
        """
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
        Whether the targets have only two values.
    """

    data: Dataset
    y: Array
    y_test: Array | None
    classes: bool


class Planned(NamedTuple):
    """Spec, samples and plan of a point, before the model is run.

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
    """Evaluator of the points of a space.

    Parameters
    ----------
    space : Space
    base_dir : str
        Folder to which the paths of the spec's data files are relative.
    beside_float : bool
        Whether to compute predictions in float64, too. Points that differ only in fixed point share them.
    datasets : dict
        Cache of loaded samples, by the settings on which they depend. If loading failed, the entry is the
        error.
    """

    space: Space
    base_dir: str
    beside_float: bool = False
    datasets: dict[str, EvaluationData | KerncastError] = field(default_factory=dict, compare=False)

    def key(self, inputs: Inputs) -> str:
        """Return the hash of a point's spec and of the data files."""
        return self._key(self.space.values_of(inputs))

    def _key(self, values: Values) -> str:
        text = json.dumps([values, self.source], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def source(self) -> list[str]:
        """Return the SHA-256 digests of the data files."""
        data = self.space.base.data
        files = [] if data is None else [name for name in (data.file, data.test) if name]
        paths = [Path(self.base_dir) / name for name in files]
        return [hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "" for path in paths]

    def load(self, points: Iterable[Inputs]) -> None:
        """Load the samples of points into the cache; then the workers need not load them.

        Errors are stored, and become the results of the points concerned.
        """
        for inputs in points:
            with suppress(KerncastError):
                self._samples(self.space.values_of(inputs))

    def _rounds(self, values: Values, table: str) -> bool:
        """Report whether samples are rounded to the point's sensor format.

        They are not rounded if the offset of the sensor is swept, too.
        """
        swept = f"{table}.offset" in (axis.key for axis in self.space.axes)
        return bool(values[table]["word"] != self.space.values[table]["word"]) and not swept

    def _samples(self, values: Values) -> EvaluationData:
        """Return the samples of a point; points with the same settings share them."""
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
        """Return the spec of a point, and its samples in the format of its sensors."""
        spec = self.space.spec(inputs)
        return spec, self._samples(self.space.values_of(inputs)).data

    def point(self, inputs: Inputs) -> Point:
        """Evaluate a point. If it is invalid, the result contains the error."""
        try:
            planned = self.planned(inputs)
        except KerncastError as error:
            return refused(self.key(inputs), inputs, error)
        return self.point_of(inputs, planned)

    def planned(self, inputs: Inputs) -> Planned:
        """Return the spec, samples and plan of a point.

        Raises
        ------
        KerncastError
            Errors of the spec, the samples or the plan; E301 if the plan does not fit its target.
        """
        values = self.space.values_of(inputs)
        spec, samples = Spec(**values), self._samples(values)
        plan = make_plan(spec, samples.data.x_raw, samples.data.y_raw)
        check_memory(plan, load_target(spec.target.id))
        return Planned(spec, samples, plan)

    def point_of(self, inputs: Inputs, planned: Planned) -> Point:
        """Evaluate a point from its spec, samples and plan."""
        spec, samples, plan = planned
        point = Point(self.key(inputs), inputs, "", plan=plan.hash, measures=computed(plan))
        return self._run(point, plan, samples.data, _task(plan, samples), spec.passes)

    def _run(self, point: Point, plan: Plan, data: Dataset, task: Task, passes: int) -> Point:
        """Run the integer model on the samples, and add the measures to a point."""
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
        """Return predictions and coefficients in float64.

        Points that differ only in settings of the fixed point share the results.
        """
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
        """Return the errors of the float64 model for the spec without changes.

        ``error`` is in the measure of the task, and ``rms`` is the root mean square error.
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
        """Return a description of the targets with which predictions are compared."""
        return _task(make_plan(self.space.base), self._samples(self.space.values)).what


def refused(key: str, inputs: Inputs, error: KerncastError) -> Point:
    """Return the result of a point with an invalid spec, plan or data."""
    first = error.problems[0]
    return Point(key, inputs, REFUSED, first.code, f"{first.where}: {first.message}")


def clear_float_cache() -> None:
    """Clear the cache of float64 results in this process."""
    _REFERENCES.clear()


def _task(plan: Plan, samples: EvaluationData) -> Task:
    """Return the targets for predictions.

    These are the clean signal if it is known, else the test samples, else the training samples.
    """
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
    """Round samples to a point's sensor format (half up), and limit them to its range."""
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
    """Return the SHA-256 digest of all values."""
    digest = hashlib.sha256()
    for answer in answers:
        for name in sorted(answer):
            digest.update(name.encode() + np.ascontiguousarray(answer[name], dtype="<i8").tobytes())
    return digest.hexdigest()
