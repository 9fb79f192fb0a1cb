"""sim.planner.toeplitz: ``solver = "auto"``, banded or Levinson's recursion.

Auto selects the banded solver if a plan with it exists, otherwise Levinson's recursion. If such a plan
exists, the banded solver needs fewer multiplications.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...errors import KerncastError
from ...plan import Plan
from ...spec import Spec
from .geometric import has_geometric_factor


def _unsupported(spec: Spec) -> str:
    """Return the key that only Levinson's recursion supports; empty if there is none."""
    t = spec.toeplitz
    assert t is not None
    keys = {f"scheme = {t.scheme}": t.scheme != "uniform", "refine with bias": t.refine > 0 and t.bias,
            "scaling = static": t.scaling == "static"}
    return ", ".join(key for key, given in keys.items() if given)


def plan_automatic(spec: Spec, plan: Callable[[Spec], Plan]) -> Plan:
    """Return the plan with the banded solver, or with Levinson's recursion.

    If Levinson's recursion is chosen, the plan records the reason. It does not support several outputs, for
    which the error of the banded solver is raised.

    Parameters
    ----------
    spec : Spec
        A spec with ``solver = "auto"``.
    plan : callable
        Returns the plan of a spec that names a solver.
    """
    assert spec.toeplitz is not None

    def planned(solver: str, why: str) -> Plan:
        assert spec.toeplitz is not None
        named = spec.toeplitz.model_copy(update={"solver": solver})
        made = plan(spec.model_copy(update={"toeplitz": named}))
        return replace(made, evidence={**made.evidence, "solver": {"decided_by": "automatic", "why": why}})

    if keys := _unsupported(spec):
        return planned("levinson", f"solver = \"banded\" does not support {keys}")
    try:
        geometric = has_geometric_factor(spec)
        return planned("banded", "the first row of the kernel matrix is geometric" if geometric else
                       "the kernel matrix has few diagonals that are not zero")
    except KerncastError as error:
        if error.problems[0].code != "E205" or spec.output.targets > 1:
            raise
        return planned("levinson", error.problems[0].message.removeprefix("solver banded: "))
