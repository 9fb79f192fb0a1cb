"""The detector of novel inputs: the leverage of online kernel RLS as an estimator of outliers."""

import numpy as np
import pytest

from kerncast.sim.errors import KerncastError
from kerncast.sim.estimators import OnlineKernelRLSDetector, OnlineKernelRLSRegressor

X = np.random.default_rng(3).normal(size=(300, 2))
FAR = np.array([[9.0, 9.0], [-7.0, 8.0]])


def detector(**options):
    return OnlineKernelRLSDetector(**({"sigma": 1.0, "features": 20} | options))


def test_far_inputs_are_outliers_and_have_the_lowest_scores():
    model = detector().fit(X)
    assert model.predict(FAR).tolist() == [-1, -1]
    assert model.score_samples(FAR).max() < model.score_samples(X).min()
    np.testing.assert_array_equal(model.decision_function(X), model.score_samples(X) - model.offset_)


def test_the_fraction_of_outliers_learned_is_the_contamination():
    for part in (0.01, 0.1, 0.5):
        assert (detector(contamination=part).fit(X).predict(X) == -1).sum() == round(part * len(X))


def test_the_score_is_minus_the_leverage_of_the_regressor():
    regressor = OnlineKernelRLSRegressor(sigma=1.0, features=20).fit(X, X[:, 0])
    np.testing.assert_array_equal(detector().fit(X).score_samples(FAR), -regressor.leverage(FAR))


def test_partial_fit_learns_on_and_keeps_the_first_threshold():
    model = detector(forgetting=0.99).partial_fit(X[:200])
    offset = model.offset_
    assert offset == detector(forgetting=0.99).fit(X[:200]).offset_
    assert model.predict(FAR).tolist() == [-1, -1]
    model.partial_fit(X[200:])
    whole = detector(forgetting=0.99).fit(X)
    np.testing.assert_array_equal(model.score_samples(FAR), whole.score_samples(FAR))
    model.partial_fit(np.repeat(FAR, 300, axis=0))
    assert model.offset_ == offset and model.predict(FAR).tolist() == [1, 1]


def test_a_given_threshold_needs_no_samples():
    model = detector(threshold=0.5).partial_fit(X[:1])
    assert model.offset_ == -0.5
    np.testing.assert_array_equal(model.predict(X) == -1, model.score_samples(X) < -0.5)


@pytest.mark.parametrize(("options", "code"), [
    ({"contamination": 0.0}, "E258"), ({"contamination": 0.6}, "E258"), ({"contamination": None}, "E258"),
    ({"contamination": float("nan")}, "E258"), ({"threshold": 0.0}, "E258"), ({"threshold": "high"}, "E258"),
    ({"threshold": float("inf")}, "E258"), ({"ridge": 0.0}, "E258"), ({"forgetting": 1.5}, "E258"),
    ({"features": 0}, "E258"), ({"sigma": -1.0}, "E220"), ({"sigma": "wide"}, "E220")])
def test_a_parameter_out_of_range_is_refused_and_changes_nothing(options, code):
    model = detector().fit(X)
    before = model.decision_function(FAR)
    with pytest.raises(KerncastError, match=code):
        model.set_params(**options).fit(X)
    np.testing.assert_array_equal(model.decision_function(FAR), before)


@pytest.mark.parametrize("bad", [np.full((5, 2), np.nan), np.ones((5, 3)), np.ones(5), np.ones((0, 2)),
                                 np.full((5, 2), "a")])
def test_bad_samples_are_refused_and_change_nothing(bad):
    model = detector().fit(X)
    before = model.decision_function(FAR)
    for call in (model.partial_fit, model.predict, model.score_samples):
        with pytest.raises(KerncastError, match="E233"):
            call(bad)
    np.testing.assert_array_equal(model.decision_function(FAR), before)


def test_constant_samples_leave_finite_scores():
    model = OnlineKernelRLSDetector(features=20).fit(np.zeros((50, 2)))
    assert np.isfinite(model.decision_function(FAR)).all() and model.predict(FAR).tolist() == [-1, -1]
