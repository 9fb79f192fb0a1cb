"""The fitted values y - lambda alpha: accuracy, the independent model, and when there are none."""

from __future__ import annotations

import numpy as np
import pytest

from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model
from kerncast.sim.model.kernel import cast_of
from kerncast.sim.model.statuses import OK, OUT_OF_ORDER
from kerncast.sim.model.toeplitz.fitted import fitted
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.spec import Spec


def plan_of(word: int = 16, n: int = 28, lam: float = 0.1, rounding: str = "half_up",
            **toeplitz: object) -> Plan:
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": "s16f0"},
        kernel={"type": "gaussian", "sigma": 2.0}, numbers={"word": word, "rounding": rounding},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", **toeplitz}))


def trained(plan: Plan, y: np.ndarray) -> ToeplitzModel:
    model = open_model(plan)
    assert isinstance(model, ToeplitzModel)
    model.train(None, y)
    return model


def walk(n: int) -> np.ndarray:
    steps = np.random.default_rng(1).normal(size=n)
    return np.clip(np.cumsum(steps) * 4000, -32768, 32767).astype(np.int64)


def exact(plan: Plan, y: np.ndarray) -> np.ndarray:
    """Return the fitted values of float64, in LSB of y."""
    reference = FloatReference(plan)
    alpha = reference.train(None, y).x
    count = float(reference.targets(np.array([1]))[0])
    counts = (reference.targets(y) - plan.lam * alpha) / count
    return counts * plan.integer("y_gain") / 2 ** plan.integer("y_shift")


@pytest.mark.parametrize("options", [
    {"solver": "banded"}, {"solver": "levinson"}, {"solver": "levinson", "bias": True}, {"solver": "schur"},
    {"solver": "lookahead"}], ids=str)
def test_fitted_values_are_nearer_the_exact_ones_than_predictions(options: dict[str, object]) -> None:
    plan, y = plan_of(**options), walk(28)
    model, ideal = trained(plan, y), exact(plan, y)
    found, predicted = model.fitted(), model.predict(np.arange(28)[:, np.newaxis])
    assert found["status"] == OK
    error = np.linalg.norm(found["f"] - ideal)
    assert error < 0.7 * np.sqrt(28) and error < np.linalg.norm(predicted["f"] - ideal)


@pytest.mark.parametrize(("rounding", "lam", "options"), [
    ("half_up", 0.1, {"solver": "banded", "n": 24}), ("half_even", 40.0, {"solver": "banded", "n": 24}),
    ("floor", 1e-3, {"word": 24}), ("half_even", 0.1, {"word": 32, "bias": True}),
    ("half_up", 1e-3, {"refine": 1}), ("half_even", 0.25, {})], ids=str)
def test_the_model_in_fractions_computes_the_same_fitted_values(
        rounding: str, lam: float, options: dict[str, object]) -> None:
    plan = plan_of(**{"n": 8, "lam": lam, "rounding": rounding} | options)
    assert plan.fits
    n = plan.sizes["n"]
    for y in (walk(n), np.tile([32767, -32768], n // 2), walk(n) // 4096):
        other = open_fxp_model(plan)
        other.train(None, y)
        ours, theirs = trained(plan, y).fitted(), other.fitted()
        assert {name: words.tolist() for name, words in ours.items()} == {
            name: words.tolist() for name, words in theirs.items()}


def test_a_value_beyond_the_range_is_limited_and_reported() -> None:
    plan = plan_of()
    model, f = trained(plan, walk(28)), np.zeros(3, dtype=np.int64)
    y, alpha = np.array([32767, -32768, 5]), np.array([-32768, 32767, 0])
    assert fitted(y, alpha, 26214, 15, cast_of(plan, "f"), f, model.ranges.log)
    assert f.tolist() == [32767, -32768, 5]


def test_there_are_no_fitted_values_without_a_solution() -> None:
    model = open_model(plan_of())
    assert isinstance(model, ToeplitzModel)
    assert model.fitted()["status"] == OUT_OF_ORDER


def test_a_loaded_state_leaves_the_fitted_values_of_the_training() -> None:
    plan = plan_of()
    model, other = trained(plan, walk(28)), trained(plan, -walk(28))
    before = model.fitted()["f"]
    model.load(other.state())
    assert np.array_equal(model.fitted()["f"], before)


@pytest.mark.parametrize(("lam", "options"), [(1e9, {"bias": True}), (0.1, {"scheme": "diagonal_mean"})])
def test_plans_without_exact_fitted_values_have_none(lam: float, options: dict[str, object]) -> None:
    assert not plan_of(lam=lam, **options).fits
