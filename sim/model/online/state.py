"""sim.model: constants, state and workspace of the online learner."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...plan import Plan
from ...primitives import Words
from ..kernel import Cast, cast_of

#: The metrics, by what a loss is made of.
MAGNITUDE, AGE, FKLMS, FMKLMS, FAST_KLMS, FAST_MKLMS = range(6)
_METRICS = {"magnitude": MAGNITUDE, "age": AGE, "fklms": FKLMS, "fmklms": FMKLMS, "fast_klms": FAST_KLMS,
            "fast_mklms": FAST_MKLMS}
#: Of constants that a plan may lack, those whose stand-in is not 0.
_ABSENT = {"truncation": -1}
#: The clock of the device counts modulo 2^32.
CLOCK_MASK = 0xFFFFFFFF


class LmsConstants(NamedTuple):
    """Integers of the plan; no limit is -1 for `truncation`, and 0 for other limits."""

    budget: int
    outputs: int
    metric: int
    projects: bool
    reduces: bool
    eta: int
    eta_shift: int
    decay: int
    decay_shift: int
    project_shift: int
    mac_shift: int
    f_shift: int
    kappa_one: int
    kappa_shift: int
    metric_shift: int
    square_shift: int
    norm_shift: int
    max_deterioration: int
    truncation: int
    max_age: int
    quantise: int
    guard_shift: int
    guard_limit: int
    joint: bool
    bounded: bool
    nlms: bool
    linear_step: int
    linear_step_exp: int
    linear_gain_shift: int
    linear_root: int
    linear_one: int
    linear_x_exp: int
    linear_wide: bool
    linear_raw_exp: int
    linear_y_exp: int
    linear_ridge_one: int
    linear_ridge_x: int
    linear_prior_one: int
    linear_prior_x: int
    linear_sum_shift: int
    linear_z_shift: int
    linear_mac_shift: int
    linear_out_shift: int
    gate_shift: int
    gate_window: int
    gate_frac: int
    error_frac: int
    error_shift: int
    error_sum_shift: int
    error_step_shift: int
    error_out_shift: int
    error_window: int
    f_lo: int
    f_hi: int
    alpha: Cast
    f: Cast


class LmsState(NamedTuple):
    """Arrays of the device, empty if the plan does not have them.

    `alpha` contains the outputs of center i from index ``i * outputs``. `age_order` 0 is the oldest vector.

    `nearest_idx` is the slot of the nearest vector, or the vector's own slot if there is no other. `clock`
    has one entry, as `pending`: 1 + the last slot that :func:`.metric.mark_neighbours` marked and
    :func:`.metric.search_pending` has not searched yet, or 0.
    """

    scratch_row: Words
    nearest_d2: Words
    nearest_idx: Words
    sums: Words
    alpha: Words
    centers: Words
    age_order: Words
    born: Words
    clock: Words
    linear_r: Words
    linear_z: Words
    linear_w: Words
    linear_next: Words
    gate_sums: Words
    error_past: Words
    error_w: Words
    error_sums: Words
    pending: Words


class LmsWork(NamedTuple):
    """Workspace for a sample (D,) and its targets.

    Targets, sums, predictions and coefficients have the shape (C,), as `linear`, the predictions of the
    linear part, and `aim`, its targets. Rows have the length N: they hold distances, kernel values and sums;
    `status` (1,) is that of the sample.
    """

    x: Words
    y: Words
    acc: Words
    f: Words
    coefficient: Words
    linear: Words
    aim: Words
    status: Words
    d: Words
    values: Words
    whole: Words
    phi: Words
    rotated: Words


def constants_of(plan: Plan) -> LmsConstants:
    """Return the plan's integers in the form that the compiled loops use."""
    values: dict[str, Any] = {
        "budget": plan.sizes["N"], "outputs": plan.outputs, "metric": _METRICS[plan.metric],
        "projects": plan.projects, "reduces": "max_deterioration" in plan.constants,
        "joint": plan.options.get("joint") == "1", "linear_wide": "linear_raw_exp" in plan.constants,
        "bounded": plan.bounded_update, "nlms": plan.options.get("linear") == "nlms",
        "alpha": cast_of(plan, "alpha"), "f": cast_of(plan, "f")}
    for name in LmsConstants._fields:
        if name not in values:
            values[name] = plan.integer(name) if name in plan.constants else _ABSENT.get(name, 0)
    return LmsConstants(**values)


def work_space(plan: Plan) -> LmsWork:
    """Allocate the workspace of one sample."""
    budget, columns = plan.sizes["N"], plan.sizes["D"]
    return LmsWork(*(np.zeros(size, dtype=np.int64)
                     for size in (columns, *(plan.outputs,) * 6, 1, budget, budget, budget, columns + 1,
                                  columns + 1)))


def empty_state(plan: Plan) -> LmsState:
    """Return a state without vectors: every member of the plan, all zero."""
    counts = {field.name: field.count for field in plan.memory}
    arrays = {name: np.zeros(counts.get(name, 0), dtype=np.int64) for name in LmsState._fields}
    arrays["centers"] = np.zeros((plan.sizes["N"], plan.sizes["D"]), dtype=np.int64)
    return LmsState(**arrays)
