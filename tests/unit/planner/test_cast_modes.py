"""Each cast takes its own rounding and overflow from the spec, and each model does what the plan says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Overflow, Rounding
from kerncast.sim.fxp_model.lms import FxpLms
from kerncast.sim.fxp_model.toeplitz import FxpToeplitz
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.primitives import wrap
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

ROUNDINGS = ("floor", "half_up", "half_even")


def spec(algorithm: str, scaling: str = "block", **numbers: Any) -> Spec:
    """A learner whose alpha is too short, or a trainer whose predictions overshoot."""
    if algorithm == "kernel_lms":
        own: dict[str, Any] = {"online": {"budget": 6, "eta": 1.9, "rho": 0.1}}
        numbers = {"formats": {"alpha": f"s{numbers.get('word', 16)}f{numbers.get('word', 16)}"}} | numbers
    elif algorithm == "kernel_cg":
        own = {"cg": {"n": 16, "lambda": 0.1}}
    else:
        own = {"toeplitz": {"n": 16, "lambda": 0.1, "scheme": "uniform", "scaling": scaling}}
    return Spec(model={"name": "casts", "algorithm": algorithm}, input={"word": "u6f0"},
                output={"word": "s8f0"}, kernel={"sigma": 30.0 if own.get("online") else 0.5},
                numbers=numbers, **own)


def answers(plan: Plan, model: Any) -> list[np.ndarray]:
    """All words of a run at the rails of y."""
    random = np.random.default_rng(1)
    x, y = random.integers(0, 64, (60, 1)), random.choice([-128, 127], 60)
    if plan.algorithm == "kernel_lms":
        first = model.update(x, y)
    else:
        first = model.train(None, np.resize([127, -128], plan.sizes["n"]))
    last = model.predict(x)
    return [first["status"], last["status"], last["f"], *model.state().values()]


@pytest.mark.covering
@pytest.mark.parametrize("word", [16, 32])
@pytest.mark.parametrize("casts", [
    {"alpha": "wrap", "f": "wrap"}, {"f": "floor wrap"}, {"alpha": "half_even wrap"},
    {"x": "floor", "y": "half_even", "alpha": "half_up", "f": "half_even"}])
def test_two_models_of_a_learner_cast_alike(casts: dict[str, str], word: int) -> None:
    plan = make_plan(spec("kernel_lms", word=word, casts=casts))
    for one, other in zip(answers(plan, open_model(plan)), answers(plan, FxpLms(plan)), strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.covering
@pytest.mark.parametrize("casts", [
    {"f": "wrap"}, {"f": "half_even wrap", "a": "floor"},
    {"x": "floor", "y": "half_even", "r": "floor", "a": "half_even", "alpha": "floor", "f": "floor"}])
def test_two_models_of_a_trainer_cast_alike(casts: dict[str, str]) -> None:
    plan = make_plan(spec("toeplitz_rls", casts=casts))
    for one, other in zip(answers(plan, open_model(plan)), answers(plan, FxpToeplitz(plan)), strict=True):
        assert one.tolist() == other.tolist()


def test_what_wraps_gives_no_status_and_is_counted_in_the_range_log() -> None:
    saturating, wrapping = (make_plan(spec("kernel_lms", overflow=o, formats={"alpha": "s16f14"}))
                            for o in ("saturate", "wrap"))
    met = {}
    for plan in (saturating, wrapping):
        model = open_model(plan)
        status = np.concatenate(answers(plan, model)[:2])
        met[plan.hash] = set(status.tolist()), {r.name: r.saturated for r in model.ranges}
    assert DeviceStatus.SATURATED in met[saturating.hash][0]
    assert met[wrapping.hash][0] == {0}
    assert met[wrapping.hash][1]["alpha"] > 0 and met[wrapping.hash][1]["f"] > 0


def test_a_value_that_wraps_is_the_integer_modulo_its_bits() -> None:
    """A new multiplier is eta e, here nearly twice what the format of alpha holds."""
    plan = make_plan(spec("kernel_lms", casts={"alpha": "wrap"}))
    wide = make_plan(spec("kernel_lms", formats={"alpha": "s16f12"}))
    words = []
    for each in (plan, wide):
        model = open_model(each)
        model.update(np.array([[3]]), np.array([127]))
        words.append(int(model.state()["alpha"][0]))
    assert abs(words[0] - wrap(words[1] * 16, 16)) <= 8  # the wide one is rounded 4 bits earlier
    assert words[1] * 16 > plan.signals["alpha"].format.hi


def test_casts_not_named_follow_the_general_rounding_and_overflow() -> None:
    plan = make_plan(spec("kernel_lms", rounding="floor", overflow="wrap",
                          casts={"f": "half_even", "alpha": "saturate"}))
    modes = {name: (s.rounding, s.overflow) for name, s in plan.signals.items()}
    assert modes["f"] == (Rounding.HALF_EVEN, Overflow.WRAP)
    assert modes["alpha"] == (Rounding.FLOOR, Overflow.SATURATE)
    assert modes["x"] == modes["y"] == (Rounding.FLOOR, Overflow.SATURATE)


def test_the_cast_a_holds_for_the_whole_recursion() -> None:
    plan = make_plan(spec("toeplitz_rls", casts={"a": "floor"}))
    assert plan.signals["a"].rounding is plan.signals["xi"].rounding is Rounding.FLOOR
    assert plan.signals["alpha"].rounding is Rounding.HALF_UP


@pytest.mark.parametrize(("algorithm", "signal", "text", "code"), [
    ("kernel_lms", "mu", "floor", "E117"), ("kernel_lms", "a", "floor", "E117"),
    ("toeplitz_rls", "a", "wrap", "E117"), ("toeplitz_rls", "alpha", "floor wrap", "E117"),
    ("kernel_lms", "x", "wrap", "E117"), ("kernel_lms", "f", "up", "E109"),
    ("kernel_lms", "f", "floor half_up", "E109"), ("kernel_lms", "f", "", "E109"),
    ("kernel_lms", "f", "wrap wrap", "E109")])
def test_a_cast_that_cannot_be_is_refused_with_what_can(algorithm: str, signal: str, text: str,
                                                        code: str) -> None:
    with pytest.raises(KerncastError) as caught:
        spec(algorithm, casts={signal: text})
    assert [p.code for p in caught.value.problems] == [code]
    assert "f" in caught.value.problems[0].allowed


def test_the_order_of_the_words_of_a_cast_does_not_matter() -> None:
    assert spec("kernel_lms", casts={"f": "wrap floor"}) == spec("kernel_lms", casts={"f": "floor wrap"})


@pytest.mark.parametrize(("algorithm", "signal"), [("kernel_lms", "f"), ("toeplitz_rls", "alpha")])
def test_a_range_that_decides_nothing_is_refused(algorithm: str, signal: str) -> None:
    with pytest.raises(KerncastError, match="E118"):
        spec(algorithm, ranges={signal: 2.0})


@pytest.mark.parametrize(("algorithm", "signal", "why", "allowed"), [
    ("kernel_lms", "f", "f has the format of y", "alpha"),
    ("kernel_lms", "a", "does not depend on a range", "alpha"),
    ("toeplitz_rls", "alpha", "alpha uses block floating point", 'scaling = "static"'),
    ("kernel_cg", "alpha", "alpha uses block floating point", "no signal of kernel_cg")])
def test_a_refused_range_states_the_reason_and_the_signals_that_accept_one(
        algorithm: str, signal: str, why: str, allowed: str) -> None:
    with pytest.raises(KerncastError) as caught:
        spec(algorithm, ranges={signal: 2.0})
    (problem,) = caught.value.problems
    assert problem.code == "E118" and why in problem.message and allowed in problem.allowed


@pytest.mark.parametrize("value", [2.0**-20, 2.0**20])
def test_the_limits_of_a_range_are_those_reported(value: float) -> None:
    assert spec("kernel_lms", ranges={"alpha": value}).numbers.ranges["alpha"] == value
    with pytest.raises(KerncastError, match="E108") as caught:
        spec("kernel_lms", ranges={"alpha": value * (2 if value > 1 else 0.5)})
    assert "2^-20 to 2^20" in caught.value.problems[0].allowed


def test_a_static_range_beyond_the_bound_is_refused_with_the_bound() -> None:
    def static(reach: float) -> Plan:
        return make_plan(spec("toeplitz_rls", "static", ranges={"alpha": reach}))

    plan = static(1.0)
    bound = plan.sizes["n"] ** 0.5 / float(plan.options["lambda"])
    assert static(bound * 0.999).evidence["alpha"]["decided_by"] == "design"
    with pytest.raises(KerncastError, match="E118") as caught:
        static(bound * 1.001)
    assert f"{bound:.6g}" in caught.value.problems[0].allowed
