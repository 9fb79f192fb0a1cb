"""sim.planner: from a spec to a plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import KerncastError, fail
from ..formats import Format
from ..plan import Plan
from ..raw import check_raw
from ..spec import Spec
from ..spec_tables import FLOAT32
from .cg import plan_cg
from .evidence import complete
from .lms import Raw, plan_lms
from .lms_f32 import plan_lms_f32
from .rounded import rounding_seen
from .shifts import check_shifts
from .toeplitz import plan_toeplitz

__all__ = ["make_plan"]


def make_plan(spec: Spec | str | Path, x_raw: Raw | None = None, y_raw: Raw | None = None) -> Plan:
    """Decide every format, shift, table and size for a spec.

    Parameters
    ----------
    spec : Spec or path
        A spec, or the path of a ``kerncast.toml``.
    x_raw, y_raw : array_like of int, optional
        Raw words of representative data, shapes (m, D) and (m,).  The online learner takes the
        range of alpha from them; the Toeplitz trainer's formats follow from bounds alone.

    Returns
    -------
    Plan

    Raises
    ------
    KerncastError
        E121 for what is no spec, such as an estimator, E1xx for the spec, E203 to E206 where a format
        cannot hold a signal, E244 to E248 where the arrays are no raw words of the spec.
    """
    spec = _given(spec)
    if y_raw is not None:
        y_raw = check_raw(y_raw, Format.parse(spec.output.word), None, "y_raw")
    if x_raw is not None:
        x_raw = check_raw(x_raw, Format.parse(spec.input.word), spec.input.columns, "x_raw")
    try:
        if spec.toeplitz is not None:
            plan = plan_toeplitz(spec, x_raw, y_raw)
        elif spec.online is not None and spec.online.reduction in FLOAT32:
            plan = plan_lms_f32(spec)
        else:
            plan = plan_cg(spec) if spec.cg is not None else plan_lms(spec, x_raw, y_raw)
        check_shifts(plan)
    except KerncastError as error:
        raise spec.located(error) from None
    made = replace(plan, evidence={**complete(plan), "spec": spec.hash, **_asked(spec)})
    return rounding_seen(made, x_raw, y_raw)


def _asked(spec: Spec) -> dict[str, Any]:
    """What the library may take, kept beside the decisions, none of which depends on it."""
    return {} if spec.budget is None else {
        "budget": {"target": spec.target.id, **spec.budget.model_dump(exclude_none=True)}}


def _given(spec: object) -> Spec:
    """The spec, read where it is a path; E121 where it is neither, whatever the annotation promised."""
    if isinstance(spec, Spec):
        return spec
    if not isinstance(spec, (str, Path)):
        raise fail("E121", "a plan is made from a spec, which says what raw words mean",
                   where="spec", value=f"an object of type {type(spec).__name__}",
                   allowed="a Spec, or the path of a kerncast.toml",
                   remedy="write the parameters of an estimator into a spec: begin with `kerncast init`, or "
                          "with kerncast.Spec(...)")
    return Spec.load(spec)
