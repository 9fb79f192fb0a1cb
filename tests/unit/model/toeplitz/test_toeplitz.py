"""The integer Toeplitz trainer: its accuracy against float64, and what it answers to bad data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import pywt
import scipy.linalg

from kerncast.sim.backend import STATUSES
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

TOLERANCE = {16: 5e-3, 24: 2e-5, 32: 1e-6}


def plan_of(word: int = 16, lam: float = 0.1, n: int = 256, sigma: float = 2.0,
            scheme: str = "uniform", **tables: Any) -> Plan:
    return make_plan(Spec(
        model={"name": "ecg", "algorithm": "toeplitz_rls"}, kernel={"sigma": sigma},
        toeplitz={"n": n, "lam": lam, "scheme": scheme}, numbers={"word": word},
        **{"input": {"word": "u16f0"}, "output": {"word": "s12f0"}} | tables))


def ecg(n: int = 256, start: int = 0, noise: float = 30.0) -> np.ndarray:
    """Raw words: PyWavelets' ECG with known noise."""
    rng = np.random.default_rng(start)
    return np.round(pywt.data.ecg()[start:start + n] + rng.normal(0, noise, n)).astype(np.int64)


def alpha_of(plan: Plan, state: dict[str, np.ndarray]) -> np.ndarray:
    """Alpha in full scales of y."""
    return state["alpha"] * 2.0 ** (int(state["alpha_exp"][0]) - plan.signals["alpha"].format.frac)


def error_of(plan: Plan, y: np.ndarray, r: np.ndarray | None = None) -> float:
    """Relative error of alpha against float64, in the 2-norm."""
    model = open_model(plan)
    assert model.train(None, y)["status"].tolist() == [0]
    lam, sigma = float(plan.options["lambda"]), float(plan.options["sigma"])
    if r is None:
        r = np.exp(-np.arange(len(y)) ** 2 / (2 * sigma**2))
    expected = scipy.linalg.solve_toeplitz(np.r_[r[0] + lam, r[1:]], y / 2048.0)
    found = alpha_of(plan, model.state())
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


@pytest.mark.parametrize("start", [0, 300, 768])
@pytest.mark.parametrize("lam", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_alpha_of_the_ecg_is_within_the_promised_error_of_float64(word: int, lam: float, start: int) -> None:
    """5e-3 at 16 bits, 1e-6 at 32 bits, rounding of r included."""
    assert error_of(plan_of(word, lam), ecg(start=start)) <= TOLERANCE[word]


@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_the_error_holds_for_narrow_and_wide_kernels(word: int, sigma: float) -> None:
    assert error_of(plan_of(word, 0.1, sigma=sigma), ecg()) <= TOLERANCE[word]


@pytest.mark.parametrize("lam", [3.0, 100.0, 1e4, 1e6])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_a_large_lambda_does_not_cost_alpha_its_bits(word: int, lam: float) -> None:
    """Alpha is about y / lambda; counted in steps of x it would have 6 of 16 bits at 1000."""
    assert error_of(plan_of(word, lam), ecg()) <= TOLERANCE[word] / 5


@pytest.mark.parametrize("word", [16, 24, 32])
def test_the_stored_first_row_is_the_kernel_over_one_plus_lambda(word: int) -> None:
    plan = plan_of(word, 0.1)
    model = open_model(plan)
    model.train(None, ecg())
    r = model.workspace()["r"] * 2.0 ** (1 - word)
    expected = np.exp(-np.arange(256) ** 2 / 8.0) / 1.1
    assert r[0] == 0  # the implicit 1
    assert np.abs(r - expected)[1:].max() <= 2 * 2.0 ** (1 - word)


@pytest.mark.parametrize("scheme", ["diagonal_mean", "diagonal_mean_biased"])
@pytest.mark.parametrize("word", [16, 24, 32])
def test_the_first_row_of_lemma_2_is_the_mean_of_each_diagonal(word: int, scheme: str) -> None:
    n, lam, sigma = 24, 0.5, 40.0
    plan = plan_of(word, lam, n, sigma, scheme, input={"word": "u8f0", "columns": 2})
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, (n, 2))
    model = open_model(plan)
    model.train(x, ecg(n))
    d2 = ((x[:, None] - x[None]) ** 2).sum(-1)
    kernel = np.exp(-d2 / (2 * sigma**2))
    sums = np.array([np.trace(kernel, j) for j in range(n)])
    means = sums / (n if scheme.endswith("biased") else n - np.arange(n)) / (1 + lam)
    r = model.workspace()["r"] * 2.0 ** (1 - word)
    assert np.abs(r - means)[1:].max() <= 2 * 2.0 ** (1 - word)


