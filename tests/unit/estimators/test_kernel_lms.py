"""The online estimators: every reduction by name, what they tell while they learn, what they refuse."""

import re

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kerncast.sim.choices import REDUCTIONS
from kerncast.sim.errors import KerncastError
from kerncast.sim.estimators import KernelLMSClassifier, KernelLMSRegressor
from kerncast.sim.kernels import Gaussian
from kerncast.sim.reference import KernelLMS

ONLINE = (KernelLMSRegressor, KernelLMSClassifier)


def stream(n=150):
    X = np.random.default_rng(0).uniform(-3, 3, (n, 1))
    return X, np.sinc(X[:, 0])


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_every_reduction_by_name_is_that_of_the_reference(reduction):
    X, y = stream()
    parts = {"max_deterioration": 1e-3} if reduction == "mt" else {}
    model = KernelLMSRegressor(0.4, 0.2, 0.01, reduction=reduction, budget=15, presentations=2, **parts)
    model.fit(X, y)
    learner = KernelLMS(1, Gaussian(0.4), 0.2, 0.01, reduction, 15, **parts)
    learner.learn(X, y)
    learner.learn(X, y)
    np.testing.assert_array_equal(model.predict(X), learner.predict(X))
    assert len(model.dual_coef_) == len(model.support_vectors_) == learner.model.count <= 15


def test_given_parts_replace_those_of_the_reduction():
    X, y = stream()
    mixed = KernelLMSRegressor(0.4, reduction="nt", projection="klms", metric="mklms", budget=12).fit(X, y)
    named = KernelLMSRegressor(0.4, reduction="mklms", budget=12).fit(X, y)
    np.testing.assert_array_equal(mixed.dual_coef_, named.dual_coef_)
    fast = KernelLMSRegressor(0.4, metric="fast_klms", budget=12).fit(X, y)
    assert fast.status_ == "ok" and not np.array_equal(fast.dual_coef_, named.dual_coef_)


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_history_has_error_size_and_deterioration_of_every_sample(classes):
    X, y = stream(600)
    options = {"sigma": 0.4, "budget": 20}
    if classes == 1:
        model = KernelLMSRegressor(**options, presentations=2).fit(X, y)
    else:
        y = np.digitize(y, [0.0, 0.5][: classes - 1])
        model = KernelLMSClassifier(**options, presentations=2).fit(X, y)
    error, N, deterioration = model.history_
    assert error.shape == (1200, 3) if classes == 3 else (1200,)
    np.testing.assert_array_equal(N, np.minimum(np.arange(1, 1201), 20))
    gone = ~np.isnan(deterioration)
    assert not gone[:20].any() and gone[20:600].all() and np.all(deterioration[gone] >= 0)
    np.testing.assert_array_equal(model.residual_, np.max(np.linalg.norm(error[-600:], axis=0)))
    model.partial_fit(X[:7], y[:7])
    assert len(model.history_.error) == 7


def test_a_learner_that_forgets_follows_a_target_that_turns_round():
    X, y = stream(400)
    model = KernelLMSRegressor(0.4, 0.5, 0.02, reduction="mklms", budget=15).partial_fit(X, y)
    model.partial_fit(X, -y)
    assert np.mean((model.predict(X) + y) ** 2) < 0.02
    first, last = model.history_.error[:50], model.history_.error[-50:]
    assert np.mean(last**2) < 0.1 * np.mean(first**2)


@pytest.mark.parametrize("kind", ONLINE)
def test_fit_prints_nothing_unless_verbose(kind, capsys):
    X, y = stream(300)
    kind(0.4, budget=10, presentations=2).fit(X, y > 0)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ONLINE)
def test_verbose_shows_samples_and_their_rate_on_stderr(kind, capsys):
    X, y = stream(300)
    kind(0.4, budget=10, presentations=2, verbose=True).fit(X, y > 0)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(rf"{kind.__name__}: 600/600 samples, [\d,]+ samples/s N = 10", err)


@pytest.mark.parametrize("kind", ONLINE)
@pytest.mark.parametrize(("eta", "rho", "bound"), [(2.0, 0.0, "2"), (1.7, 0.25, "1.6")])
def test_an_eta_outside_the_stable_range_is_warned_of_with_the_bound(kind, eta, rho, bound):
    X, y = stream(20)
    with pytest.warns(ConvergenceWarning, match=rf"eta = {eta:g} is outside.*= {bound}\. "):
        kind(0.01, eta, rho).fit(X, y > 0)


@pytest.mark.parametrize("kind", ONLINE)
@pytest.mark.parametrize(("options", "code"), [
    ({"budget": 0}, "E229"), ({"budget": None}, "E229"), ({"projection": "magic"}, "E230"),
    ({"metric": "magic"}, "E230"), ({"truncation": -1.0}, "E258"), ({"quantise": 1.0}, "E258"),
    ({"max_age": 0}, "E258"),
    ({"max_deterioration": "much"}, "E258"), ({"ls_penalty": -1.0}, "E258"), ({"reduction": "mt"}, "E258"),
])
def test_bad_parts_are_refused(kind, options, code):
    with pytest.raises(KerncastError, match=code):
        kind(sigma=1.0, **options).fit([[0.0], [1.0], [3.0]], [0, 1, 1])


@pytest.mark.parametrize("kind", ONLINE)
@pytest.mark.parametrize(("X", "y"), [
    ([[float("nan")]], [1]), ([[1.0]], [float("nan")]), ([[1.0, 2.0]], [1]), (np.zeros((1, 0)), [1]),
    (np.zeros((0, 1)), []), ([[1.0]], [1, 0]),
])
def test_refused_samples_leave_the_learner_unchanged(kind, X, y):
    model = kind(sigma=1.0).partial_fit([[0.0], [1.0]], [0, 1])
    before = model.predict([[0.3]])
    with pytest.raises(KerncastError, match=r"E23[23]"):
        model.partial_fit(X, y)
    assert model.predict([[0.3]]) == before and len(model.support_vectors_) == 2
