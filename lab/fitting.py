"""lab: select sigma and lambda in float64, and check the Toeplitz approximation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..sim.data import Dataset, load_dataset
from ..sim.errors import KerncastError, fail
from ..sim.kernels import DistanceKernel, make_kernel
from ..sim.planner import make_plan
from ..sim.reference.backend import FloatReference
from ..sim.reference.selection.validation import (
    LAMS,
    STEPS,
    WIDTHS,
    ToeplitzVerdict,
    measure,
    toeplitz_applies,
)
from ..sim.spec import Spec
from .workflow import passes_of, test_inputs

Report = Callable[[str], None]


@dataclass(frozen=True)
class Fit:
    """Result of float64 training and selection on a spec's data.

    Parameters
    ----------
    data : Dataset
    measure : str
        Name of the error measure.
    error : float or None
        Of the spec as it stands, on its test samples, else on its training samples; None without answer.
    tested : bool
        Whether `error` is that on test samples.
    status : str
        Of the training, or the code and message of a spec without a plan.
    verdict : Verdict or None
        None for a kernel that is not a function of u - v.
    """

    data: Dataset
    measure: str
    error: float | None
    tested: bool
    status: str
    verdict: ToeplitzVerdict | None

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for ``--json``."""
        verdict = self.verdict
        return {"data": self.data.title, "measure": self.measure, "error": self.error, "tested": self.tested,
                "status": self.status, "verdict": None if verdict is None else {
                    "applies": verdict.applies, "trainer": verdict.trainer, "words": verdict.words,
                    "sigma": verdict.model.sigma, "lambda": verdict.model.lam,
                    "samples": verdict.samples, "scheme": verdict.scheme, "choices": [
                        {"method": c.method, "sigma": c.sigma, "lambda": c.lam, "error": c.error,
                         "at_edge": c.at_edge} for c in verdict.choices]}}


def fit_spec(spec: Spec, base: Path, samples: int, report: Report) -> Fit:
    """Train in float64 as specified, and select sigma and lambda on a subsample.

    Parameters
    ----------
    spec : Spec
    base : Path
        Folder that the spec's data files are relative to.
    samples : int
        Size of the subsample.
    report : callable
        Called with what is being done.

    Raises
    ------
    KerncastError
        E240 to E247 for the data, E238 for `samples`, E279 for a model that was trained elsewhere.
    """
    if spec.predictor is not None:
        raise fail("E279", "this model was trained elsewhere", where="[model] algorithm",
                   value=spec.model.algorithm, allowed="an algorithm that trains",
                   remedy="kerncast sim reports its error; train it where it came from")
    data = load_dataset(spec, base)
    classes = len(np.unique(data.y_raw)) == 2
    report("training with the spec as written")
    error, status = _as_specified(spec, data, classes)
    verdict = None
    kernel = make_kernel(spec.kernel.options)
    if isinstance(kernel, DistanceKernel):
        verdict = _verdict(spec, data, kernel, classes, samples, report)
    return Fit(data, measure(classes), error, data.x_test_raw is not None, status, verdict)


def _as_specified(spec: Spec, data: Dataset, classes: bool) -> tuple[float | None, str]:
    """Return error and status of the spec in float64.

    There is no error if the spec cannot be planned.
    """
    try:
        plan = make_plan(spec, data.x_raw, data.y_raw)
    except KerncastError as refusal:
        return None, "; ".join(f"{problem.code} {problem.message}" for problem in refusal.problems)
    reference, status = FloatReference(plan), "ok"
    if plan.trains:
        status = str(reference.train(None if plan.uniform else data.x_raw,
                                     data.y_raw).status)
    else:
        for _ in range(passes_of(spec)):
            reference.update(data.x_raw, data.y_raw)
    if status != "ok":
        return None, status
    y = reference.targets(data.y_raw if data.y_test_raw is None else data.y_test_raw)
    f = reference.predict(test_inputs(plan, data))
    middle = float(np.mean(np.unique(y))) if classes else 0.0
    if classes:
        return float(np.mean((f > middle) != (y > middle))), status
    return float(np.sqrt(np.mean((f - y) ** 2)) / (y.std() or 1.0)), status


def _verdict(spec: Spec, data: Dataset, kernel: DistanceKernel, classes: bool, samples: int,
             report: Report) -> ToeplitzVerdict:
    """Select models on the spec's data.

    Widths and regularisers are around those of the spec.
    """
    assert spec.kernel.sigma is not None  # every kernel of a distance has a width
    step = np.array(spec.input.gains) * float(spec.input.format.lsb)
    X = (data.x_raw - np.array(spec.input.offsets)) * step
    own = spec.toeplitz or spec.cg
    return toeplitz_applies(
        X, data.y_raw, kernel=kernel, task="classification" if classes else "regression",
        sigmas=spec.kernel.sigma * WIDTHS, lams=LAMS if own is None else np.unique([*LAMS, own.lam]),
        scheme="auto" if spec.toeplitz is None else spec.toeplitz.scheme, samples=samples,
        steps=STEPS if spec.cg is None else spec.cg.steps,
        fit_intercept=spec.toeplitz is not None and spec.toeplitz.bias, report=report)
