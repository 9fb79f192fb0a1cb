"""An update in calls of bounded time has the values of an update in one call, whatever the stream."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kerncast.codegen.hls import LEARNER as HLS_LEARNER
from kerncast.codegen.rtl import LEARNER as RTL_LEARNER
from kerncast.sim.errors import KerncastError
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

OK, PENDING, OUT_OF_ORDER = (int(DeviceStatus[name]) for name in ("OK", "PENDING", "OUT_OF_ORDER"))
#: Members that only a plan with bounded_update has, or whose size depends on it.
OWN = ("pending", "reserved")


@cache
def plan_of(bounded: bool, budget: int = 6, reduction: str = "fmklms", word: int = 16, **online: Any) -> Plan:
    if bounded:
        online["bounded_update"] = True
    return make_plan(Spec(model={"name": "split", "algorithm": "kernel_lms"}, kernel={"sigma": 9.0},
                          input={"word": "u5f0", "columns": 2}, output={"word": "s8f0"},
                          online={"budget": budget, "eta": 0.5, "reduction": reduction, **online},
                          numbers={"word": word}))


def marks(model: Any) -> int:
    """The number of searches that the last update left."""
    state, slots = model.state(), np.arange(model.plan.sizes["N"])
    marked = (state["nearest_idx"] == slots) & (slots < state["pending"][0])
    return int((marked & ((state["age_order"] > 0) | (model.plan.metric != "fklms"))).sum())


@st.composite
def streams(draw: st.DrawFn) -> tuple[dict[str, Any], list[tuple[int, int, int]], int]:
    """Choices of a learner, samples from few places (repeats and ties) or many, searches per call."""
    chosen = {"budget": draw(st.integers(2, 9)), "reduction": draw(st.sampled_from(("fklms", "fmklms"))),
              "rho": draw(st.sampled_from((0.0, 0.1))), "guard": draw(st.booleans()) or None,
              "quantise": draw(st.sampled_from((None, 0.9))), "word": draw(st.sampled_from((16, 32)))}
    places = st.integers(0, draw(st.sampled_from((3, 31))))
    samples = draw(st.lists(st.tuples(places, places, st.integers(-128, 127)), min_size=1, max_size=60))
    return chosen, samples, draw(st.integers(1, 3))


@settings(max_examples=60, deadline=None)
@given(streams())
def test_a_split_update_has_the_values_of_an_update_in_one_call(drawn: Any) -> None:
    chosen, samples, searches = drawn
    whole, wrapper, split = (open_model(plan_of(bounded, **chosen)) for bounded in (False, True, True))
    for *x, y in samples:
        x_raw, y_raw = np.array([x]), np.array([y])
        expected = whole.update(x_raw, y_raw)
        for found in (wrapper.update(x_raw, y_raw), split.update_begin(x_raw, y_raw)):
            assert all(np.array_equal(found[name], values) for name, values in expected.items())
        left = marks(split)
        assert left < chosen["budget"] and bool(left) == bool(split.state()["pending"][0])
        after = whole.predict(x_raw)
        while left:
            assert all(np.array_equal(split.predict(x_raw)[name], values) for name, values in after.items())
            left = max(0, left - searches)
            assert split.update_run(searches) == (PENDING if left else OK)
        assert split.update_run(searches) == OK
        for name, values in whole.state().items():
            assert name in OWN or np.array_equal(wrapper.state()[name], values), name
            assert name in OWN or np.array_equal(split.state()[name], values), name
        assert not wrapper.state()["pending"].any()


def started(reduction: str = "fmklms") -> Any:
    """A model with searches that are left, soon after its dictionary is full."""
    model = open_model(plan_of(True, reduction=reduction))
    for seed in range(100):  # FKLMS settles, and then leaves none
        rng = np.random.default_rng(seed)
        model.reset()
        for _ in range(20):
            model.update_begin(rng.integers(0, 32, (1, 2)), rng.integers(-128, 128, 1))
            if marks(model):
                return model
    raise AssertionError("no update left a search")


@pytest.mark.parametrize("reduction", ["fklms", "fmklms"])
def test_the_next_sample_is_refused_while_searches_are_left(reduction: str) -> None:
    model = started(reduction)
    before = model.state()
    for call in (model.update, model.update_begin):
        assert call(np.array([[3, 4]]), np.array([5]))["status"].tolist() == [OUT_OF_ORDER]
    assert all(np.array_equal(model.state()[name], values) for name, values in before.items())


def test_a_state_is_not_saved_while_searches_are_left() -> None:
    model = started()
    with pytest.raises(KerncastError, match="E449"):
        model.save()
    model.update_run(9)
    model.restore(model.save())


def test_a_search_writes_nothing_that_a_prediction_reads() -> None:
    model = started()
    before = model.state()
    model.update_run(1)
    changed = {name for name, values in model.state().items() if not np.array_equal(before[name], values)}
    assert "pending" in changed and changed <= {"pending", "nearest_idx", "nearest_d2"}


@pytest.mark.parametrize("reduction", ["fklms", "fmklms"])
def test_the_model_in_fxpmath_stores_the_same_neighbours(reduction: str) -> None:
    plan, rng = plan_of(True, reduction=reduction), np.random.default_rng(2)
    x, y = rng.integers(0, 32, (60, 2)), rng.integers(-128, 128, 60)
    opened = [open_model(plan), open_fxp_model(plan)]
    answers = [model.update(x, y) for model in opened]
    assert all(np.array_equal(answers[1][name], values) for name, values in answers[0].items())
    found, expected = (model.state() for model in opened)
    assert all(np.array_equal(found[name], values) for name, values in expected.items())


def test_a_plan_without_the_key_is_as_before() -> None:
    plain, bounded = plan_of(False), plan_of(True)
    assert plan_of(False, bounded_update=False).hash == plain.hash != bounded.hash
    assert "pending" not in {field.name for field in plain.memory} and "update_run" not in plain.operations
    assert bounded.operations["update_begin"] == plain.operations["update_without_searches"]


@pytest.mark.parametrize(("online", "named"), [
    ({"reduction": "nt"}, "metric"), ({"reduction": "at"}, "metric"), ({"metric": "fast_klms"}, "metric"),
    ({"truncation": 0.1}, "truncation"), ({"max_age": 9}, "max_age"),
    ({"max_deterioration": 0.01}, "max_deterioration"), ({"reduction": "fklms_f32"}, "float32")])
def test_a_learner_whose_calls_it_cannot_bound_is_refused(online: dict[str, Any], named: str) -> None:
    with pytest.raises(KerncastError, match="E113") as refused:
        plan_of(True, **online)
    assert "bounded_update" in str(refused.value) and named in str(refused.value)


@pytest.mark.parametrize(("core", "code"), [(RTL_LEARNER, "E307"), (HLS_LEARNER, "E311")])
def test_a_core_with_its_own_schedule_refuses_the_key(core: Any, code: str) -> None:
    refusal = core.refusal(plan_of(True, reduction="fklms"))
    assert refusal is not None and code in str(refusal) and "bounded_update" in str(refusal)
    assert core.refusal(plan_of(False, reduction="fklms")) is None
