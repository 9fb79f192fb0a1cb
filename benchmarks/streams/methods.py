"""The learners that are compared, with the parameter values to try."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from ...sim.diagnostics.simulate import worst_status, y_values
from ...sim.kernels import Gaussian
from ...sim.model import open_model
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.reference.online.kernel_lms import KernelLMS
from ...sim.reference.online.linear import linear_part
from ...sim.reference.result import Status
from ...sim.spec import Spec
from ...sim.spec.online import LINEAR_FORGETTING, LINEAR_RIDGE
from ..papers.common import Array
from .tasks import Stream, changed

Parameters = dict[str, Any]

BUDGET = 100


class Learner(Protocol):
    """Interface of a learner."""

    def learn(self, stream: Stream) -> Array:
        """Learn a stream; return the prediction of each sample before it is learnt."""

    def predict(self, stream: Stream) -> Array:
        """Return predictions for a stream without learning it."""


class Filter:
    """Filter of padasip, with a constant 1 as an additional input.

    This input is needed because the means of the streams are not 0.
    """

    def __init__(self, kind: str, columns: int, mu: float) -> None:
        self._filter = getattr(import_module("padasip").filters, f"Filter{kind}")(
            n=columns + 1, mu=mu, w="zeros")

    def learn(self, stream: Stream) -> Array:
        """Learn a stream; return the prediction of each sample before it is learnt."""
        with np.errstate(all="ignore"):  # some steps that are tried are too long
            return np.asarray(self._filter.run(stream.y, self._inputs(stream))[0])

    def predict(self, stream: Stream) -> Array:
        """Return predictions for a stream without learning it."""
        return np.asarray(self._inputs(stream) @ self._filter.w)

    @staticmethod
    def _inputs(stream: Stream) -> Array:
        return np.hstack([stream.X, np.ones((len(stream.X), 1))])


class Reference:
    """Learner of kerncast in float64."""

    def __init__(self, columns: int, sigma: float, eta: float, rho: float = 0.0, linear: str | None = None,
                 **parts: Any) -> None:
        part = linear_part(linear, columns, (), LINEAR_FORGETTING, LINEAR_RIDGE)
        self._learner = KernelLMS(columns, Gaussian(sigma), eta, rho, linear=part, **parts)

    @property
    def diverged(self) -> bool:
        """Report whether the learner has diverged; if so, it has stopped learning."""
        return self._learner.status is Status.DIVERGED

    def learn(self, stream: Stream) -> Array:
        """Learn a stream; return the prediction of each sample before it is learnt."""
        return self._learner.learn(stream.X, stream.y)

    def predict(self, stream: Stream) -> Array:
        """Return predictions for a stream without learning it."""
        return self._learner.predict(stream.X)

    @property
    def held(self) -> int:
        """Return the number of vectors N in the dictionary."""
        return self._learner.model.count


class Integers:
    """Integer model of a plan with formats that are derived from a stream."""

    def __init__(self, spec: Spec, word: int, stream: Stream) -> None:
        self.plan: Plan = make_plan(changed(spec, numbers={"word": word}), stream.x_raw, stream.y_raw)
        self.model = open_model(self.plan)
        self.status = "ok"

    def learn(self, stream: Stream) -> Array:
        """Learn a stream, starting from an empty model.

        Returns the prediction of each sample before it is learnt.
        """
        self.model.reset()
        outputs = self.model.update(stream.x_raw, stream.y_raw)
        self.status = worst_status(outputs)
        return y_values(self.plan, outputs["f"])

    def predict(self, stream: Stream) -> Array:
        """Return predictions for a stream without learning it."""
        return y_values(self.plan, self.model.predict(stream.x_raw)["f"])


@dataclass(frozen=True)
class Method:
    """Learner with the parameter values to try.

    Parameters
    ----------
    title : str
    make : callable
        ``make(columns, **parameters)`` returns a learner that has not learnt any sample.
    tried : dict of str to tuple
        Values of each parameter; all combinations are tried.
    """

    title: str
    make: Callable[..., Learner]
    tried: dict[str, tuple[float, ...]]

    def combinations(self) -> list[Parameters]:
        """Return all combinations of parameter values."""
        return [dict(zip(self.tried, values, strict=True))
                for values in itertools.product(*self.tried.values())]


def filters() -> list[Method]:
    """Return the filters of padasip."""
    steps = {"LMS": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3), "NLMS": (0.01, 0.03, 0.1, 0.3, 0.6, 1.0),
             "RLS": (0.95, 0.98, 0.99, 0.995, 0.999, 0.9999, 1.0)}

    def of(kind: str) -> Callable[..., Learner]:
        return lambda columns, mu: Filter(kind, columns, mu)

    return [Method(f"padasip {kind}", of(kind), {"mu": values}) for kind, values in steps.items()]


def kernels(sigma: tuple[float, ...], eta: tuple[float, ...], titles: dict[str, Parameters],
            rho: tuple[float, ...] = (0.0,)) -> list[Method]:
    """Return the learners of kerncast in float64.

    Each tuple contains the values of a parameter to try.
    """
    def of(parts: Parameters) -> Callable[..., Learner]:
        return lambda columns, **tried: Reference(columns, budget=BUDGET, **parts | tried)

    found = []
    for title, parts in titles.items():
        more = {key: value for key, value in parts.items() if isinstance(value, tuple)}
        fixed = {key: value for key, value in parts.items() if key not in more}
        found.append(Method(title, of(fixed), {"sigma": sigma, "eta": eta, "rho": rho} | more))
    return found


def mean_square(error: Array) -> float:
    """Return the MSE; infinite if the learner diverged."""
    with np.errstate(all="ignore"):
        found = float(np.mean(error * error))
    return found if np.isfinite(found) else np.inf


def best(method: Method, score: Callable[[Method, Parameters], float], more: dict[str, tuple[Any, ...]]
         ) -> Parameters:
    """Return the best parameters among all combinations and those in `more`."""
    tried = [a | dict(zip(more, b, strict=True)) for a in method.combinations()
             for b in itertools.product(*more.values())]
    return min(tried, key=lambda parameters: score(method, parameters))
