"""The linear part by normalised LMS: near float64, honest about saturation, and for many columns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kerncast.sim.backend import STATUSES
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.spec import Spec


def spec_of(word: int = 16, columns: int = 3, raw: str = "s12f0", **online: Any) -> Spec:
    return Spec(model={"name": "t", "algorithm": "kernel_lms"}, kernel={"sigma": 300.0},
                input={"word": raw, "columns": columns}, output={"word": "s12f0"},
                online={"budget": 12, "eta": 0.2, "reduction": "nt", "quantise": 0.8, "linear": "nlms",
                        "linear_step": 0.5} | online, numbers={"word": word})


def plane(samples: int = 300, columns: int = 3) -> tuple[Any, Any]:
    """Inputs at random, and targets that are linear in them."""
    rng = np.random.default_rng(0)
    x = rng.integers(-1500, 1500, (samples, columns))
    return x, np.round(x @ np.linspace(0.5, -0.4, columns) / columns + 200).astype(np.int64)


@pytest.mark.parametrize("options", [{}, {"joint": True}, {"last_errors": 4, "gate": True}])
@pytest.mark.parametrize(("word", "most"), [(16, 2.0), (24, 0.02), (32, 0.02)])
def test_predictions_are_those_of_float64(word: int, most: float, options: dict[str, bool]) -> None:
    plan = make_plan(spec_of(word, **options))
    x, y = plane()
    outputs, reference = open_model(plan).update(x, y), FloatReference(plan).update(x, y)
    f = outputs["f"] * float(Fraction(plan.units["y"]))
    assert np.sqrt(np.mean((f - reference)[20:] ** 2)) < most  # of 2048 ADC counts
    assert not outputs["status"].any()


def test_a_linear_relation_is_learned() -> None:
    plan = make_plan(spec_of(eta=1e-6, linear_step=1.0))
    x, y = plane(1000)
    f = open_model(plan).update(x, y)["f"] * float(Fraction(plan.units["y"]))
    assert np.abs(f - y)[900:].max() < 8 < np.abs(y).max() / 50


@pytest.mark.parametrize("columns", [1, 65, 300])
def test_many_columns_at_their_ends_overflow_nothing(columns: int) -> None:
    plan, rng = make_plan(spec_of(columns=columns, joint=True)), np.random.default_rng(1)
    model = open_model(plan)
    for kind in range(2):
        x = np.full((60, columns), -2048) if kind == 0 else rng.choice([-2048, 2047], (60, columns))
        model.update(x, rng.choice([-2048, 2047], 60))
    assert np.abs(model.state()["linear_w"]).max() < 2**31 - 1


def test_zero_errors_change_nothing() -> None:
    model = open_model(make_plan(spec_of(columns=40)))
    zeros = np.zeros((3, 40), dtype=np.int64)
    found = model.update(zeros, np.zeros(3, dtype=np.int64))
    assert not found["status"].any() and not model.state()["linear_w"].any()


def test_a_w_beyond_its_range_is_reported() -> None:
    plan = make_plan(spec_of())
    model, (x, y) = open_model(plan), plane(3)
    model.update(x[:1], y[:1])
    state = dict(model.state())
    state["linear_w"] = np.array([2**31 - 1, 0, 0, 0])
    model.load(state)
    model.update(np.zeros((1, 3), dtype=np.int64), np.array([2047]))
    state["linear_w"] = np.array([-(2**31 - 1), 2**31 - 1, 0, 0])
    model.load(state)
    found = model.update(np.array([[2047, 0, 0]] * 2), np.array([2047] * 2))["status"]
    assert "saturated" in {STATUSES[s] for s in found}


def test_memory_grows_with_the_columns_and_not_with_their_square() -> None:
    fields = {f.name: f.count for f in make_plan(spec_of(columns=64)).memory}
    assert fields["linear_w"] == 65 and "linear_r" not in fields


@pytest.mark.parametrize(("online", "key"), [
    ({"linear": "rls"}, "linear_step"), ({"linear_ridge": 1.0}, "linear_ridge"),
    ({"linear_forgetting": 0.9}, "linear_forgetting"), ({"linear": None}, "linear_step")])
def test_a_key_of_the_other_kind_is_rejected(online: dict[str, Any], key: str) -> None:
    with pytest.raises(KerncastError) as told:
        spec_of(**online)
    assert ("E113", f"[online] {key}") in {(p.code, p.where) for p in told.value.problems}
