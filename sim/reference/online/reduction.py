"""sim.reference.online: the parts of a reduction, and the tables of parts.

B. Mitchinson, T. J. Dodd, R. F. Harrison, "Reduction of Kernel Models", ACSE Research Report 836, University
of Sheffield, 2003, section 2.  A reduction consists of a deterioration **metric** (which vector to remove), a
**projection** (how the others absorb its coefficient) and a **strategy** (when to remove one).  A truncation
is a reduction whose projection discards the coefficient.  A learner may have several reductions: a truncation
then saves projections, as section 2 recommends.

To add a reduction, add a file with its metric or projection, and a row below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..._checks import is_integer, is_real
from ...choices import REDUCTIONS
from ...errors import fail
from ...kernels import NEEDS, DistanceKernel, require
from .expansion import Expansion
from .fklms import Nearest, NearestOlder, project_on_neighbours, project_within_guard
from .klms import KLMS, MKLMS, FastKLMS, FastMKLMS, project_exactly
from .least_squares import LeastSquares, project_by_least_squares
from .metric import Metric
from .truncation import Age, Magnitude, discard


@dataclass(frozen=True)
class Projection:
    """Projection of a coefficient onto the others before its vector is removed.

    Attributes
    ----------
    apply : callable
        ``apply(model, slot)``; returns true if a guard stopped the projection.
    needs : tuple of str
        Required properties of :class:`...kernels.Kernel`.
    gram : bool
        Whether the projection reads `model.gram`.
    """

    apply: Callable[[Expansion, int], bool | None]
    needs: tuple[str, ...] = ()
    gram: bool = False


#: Every projection, by its name.
PROJECTIONS = {
    "none": Projection(discard),
    "fklms": Projection(project_on_neighbours, needs=NEEDS["kernel_lms"]),
    "klms": Projection(project_exactly, gram=True),
    "ls": Projection(project_by_least_squares, gram=True),
}

#: The projection that a guard may stop.
GUARDED = Projection(project_within_guard, needs=NEEDS["kernel_lms"])

#: Every metric, by its name, as a function of C of (20), which only one uses.
METRICS: dict[str, Callable[[float], Metric]] = {
    "magnitude": lambda _: Magnitude(), "age": lambda _: Age(),
    "fklms": lambda _: NearestOlder(), "fmklms": lambda _: Nearest(),
    "klms": lambda _: KLMS(), "mklms": lambda _: MKLMS(),
    "fast_klms": lambda _: FastKLMS(), "fast_mklms": lambda _: FastMKLMS(),
    "ls": lambda _: LeastSquares(), "ls_regularised": LeastSquares,
}

class Strategy(Protocol):
    """Rule that decides when a vector is removed."""

    @property
    def before(self) -> bool:
        """Return whether the rule acts before a sample is inserted, not afterwards."""

    def victim(self, model: Expansion, metric: Metric) -> tuple[int, float] | None:
        """Return the slot to remove and its lambda, or None; called until it returns None."""


@dataclass(frozen=True)
class FixedNumber:
    """Strategy with a fixed N_max.

    If N = N_max, remove the vector with the smallest deterioration before inserting.
    """

    limit: int
    before = True

    def victim(self, model: Expansion, metric: Metric) -> tuple[int, float] | None:
        """Return the slot with the smallest lambda and lambda, or None if not full."""
        return metric.select_victim(model) if model.count >= self.limit else None


@dataclass(frozen=True)
class FixedDeterioration:
    """Strategy with a fixed lambda_max.

    Remove a vector whenever its deterioration is at most lambda_max.

    Attributes
    ----------
    limit : float
        lambda_max.
    newest_only : bool
        Consider the newest vector only (section 4): O(N) with the metric of FKLMS, where it makes no
        difference, O(N^2) with metrics that read K^-1.
    budget : int or None
        N_max for newest_only: a full dictionary removes the newest vector whatever its lambda.
    """

    limit: float
    newest_only: bool = False
    budget: int | None = None
    before = False

    def victim(self, model: Expansion, metric: Metric) -> tuple[int, float] | None:
        """Return the slot to remove and its lambda, or None if lambda exceeds the limit.

        The slot is the one with the smallest deterioration, or the newest.
        """
        if model.count < metric.least:
            return None
        if self.newest_only:
            slot = model.newest_of(model.held)
            if model.born[slot] != model.presented:
                return None  # it was considered when it was inserted
            lam = float(metric.deterioration(model)[slot])
            if self.budget is not None and model.count > self.budget:
                return slot, lam
        else:
            slot, lam = metric.select_victim(model)
        return (slot, lam) if lam <= self.limit else None


@dataclass(frozen=True)
class Reduction:
    """Reduction: metric, projection and strategy; reductions may share a metric."""

    projection: Projection
    metric: Metric
    strategy: Strategy


@dataclass(frozen=True)
class Parts:
    """Options that determine the reductions of a learner.

    Attributes
    ----------
    reduction : str
        A row of `REDUCTIONS`, or "none": N grows without bound, unless a truncation is chosen.
    budget : int or None
        N_max; None for a size that max_deterioration and max_age limit.
    projection, metric : str, optional
        Override those of the preset.
    truncation : float, optional
        MT before the reduction: discard coefficients of at most this magnitude.
    max_deterioration : float, optional
        lambda_max, in the unit of the metric; not with "age".  A limit outside the metric's range is
        accepted: it removes no vector, or every one.
    max_age : int, optional
        AT before the reduction: discard vectors after this many more samples.
    ls_penalty : float
        C of (20).
    newest_only : bool
        With max_deterioration: consider the newest vector only; if there are more than `budget`, remove it
        whatever its lambda.
    guard : bool
        Stop a projection of fklms once the sum of its squared kernel values exceeds 2.

    Raises
    ------
    KerncastError
        E229 budget, E230 for an unknown name, E258 for another value.
    """

    reduction: str = "fklms"
    budget: int | None = 100
    projection: str | None = None
    metric: str | None = None
    truncation: float | None = None
    max_deterioration: float | None = None
    max_age: int | None = None
    ls_penalty: float = 1e-6
    newest_only: bool = False
    guard: bool = False

    def __post_init__(self) -> None:
        for where, rows in (("reduction", (*REDUCTIONS, "none")), ("projection", PROJECTIONS),
                            ("metric", METRICS)):
            value = getattr(self, where)
            if value not in rows and not (value is None and where != "reduction"):
                raise fail("E230", f"no such {where}", where=where, value=repr(value),
                           allowed=", ".join(rows), remedy="use fklms")
        _refuse("truncation", self.truncation, "a number >= 0", lambda v: v >= 0.0)
        _refuse("max_deterioration", self.max_deterioration, "a number", lambda v: v == v)
        _refuse("max_age", self.max_age, "an integer >= 1", lambda v: is_integer(v) and v >= 1)
        if not is_real(self.ls_penalty) or not self.ls_penalty >= 0.0:
            raise fail("E258", "ls_penalty is out of range", where="ls_penalty", value=self.ls_penalty,
                       allowed="a number >= 0", remedy="start with 1e-6")
        self._refuse_together()
        if self.guard and (self.projection or REDUCTIONS.get(self.reduction, ("none",))[0]) != "fklms":
            raise fail("E258", "`guard` has no effect: it needs the projection of \"fklms\" or \"fmklms\"",
                       where="guard", value=self.guard,
                       allowed="reduction = \"fklms\" or \"fmklms\", or projection = \"fklms\"",
                       remedy="omit `guard`, or set reduction = \"fklms\" or \"fmklms\"")

    def _refuse_together(self) -> None:
        """Raise E258 if max_deterioration is missing, or does not apply to the metric."""
        if self.max_deterioration is None:
            if self.reduction == "mt":
                raise fail("E258", "reduction = \"mt\" needs a threshold: max_deterioration",
                           where="max_deterioration", value=None, allowed="a number >= 0",
                           remedy="start with a hundredth of eta")
            if self.newest_only:
                raise fail("E258", "newest_only needs max_deterioration",
                           where="newest_only", value=self.newest_only,
                           allowed="newest_only with max_deterioration",
                           remedy="pass max_deterioration, or omit newest_only")
        elif (self.metric or REDUCTIONS.get(self.reduction, ("", ""))[1]) == "age":
            raise fail("E258", "metric = \"age\" uses max_age instead of max_deterioration",
                       where="max_deterioration", value=self.max_deterioration, allowed="max_age",
                       remedy="replace max_deterioration by max_age, an integer")

    def build(self, kernel: DistanceKernel) -> tuple[Reduction, ...]:
        """Return the reductions in the order in which they act.

        Raise E231 if the kernel is not suitable for one of them.
        """
        found = [Reduction(PROJECTIONS["none"], metric, FixedDeterioration(limit)) for metric, limit in (
            (Magnitude(), self.truncation), (Age(), None if self.max_age is None else -float(self.max_age)))
            if limit is not None]
        if self.reduction == "none":
            return tuple(found)
        projection, metric = REDUCTIONS[self.reduction]
        inherits = GUARDED if self.guard else PROJECTIONS[self.projection or projection]
        judge = METRICS[self.metric or metric](float(self.ls_penalty))
        require(kernel, self.reduction.upper(), *dict.fromkeys((*inherits.needs, *judge.needs)))
        budget = None if self.budget is None else checked_budget(self.budget, judge.least)
        if self.max_deterioration is not None:
            found.append(Reduction(inherits, judge, FixedDeterioration(
                self.max_deterioration, self.newest_only, budget if self.newest_only else None)))
        if budget is not None and not self.newest_only:
            found.append(Reduction(inherits, judge, FixedNumber(budget)))
        if not found:
            raise fail("E229", "no option limits the number of centers", where="budget", value=None,
                       allowed="a budget, max_deterioration or max_age",
                       remedy="set one of them, or use reduction=\"none\"")
        return tuple(found)


def _refuse(where: str, value: float | None, allowed: str, fits: Callable[[float], bool]) -> None:
    """Raise E258 if an option is given and invalid."""
    if value is not None and not (is_real(value) and fits(value)):
        raise fail("E258", f"{where} is out of range", where=where, value=value, allowed=allowed,
                   remedy="choose a value in the allowed range, or omit the option to disable the feature")


def checked_budget(budget: int, least: int = 1) -> int:
    """Return N_max as an int of at least `least`, else raise E229."""
    if not is_integer(budget) or budget < least:
        raise fail("E229", "the number of centers is too small", where="budget", value=budget,
                   allowed=f"an integer >= {least}", remedy="start with 100")
    return int(budget)
