"""The linear part in float64: weighted least squares with a ridge that does not fade."""

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.estimators import KernelLMSClassifier, KernelLMSRegressor
from kerncast.sim.kernels import Gaussian
from kerncast.sim.reference import KernelLMS
from kerncast.sim.reference.online.linear import NormalisedLMS, SquareRootRLS

FORGETTING, RIDGE = 0.97, 0.02


def samples(n=120, columns=3):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, columns))
    return X, X @ np.arange(1.0, columns + 1) - 0.7 + rng.normal(0, 0.1, n)


def normal_equations(X, y):
    """The same model from its definition, one matrix at a time."""
    order = X.shape[1] + 1
    A, b = RIDGE * np.eye(order), np.zeros(order)
    for t, (x, target) in enumerate(zip(X, y, strict=True)):
        row, e = np.append(1.0, x), np.eye(order)[t % order]
        A = FORGETTING * A + np.outer(row, row) + (1 - FORGETTING) * order * RIDGE * np.outer(e, e)
        b = FORGETTING * b + row * target
    return np.linalg.solve(A, b)


def test_rotations_solve_the_weighted_normal_equations():
    X, y = samples()
    linear = SquareRootRLS(3, (), FORGETTING, RIDGE)
    for x, target in zip(X, y, strict=True):
        linear.learn(x, target)
    np.testing.assert_allclose(linear.w, normal_equations(X, y), rtol=1e-9)
    np.testing.assert_array_equal(linear.R, np.triu(linear.R))
    np.testing.assert_allclose(linear.predict(X), linear.w[0] + X @ linear.w[1:])


def test_several_outputs_are_solved_as_one_each():
    X, y = samples()
    both, alone = SquareRootRLS(3, (2,), FORGETTING, RIDGE), SquareRootRLS(3, (), FORGETTING, RIDGE)
    for x, target in zip(X, y, strict=True):
        both.learn(x, np.array([target, -target]))
        alone.learn(x, target)
    np.testing.assert_allclose(both.w, np.stack([alone.w, -alone.w], axis=1), rtol=1e-12)


def test_nothing_winds_up_in_a_long_pause():
    X, y = samples()
    linear = SquareRootRLS(3, (), FORGETTING, RIDGE)
    for x, target in zip(X, y, strict=True):
        linear.learn(x, target)
    for _ in range(5000):
        linear.learn(np.zeros(3), 0.0)
    smallest = np.linalg.svd(linear.R, compute_uv=False).min()
    assert smallest > 0.5 * np.sqrt(RIDGE)
    assert abs(linear.predict(X[0])) < 1e-3  # it has forgotten, and does not burst


@pytest.mark.parametrize("options", [{}, {"joint": True}, {"gate": True}, {"last_errors": 3}])
def test_a_linear_part_learns_a_line_that_the_kernel_part_cannot(options):
    X, y = samples(600)
    model = KernelLMSRegressor(0.5, 0.2, reduction="nt", quantise=0.8, linear="rls", budget=20,
                               presentations=1, **options).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.abs(model.coef_ - [1, 2, 3]).max() < 0.3
    learner = KernelLMS(3, Gaussian(0.5), 0.2, 0.0, "nt", 20, quantise=0.8,
                        linear=SquareRootRLS(3, (), 0.999, 1e-3), **options)
    learner.learn(X, y)
    np.testing.assert_allclose(model.predict(X), learner.predict(X), rtol=1e-9)


def test_classes_share_the_factor_of_the_linear_part():
    X, _ = samples(300)
    labels = np.argmax(X, axis=1)
    model = KernelLMSClassifier(0.5, 0.2, linear="rls", gate=True, budget=20, presentations=1).fit(X, labels)
    assert model.coef_.shape == (3, 3)
    assert model.score(X, labels) > 0.9


@pytest.mark.parametrize("options", [
    {"linear": "lms"}, {"linear": "rls", "linear_forgetting": 1.0}, {"linear": "rls", "linear_ridge": 0.0},
    {"linear": "rls", "linear_ridge": float("nan")}, {"linear": "rls", "last_errors": 17},
    {"linear": "rls", "last_errors": 1}])
def test_a_bad_linear_part_is_refused(options):
    with pytest.raises(KerncastError, match="E258"):
        KernelLMSRegressor(0.5, **options).fit(*samples())


def test_nlms_removes_a_share_of_the_error_of_each_output():
    X, y = samples()
    both, alone = NormalisedLMS(3, (2,), 0.3), NormalisedLMS(3, (), 0.3)
    for x, target in zip(X, y, strict=True):
        before = target - alone.predict(x)
        alone.learn(x, target)
        both.learn(x, np.array([target, -target]))
        assert target - alone.predict(x) == pytest.approx(0.7 * before)
    np.testing.assert_allclose(both.w, np.stack([alone.w, -alone.w], axis=1), rtol=1e-12)
    assert np.abs(alone.predict(X) - y)[80:].max() < 1.0


def test_the_scale_of_nlms_is_the_unit_of_its_inputs():
    X, y = samples()
    unit, scaled = NormalisedLMS(3, (), 0.3), NormalisedLMS(3, (), 0.3, 8.0)
    for x, target in zip(X, y, strict=True):
        unit.learn(x, target)
        scaled.learn(8.0 * x, target)
    np.testing.assert_allclose(scaled.predict(8.0 * X), unit.predict(X), rtol=1e-9)
