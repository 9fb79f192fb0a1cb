"""Integer learners of kerncast.

The word length is 16 bits, unless the title of the method states another one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ....sim.model import open_model
from ....sim.plan import Plan
from ....sim.planner import make_plan
from ....sim.spec import Spec
from ...papers.common import Array
from ..costs import Cost, generated
from ..streams import Samples
from ..streams import samples as realisation
from . import FORGETTING, RIDGES, WIDTHS, Method

BUDGET = 100


@lru_cache(64)
def _plan(name: str, seed: int, algorithm: str, word: int, sigma: float,
          keys: tuple[tuple[str, Any], ...]) -> Plan:
    """Return a plan with formats that are derived from a realisation."""
    design = realisation(name, seed)
    spec = Spec(
        model={"name": "suite", "algorithm": algorithm}, kernel={"sigma": sigma}, numbers={"word": word},
        input={"word": "s16f0", "columns": design.X.shape[1], "gain": design.gains[:-1].tolist()},
        output={"word": "s16f0", "gain": float(design.gains[-1])}, target={"id": "cortex-m4"},
        **{"online" if algorithm == "kernel_lms" else "rls": dict(keys)})
    return make_plan(spec, design.x_raw, design.y_raw) if algorithm == "kernel_lms" else make_plan(spec)


def _learner(algorithm: str, word: int, **fixed: Any) -> tuple[Callable[..., Array], Callable[..., Cost]]:
    """Return the functions `run` and `cost` of an integer learner."""
    def plan(design: Samples, sigma: float, **keys: Any) -> Plan:
        return _plan(design.name, design.seed, algorithm, word, sigma, tuple((fixed | keys).items()))

    def run(design: Samples, samples: Samples, sigma: float, **keys: Any) -> Array:
        planned = plan(design, sigma, **keys)
        f = open_model(planned).update(samples.x_raw, samples.y_raw)["f"]
        return np.asarray(f * float(Fraction(planned.units["y"])))

    def cost(design: Samples, samples: Samples, sigma: float, **keys: Any) -> Cost:
        return generated(plan(design, sigma, **keys), samples)

    return run, cost


def _method(title: str, algorithm: str, fixed: dict[str, Any], defaults: dict[str, Any],
            tried: dict[str, tuple[float, ...]], word: int = 16) -> Method:
    run, cost = _learner(algorithm, word, **fixed)
    return Method(title, run, defaults, ("sigma", WIDTHS), tried, cost, ours=True)


METHODS = [
    *(_method(title, "kernel_lms",
              {"budget": BUDGET, "reduction": "nt", "quantise": 0.8, "linear": "rls", "gate": True,
               "last_errors": 6},
              {"eta": 0.2, "linear_forgetting": 0.995, "linear_ridge": 1e-7},
              {"eta": (0.1, 0.2, 0.4), "linear_forgetting": FORGETTING, "linear_ridge": RIDGES}, word)
      for title, word in (("kerncast QKLMS + RLS", 16), ("kerncast QKLMS + RLS, 32 bits", 32))),
    _method("kerncast FKLMS, guarded", "kernel_lms", {"budget": BUDGET, "reduction": "fklms", "guard": True},
            {"eta": 0.3}, {"eta": (0.1, 0.3, 0.7)}),
    *(_method(f"kerncast kernel RLS, {features} features", "online_kernel_rls", {"features": features},
              {"forgetting": 0.999, "ridge": 1e-3}, {"forgetting": FORGETTING, "ridge": RIDGES})
      for features in (32, 100))]
