"""``solver = "auto"``: banded where its plan exists, otherwise Levinson's recursion with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from kerncast.sim.diagnostics.word_length import choices
from kerncast.sim.errors import KerncastError
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def spec_of(solver: str = "auto", kernel: str = "gaussian", **toeplitz: object) -> Spec:
    period = {"period": 50.0} if kernel == "periodic" else {}
    given: dict[str, Any] = {"n": 64, "lambda": 0.1, "scheme": "uniform", "solver": solver}
    return Spec(model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s16f0"}, kernel={"type": kernel, "sigma": 3.0, **period},
                toeplitz=given | toeplitz)


def plan_of(*arguments: Any, **toeplitz: Any) -> Plan:
    return make_plan(spec_of(*arguments, **toeplitz))


def test_a_narrow_band_has_the_decisions_of_the_banded_solver() -> None:
    assert plan_of().hash == plan_of("banded").hash
    assert plan_of(bias=True).hash == plan_of("banded", bias=True).hash
    assert plan_of(refine=1).hash == plan_of("banded", refine=1).hash
    assert plan_of().evidence["solver"]["decided_by"] == "automatic"


@pytest.mark.parametrize(("kernel", "changes", "why"), [
    ("gaussian", {"scheme": "diagonal_mean"}, "scheme = diagonal_mean"),
    ("gaussian", {"refine": 1, "bias": True}, "refine"), ("gaussian", {"n": 20}, "wider than half"),
    ("periodic", {}, "does not decay")])
def test_all_else_has_the_decisions_of_levinson_and_the_reason(kernel: str, changes: dict[str, object],
                                                              why: str) -> None:
    plan = plan_of("auto", kernel, **changes)
    assert plan.hash == plan_of("levinson", kernel, **changes).hash
    assert why in plan.evidence["solver"]["why"]


def test_a_spec_that_neither_solver_can_plan_is_refused() -> None:
    with pytest.raises(KerncastError, match="E205"):
        plan_of("auto", n=20, **{"lambda": 1e-9})


def test_advice_on_the_word_length_is_that_of_the_chosen_solver() -> None:
    with pytest.raises(KerncastError, match="E120"):
        choices(spec_of(), system=None)  # type: ignore[arg-type]
