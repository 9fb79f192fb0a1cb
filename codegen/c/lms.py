"""codegen: build the template context of the online learner."""

from __future__ import annotations

from typing import Any

from ...sim.plan import Plan
from ...sim.planner.online.metric import NEIGHBOURS, SUMS, WEIGHTED

#: Constants that become macros.
LMS_MACROS = {
    "Learning rule": ("eta", "eta_shift", "decay", "decay_shift", "project_shift"),
    "Quantisation": ("quantise",),
    "Guard of the projection": ("guard_shift", "guard_limit"),
    "Linear part": ("linear_root", "linear_one", "linear_x_exp", "linear_raw_exp", "linear_y_exp",
                    "linear_ridge_one", "linear_ridge_x", "linear_prior_one", "linear_prior_x",
                    "linear_sum_shift", "linear_z_shift", "linear_mac_shift", "linear_out_shift",
                    "linear_step", "linear_step_exp", "linear_gain_shift", "f_lo", "f_hi"),
    "Gate of the kernel part": ("gate_shift", "gate_window", "gate_frac"),
    "Correction by the last errors": ("error_frac", "error_shift", "error_sum_shift", "error_step_shift",
                                      "error_out_shift", "error_window"),
    "Reduction: the loss caused by an eviction, and its limits":
        ("norm_shift", "kappa_one", "square_shift", "kappa_shift", "metric_shift", "max_deterioration",
         "truncation", "max_age"),
}
#: Meaning of constants of the linear part.
_LINEAR = {"linear_root": "root of the forgetting factor, 30 fraction bits", "linear_one": "1 as a feature",
           "linear_ridge_one": "ridge row of the intercept", "linear_ridge_x": "ridge row of an input",
           "linear_prior_one": "initial R of the intercept", "linear_prior_x": "initial R of an input",
           "linear_gain_shift": "a step is gain * phi, shifted right by this",
           "f_lo": "range of y", "f_hi": "range of y",
           "gate_window": "the sums decay by 1 / 2^this per sample",
           "gate_frac": "bits of the factors below the LSB of y",
           "linear_raw_exp": "exponent of (ADC count - offset) * gain",
           "error_frac": "bits of an error below the LSB of y",
           "error_window": "the sums decay by 1 / 2^this per sample"}
_UNITS = {"fklms": "largest distance", "magnitude": "coefficient", "fast_klms": "kappa"}


def lms_value(plan: Plan, name: str) -> str:
    """Return the real value that a constant of the rule or the reduction represents."""
    if name == "eta":
        return f"eta = {plan.options['eta']}"
    if name == "decay":
        return f"1 - eta rho, rho = {plan.options['rho']}"
    if name == "quantise":
        return f"largest distance at which the nearest center is updated, k >= {plan.options[name]}"
    if name == "guard_limit":
        return "limit 2 of the sum of squared kernel values"
    if name == "linear_step":
        return f"step size {plan.options['linear_step']}"
    if name in _LINEAR:
        return _LINEAR[name]
    if name == "kappa_one":
        return "1 - k, or 1 minus the sum of squares, at k = 0"
    if name == "max_deterioration":
        unit = "alpha^2" if "norm_shift" in plan.constants else _UNITS.get(plan.metric, "alpha^2 kappa")
        return f"{unit}, max_deterioration = {plan.options[name]}"
    return f"{name} = {plan.options[name]}" if name in ("truncation", "max_age") else ""


def _linear(plan: Plan) -> dict[str, Any]:
    """Return the inputs of the linear part, and the number of last errors."""
    wide, joint = "linear_raw_exp" in plan.constants, plan.options.get("joint") == "1"
    nlms, several = plan.options.get("linear") == "nlms", "C" in plan.sizes
    target, f, linear = ("(int64_t)y[c]", "f[c]", "linear[c]") if several else ("target", "*f", "linear")
    target = "y[c]" if several and not joint and not nlms else target
    taught = (f" - {f}" if nlms else f" - {f} + {linear}") if joint else f" - {linear}" if nlms else ""
    return {"wide": wide, "fine": "gate_frac" in plan.constants, "seen": "raw" if wide else "x",
            "gate": "gate" in plan.options, "nlms": nlms, "taught": target + taught,
            "reads_linear": "gate" in plan.options or nlms != joint,
            "sample": f"const {plan.name}_{'in' if wide else 'x'}_t *{'raw' if wide else 'x'}",
            "errors": int(plan.options.get("last_errors", 0))}


def lms_context(plan: Plan) -> dict[str, Any]:
    """Build the ``lms`` context; empty for other algorithms."""
    if not plan.learns or plan.second_order:
        return {}
    metric, projection = plan.metric, plan.projection
    truncates, ages = "truncation" in plan.constants, "max_age" in plan.constants
    reduces, newest = "max_deterioration" in plan.constants, plan.newest_only
    kind = "neighbours" if metric in NEIGHBOURS else "fast" if metric in SUMS else metric
    return {
        "same": f"<= {plan.name.upper()}_QUANTISE" if "quantise" in plan.constants else "== 0",
        "joint": plan.options.get("joint") == "1",
        **_linear(plan),
        "guard": "guard_limit" in plan.constants,
        "metric": metric, "metric_file": kind, "projection": projection, "newest": newest,
        "nearest_older": metric == "fklms", "magnitude": metric == "magnitude",
        "projects": plan.projects, "neighbours": kind == "neighbours", "sums": kind == "fast",
        "weighted": metric in WEIGHTED, "reduces": reduces, "truncates": truncates, "ages": ages,
        "bounded": plan.bounded_update, "drops": truncates or ages,
        "gaps": truncates or ages or (reduces and not newest),
        "loss_type": {"fklms": "distance_t", "age": "int32_t"}.get(metric, "int64_t"),
    }
