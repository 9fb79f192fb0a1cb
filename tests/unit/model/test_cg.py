"""Conjugate gradients in integers: their accuracy against float64, their bound, and what bad data get."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_digits

from kerncast.sim.backend import STATUSES, Outputs
from kerncast.sim.diagnostics.simulate import simulate
from kerncast.sim.kernels import Gaussian
from kerncast.sim.model import open_model
from kerncast.sim.model.kernel import distance, kernel, kernel_constants
from kerncast.sim.model.ranges import Ranges
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.reference.solvers.cg import kernel_cg
from kerncast.sim.reference.solvers.elimination import elimination
from kerncast.sim.reference.systems.system import KernelSystem
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import DeviceStatus

WORDS = (16, 24, 32)
NO_BOUND = 1 << 62


def plan_of(word: int = 16, lam: float = 0.1, n: int = 200, sigma: float = 18.0, steps: int = 100,
            **tables: Any) -> Plan:
    return make_plan(Spec(
        model={"name": "t", "algorithm": "kernel_cg"}, kernel={"sigma": sigma},
        cg={"n": n, "lam": lam, "steps": steps}, numbers={"word": word},
        **{"input": {"word": "u5f0", "columns": 64}, "output": {"word": "s8f0"}} | tables))


def line(n: int, **tables: Any) -> dict[str, Any]:
    """Tables of a small problem: one column, and the widest range of what a test wants to vary."""
    return {"n": n, "input": {"word": "u8f0"}, "sigma": 20.0} | tables


@cache
def digits(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Raw words: 3 against 8."""
    X, labels = load_digits(return_X_y=True)
    chosen = np.isin(labels, (3, 8))
    return X[chosen][:n].astype(np.int64), np.where(labels[chosen] == 8, 100, -100)[:n]


