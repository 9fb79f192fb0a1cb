"""Online kernel RLS in float64: it solves its normal equations, in bounded steps, and follows changes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.estimators import KernelLMSRegressor, OnlineKernelRLSClassifier, OnlineKernelRLSRegressor
from kerncast.sim.reference.online.kernel_rls import OnlineKernelRLS, random_directions


def samples(count: int = 400, columns: int = 2) -> tuple[Any, Any]:
    X = np.random.default_rng(0).uniform(-2, 2, (count, columns))
    return X, np.sin(2 * X[:, 0]) * X[:, -1] + 0.3 * X[:, 0] + 1.0


def exact(learner: OnlineKernelRLS, X: Any, y: Any, forgetting: float, ridge: float) -> Any:
    """The solution of the weighted normal equations."""
    phi, weights = learner.features(X), forgetting ** np.arange(len(y))[::-1]
    return np.linalg.solve((phi.T * weights) @ phi + ridge * np.eye(phi.shape[1]), (phi.T * weights) @ y)


@pytest.mark.parametrize("linear", [False, True])
def test_many_steps_give_the_solution_of_the_normal_equations(linear: bool) -> None:
    X, y = samples(60)
    learner = OnlineKernelRLS(2, 1.0, 12, 0.99, 0.1, linear, steps=3000)
    learner.learn(X, y)
    np.testing.assert_allclose(learner.w, exact(learner, X, y, 0.99, 0.1), atol=1e-3)


def test_beta_is_the_residual_of_the_normal_equations() -> None:
    X, y = samples()
    learner = OnlineKernelRLS(2, 1.0, 12, 0.99, 0.1, steps=3)
    learner.learn(X, y)
    phi, weights = learner.features(X), 0.99 ** np.arange(len(y))[::-1]
    p = (phi.T * weights) @ y
    np.testing.assert_allclose(learner.beta, p - learner.R @ learner.w, atol=1e-9 * np.abs(p).max())


def test_no_step_raises_the_energy_of_the_error() -> None:
    X, y = samples(60)
    learner = OnlineKernelRLS(2, 1.0, 12, 0.99, 0.1, steps=1)
    learner.learn(X, y)
    target, energy = learner.w + np.linalg.solve(learner.R, learner.beta), []
    for _ in range(200):
        energy.append((learner.w - target) @ learner.R @ (learner.w - target))
        learner._descend(learner.w, learner.beta)
    assert all(after <= before for before, after in pairwise(energy))
    assert energy[-1] < 0.1 * energy[0]


def test_products_of_features_approximate_the_gaussian_kernel() -> None:
    X = samples(30)[0]
    # The mean over 10 tables of 2,000 features: one table of 20,000 has a matrix of 3 GB.
    tables = [OnlineKernelRLS(2, 1.0, 2000, linear=False, seed=seed).features(X)[:, 1:] for seed in range(10)]
    kernel = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(-1))
    assert np.abs(np.mean([phi @ phi.T for phi in tables], axis=0) - kernel).max() < 0.05


def test_the_table_of_a_seed_is_always_the_same() -> None:
    directions, phases = random_directions(2, 2, 7)
    np.testing.assert_allclose(np.column_stack([phases, directions]), SEVEN, rtol=1e-12)


SEVEN = [[3.927590651355012, 1.2658343395327667, 0.7577033058522639],
         [1.4150185072200887, -0.523922320010044, 1.143350467334201]]


def test_a_pause_without_excitation_does_not_wind_up() -> None:
    X, y = samples()
    learner = OnlineKernelRLS(2, 1.0, 30, 0.99)
    learner.learn(X, y)
    learner.learn(np.zeros((5000, 2)), np.zeros(5000))
    assert np.abs(learner.w).max() < 100 and np.linalg.eigvalsh(learner.R).min() > 0.5e-3
    learner.learn(X, y)
    assert np.sqrt(np.mean((learner.predict(X) - y) ** 2)) < 0.3


def test_it_learns_in_fewer_samples_than_kernel_lms() -> None:
    X, y = samples(1000)
    second = OnlineKernelRLSRegressor(1.0, 60).fit(X[:500], y[:500]).score(X[500:], y[500:])
    first = KernelLMSRegressor(1.0, 0.5, reduction="nt", quantise=0.8, budget=60, presentations=1)
    assert 1 - second < 0.2 * (1 - first.fit(X[:500], y[:500]).score(X[500:], y[500:]))


def test_pieces_learn_what_the_whole_learns() -> None:
    X, y = samples(200)
    whole = OnlineKernelRLSRegressor(1.0, 20).fit(X, y)
    pieces = OnlineKernelRLSRegressor(1.0, 20).partial_fit(X[:70], y[:70]).partial_fit(X[70:], y[70:])
    np.testing.assert_array_equal(whole.coef_, pieces.coef_)
    assert whole.error_.shape == (200,)


def test_three_classes_share_the_features() -> None:
    X, y = samples(600)
    labels = np.digitize(y, [0.5, 1.5])
    model = OnlineKernelRLSClassifier(1.0, 60).fit(X, labels)
    assert model.coef_.shape == (63, 3) and model.score(X, labels) > 0.8


@pytest.mark.parametrize(("option", "code"), [
    ({"sigma": 0.0}, "E220"), ({"features": 0}, "E258"), ({"forgetting": 1.1}, "E258"),
    ({"ridge": 0.0}, "E258"), ({"steps": 0}, "E258"), ({"seed": -1}, "E258"), ({"presentations": 0}, "E234")])
def test_a_parameter_out_of_range_is_refused(option: dict[str, Any], code: str) -> None:
    with pytest.raises(KerncastError, match=code):
        OnlineKernelRLSRegressor(**option).fit(*samples(20))


def test_the_leverage_is_that_of_least_squares_and_large_for_other_inputs() -> None:
    X, y = samples()
    model = OnlineKernelRLSRegressor(sigma=1.0, features=30, forgetting=1.0, ridge=1e-3).fit(X, y)
    phi = model._learner.features(X)
    hat = phi @ np.linalg.solve(phi.T @ phi + 1e-3 * np.eye(phi.shape[1]), phi.T)
    np.testing.assert_allclose(model.leverage(X), np.diag(hat), rtol=1e-6)
    assert model.leverage(np.array([[6.0, -6.0]]))[0] > 10 * np.quantile(model.leverage(X), 0.99)
