"""lab.sweep: find the Pareto front, the cheapest feasible design and alternatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .evaluate import Point
from .measures import COSTS, Constraint
from .space import Inputs, Scalar, Space

Baseline = Mapping[str, float]


def pareto(points: Iterable[Point], objectives: Sequence[str]) -> list[Point]:
    """Return the points that no other point dominates, sorted by the objectives.

    A point dominates another one if it is not larger in any objective, and smaller in at least one. Points
    with equal values are all returned. Points without a model, or without one of the objectives, are omitted.
    """
    having = [p for p in points if p.answers and all(name in p.measures for name in objectives)]
    having.sort(key=lambda p: (*(p.measures[name] for name in objectives), p.key))
    front: list[Point] = []
    values = np.empty((0, len(objectives)))
    for point in having:  # in this order no point is dominated by a later one
        own = np.array([point.measures[name] for name in objectives])
        if not np.any(np.all(values <= own, axis=1) & np.any(values < own, axis=1)):
            front.append(point)
            values = np.vstack([values, own])
    return front


def costs(measures: Mapping[str, float], objectives: Sequence[str]) -> tuple[float, ...]:
    """Return the costs of a plan: first those that are objectives, then the others."""
    asked = [name for name in objectives if name.split(".")[0] in COSTS]
    return tuple(measures.get(name, float("inf")) for name in
                 [*asked, *(name for name in COSTS if name not in asked)])


def cost(point: Point, objectives: Sequence[str]) -> tuple[float | str, ...]:
    """Return the sort key of a design: its costs, its error, and its hash."""
    return (*costs(point.measures, objectives), point.measures.get("error", float("inf")), point.key)


@dataclass(frozen=True)
class Miss:
    """Constraint that a design violates, and the excess over the limit."""

    constraint: Constraint
    by: float


def misses(point: Point, constraints: Sequence[Constraint], baseline: Baseline) -> list[Miss]:
    """List the constraints that a point violates."""
    found = [Miss(c, c.over(point.measures, baseline)) for c in constraints]
    return [miss for miss in found if miss.by > 0]


def feasible(points: Iterable[Point], constraints: Sequence[Constraint], baseline: Baseline) -> list[Point]:
    """Return the points that have a model and satisfy every constraint."""
    return [p for p in points if p.answers and not misses(p, constraints, baseline)]


def cheapest(points: Iterable[Point], constraints: Sequence[Constraint], baseline: Baseline,
             objectives: Sequence[str]) -> Point | None:
    """Return the cheapest feasible point; None if there is none."""
    return min(feasible(points, constraints, baseline), key=lambda p: cost(p, objectives), default=None)


@dataclass(frozen=True)
class Binding:
    """Smallest violation of a constraint by any design, if no design is feasible.

    Parameters
    ----------
    constraint : Constraint
    point : Point, or None
        The point with the smallest violation; None if no point satisfies the other constraints.
    by : float
        The excess over the limit, in its unit; infinite if `point` is None.
    """

    constraint: Constraint
    point: Point | None
    by: float


def binding(points: Sequence[Point], constraints: Sequence[Constraint],
            baseline: Baseline) -> list[Binding]:
    """Return the smallest violation of each constraint, if no point is feasible.

    Only points that satisfy all other constraints are considered.
    """
    found = []
    for constraint in constraints:
        others = [c for c in constraints if c is not constraint]
        within = [p for p in feasible(points, others, baseline) if constraint.name in p.measures]
        best = min(within, key=lambda p: (constraint.over(p.measures, baseline), p.key), default=None)
        found.append(Binding(constraint, best, float("inf") if best is None
                             else constraint.over(best.measures, baseline)))
    return found


def nearest(points: Iterable[Point], constraints: Sequence[Constraint], baseline: Baseline) -> Point | None:
    """Return the point with the smallest maximum violation of a constraint.

    Violations are relative to the limits.
    """
    def worst(point: Point) -> float:
        return max((miss.by / (abs(miss.constraint.limit(baseline)) or 1.0)
                    for miss in misses(point, constraints, baseline)), default=0.0)
    return min((p for p in points if p.answers), key=lambda p: (worst(p), p.key), default=None)


#: What is printed if no key has a cheaper value.
NO_ALTERNATIVE = "no alternative: no key has a cheaper value"


@dataclass(frozen=True)
class CheaperStep:
    """Cheaper value of a key, and the constraints that the resulting design violates.

    Parameters
    ----------
    key : str
        The key of the spec.
    before, after : int, float, str or bool
        The value of the key in the best design, and the cheaper one.
    point : Point
        The design with the cheaper value.
    broken : list of Miss
        The violated constraints. Empty if the design is rejected or has no model.
    narrowed : bool
        Whether the key is a word length that is not swept; if so, `after` is the next shorter one.
    """

    key: str
    before: Scalar
    after: Scalar
    point: Point
    broken: list[Miss]
    narrowed: bool = False


def neighbours(space: Space, inputs: Inputs) -> list[Inputs]:
    """Return the inputs that differ from the given inputs in exactly one key."""
    return [{**inputs, axis.key: value} for axis in space.axes for value in axis.values
            if value != inputs[axis.key]]


def steps(space: Space, best: Point, found: Sequence[Point], constraints: Sequence[Constraint],
          baseline: Baseline, objectives: Sequence[str]) -> list[CheaperStep]:
    """Return the next cheaper value of each key of the best design.

    Each step contains the constraints that it violates. If a key has no cheaper value, but a value that is
    rejected, the latter is returned.

    Parameters
    ----------
    space : Space
    best : Point
    found : sequence of Point
        The evaluated points of :func:`neighbours`.
    """
    cheaper_steps = []
    for axis in space.axes:
        cheaper = [p for p in found if p.inputs[axis.key] != best.inputs[axis.key] and p.measures
                   and costs(p.measures, objectives) < costs(best.measures, objectives)
                   and all(p.inputs[k] == v for k, v in best.inputs.items() if k != axis.key)]
        refused = [p for p in found if p.code and p.inputs[axis.key] != best.inputs[axis.key]
                   and all(p.inputs[k] == v for k, v in best.inputs.items() if k != axis.key)]
        if cheaper or refused:
            point = max(cheaper, key=lambda p: cost(p, objectives)) if cheaper else refused[0]
            cheaper_steps.append(CheaperStep(axis.key, best.inputs[axis.key], point.inputs[axis.key], point,
                                             misses(point, constraints, baseline) if point.answers else []))
    return cheaper_steps


def refusals(points: Iterable[Point]) -> dict[str, int]:
    """Return the number of rejected points by error code."""
    return dict(sorted(Counter(p.code for p in points if p.code).items()))


def statuses(points: Iterable[Point]) -> dict[str, int]:
    """Return the number of points by status."""
    return dict(sorted(Counter(p.status for p in points).items()))
