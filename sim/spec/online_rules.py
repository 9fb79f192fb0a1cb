"""sim.spec: rules on combinations of the online learner's keys."""

from __future__ import annotations

from math import inf

from ..choices import DEVICE_REDUCTIONS, FLOAT32, MATERN
from .draft import Draft, Found

#: Smallest deterioration of each metric of the online learner, and its upper bound.
MAX_DETERIORATION = {"magnitude": (0.0, inf), "fklms": (0.0, 1.0), "fmklms": (0.0, inf),
                     "fast_klms": (-inf, 1.0), "fast_mklms": (0.0, inf)}

#: Metrics of a learner with several outputs.
_METRICS_OF_SEVERAL = ("magnitude", "age", "fklms")

#: Keys of one kind of linear part.
_RLS_KEYS, _NLMS_KEYS = ("linear_forgetting", "linear_ridge"), ("linear_step",)
#: Keys that only online learners in integers have.
_NOT_FLOAT32 = (*(("online", key) for key in (
                    "projection", "metric", "truncation", "max_deterioration", "max_age", "newest_only",
                    "quantise", "linear", "gate", "last_errors", "guard", "bounded_update")),
                ("numbers", "margin"), ("numbers", "exp_table"), ("output", "classes"), ("output", "outputs"))


def forgetting(draft: Draft) -> Found:
    """Reject an eta * rho that shrinks coefficients by more than half (E113)."""
    eta, rho = draft.get("online", "eta"), draft.get("online", "rho")
    if draft.has("online") and eta is not None and rho is not None and eta * rho > 0.5:
        yield draft.problem("E113", f"eta * rho = {eta * rho:g} would shrink coefficients by more than half "
                                    "per sample",
                            "online", "rho", allowed=f"0 to {0.5 / eta:g} with this eta",
                            remedy="lower rho; 0 disables forgetting")


def reduction(draft: Draft) -> Found:
    """Match max_deterioration with the metric (E106, E113).

    The same holds for the keys that require it.
    """
    chosen, most = draft.get("online", "reduction"), draft.get("online", "max_deterioration")
    if not draft.has("online") or chosen is None:
        return
    metric = draft.get("online", "metric") or DEVICE_REDUCTIONS[chosen][1]
    given = draft.given("online", "max_deterioration")
    if chosen == "mt" and not given:
        yield draft.problem("E106", "reduction = \"mt\" needs a threshold: max_deterioration", "online",
                            "max_deterioration", allowed="a non-negative number, in units of y",
                            remedy="add max_deterioration = ..., or set reduction = \"nt\"")
    if draft.get("online", "newest_only") and not given:
        yield draft.problem("E113", "newest_only needs max_deterioration", "online",
                            "newest_only", allowed="newest_only with max_deterioration",
                            remedy="add max_deterioration = ..., or remove newest_only")
    if most is None or chosen in FLOAT32:
        return
    if metric == "age":
        yield draft.problem("E113", "metric = \"age\" uses max_age instead of max_deterioration", "online",
                            "max_deterioration", allowed="max_age",
                            remedy="replace max_deterioration by max_age, an integer")
    elif not MAX_DETERIORATION[metric][0] <= most < MAX_DETERIORATION[metric][1]:
        low, high = MAX_DETERIORATION[metric]
        allowed = " and ".join([f"a number from {low:g}"] * (low == 0) + [f"below {high:g}"] * (high == 1))
        yield draft.problem("E113", f"max_deterioration is outside the range of metric {metric}", "online",
                            "max_deterioration", allowed=allowed,
                            remedy="start with 0.01 for metric = \"fklms\", which is 1 - k; \"magnitude\" "
                                   "is in units of y, \"fmklms\" and \"fast_mklms\" in squared units of y")


def linear_part(draft: Draft) -> Found:
    """Reject keys of the linear part if there is no linear part (E113)."""
    if draft.has("online") and not draft.given("online", "linear"):
        for name in (*_RLS_KEYS, *_NLMS_KEYS, "joint", "gate", "last_errors"):
            if draft.given("online", name):
                kind = "nlms" if name in _NLMS_KEYS else "rls"
                yield draft.problem("E113", f"{name} has no effect without `linear`", "online", name,
                                    allowed=f"{name} with linear",
                                    remedy=f"add linear = \"{kind}\", or remove {name}")
    chosen = draft.get("online", "linear")
    for name in () if chosen is None else _NLMS_KEYS if chosen == "rls" else _RLS_KEYS:
        if draft.given("online", name):
            other = "nlms" if chosen == "rls" else "rls"
            yield draft.problem("E113", f"{name} has no effect with linear = \"{chosen}\"", "online", name,
                                allowed=f"{name} with linear = \"{other}\"", remedy=f"remove {name}")