@cache
def diabetes(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Raw words: ten columns of 10 bits, the progression of the disease."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X = (X - X.min(0)) / (X.max(0) - X.min(0)) * 1023
    return np.rint(X)[:n].astype(np.int64), np.rint((y - y.mean()) / 2)[:n].astype(np.int64)


def alpha_of(plan: Plan, state: Outputs) -> np.ndarray:
    """Alpha in full scales of y, which are 128 raw words here."""
    return state["alpha"] * 2.0 ** (int(state["alpha_exp"][0]) - (plan.word - 1))


def matrix(plan: Plan, x: np.ndarray) -> np.ndarray:
    """K + lambda I of raw words that are x words."""
    kernel = Gaussian(float(plan.options["sigma"]))
    return kernel(x.astype(float), x.astype(float)) + float(plan.options["lambda"]) * np.eye(len(x))


def word_matrix(plan: Plan, x: np.ndarray) -> np.ndarray:
    """The same of the kernel's words, as the device computes them: what the bound is about."""
    k, log, n = kernel_constants(plan), Ranges(plan).log, len(x)
    words = np.array([[kernel(distance(u, v, k), k, log) for v in x] for u in x], dtype=float)
    return words / 2.0 ** plan.signals["kernel"].format.frac + float(plan.options["lambda"]) * np.eye(n)


def trained(plan: Plan, x: np.ndarray, y: np.ndarray) -> tuple[str, Outputs]:
    model = open_model(plan)
    status = STATUSES[int(model.train(x, y)["status"][0])]
    return status, model.state() | model.workspace()


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


# ---- accuracy ----
@pytest.mark.parametrize(("lam", "sigma"), [(0.1, 18.0), (1.0, 18.0), (0.1, 12.0), (10.0, 30.0)])
@pytest.mark.parametrize(("word", "most"), [(16, 2e-3), (24, 1e-5), (32, 5e-8)])
def test_enough_steps_give_the_exact_solution_up_to_the_word_length(
        word: int, most: float, lam: float, sigma: float) -> None:
    plan, (x, y) = plan_of(word, lam, sigma=sigma), digits()
    status, state = trained(plan, x, y)
    assert status == "ok"
    assert relative(alpha_of(plan, state), np.linalg.solve(matrix(plan, x), y / 128)) <= most


@pytest.mark.parametrize("word", WORDS)
def test_another_real_data_set_of_other_widths(word: int) -> None:
    plan = plan_of(word, 0.3, sigma=500.0, input={"word": "u10f0", "columns": 10})
    x, y = diabetes()
    status, state = trained(plan, x, y)
    assert status == "ok"
    error = relative(alpha_of(plan, state), np.linalg.solve(matrix(plan, x), y / 128))
    assert error <= {16: 2e-3, 24: 1e-5, 32: 5e-8}[word]


@pytest.mark.parametrize(("word", "most"), [(16, 5e-3), (24, 2e-5), (32, 1e-6)])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_a_few_steps_are_those_of_float64(word: int, most: float, steps: int) -> None:
    plan, (x, y) = plan_of(word, steps=steps), digits()
    _, state = trained(plan, x, y)
    expected = kernel_cg(Gaussian(18.0), x.astype(float), y / 128, 0.1, steps)
    assert state["taken"].tolist() == [expected.iterations] == [steps]
    assert relative(alpha_of(plan, state), expected.x) <= most


@pytest.mark.parametrize("lam", [1e-9, 1e3, 1e5, 1e7])
@pytest.mark.parametrize("word", WORDS)
def test_a_target_of_any_size_and_any_lambda_keep_their_bits(word: int, lam: float) -> None:
    """Far samples make K = I: alpha is y / (1 + lambda), of full precision though y is one lsb."""
    plan = plan_of(word, lam, **line(4, sigma=0.5, output={"word": "s8f0"}))
    x = np.array([[0], [80], [160], [240]])
    for y in (np.array([127, -127, 3, 1]), np.array([0, 0, 1, 0])):
        _, state = trained(plan, x, y)
        assert relative(alpha_of(plan, state), y / 128 / (1 + lam)) <= 2.0 ** (2 - word) + 1e-9


@pytest.mark.parametrize("word", WORDS)
def test_it_stops_when_a_step_no_longer_changes_alpha(word: int) -> None:
    plan, (x, y) = plan_of(word, 1.0, sigma=10.0, steps=1000), digits()
    status, state = trained(plan, x, y)
    assert status == "ok"
    assert 3 < state["taken"][0] < 60


@pytest.mark.parametrize("word", WORDS)
def test_predictions_are_the_expansion_of_the_stored_alpha(word: int) -> None:
    plan, (x, y) = plan_of(word), digits()
    model = open_model(plan)
    model.train(x, y)
    K = matrix(plan, x) - 0.1 * np.eye(len(x))
    expected = K @ alpha_of(plan, model.state()) * 2 ** (word - 2)
    found = model.predict(x)
    assert not found["status"].any()
    assert np.abs(found["f"] - expected).max() <= {16: 12.0, 24: 40.0, 32: 40.0}[word]


# ---- residual and bound ----
@pytest.mark.covering
@pytest.mark.parametrize("steps", [1, 5, 100])
@pytest.mark.parametrize("word", WORDS)
def test_r_holds_the_true_residual_and_the_bound_holds(word: int, steps: int) -> None:
    plan, (x, y) = plan_of(word, steps=steps), digits()
    _, state = trained(plan, x, y)
    A, alpha = word_matrix(plan, x), alpha_of(plan, state)
    residual = y / 128 - A @ alpha
    found = state["r"] * 2.0 ** (int(state["r_exp"][0]) - (word - 1))
    lsb = 2.0 ** (1 - word)
    lambda_s = 2.0**-31 * 0.1 * np.linalg.norm(alpha)  # its mantissa has 31 bits
    assert np.linalg.norm(found - residual) <= 16 * lsb * np.linalg.norm(residual) + lambda_s + 1e-12
    bound = int(state["bound"][0]) * lsb * 2.0 ** int(state["alpha_exp"][0])
    error = np.linalg.norm(alpha - np.linalg.solve(A, y / 128))
    assert error <= bound <= 1.3 * np.linalg.norm(residual) / 0.1 + 100 * lsb


@given(st.sampled_from(WORDS), st.integers(2, 24), st.floats(-6, 3), st.integers(0, 3), st.randoms())
@settings(max_examples=60)
def test_no_answer_is_farther_from_the_exact_one_than_its_bound(
        word: int, n: int, decade: float, spread: int, random: Any) -> None:
    """Clouds with many duplicates, lambda from 1e-6 up, too few steps or plenty."""
    plan = plan_of(word, 10.0**decade, **line(n, steps=random.choice((1, 3, 50)),
                                              sigma=random.choice((3.0, 40.0, 500.0))))
    x = np.array([[random.randint(0, 4**spread - 1 + spread)] for _ in range(n)])
    y = np.array([random.choice((-128, 127, random.randint(-128, 127))) for _ in range(n)])
    status, state = trained(plan, x, y)
    if status == "not_positive_definite":
        return
    bound, exponent = int(state["bound"][0]), int(state["alpha_exp"][0])
    alpha = alpha_of(plan, state)
    step = 2.0 ** (exponent - (word - 1))
    assert (status == "ok") == (bound <= 0.5 * np.linalg.norm(state["alpha"]))
    if bound < NO_BOUND:
        exact = np.linalg.solve(word_matrix(plan, x), y / 128)
        assert np.linalg.norm(alpha - exact) <= bound * step + 1e-9 * np.linalg.norm(exact)


def test_too_few_steps_are_reported_as_inaccurate() -> None:
    x, y = digits()
    assert trained(plan_of(32, steps=2), x, y)[0] == "inaccurate"
    assert trained(plan_of(32, steps=60), x, y)[0] == "ok"
    model = open_model(plan_of(32, steps=2))
    model.train(x, y)
    assert STATUSES[int(model.predict(x[:1])["status"][0])] == "ok"  # it is trained all the same


# ---- data at the edges ----
@pytest.mark.parametrize("word", WORDS)
def test_targets_that_are_all_zero_need_no_step(word: int) -> None:
    plan = plan_of(word, **line(5))
    status, state = trained(plan, np.arange(5)[:, None], np.zeros(5, dtype=np.int64))
    assert (status, state["taken"][0], state["bound"][0], state["trained"][0]) == ("ok", 0, 0, 1)
    assert not state["alpha"].any() and not state["r"].any()


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("y", [[127] * 6, [-128] * 6, [127, -128] * 3])
def test_constant_targets_and_targets_at_the_rails(word: int, y: list[int]) -> None:
    plan = plan_of(word, 0.5, **line(6))
    x, targets = np.array([[0], [3], [60], [61], [128], [255]]), np.array(y)
    status, state = trained(plan, x, targets)
    assert status == "ok"
    error = relative(alpha_of(plan, state), np.linalg.solve(matrix(plan, x), targets / 128))
    assert error <= {16: 1e-3, 24: 1e-5, 32: 1e-7}[word]


@pytest.mark.parametrize("word", WORDS)
def test_the_smallest_model(word: int) -> None:
    plan = plan_of(word, 0.01, **line(2))
    x, y = np.array([[10], [20]]), np.array([100, -50])
    status, state = trained(plan, x, y)
    assert status == "ok"
    assert relative(alpha_of(plan, state), np.linalg.solve(matrix(plan, x), y / 128)) <= {
        16: 2e-3, 24: 1e-5, 32: 1e-7}[word]


@pytest.mark.parametrize("word", WORDS)
def test_samples_that_are_all_the_same_are_solved_by_their_mean(word: int) -> None:
    """K is all ones: alpha_i = (y_i - f) / lambda with f = n mean(y) / (n + lambda)."""
    n, lam = 8, 0.25
    plan = plan_of(word, lam, **line(n))
    y = np.array([100, 90, 120, 70, -10, 60, 127, 80])
    status, state = trained(plan, np.full((n, 1), 77), y)
    assert status == "ok" and state["taken"][0] < 10
    expected = (y - y.sum() / (n + lam)) / 128 / lam
    assert relative(alpha_of(plan, state), expected) <= {16: 2e-3, 24: 1e-5, 32: 1e-7}[word]


def singular() -> tuple[Plan, np.ndarray, np.ndarray]:
    """Hardly regularised, and K of rank one up to what 16 bits can see."""
    rng = np.random.default_rng(2)
    plan = plan_of(16, 1e-9, **line(32, sigma=4000.0, steps=400))
    return plan, rng.integers(0, 256, (32, 1)), rng.integers(-128, 128, 32)


def test_a_visibly_indefinite_matrix_is_refused_with_a_clean_state() -> None:
    plan, x, y = singular()
    model = open_model(plan)
    assert STATUSES[int(model.train(x, y)["status"][0])] == "not_positive_definite"
    state = model.state()
    assert not any(state[name].any() for name in state if name != "centers")
    assert model.predict(x[:2])["status"].tolist() == [DeviceStatus.NOT_TRAINED] * 2


def test_that_system_with_32_bits_or_more_lambda_is_solved_or_inaccurate() -> None:
    _, x, y = singular()
    assert trained(plan_of(32, 1e-9, **line(32, sigma=4000.0, steps=30)), x, y)[0] in (
        "inaccurate", "not_positive_definite")
    assert trained(plan_of(16, 0.5, **line(32, sigma=4000.0)), x, y)[0] == "ok"


def test_bad_arguments_are_answered_by_a_status() -> None:
    model = open_model(plan_of(**line(4)))
    x, y = np.zeros((4, 1), dtype=np.int64), np.zeros(4, dtype=np.int64)
    bad = DeviceStatus.BAD_ARGUMENT
    for answer in (model.train(None, y), model.train(x[:3], y), model.train(x, y[:3])):
        assert answer["status"].tolist() == [bad]
    assert model.update(x, y)["status"].tolist() == [bad] * 4
    assert model.predict(x)["status"].tolist() == [DeviceStatus.NOT_TRAINED] * 4


def test_a_second_training_does_not_remember_the_first() -> None:
    plan, (x, y) = plan_of(16), digits()
    once, twice = open_model(plan), open_model(plan)
    twice.train(x[::-1], -y)
    assert twice.train(x, y)["status"].tolist() == once.train(x, y)["status"].tolist()
    for name, words in once.state().items():
        assert np.array_equal(twice.state()[name], words), name


# ---- plan and reference ----
@pytest.mark.parametrize(("word", "size"), [(16, 2), (24, 4), (32, 4)])
def test_memory_is_linear_in_the_samples(word: int, size: int) -> None:
    n, columns = 200, 64
    plan = plan_of(word, n=n)
    model = n * (size + columns) + 8 + 2 * 2  # an input takes a byte
    trainer = n * (8 + 4 * size + columns) + 2 * 8 + 8 * 4 + 2 * 2
    assert plan.state_bytes == model + -model % 8
    assert plan.trainer_bytes == trainer + -trainer % 8


def test_the_reference_runs_the_steps_of_the_plan() -> None:
    plan, (x, y) = plan_of(32, steps=4), digits()
    result = simulate(plan, x, y, x[:7])
    assert result.alpha_error < 1e-6 and result.f_error < 1e-6


def test_the_float_reference_converges_to_the_exact_solution() -> None:
    x, y = digits()
    X, targets, kernel = x.astype(float), y / 128, Gaussian(18.0)
    exact = elimination(KernelSystem(kernel, X, 0.1), targets)
    near = kernel_cg(kernel, X, targets, 0.1, 100)
    assert exact.ok and near.ok and near.residual < 1e-9
    assert relative(near.x, exact.x) < 1e-9
    assert kernel_cg(kernel, X, 0 * targets, 0.1, 9).iterations == 0