@pytest.mark.parametrize("word", [16, 24, 32])
def test_predictions_at_training_points_are_the_expansion_of_stored_alpha(word: int) -> None:
    plan = plan_of(word, 0.1)
    y = ecg()
    model = open_model(plan)
    model.train(None, y)
    points = np.arange(256)
    found = model.predict(points.reshape(-1, 1))
    kernel = np.exp(-((points[:, None] - points[None]) ** 2) / 8.0)
    expected = kernel @ alpha_of(plan, model.state()) * 2 ** (word - 2)
    assert not found["status"].any()
    assert np.abs(found["f"] - expected).max() <= {16: 3.0, 24: 3.0, 32: 6.0}[word]


def status(outputs: dict[str, np.ndarray]) -> list[str]:
    return [STATUSES[code] for code in outputs["status"]]


def test_a_matrix_not_positive_definite_is_refused_with_a_clean_state() -> None:
    """Two clusters in turn: the unbiased means of the diagonals are not a positive definite row."""
    n = 16
    plan = plan_of(16, 1e-3, n, 1.0, "diagonal_mean", input={"word": "u8f0"})
    x = np.array([0, 100, 100, 0] * (n // 4)).reshape(n, 1)
    model = open_model(plan)
    assert status(model.train(x, ecg(n))) == ["not_positive_definite"]
    state = model.state()
    assert not any(state[name].any() for name in ("alpha", "alpha_exp", "bound", "trained"))
    assert status(model.predict(x[:2])) == ["not_trained"] * 2


def test_the_biased_means_of_the_same_data_are_solved() -> None:
    n = 16
    plan = plan_of(32, 1e-3, n, 1.0, "diagonal_mean_biased", input={"word": "u8f0"})
    x = np.array([0, 100, 100, 0] * (n // 4)).reshape(n, 1)
    assert status(open_model(plan).train(x, ecg(n))) == ["ok"]


@pytest.mark.parametrize(("scheme", "stated"), [("diagonal_mean", False), ("diagonal_mean_biased", True)])
def test_where_nothing_bounds_the_least_eigenvalue_no_bound_is_stated(scheme: str, stated: bool) -> None:
    """Means of the diagonals may leave eigenvalues down to -lambda, with no sign of it in the recursion."""
    n = 16
    plan = plan_of(32, 0.1, n, 1.0, scheme, input={"word": "u8f0"})
    model = open_model(plan)
    met = status(model.train(np.arange(n).reshape(n, 1), ecg(n)))
    assert met == (["ok"] if stated else ["inaccurate"])
    assert (model.state()["bound"][0] != plan.integer("no_bound")) == stated


def test_bad_arguments_are_answered_by_a_status() -> None:
    model = open_model(plan_of(n=8))
    assert status(model.predict(np.zeros((2, 1), dtype=np.int64))) == ["not_trained"] * 2
    assert status(model.train(None, np.zeros(7, dtype=np.int64))) == ["bad_argument"]
    assert status(model.update(np.zeros((3, 1), dtype=np.int64), np.zeros(3, dtype=np.int64))) == [
        "bad_argument"] * 3


def test_a_second_training_does_not_remember_the_first() -> None:
    plan, y = plan_of(n=64), ecg(64)
    once, twice = open_model(plan), open_model(plan)
    twice.train(None, -y)
    assert twice.train(None, y)["status"].tolist() == once.train(None, y)["status"].tolist()
    for name, words in once.state().items():
        assert np.array_equal(twice.state()[name], words), name
