"""sim.spec: the table of the online learner."""

from __future__ import annotations

from typing import Literal

from ..choices import DEVICE_REDUCTIONS, reduction_title
from .fields import SpecTable
from .fields import key as _key

#: Defaults of the linear part.
LINEAR_FORGETTING, LINEAR_RIDGE, LINEAR_STEP = 0.999, 1e-3, 0.1


class Online(SpecTable):
    """The online kernel LMS learner in fixed memory."""

    budget: int = _key(ge=2, le=65535, about="dictionary size (N)", allowed="an integer, 2 to 65535",
                       remedy="memory and time per sample grow as budget * columns")
    eta: float = _key(gt=0, ge=1e-6, lt=2, about="learning rate", allowed="a number above 0 and below 2",
                      remedy="start with 0.1; values of 2 and above are unstable")
    rho: float = _key(0.0, ge=0, le=1e6, about="each sample multiplies the coefficients by 1 - eta rho",
                      allowed="a non-negative number, with eta * rho at most 0.5",
                      remedy="0 disables forgetting; try 0.01")
    reduction: Literal["fklms", "fmklms", "nt", "mt", "at", "klms_f32", "mklms_f32", "fklms_f32"] = _key(
        "fklms", about="center to evict: fklms, fmklms, nt, mt, at; klms_f32, mklms_f32, fklms_f32",
        allowed="fklms, fmklms, nt, mt, at, klms_f32, mklms_f32, fklms_f32",
        remedy="fklms evicts the newer center of the closest pair, and fmklms also considers coefficients. "
               "nt and mt evict the smallest coefficient, and at evicts the oldest center. klms_f32 and "
               "mklms_f32 need a floating-point unit. They cause the smallest error, in O(budget^2) time and "
               "memory")
    quantise: float | None = _key(
        None, ge=1e-3, lt=1, about="update the nearest center if its kernel value is at least this (QKLMS)",
        allowed="a number, 0.001 to below 1",
        remedy="start with 0.8; omit it to update the centers of equal samples only")
    linear: Literal["rls", "nlms"] | None = _key(
        None, about="linear part w.(1, x): recursive least squares (rls) or normalised LMS (nlms)",
        allowed="rls, nlms",
        remedy="use rls for a signal that is nearly linear from sample to sample; time and memory grow as "
               "columns^2; use nlms for many columns")
    linear_step: float | None = _key(
        None, gt=0, ge=1e-4, lt=2, about="step size of nlms; default 0.1",
        allowed="a number, 0.0001 to below 2", remedy="start with 0.1")
    linear_forgetting: float | None = _key(
        None, ge=0.5, le=0.99999, about="forgetting factor of the linear part; default 0.999",
        allowed="a number, 0.5 to 0.99999", remedy="start with 0.999; 0.99 follows faster changes")
    linear_ridge: float | None = _key(
        None, ge=1e-12, le=1e12, about="penalty on the squares of w, in squared units of x; default 0.001",
        allowed="a number above 0, 1e-12 to 1e12", remedy="start with a thousandth of the squared range of x")
    joint: bool | None = _key(None, about="the linear part learns the residual of the expansion, instead of "
                                          "y",
                              allowed="true, false", remedy="use true only if the relation does not drift")
    gate: bool | None = _key(None, about="scale the kernel part by the share of the error that it removes",
                             allowed="true, false", remedy="use true if the linear part alone may be enough")
    last_errors: int | None = _key(
        None, ge=2, le=16, about="correct each prediction with this number of the last errors",
        allowed="an integer, 2 to 16", remedy="start with 6 for samples in time order; otherwise omit it")
    projection: Literal["none", "fklms"] | None = _key(
        None, about="treatment of an evicted coefficient; the default depends on reduction",
        allowed="none, fklms", remedy="fklms adds it to the other centers by kernel value; none drops it")
    metric: Literal["magnitude", "age", "fklms", "fmklms", "fast_klms", "fast_mklms"] | None = _key(
        None, about="measure of the loss caused by an eviction, instead of the measure of reduction",
        allowed="magnitude, age, fklms, fmklms, fast_klms, fast_mklms",
        remedy="fklms measures distances, magnitude measures coefficients, fmklms both; fast_klms and "
               "fast_mklms use the kernel values of all other centers")
    guard: bool | None = _key(
        None, about="stop a projection if the sum of its squared kernel values exceeds 2 (inaccurate)",
        allowed="true, false", remedy="use true to keep fklms and fmklms stable with close centers")
    truncation: float | None = _key(
        None, ge=0, le=1e12, about="evict centers whose coefficient is at most this, in units of y",
        allowed="a number from 0", remedy="start with a hundredth of eta times the largest y")
    max_deterioration: float | None = _key(
        None, ge=-1e12, le=1e12, about="evict a center if the loss is at most this (lambda_max)",
        allowed="a number in the unit of the metric: 1 - k for fklms, the unit of y for magnitude",
        remedy="with metric fklms start with 0.01")
    max_age: int | None = _key(
        None, ge=1, le=2**31 - 1, about="evict a center after this number of further samples",
        allowed="an integer, 1 to 2147483647", remedy="start with several times `budget` of [online]")
    newest_only: bool = _key(False, about="with max_deterioration: only the newest center may be evicted",
                             allowed="true, false", remedy="use true to save time and memory")
    bounded_update: bool | None = _key(
        None, about="split an update: a call without searches for nearest centers, then one call per search",
        allowed="true, false",
        remedy="use true with metric fklms or fmklms if the time of each call must be bounded; it costs 2 "
               "bytes of RAM")
    passes: int = _key(1, ge=1, le=1000, about="number of passes over the training data",
                       allowed="an integer, 1 to 1000", remedy="use 1 for a stream")

    @property
    def linear_options(self) -> dict[str, str]:
        """Return the options of the linear part with their defaults; empty without one."""
        if self.linear is None:
            return {}
        rls = {"linear_forgetting": repr(self.linear_forgetting or LINEAR_FORGETTING),
               "linear_ridge": repr(self.linear_ridge or LINEAR_RIDGE)}
        own = rls if self.linear == "rls" else {"linear_step": repr(self.linear_step or LINEAR_STEP)}
        return {"linear": self.linear, **own, "joint": str(int(bool(self.joint))),
                **({"gate": "1"} if self.gate else {}),
                **({} if self.last_errors is None else {"last_errors": str(self.last_errors)})}

    @property
    def parts(self) -> tuple[str, str]:
        """Return projection and metric: the chosen ones, or the defaults of the reduction."""
        projection, metric = DEVICE_REDUCTIONS[self.reduction]
        return self.projection or projection, self.metric or metric

    @property
    def title(self) -> str:
        """Return the reduction's name, and its parts if they differ from the defaults."""
        return reduction_title(self.reduction, *self.parts)