def guard(draft: Draft) -> Found:
    """Reject `guard` without a projection (E113)."""
    chosen = draft.get("online", "reduction")
    if not draft.has("online") or not draft.get("online", "guard") or chosen in (None, *FLOAT32):
        return
    if (draft.get("online", "projection") or DEVICE_REDUCTIONS[chosen][0]) != "fklms":
        yield draft.problem("E113", "`guard` has no effect: it needs the projection of \"fklms\" or "
                                    "\"fmklms\"",
                            "online", "guard", allowed="reduction = \"fklms\" or \"fmklms\", or projection "
                                                       "= \"fklms\"",
                            remedy="remove `guard`, or set reduction = \"fklms\" or \"fmklms\"")


def bounded_update(draft: Draft) -> Found:
    """Reject `bounded_update` if it has no effect or no bound (E113)."""
    chosen = draft.get("online", "reduction")
    if not draft.has("online") or not draft.get("online", "bounded_update") or chosen in (None, *FLOAT32):
        return
    if (draft.get("online", "metric") or DEVICE_REDUCTIONS[chosen][1]) not in ("fklms", "fmklms"):
        yield draft.problem("E113", "bounded_update has no effect: only the metrics \"fklms\" and \"fmklms\" "
                                    "search for nearest centers",
                            "online", "bounded_update", allowed="metric = \"fklms\" or \"fmklms\"",
                            remedy="remove bounded_update: each update is one call of bounded time")
    for key in ("truncation", "max_age", "max_deterioration"):
        if draft.given("online", key):
            yield draft.problem("E113", f"bounded_update does not support {key}, which may remove several "
                                        "centers per sample", "online", "bounded_update",
                                allowed=f"bounded_update without {key}",
                                remedy=f"remove {key} or bounded_update")


def several_outputs(draft: Draft) -> Found:
    """Reject keys that a learner with several outputs does not have (E113)."""
    chosen, classes = draft.get("online", "reduction"), draft.get("output", "classes") or ()
    if not draft.has("online") or chosen is None or (
            len(classes) <= 2 and (draft.get("output", "outputs") or 1) == 1):
        return
    what = "three or more classes" if classes else "several outputs"
    metric = draft.get("online", "metric") or DEVICE_REDUCTIONS[chosen][1]
    if chosen in FLOAT32 or metric not in _METRICS_OF_SEVERAL:
        key = "metric" if draft.given("online", "metric") else "reduction"
        yield draft.problem("E113", f"a learner with {what} does not support this {key}", "online", key,
                            allowed="metric = \"magnitude\", \"age\" or \"fklms\"; reduction = \"fklms\", "
                                    "\"nt\", \"mt\" or \"at\"",
                            remedy=f"set {key} = \"fklms\"")
    for key in ("newest_only", "last_errors"):
        if draft.get("online", key):
            yield draft.problem("E113", f"a learner with {what} does not support {key}", "online", key,
                                allowed=f"{key} with one output or two classes", remedy=f"remove {key}")


def float32(draft: Draft) -> Found:
    """Reject keys that a learner in float32 does not have (E113, E231)."""
    chosen = draft.get("online", "reduction")
    if not draft.has("online") or chosen not in FLOAT32:
        return
    words_of_alpha = [("numbers", table, "alpha") for table in ("formats", "ranges", "casts")
                      if "alpha" in (draft.get("numbers", table) or {})]
    given = [path for path in _NOT_FLOAT32 if draft.given(*path)]
    if draft.get("kernel", "type") in MATERN:
        yield draft.problem("E231", f"reduction = \"{chosen}\" computes in float32 and does not support "
                                    f"Matern kernels",
                            "kernel", "type", allowed="gaussian, laplacian, periodic",
                            remedy="choose one of the allowed kernels, or an integer reduction, such as "
                                   "fklms")
    for path in [*given, *words_of_alpha]:
        yield draft.problem("E113", f"reduction = \"{chosen}\" computes in float32 and does not support "
                                    f"{path[-1]}",
                            *path, allowed=f"no {path[-1]} with this reduction",
                            remedy=f"remove {path[-1]}, or choose an integer reduction, such as fklms")
