"""The guard stops projections that would amplify, in float64 and in integers; the status reports it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kerncast import KernelLMSRegressor, cautions
from kerncast.codegen.hls import LEARNER as HLS_LEARNER
from kerncast.codegen.rtl import LEARNER as RTL_LEARNER
from kerncast.sim.backend import STATUSES
from kerncast.sim.errors import KerncastError
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.kernels import Gaussian
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.online.kernel_lms import KernelLMS
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

COLUMNS, BUDGET = 2, 12


def spec_of(word: int = 16, sigma: float = 60.0, **online: Any) -> Spec:
    return Spec(model={"name": "guarded", "algorithm": "kernel_lms"}, kernel={"sigma": sigma},
                input={"word": "s8f0", "columns": COLUMNS}, output={"word": "s8f0"},
                online={"budget": BUDGET, "eta": 0.5, **online}, numbers={"word": word})


def stream(samples: int = 400) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(0)
    x = chance.integers(-60, 60, (samples, COLUMNS))
    return x, np.clip(40 * np.sin(x[:, 0] / 30) + x[:, 1] / 3, -127, 127).astype(np.int64)


def statuses(outputs: Any) -> set[str]:
    return {STATUSES[status] for status in outputs["status"]}


@pytest.mark.parametrize("reduction", ["fklms", "fmklms"])
def test_a_guarded_learner_is_better_where_projection_amplifies(reduction: str) -> None:
    x, y = stream()
    errors = {}
    for guard in (False, True):
        plan = make_plan(spec_of(reduction=reduction, guard=guard), x, y)
        outputs = open_model(plan).update(x, y)
        found = outputs["f"] * float(Fraction(plan.units["y"]))
        errors[guard] = float(np.mean((found - y)[100:] ** 2))
        assert ("inaccurate" in statuses(outputs)) == guard
        assert not (guard and cautions(plan))
    assert errors[True] < 0.5 * errors[False] and errors[True] < np.var(y)


def test_a_guard_that_never_acts_changes_no_value() -> None:
    x, y = stream()
    plain, guarded = (open_model(make_plan(spec_of(sigma=6.0, guard=guard))) for guard in (False, True))
    found, expected = guarded.update(x, y), plain.update(x, y)
    assert np.array_equal(found["f"], expected["f"]) and statuses(found) == {"ok"}
    assert np.array_equal(guarded.state()["alpha"], plain.state()["alpha"])


def test_without_the_key_the_plan_is_that_of_before() -> None:
    plain = make_plan(spec_of())
    assert not [name for name in (*plain.options, *plain.constants) if "guard" in name]
    assert make_plan(spec_of(guard=False)).hash == plain.hash != make_plan(spec_of(guard=True)).hash


@pytest.mark.parametrize("reduction", ["fklms", "fmklms"])
def test_the_integer_model_follows_the_guarded_float_reference(reduction: str) -> None:
    x, y = stream(200)
    plan = make_plan(spec_of(word=32, reduction=reduction, guard=True), x, y)
    reference = KernelLMS(COLUMNS, Gaussian(60.0), 0.5, 0.0, reduction, BUDGET, guard=True)
    found = open_model(plan).update(x, y)["f"] * float(Fraction(plan.units["y"]))
    assert np.max(np.abs(found - reference.learn(x.astype(float), y.astype(float)))) < 1e-3
    assert reference.status.value == "inaccurate"


@pytest.mark.covering
@pytest.mark.parametrize("online", [
    {}, {"reduction": "fmklms", "max_deterioration": 0.001, "truncation": 0.5},
    {"max_deterioration": 0.01, "newest_only": True}, {"metric": "fast_klms"}])
@pytest.mark.parametrize("word", [16, 32])
def test_the_fxpmath_model_returns_the_same_values(word: int, online: dict[str, Any]) -> None:
    x, y = stream(60)
    plan = make_plan(spec_of(word=word, guard=True, **online))
    model, twin = open_model(plan), open_fxp_model(plan)
    expected, found = model.update(x, y), twin.update(x, y)
    assert statuses(expected) >= {"ok", "inaccurate"} or online
    for name in expected:
        assert np.array_equal(found[name], expected[name]), name
    for name, values in model.state().items():
        assert np.array_equal(twin.state()[name], values), name


def test_at_the_limit_itself_the_projection_continues() -> None:
    """Three centers 1 apart from a fourth: the plan's limit is 2 exactly, and a sum equal to it passes."""
    plan = make_plan(spec_of(guard=True))
    frac = plan.signals["kernel"].format.frac
    assert plan.integer("guard_limit") << plan.integer("guard_shift") == 2 << 2 * frac


@pytest.mark.parametrize("online", [{"reduction": "nt"}, {"projection": "none"}])
def test_a_guard_without_a_projection_is_refused(online: dict[str, Any]) -> None:
    with pytest.raises(KerncastError, match="guard") as raised:
        spec_of(guard=True, **online)
    assert {problem.code for problem in raised.value.problems} == {"E113"}
    with pytest.raises(KerncastError, match="guard"):
        KernelLMS(COLUMNS, Gaussian(1.0), 0.5, 0.0, "nt", BUDGET, guard=True)


@pytest.mark.parametrize(("core", "code"), [(RTL_LEARNER, "E307"), (HLS_LEARNER, "E311")])
def test_learner_cores_in_hardware_refuse_the_guard(core: Any, code: str) -> None:
    refusal = core.refusal(make_plan(spec_of(guard=True)))
    assert refusal.problems[0].code == code and refusal.problems[0].where == "[online] guard"
    assert core.refusal(make_plan(spec_of())) is None


def test_the_estimator_reports_a_stopped_projection() -> None:
    x, y = stream()
    model = KernelLMSRegressor(sigma=60.0, eta=0.5, budget=BUDGET, guard=True, presentations=1).fit(x, y)
    assert model.status_ == "inaccurate" and model.score(x, y) > 0.5
    assert int(DeviceStatus.INACCURATE) == 2
