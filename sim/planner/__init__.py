"""sim.planner: the plan of a spec: every format, shift, table and size."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from warnings import warn

from numpy.typing import ArrayLike

from ..data.predictor_file import TrainedModel, load_model
from ..data.raw import check_raw
from ..diagnostics.input_rounding import measure_rounding
from ..errors import KerncastError, fail
from ..formats import Format
from ..interop import WORDS, convert_estimator, is_estimator
from ..interop.gap import MAX_RELATIVE_GAP, prediction_gap
from ..plan import Plan
from ..spec import Spec
from ..spec.tables import FLOAT32
from .cg import plan_cg
from .evidence import complete
from .online import Raw, plan_lms
from .online.float32 import plan_lms_f32
from .shifts import check_shifts
from .toeplitz import plan_toeplitz
from .warnings import cautions

__all__ = ["make_plan"]


def make_plan(spec: Spec | str | Path | Any, x_raw: Raw | ArrayLike | None = None,
              y_raw: Raw | None = None, **choices: Any) -> Plan:
    """Decide every format, shift, table and size for a spec, or for a fitted estimator.

    For an estimator, the plan's predictions are compared with its own, with a warning if the gap is too large
    (W208); see :func:`.warnings.cautions`.

    Parameters
    ----------
    spec : Spec, path or estimator
        A spec, the path of a ``kerncast.toml``, or a fitted estimator as for :func:`kerncast.export`: the
        plan is then that of a predictor.
    x_raw, y_raw : array_like of int, optional
        ADC counts of representative data, shapes (m, D) and (m,).  They set the range of alpha for the online
        learner; the Toeplitz trainer's formats follow from bounds.  For an estimator `x_raw` are samples in
        its own units.
    **choices
        Options for an estimator: see :func:`kerncast.sim.interop.convert`.

    Returns
    -------
    Plan

    Raises
    ------
    KerncastError
        E121 for any other object, E1xx for the spec, E203 to E206 if a format cannot hold a signal, E244 to
        E248 if the arrays are not ADC counts of the spec, E270 to E278 for an estimator or a model trained
        elsewhere.
    """
    if is_estimator(spec):
        plan = of_estimator(spec, x_raw, choices)
        warn_apart(plan)
        return plan
    if choices:
        raise fail("E113", "a spec cannot be combined with these choices", where=", ".join(choices),
                   value=", ".join(map(str, choices.values())),
                   allowed="these choices with an estimator only",
                   remedy="write them into the spec")
    return _made(_given(spec), None, x_raw, y_raw)


def of_estimator(estimator: object, X: ArrayLike | None, choices: Mapping[str, Any]) -> Plan:
    """Return the plan of an estimator, with a sufficient word length if its gap is too large."""
    plan, share = _beside(estimator, X, choices)
    if share <= MAX_RELATIVE_GAP:
        return plan
    enough = 0
    for word in (w for w in WORDS if w > plan.word and not enough):
        with suppress(KerncastError):
            enough = word if _beside(estimator, X, {**choices, "word": word})[1] <= MAX_RELATIVE_GAP else 0
    found = {"share": float(f"{share:.2g}"), "word": enough}
    return replace(plan, evidence={**plan.evidence, "apart": found})


def warn_apart(plan: Plan) -> None:
    """Warn the caller's caller if the prediction gap of a plan is too large (W208)."""
    for problem in cautions(plan):
        if problem.code == "W208":
            warn(str(problem), stacklevel=3)


def _beside(estimator: object, X: ArrayLike | None, choices: Mapping[str, Any]) -> tuple[Plan, float]:
    """Return the plan of an estimator, and its prediction gap."""
    given = convert_estimator(estimator, X, **choices)
    plan = _made(given.spec, given.model, given.x_raw, None)
    return plan, prediction_gap(plan, given.x_raw, given.f)


def _made(spec: Spec, model: TrainedModel | None, x_raw: Raw | ArrayLike | None, y_raw: Raw | None) -> Plan:
    if y_raw is not None:
        y_raw = check_raw(y_raw, Format.parse(spec.output.word), None, "y_raw")
    if x_raw is not None:
        x_raw = check_raw(x_raw, Format.parse(spec.input.word), spec.input.columns, "x_raw")
    try:
        plan = _planned(spec, model, x_raw, y_raw)
        check_shifts(plan)
    except KerncastError as error:
        raise spec.located(error) from None
    if plan.fixed:  # targets are what it is compared with, and no word of it
        y_raw = None
    made = replace(plan, evidence={**complete(plan), "spec": spec.hash, **_asked(spec), **_kept(plan)})
    return measure_rounding(made, x_raw, y_raw)


def _planned(spec: Spec, model: TrainedModel | None, x_raw: Raw | None, y_raw: Raw | None) -> Plan:
    """Return the plan by the spec's algorithm; load a model trained elsewhere if not given."""
    if spec.toeplitz is not None:
        return plan_toeplitz(spec, x_raw, y_raw)
    if spec.online is not None and spec.online.reduction in FLOAT32:
        return plan_lms_f32(spec)
    if spec.predictor is not None:
        from .predictor import plan_predictor  # not at import: it loads the engine

        return plan_predictor(spec, load_model(spec) if model is None else model)
    return plan_cg(spec) if spec.cg is not None else plan_lms(spec, x_raw, y_raw)


def _kept(plan: Plan) -> dict[str, Any]:
    """Return the real numbers behind a plan's constants, for a model trained elsewhere."""
    return {"trained": plan.evidence["trained"]} if plan.fixed else {}


def _asked(spec: Spec) -> dict[str, Any]:
    """Return resource limits and HLS factors, which no decision depends on."""
    budget = {} if spec.budget is None else {
        "budget": {"target": spec.target.id, **spec.budget.model_dump(exclude_none=True)}}
    return budget | ({} if spec.hls is None else {"hls": spec.hls.model_dump()})


def _given(spec: object) -> Spec:
    """Return the spec, loaded if it is a path; raise E121 for anything else."""
    if isinstance(spec, Spec):
        return spec
    if not isinstance(spec, (str, Path)):
        raise fail("E121", "not a spec and not a fitted estimator",
                   where="spec", value=f"an object of type {type(spec).__name__}",
                   allowed="a Spec, the path of a kerncast.toml, or a fitted estimator",
                   remedy="write a spec with `kerncast init NAME`, or with kerncast.Spec(...)")
    return Spec.load(spec)
