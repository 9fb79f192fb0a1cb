"""The intercept of the banded solver: its weights, its accuracy, its limits, and the independent model."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from kerncast.sim.errors import KerncastError
from kerncast.sim.fxp_model import open_fxp_model
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import OK, SATURATED
from kerncast.sim.model.toeplitz.trainer import ToeplitzModel, certified_bound
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def plan_of(word: int = 16, n: int = 256, sigma: float = 3.0, lam: float = 0.1, solver: str = "banded",
            output: str = "s16f0", rounding: str = "half_up", **more: object) -> Plan:
    return make_plan(Spec(
        model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"}, output={"word": output},
        kernel={"sigma": sigma}, numbers={"word": word, "rounding": rounding},
        toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "solver": solver, "bias": True, **more}))


def column(plan: Plan, sigma: float = 3.0) -> np.ndarray:
    r = np.exp(-0.5 * (np.arange(float(plan.sizes["n"])) / sigma) ** 2)
    r[0] += plan.lam
    return r


def exact_weights(plan: Plan, sigma: float = 3.0) -> np.ndarray:
    w = scipy.linalg.solve_toeplitz(column(plan, sigma), np.ones(plan.sizes["n"]))
    return w / w.sum()


def trained(plan: Plan, y: np.ndarray) -> ToeplitzModel:
    model = open_model(plan)
    assert isinstance(model, ToeplitzModel)
    model.train(None, y)
    return model


def offset_noise(n: int) -> np.ndarray:
    return 12000 + np.random.default_rng(3).integers(-6000, 6000, n)


def errors(plan: Plan, y: np.ndarray) -> tuple[float, float]:
    """Return the relative errors of b and of alpha against float64."""
    state, b = trained(plan, y).state(), float(exact_weights(plan) @ y)
    alpha = scipy.linalg.solve_toeplitz(column(plan), y - b)
    lsb = float(plan.signals["alpha"].format.lsb) * 2.0 ** (int(state["alpha_exp"][0]) + 15)
    found = int(state["bias"][0]) * 2.0 ** (15 - plan.signals["y"].format.frac)
    return abs(found - b) / b, float(np.linalg.norm(state["alpha"] * lsb - alpha) / np.linalg.norm(alpha))


@pytest.mark.parametrize(("n", "sigma", "lam"), [(256, 3.0, 0.1), (33, 2.0, 0.1), (40, 2.0, 1e-4),
                                                (2, 0.2, 1.0), (1000, 1.0, 10.0)])
def test_the_weights_are_those_of_the_exact_system(n: int, sigma: float, lam: float) -> None:
    plan = plan_of(32, n, sigma, lam)
    table, i = plan.tables["weight"], np.arange(n)
    w = np.array(table.values)[np.minimum(np.minimum(i, n - 1 - i), len(table.values) - 1)]
    np.testing.assert_allclose(w * float(table.format.lsb), exact_weights(plan, sigma), rtol=0,
                               atol=2 * float(table.format.lsb))


@pytest.mark.parametrize(("word", "of_b", "of_alpha"), [(16, 1e-4, 3e-4), (24, 1e-6, 2e-6), (32, 2e-9, 6e-9)])
def test_intercept_and_alpha_are_as_exact_as_the_word_length(word: int, of_b: float, of_alpha: float) -> None:
    plan = plan_of(word)
    found = errors(plan, offset_noise(256))
    assert found[0] < of_b and found[1] < of_alpha


@pytest.mark.parametrize("word", [16, 24, 32])
def test_the_errors_are_below_those_of_levinson(word: int) -> None:
    found, of_levinson = (errors(plan_of(word, solver=solver), offset_noise(256))
                          for solver in ("banded", "levinson"))
    assert found[0] < of_levinson[0] / 10 and found[1] < of_levinson[1] / 5


@pytest.mark.parametrize("word", [16, 24, 32])
def test_a_constant_is_the_intercept_alone(word: int) -> None:
    plan = plan_of(word, 100)
    state, y = trained(plan, np.full(100, -12346)).state(), -6173 * 2 ** (word - 16)
    assert state["bias"][0] == y and not state["alpha"].any() and state["bound"][0] == 0


def test_an_intercept_that_leaves_no_room_is_limited_with_a_status() -> None:
    plan, y = plan_of(16, 64, output="s17f0"), np.full(64, -(1 << 16))
    assert plan.integer("intercept_lo") == -16383  # the largest y is 16384
    model = open_model(plan)
    assert model.train(None, y)["status"][0] == SATURATED
    state = model.state()
    assert state["bias"][0] == -16383 and state["bound"][0] > 0


@pytest.mark.parametrize("output", ["s16f0", "s17f0", "u12f0", "s32f0"])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_every_target_less_the_intercept_fits_the_word_length(word: int, output: str) -> None:
    plan = plan_of(word, 64, output=output)
    raw, word_format = plan.signals["y_raw"].format, plan.signals["y"].format
    model = open_model(plan)
    for y in (np.full(64, raw.lo), np.full(64, raw.hi)):
        y[5] = raw.hi if y[0] == raw.lo else raw.lo
        assert model.train(None, y)["status"][0] in (OK, SATURATED)
        centred = model._targets(y) - int(model.state()["bias"][0])  # type: ignore[attr-defined]
        assert word_format.lo <= centred.min() and centred.max() <= word_format.hi


@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_even"])
@pytest.mark.parametrize(("word", "n"), [(16, 32), (24, 29), (32, 32)])
def test_the_second_model_has_the_same_words(word: int, n: int, rounding: str) -> None:
    plan, y = plan_of(word, n, 1.5, 0.05, rounding=rounding), offset_noise(n)
    model, second = open_model(plan), open_fxp_model(plan)
    assert model.train(None, y)["status"] == second.train(None, y)["status"]
    assert all(np.array_equal(words, second.state()[name]) for name, words in model.state().items())
    assert np.array_equal(model.fitted()["f"], second.fitted()["f"])  # type: ignore[attr-defined]


def test_fitted_values_include_the_intercept() -> None:
    plan, y = plan_of(24), offset_noise(256)
    found = trained(plan, y).fitted()["f"]
    b = float(exact_weights(plan) @ y)
    exact = y - plan.lam * scipy.linalg.solve_toeplitz(column(plan), y - b)
    np.testing.assert_allclose(found / 2.0**7, exact, rtol=0, atol=0.05)


def test_the_bound_of_a_saved_state_is_that_of_its_training() -> None:
    plan, y = plan_of(16), offset_noise(256)
    model = trained(plan, y)
    assert certified_bound(plan, model._targets(y), model.state()) == model.state()["bound"][0]


def test_candidates_with_an_intercept_are_refused() -> None:
    with pytest.raises(KerncastError, match="E113") as caught:
        plan_of(candidates=((2.0, 0.3),))
    assert "bias" in caught.value.problems[0].where


def test_other_solvers_name_those_that_train_an_intercept() -> None:
    with pytest.raises(KerncastError, match="E113") as caught:
        plan_of(solver="schur")
    assert 'solver = "levinson" or "banded"' in caught.value.problems[0].allowed
