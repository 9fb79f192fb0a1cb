"""sim.planner: decide every format, shift, table and size for a spec."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from .._arrays import Raw
from ..candidates import candidate_plan
from ..choices import FLOAT32
from ..data.predictor_file import TrainedModel, load_model
from ..data.raw import check_raw, check_targets
from ..errors import KerncastError, fail
from ..plan import Plan
from ..spec import Spec
from .cg import plan_cg
from .evidence import complete, file_units
from .input_rounding import measure_rounding
from .online import plan_lms
from .online.float32 import plan_lms_f32
from .online.rls import plan_rls
from .shifts import check_shifts
from .toeplitz import plan_toeplitz

__all__ = ["make_plan"]


def make_plan(spec: Spec | str | Path, x_raw: Raw | ArrayLike | None = None,
              y_raw: Raw | None = None, *, model: TrainedModel | None = None) -> Plan:
    """Decide every format, shift, table and size for a spec.

    Parameters
    ----------
    spec : Spec or path
        A spec, or the path of a ``kerncast.toml``.
    x_raw, y_raw : array_like of int, optional
        ADC counts of representative data, shapes (m, D) and (m,).  They determine the range of alpha of an
        online learner; the formats of a Toeplitz trainer depend on bounds only.
    model : TrainedModel, optional
        For a predictor: the model to use instead of the file that the spec names.

    Returns
    -------
    Plan

    Raises
    ------
    KerncastError
        E121 if `spec` has the wrong type, E1xx for errors of the spec, E203 to E206 if a format cannot
        represent a signal, E244 to E248 if the arrays do not contain ADC counts that fit the spec, E275 to
        E278 for errors of a model trained elsewhere.
    """
    return _made(_given(spec), model, x_raw, y_raw)


def _made(spec: Spec, model: TrainedModel | None, x_raw: Raw | ArrayLike | None, y_raw: Raw | None) -> Plan:
    if y_raw is not None:
        y_raw = check_targets(y_raw, spec.output.format, spec.output.targets, spec.output.classes or ())
    if x_raw is not None:
        x_raw = check_raw(x_raw, spec.input.format, spec.input.columns, "x_raw")
    try:
        plan = _planned(spec, model, x_raw, y_raw)
        for k in range(plan.sizes.get("K", 1)):
            check_shifts(candidate_plan(plan, k))
    except KerncastError as error:
        raise spec.located(error) from None
    if plan.fixed:  # targets are what it is compared with, and no word of it
        y_raw = None
    made = replace(plan, evidence={**complete(plan), "spec": spec.hash, **_asked(spec), **_kept(plan)})
    return measure_rounding(made, x_raw, y_raw)


def _planned(spec: Spec, model: TrainedModel | None, x_raw: Raw | None, y_raw: Raw | None) -> Plan:
    """Return the plan for the spec's algorithm.

    The model of a predictor is loaded from its file if `model` is None.
    """
    if spec.toeplitz is not None:
        return plan_toeplitz(spec, x_raw, y_raw)
    if spec.online is not None and spec.online.reduction in FLOAT32:
        return plan_lms_f32(spec)
    if spec.rls is not None:
        return plan_rls(spec)
    if spec.predictor is not None:
        from .predictor import plan_predictor  # not at import: it loads the engine

        return plan_predictor(spec, load_model(spec) if model is None else model)
    return plan_cg(spec) if spec.cg is not None else plan_lms(spec, x_raw, y_raw)


def _kept(plan: Plan) -> dict[str, Any]:
    """Return the part of the plan's `evidence` that does not concern a signal.

    These entries contain the floating-point parameters of a model trained elsewhere, the automatic choice of
    the solver, the candidates of a self-tuning trainer, and the filter of a stream.
    """
    kept = ("trained", "solver", "candidates", "stream")
    return {name: plan.evidence[name] for name in kept if name in plan.evidence}


def _asked(spec: Spec) -> dict[str, Any]:
    """Return the parts of the spec that the plan repeats but that change no decision.

    They are the resource limits, the HLS settings and the units.
    """
    file = file_units(spec)
    budget = {} if spec.budget is None else {
        "budget": {"target": spec.target.id, **spec.budget.model_dump(exclude_none=True)}}
    named = {"x": spec.input.units, "y": spec.output.unit}
    unit = {name: text for name, text in named.items() if text is not None}
    return budget | ({} if spec.hls is None else {"hls": spec.hls.model_dump()}) | (
        {"unit": unit} if unit else {}) | ({"file": file} if file else {})


def _given(spec: object) -> Spec:
    """Return `spec`, loaded from its path if necessary; raise E121 for another type."""
    if isinstance(spec, Spec):
        return spec
    if not isinstance(spec, (str, Path)):
        raise fail("E121", "this is neither a spec nor a fitted estimator",
                   where="spec", value=f"an object of type {type(spec).__name__}",
                   allowed="a Spec, the path of a kerncast.toml, or a fitted estimator",
                   remedy="write a spec with `kerncast init NAME`, or with kerncast.Spec(...)")
    return Spec.load(spec)
