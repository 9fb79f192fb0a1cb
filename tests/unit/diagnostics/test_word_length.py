"""Advice from conditioning: predicted errors are close to measured ones; the word it names is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import toeplitz

from kerncast.sim.diagnostics.simulate import alpha_values, relative_error, simulate
from kerncast.sim.diagnostics.word_length import (
    Conditioning,
    choices,
    conditioning,
    conditioning_of,
    describe,
    measured_choices,
    predicted_error,
    smallest_sufficient,
)
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.backend import FloatReference
from kerncast.sim.spec import Spec

#: How close a prediction is: within this factor for each of the refine + 1 solves.
FACTOR = 4.0
GRID = [(n, lam, sigma) for n in (64, 256) for lam in (0.01, 0.1, 1.0) for sigma in (1.0, 3.0, 10.0, 30.0)]


def spec(n: int = 64, lam: float = 0.1, sigma: float = 3.0, word: int = 16, refine: int = 0) -> Spec:
    return Spec(model={"name": "advice", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
                output={"word": "s16f0" if (word, refine) == (16, 0) else "s22f0" if word == 24 else "s30f0"},
                kernel={"sigma": sigma}, numbers={"word": word},
                toeplitz={"n": n, "lambda": lam, "scheme": "uniform", "refine": refine})


def targets(plan: Plan, smooth: bool) -> Any:
    """Targets that fill their word: noise, or two sines with a little of it."""
    n, most, random = plan.sizes["n"], plan.signals["y_raw"].format.hi, np.random.default_rng(1)
    i = np.arange(n)
    y = 0.6 * np.sin(i * 2 * np.pi / 60) + 0.3 * np.sin(i * 2 * np.pi / 17) + 0.02 * random.normal(size=n)
    return np.round(most * (y if smooth else random.uniform(-1, 1, n))).astype(np.int64)


def measured(plan: Plan, smooth: bool) -> float:
    y, model, reference = targets(plan, smooth), open_model(plan), FloatReference(plan)
    model.train(None, y)
    reference.train(None, y)
    return relative_error(alpha_values(plan, model.state()), reference.alpha)


@pytest.mark.covering
@pytest.mark.parametrize(("word", "refine"), [(16, 0), (24, 0), (32, 0), (16, 1), (16, 2), (24, 1), (24, 2)])
def test_predicted_errors_are_within_a_factor_of_four_a_solve(word: int, refine: int) -> None:
    ratios = {}
    for n, lam, sigma in GRID:
        plan = make_plan(spec(n, lam, sigma, word, refine))
        predicted = predicted_error(conditioning_of(plan, None), word, refine)
        for smooth in (False, True) if predicted < 0.1 else ():
            ratios[n, lam, sigma, smooth] = predicted / measured(plan, smooth)
    factor = FACTOR ** (refine + 1)
    figures = ", ".join(f"{np.percentile(list(ratios.values()), q):.2f}" for q in (0, 25, 50, 75, 100))
    print(f"\n{word} bits, {refine} refinements: predicted over measured error, quartiles {figures}")
    beyond = {case: ratio for case, ratio in ratios.items() if not 1 / factor < ratio < factor}
    assert len(ratios) >= 30
    assert len(beyond) <= 1, beyond


def by(solver: str, asked: Spec) -> Spec:
    assert asked.toeplitz is not None
    return asked.model_copy(update={"toeplitz": asked.toeplitz.model_copy(update={"solver": solver})})


@pytest.mark.parametrize("word", [16, 32])
@pytest.mark.parametrize("solver", ["schur", "lookahead"])
def test_to_other_solvers_the_prediction_is_a_caution(solver: str, word: int) -> None:
    ratios = []
    for lam, sigma in ((0.01, 3.0), (0.01, 10.0), (0.1, 1.0), (0.1, 10.0), (1.0, 3.0), (1.0, 30.0)):
        plan = make_plan(by(solver, spec(64, lam, sigma, word)))
        predicted = predicted_error(conditioning_of(plan, None), word)
        ratios += [predicted / measured(plan, smooth) for smooth in (False, True)]
    assert min(ratios) > 1 / 5 and max(ratios) < 35
    assert "Predicted relative error" in describe(conditioning_of(plan, None), plan)


def test_beyond_the_rule_s_range_no_advice_is_given() -> None:
    indefinite = Conditioning(1.0, 0.0, float("inf"), float("inf"))
    for solver, system in (("lookahead", indefinite), ("lookahead_f32", Conditioning(0.9, 0.1, 70.0, 7.0))):
        asked = by(solver, spec())
        with pytest.raises(KerncastError, match="E120") as caught:
            choices(asked, system)
        assert caught.value.problems[0].value == solver
        assert "kerncast sim" in describe(system, make_plan(asked))


@pytest.mark.parametrize(("n", "lam", "sigma"), GRID)
def test_the_estimated_condition_is_that_of_the_matrix(n: int, lam: float, sigma: float) -> None:
    """Rayleigh quotients lie within the spectrum: never above the true condition, and near it."""
    r = np.exp(-np.arange(n) ** 2 / (2 * sigma**2))
    r[0] += lam
    eigenvalues = np.linalg.eigvalsh(toeplitz(r))
    true, found = eigenvalues[-1] / eigenvalues[0], conditioning(r)
    assert 0.5 * true < found.condition <= true * (1 + 1e-9)
    assert found.peak == pytest.approx(eigenvalues[-1] / r[0], rel=0.2)
    assert found.eps >= lam / (1 + lam) - 1e-12


def test_reflection_coefficients_and_error_power_are_those_of_the_recursion() -> None:
    found = conditioning(np.array([1.0, 0.5, 0.25, 0.125]))  # an AR(1): one coefficient, then none
    assert found.xi == pytest.approx(0.5)
    assert found.eps == pytest.approx(0.75)


def test_a_matrix_that_is_not_positive_definite_leaves_nothing() -> None:
    found = conditioning(np.array([1.0, 1.5, 0.2]))
    assert found.condition == float("inf")
    assert predicted_error(found, 32, 2) == 1.0


def test_the_advised_word_length_achieves_the_requested_error() -> None:
    for error in (3e-2, 1e-4, 1e-6):
        asked = spec(256, 0.1, 3.0)
        chosen = smallest_sufficient(choices(asked, conditioning_of(make_plan(asked), None)), error)
        assert chosen is not None
        plan = make_plan(spec(256, 0.1, 3.0, chosen.word, chosen.refine))
        assert measured(plan, smooth=False) <= error
        assert plan.ram_bytes == chosen.bytes


def test_the_least_ram_comes_first_and_nothing_may_be_enough() -> None:
    found = choices(spec(), Conditioning(0.9, 0.1, 1e3, 10.0))
    assert [c.bytes for c in found] == sorted(c.bytes for c in found)
    assert smallest_sufficient(found, 1e-12) is None
    assert smallest_sufficient(found, 0.5) == found[0]


def test_a_word_length_that_cannot_be_planned_is_not_offered() -> None:
    """lambda = 1e-9 leaves no bits at 16 bits."""
    words = {c.word for c in choices(spec(lam=1e-9), Conditioning(0.99, 1e-3, 1e9, 8.0))}
    assert 16 not in words


def test_other_algorithms_and_missing_inputs_are_refused() -> None:
    learner = Spec(model={"name": "a", "algorithm": "kernel_lms"}, input={"word": "u8f0"},
                   output={"word": "s8f0"}, kernel={"sigma": 3.0}, online={"budget": 4, "eta": 0.1})
    mean = Spec(model={"name": "a", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
                output={"word": "s8f0"}, kernel={"sigma": 3.0},
                toeplitz={"n": 4, "lambda": 0.1, "scheme": "diagonal_mean"})
    for each in (learner, mean):
        with pytest.raises(KerncastError, match="E120"):
            conditioning_of(make_plan(each), None)
    assert conditioning_of(make_plan(mean), np.arange(4)[:, np.newaxis]).condition < 1e6


def test_the_advice_states_the_lost_and_the_remaining_accuracy() -> None:
    plan = make_plan(spec(refine=2))
    text = describe(conditioning_of(plan, None), plan)
    assert "of the 15 bits" in text and "after 2 refinements" in text


# ---- conjugate gradients: measured -----------------------------------------------------------------------
def gradients(lam: float = 0.1, kernel: str = "gaussian") -> tuple[Spec, Any, Any]:
    """A spec and data of two columns whose targets fill their word."""
    random = np.random.default_rng(2)
    x = random.integers(-2048, 2048, (60, 2))
    y = np.round(30000 * np.sin(x[:, 0] / 700) * np.cos(x[:, 1] / 900)).astype(np.int64)
    return Spec(model={"name": "advice", "algorithm": "kernel_cg"}, input={"word": "s12f0", "columns": 2},
                output={"word": "s16f0"}, cg={"n": 60, "lambda": lam, "steps": 20},
                kernel={"type": kernel} | ({"sigma": 600.0} if kernel == "gaussian" else {})), x, y


def test_errors_of_conjugate_gradients_are_those_of_runs_on_the_data() -> None:
    asked, x, y = gradients()
    found = measured_choices(asked, x, y)
    assert [c.word for c in found] == [16, 24, 32]
    for choice in found:
        numbers = asked.numbers.model_copy(update={"word": choice.word})
        plan = make_plan(asked.model_copy(update={"numbers": numbers}))
        assert choice.error == simulate(plan, x, y).alpha_error
        assert (choice.bytes, choice.status) == (plan.ram_bytes, "ok")
    assert found[0].error > found[1].error
    assert smallest_sufficient(found, found[1].error) == found[1] and smallest_sufficient(found,
                                                                                          1e-15) is None


def test_a_word_length_at_which_training_is_refused_is_never_advised() -> None:
    found = measured_choices(*gradients(kernel="linear"))
    assert found[0].status == "not_positive_definite" and found[0].error == float("inf")
    assert smallest_sufficient(found[:1], 1.0) is None
