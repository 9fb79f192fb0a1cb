"""The error that the user sees is the sum of its terms, and each term is what its name says."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from kerncast.sim.diagnostics import error_budget as module
from kerncast.sim.diagnostics.simulate import Simulation, grid, simulate, y_values
from kerncast.sim.kernels import Gaussian
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec


def spec(algorithm: str, word: int = 16, columns: int = 1, **own: Any) -> Spec:
    tables: dict[str, Any] = {
        "toeplitz_rls": {"toeplitz": {"n": 40, "lambda": 0.1, "scheme": "uniform"}},
        "kernel_cg": {"cg": {"n": 40, "lambda": 0.1, "steps": 4}},
        "kernel_lms": {"online": {"budget": 12, "eta": 0.3}}}[algorithm]
    for table in tables.values():
        table |= own
    return Spec(model={"name": "budget", "algorithm": algorithm}, input={"word": "s8f0", "columns": columns},
                output={"word": "s12f0", "gain": 0.01}, kernel={"sigma": 3.0 if columns == 1 else 80.0},
                numbers={"word": word}, **tables)


def run(s: Spec, seed: int = 0) -> tuple[Simulation, Any]:
    random, uniform = np.random.default_rng(seed), s.toeplitz is not None and s.toeplitz.scheme == "uniform"
    y = random.integers(-2000, 2000, 40)
    x = None if uniform else random.integers(-128, 128, (40, s.input.columns))
    return simulate(make_plan(s), x, y), y


SPECS = [spec("toeplitz_rls"), spec("toeplitz_rls", bias=True), spec("toeplitz_rls", refine=2),
         spec("toeplitz_rls", 32, 2, scheme="diagonal_mean_biased", **{"lambda": 8.0}),
         spec("kernel_cg", 16, 3), spec("kernel_lms", 16, 2), spec("kernel_lms", 32)]


@pytest.mark.parametrize("s", SPECS)
def test_the_terms_add_up_to_the_error_that_the_user_sees(s: Spec) -> None:
    result, y = run(s)
    plan = make_plan(s)
    assert result.budget is not None
    seen = result.f - y * 0.01  # without test inputs, f is at the training inputs
    assert result.f.shape == y_values(plan, y).shape
    np.testing.assert_allclose(result.budget.total, seen, atol=1e-12 * np.abs(seen).max())
    assert sum(map(result.budget.part, result.budget.terms)) == pytest.approx(1.0)


@pytest.mark.parametrize("s", SPECS)
def test_the_quantisation_term_is_the_difference_to_the_float_reference(s: Spec) -> None:
    result, _ = run(s)
    assert result.budget is not None
    np.testing.assert_array_equal(result.budget.terms["quantisation"], result.f - result.f_float)


def test_a_longer_word_shrinks_quantisation_alone() -> None:
    short, long = (run(spec("toeplitz_rls", word))[0].budget for word in (16, 32))
    assert short is not None and long is not None
    assert long.rms("quantisation") < short.rms("quantisation") / 1000
    assert long.rms("regularisation") == short.rms("regularisation")


def test_a_uniform_grid_has_no_toeplitz_error_and_other_data_do() -> None:
    uniform = run(spec("toeplitz_rls"))[0].budget
    mean = run(spec("toeplitz_rls", 32, 2, scheme="diagonal_mean_biased", **{"lambda": 8.0}))[0].budget
    assert uniform is not None and mean is not None
    assert uniform.rms("Toeplitz approximation") < 1e-9 * uniform.rms()
    assert mean.rms("Toeplitz approximation") > 1e-3 * mean.rms()


def test_an_intercept_is_in_every_model_so_that_it_is_no_error() -> None:
    budget = run(spec("toeplitz_rls", refine=2, bias=True))[0].budget
    assert budget is not None
    assert budget.rms("Toeplitz approximation") < 1e-9 * budget.rms()
    assert budget.rms("quantisation") < 1e-5 * budget.rms()


def test_regularisation_is_lambda_times_the_true_matrix_s_coefficients() -> None:
    result, y = run(spec("toeplitz_rls"))
    X = np.arange(40.0)[:, np.newaxis]
    alpha = np.linalg.solve(Gaussian(3.0)(X, X) + 0.1 * np.eye(40), y * 0.01)
    assert result.budget is not None
    np.testing.assert_allclose(result.budget.terms["regularisation"], -0.1 * alpha, atol=1e-10)


def test_a_dictionary_for_all_samples_has_no_reduction_error() -> None:
    result, _ = run(spec("kernel_lms", 16, 2, budget=40))
    assert result.budget is not None
    assert result.budget.rms("reduction") < 1e-12


def test_beyond_a_few_thousand_samples_there_is_no_error_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SAMPLES", 39)
    assert run(spec("toeplitz_rls"))[0].budget is None


def test_the_budget_does_not_change_the_range_log() -> None:
    """It asks the model once more, after the log was read."""
    s = spec("kernel_lms", 16, 2)
    x = np.random.default_rng(0).integers(-128, 128, (40, 2))
    y = np.random.default_rng(1).integers(-2000, 2000, 40)
    few, model = simulate(make_plan(s), x, y, x[:1]), open_model(make_plan(s))
    model.update(x, y)
    model.predict(x[:1])
    assert few.ranges == tuple(model.ranges)
    assert few.budget is not None and len(few.budget.total) == 40 and len(few.f) == 1


def test_training_inputs_are_predicted_once_if_also_the_test_inputs(
        monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counting(plan: Plan) -> Any:
        model: Any = open_model(plan)
        predict = model.predict
        monkeypatch.setattr(model, "predict", lambda x: (asked.append(len(x)), predict(x))[1])
        return model

    monkeypatch.setattr(sys.modules[simulate.__module__], "open_model", counting)
    s = spec("toeplitz_rls")
    plan = make_plan(s)
    n = plan.sizes["n"]
    y = np.random.default_rng(1).integers(-2000, 2000, n)
    simulate(plan, None, y, grid(plan))
    simulate(plan, None, y, grid(plan)[:3])
    assert asked == [n, 3, n]
