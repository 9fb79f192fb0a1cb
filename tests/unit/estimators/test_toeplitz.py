"""The scikit-learn estimators on the float reference."""

import doctest
import importlib
import pickle
import subprocess
import sys
import unittest
import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from scipy.linalg import LinAlgWarning
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from kerncast.sim.errors import KerncastError
from kerncast.sim.estimators import (
    KernelLMSClassifier,
    KernelLMSRegressor,
    KernelRLSClassifier,
    KernelRLSRegressor,
    OnlineKernelRLSClassifier,
    OnlineKernelRLSDetector,
    OnlineKernelRLSRegressor,
    ToeplitzRLSClassifier,
    ToeplitzRLSRegressor,
)
from kerncast.sim.kernels import Linear, gaussian
from kerncast.sim.reference import first_row

ALL = (ToeplitzRLSRegressor, ToeplitzRLSClassifier, KernelLMSRegressor, KernelLMSClassifier,
       KernelRLSRegressor, KernelRLSClassifier)
TOEPLITZ, ONLINE = ALL[:2], ALL[2:4]


@pytest.mark.covering
@parametrize_with_checks([
    ToeplitzRLSRegressor(), ToeplitzRLSRegressor(fit_intercept=True, scheme="diagonal_mean_biased"),
    ToeplitzRLSRegressor(solver="lookahead"), ToeplitzRLSClassifier(solver="pcg"),
    ToeplitzRLSClassifier(), ToeplitzRLSClassifier(fit_intercept=True),
    KernelLMSRegressor(), KernelLMSRegressor(reduction="none"), KernelLMSClassifier(),
    KernelLMSRegressor(reduction="mklms", budget=20, max_deterioration=1e-9, presentations=3),
    KernelLMSClassifier(reduction="nt", rho=0.01, truncation=1e-6, max_age=5000, presentations=3),
    KernelRLSRegressor(kernel=Linear(), lam="loo"), KernelRLSRegressor(solver="subset", fit_intercept=True),
    KernelRLSRegressor(), KernelRLSClassifier(solver="cg", fit_intercept=True),
    OnlineKernelRLSRegressor(features=30),
    OnlineKernelRLSClassifier(features=20, linear=False, presentations=3),
    OnlineKernelRLSDetector(features=20),
])
def test_estimators_keep_the_conventions_of_scikit_learn(estimator, check):
    try:
        check(estimator)
    except unittest.SkipTest as reason:  # parts of a check that kerncast does not offer to pass
        assert "pandas" in str(reason) or "SCIPY_ARRAY_API" in str(reason)


def digits_3_and_8():
    digits = load_digits()
    chosen = np.isin(digits.target, (3, 8))
    order = np.random.default_rng(0).permutation(chosen.sum())
    return digits.data[chosen][order], digits.target[chosen][order]


def signal(n=120):
    t = np.arange(n, dtype=float)[:, np.newaxis]
    return t, np.sin(t[:, 0] / 9) + 0.1 * np.random.default_rng(1).normal(size=n)


@pytest.mark.parametrize("outputs", [(), (2,)])
def test_on_a_uniform_grid_toeplitz_rls_is_exact_kernel_ridge_regression(outputs):
    t, y = signal()
    if outputs:
        y = np.column_stack((y, y**2))
    model = ToeplitzRLSRegressor(sigma=3.0, lam=0.1).fit(t, y)
    exact = KernelRidge(alpha=0.1, kernel="rbf", gamma=1 / (2 * 9.0)).fit(t, y)
    np.testing.assert_allclose(model.dual_coef_, exact.dual_coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.predict(t + 0.5), exact.predict(t + 0.5), rtol=1e-8, atol=1e-10)
    assert (model.status_, model.scheme_, model.intercept_, model.n_features_in_) == ("ok", "uniform", 0.0, 1)
    assert model.residual_ < 1e-10


@pytest.mark.parametrize("outputs", [(), (2,)])
def test_the_intercept_solves_the_ls_svm_system(outputs):
    t, y = signal()
    y = 5 + y if not outputs else np.column_stack((5 + y, y**2 - 3))
    model = ToeplitzRLSRegressor(sigma=3.0, lam=0.1, fit_intercept=True).fit(t, y)
    n = len(t)
    system = np.zeros((n + 1, n + 1))
    system[0, 1:] = system[1:, 0] = 1.0
    system[1:, 1:] = gaussian(t, t, 3.0) + 0.1 * np.eye(n)
    expected = np.linalg.solve(system, np.concatenate((np.zeros((1, *outputs)), y)))
    np.testing.assert_allclose(model.intercept_, expected[0], rtol=1e-8)
    np.testing.assert_allclose(model.dual_coef_, expected[1:], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-9)


def indefinite():
    """Samples of which plain diagonal means make an indefinite T: options, X, y."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    return {"sigma": 1.0, "lam": 1e-4, "scheme": "diagonal_mean", "fit_intercept": True}, X, np.sign(X[:, 0])


@pytest.mark.parametrize("solver", ["levinson", "schur", "pcg"])
def test_an_indefinite_matrix_warns_reports_it_and_gives_a_model_of_zeros(solver):
    options, X, y = indefinite()
    model = ToeplitzRLSRegressor(**options, solver=solver)
    with pytest.warns(LinAlgWarning,
                      match=r"not_positive_definite.*coefficients are 0.*diagonal_mean_biased"):
        model.fit(X, y)
    assert (model.status_, model.solver_) == ("not_positive_definite", solver)
    assert np.all(model.dual_coef_ == 0.0) and model.intercept_ == 0.0
    assert np.all(model.predict(X) == 0.0)
    assert model.residual_ == pytest.approx(np.linalg.norm(y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ToeplitzRLSRegressor(sigma=1.0, lam=1e-4, solver=solver).fit(X, y).status_ == "ok"


def test_auto_solves_an_indefinite_matrix_by_lookahead_with_a_warning():
    options, X, y = indefinite()
    with pytest.warns(LinAlgWarning, match=r"not positive definite.*look.*diagonal_mean_biased"):
        model = ToeplitzRLSRegressor(**options).fit(X, y)
    assert (model.status_, model.solver_) == ("ok", "lookahead") and "levinson failed" in model.why_
    assert model.residual_ <= 1e-11 * np.linalg.norm(y)


def test_lookahead_by_name_solves_an_indefinite_matrix_without_a_warning():
    options, X, y = indefinite()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ToeplitzRLSRegressor(**options, solver="lookahead").fit(X, y)
    assert model.status_ == "ok" and np.abs(model.dual_coef_).max() > 0


@pytest.mark.parametrize("solver", ["levinson", "lookahead", "schur", "pcg"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_every_solver_gives_the_same_model(solver, fit_intercept):
    t, y = signal()
    options = {"sigma": 3.0, "lam": 0.1, "fit_intercept": fit_intercept}
    wanted = ToeplitzRLSRegressor(**options).fit(t, y)
    model = ToeplitzRLSRegressor(**options, solver=solver).fit(t, y)
    assert (wanted.solver_, model.solver_) == ("levinson", solver)
    np.testing.assert_allclose(model.dual_coef_, wanted.dual_coef_, rtol=0, atol=1e-8)


def test_an_undetermined_bias_is_a_breakdown_not_a_division_by_zero(monkeypatch):
    # of [1, 0, -3] the inverse's entries add up to 0
    monkeypatch.setattr("kerncast.sim.estimators.toeplitz.kernel_first_row",
                        lambda X, kernel, scheme: np.array([0.0, 0.0, -3.0]))
    model = ToeplitzRLSRegressor(sigma=1.0, lam=1.0, fit_intercept=True, solver="lookahead")
    with pytest.warns(LinAlgWarning, match=r"breakdown.*the bias is not determined"):
        model.fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    assert model.status_ == "breakdown" and np.all(model.dual_coef_ == 0.0)
    assert np.all(np.isfinite(model.predict([[0.5]])))


def test_toeplitz_classifier_learns_digits_above_80_percent():
    X, y = digits_3_and_8()
    toeplitz = ToeplitzRLSClassifier(sigma=20.0, lam=0.1).fit(X[:250], y[:250]).score(X[250:], y[250:])
    assert toeplitz > 0.8


def test_online_fklms_learns_digits_above_93_percent_with_41_vectors():
    X, y = digits_3_and_8()
    online = KernelLMSClassifier(sigma=20.0, budget=41, presentations=1).fit(X[:250], y[:250])
    assert online.score(X[250:], y[250:]) > 0.93
    assert online.support_vectors_.shape == (41, 64) and online.dual_coef_.shape == (41,)


@pytest.mark.parametrize("kind", [ToeplitzRLSClassifier, KernelLMSClassifier, KernelRLSClassifier])
def test_several_classes_are_trained_one_against_the_rest_with_any_labels(kind):
    rng = np.random.default_rng(2)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    truth = rng.integers(0, 3, 150)
    X, y = centres[truth] + rng.normal(size=(150, 2)), np.array(["low", "mid", "top"])[truth]
    model = kind(sigma=1.5).fit(X, y)
    assert model.decision_function(X).shape == (150, 3)
    assert model.dual_coef_.shape[1] == 3
    assert model.score(X, y) > 0.95
    assert set(model.predict(X)) == {"low", "mid", "top"}


def test_two_classes_have_one_decision_value_and_its_sign_is_the_label():
    X, y = digits_3_and_8()
    model = KernelLMSClassifier(sigma=20.0).fit(X[:100], y[:100])
    f = model.decision_function(X)
    assert f.shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), np.where(f > 0, 8, 3))


def test_partial_fit_in_pieces_equals_one_presentation():
    X, y = digits_3_and_8()
    whole = KernelLMSClassifier(sigma=20.0, budget=20, presentations=1).fit(X[:90], y[:90])
    pieces = KernelLMSClassifier(sigma=20.0, budget=20)
    for start in range(0, 90, 7):
        pieces.partial_fit(X[start: min(start + 7, 90)], y[start: min(start + 7, 90)], classes=[8, 3])
    np.testing.assert_array_equal(pieces.support_vectors_, whole.support_vectors_)
    np.testing.assert_array_equal(pieces.dual_coef_, whole.dual_coef_)


def test_fit_forgets_and_partial_fit_remembers():
    X = np.random.default_rng(3).uniform(-3, 3, (120, 1))
    y = np.sinc(X[:, 0])
    once = KernelLMSRegressor(budget=30).fit(X, y)
    again = KernelLMSRegressor(budget=30).fit(X[::-1], y).fit(X, y)
    np.testing.assert_array_equal(once.dual_coef_, again.dual_coef_)
    again.partial_fit(X, y)
    assert again.status_ == "ok" and not np.array_equal(once.dual_coef_, again.dual_coef_)


def test_the_regressor_is_the_learner_of_the_report_on_the_sinc_task():
    X = np.random.default_rng(0).uniform(-3, 3, (100, 1))
    grid = np.linspace(-3, 3, 601)[:, np.newaxis]
    model = KernelLMSRegressor(sigma=0.5, budget=24).fit(X, np.sinc(X[:, 0]))
    assert np.mean((model.predict(grid) - np.sinc(grid[:, 0])) ** 2) < 3e-4
    assert model.status_ == "ok" and 0 < model.residual_ < 1


@pytest.mark.parametrize("kind", ONLINE)
def test_divergence_warns_reports_it_and_keeps_predictions_finite(kind):
    X = np.random.default_rng(7).uniform(-3, 3, (2000, 1))
    y = np.sinc(X[:, 0]) > 0
    with pytest.warns(ConvergenceWarning, match=r"diverged.*smaller sigma"):
        model = kind(sigma=0.5, eta=0.5, presentations=1).fit(X, y)
    assert model.status_ == "diverged"
    assert np.all(np.isfinite(model.predict(X)))


@pytest.mark.parametrize("kind", ALL)
def test_estimators_can_be_cloned_saved_and_searched_over(kind):
    X, y = digits_3_and_8()
    X, y = X[:60], (y[:60] > 5).astype(int)
    model = kind(sigma=20.0).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(kind(), {"sigma": [10.0, 20.0, "auto"]}, cv=2).fit(X, y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("sigma", "code"), [(0.0, "E220"), (-1.0, "E220"), (float("nan"), "E220"),
                                             ("wide", "E220"), (None, "E220")])
def test_an_invalid_width_is_refused(kind, sigma, code):
    with pytest.raises(KerncastError, match=code):
        kind(sigma=sigma).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("kind", TOEPLITZ)
@pytest.mark.parametrize(("options", "code"), [
    ({"lam": 0.0}, "E221"), ({"lam": -1.0}, "E221"), ({"lam": float("inf")}, "E221"),
    ({"lam": float("nan")}, "E221"), ({"lam": "big"}, "E221"),
    ({"scheme": "nearest"}, "E222"), ({"scheme": "uniform"}, "E223"), ({"solver": "magic"}, "E226"),
])
def test_bad_settings_of_the_toeplitz_estimators_are_refused(kind, options, code):
    with pytest.raises(KerncastError, match=code):
        kind(**options).fit([[0.0], [1.0], [3.0]], [0, 1, 1])


@pytest.mark.parametrize("kind", ONLINE)
@pytest.mark.parametrize(("options", "code"), [
    ({"eta": 0.0}, "E228"), ({"rho": -1.0}, "E228"), ({"budget": 1}, "E229"), ({"budget": 0}, "E229"),
    ({"reduction": "magic"}, "E230"), ({"presentations": 0}, "E234"), ({"presentations": 1.5}, "E234"),
])
def test_bad_settings_of_the_online_estimators_are_refused(kind, options, code):
    with pytest.raises(KerncastError, match=code):
        kind(**options).fit([[0.0], [1.0], [3.0]], [0, 1, 1])


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinity_are_refused_at_fit_and_at_predict(kind, bad):
    model = kind(sigma=1.0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(KerncastError, match=r"E233.*(NaN|infinity)"):
        model.predict([[bad]])
    with pytest.raises(KerncastError, match=r"E233.*(NaN|infinity)"):
        kind(sigma=1.0).fit([[0.0], [bad], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("bad", "remedy"), [
    ([0.0, 1.0, 2.0], "Reshape"), (np.array([[0j], [1j], [2j]]), "imaginary part"),
    (scipy.sparse.csr_matrix(np.eye(3)), "toarray")])
def test_inputs_of_another_kind_are_refused_with_a_remedy_of_one_line(kind, bad, remedy):
    with pytest.raises(KerncastError, match=f"(?s)E233.*do: [^\\[]*{remedy}[^\\[]*$"):
        kind(sigma=1.0).fit(bad, [0, 1, 1])


@pytest.mark.parametrize("kind", ALL)
def test_the_wrong_number_of_columns_is_refused(kind):
    model = kind(sigma=1.0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    with pytest.raises(KerncastError, match=r"E233.*2 features"):
        model.predict([[0.0, 1.0]])


def test_a_label_unknown_at_the_first_call_is_refused_and_changes_nothing():
    model = KernelLMSClassifier(sigma=1.0).partial_fit([[0.0], [1.0]], [0, 1])
    kept = model.dual_coef_.copy()
    with pytest.raises(KerncastError, match="E232"):
        model.partial_fit([[2.0], [3.0]], [0, 2])
    with pytest.raises(KerncastError, match="E232"):
        model.partial_fit([[2.0]], [0], classes=[0, 1, 2])
    with pytest.raises(KerncastError, match="E232"):
        KernelLMSClassifier(sigma=1.0).partial_fit([[0.0]], [0])
    np.testing.assert_array_equal(model.dual_coef_, kept)
    np.testing.assert_array_equal(model.classes_, [0, 1])


def test_the_reference_alone_loads_neither_scikit_learn_nor_scipy():
    code = ("import sys, kerncast.sim.reference\n"
            "print([name for name in ('sklearn', 'scipy', 'numba') if name in sys.modules])")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize("name", ["estimators.kernel_lms", "estimators.kernel_rls", "estimators.online_rls",
                                  "estimators.toeplitz", "reference.toeplitz.auto"])
def test_the_examples_in_the_docstrings_are_true(name):
    results = doctest.testmod(importlib.import_module(f"kerncast.sim.{name}"))
    assert results.attempted > 0 and results.failed == 0


@pytest.mark.parametrize("options", [{}, {"solver": "pcg"}])
def test_diagonal_means_of_an_irregular_signal_raise_a_warning(options):
    t = np.append(np.arange(200.0) + 0.3 * np.sin(np.arange(200.0) ** 2), 1e12)[:, np.newaxis]
    y = np.sin(t[:, 0] / 15)
    with pytest.warns(LinAlgWarning, match=r"not lie on a uniform grid.*diagonal_mean_biased.*Use KernelRLS"):
        model = ToeplitzRLSRegressor(sigma=3.0, lam=0.01, **options).fit(t, y)
    assert model.scheme_ == "diagonal_mean_biased"
    ToeplitzRLSRegressor(3.0, 0.01, scheme="diagonal_mean_biased", **options).fit(t, y)  # asked for by name
    with pytest.warns(UserWarning, match=r"not lie on a uniform grid.*Use solve_kernel"):
        first_row(t, 3.0)


def test_parameters_of_the_wrong_kind_are_refused_by_code():
    X, y = np.arange(20.0)[:, np.newaxis], np.arange(20.0) % 2
    for estimator in (ToeplitzRLSRegressor, ToeplitzRLSClassifier):
        for scheme in (3, None, ["uniform"]):
            with pytest.raises(KerncastError, match="scheme: E222"):
                estimator(2.0, scheme=scheme).fit(X, y)
    with pytest.raises(KerncastError, match="solver_options: E238"):
        KernelRLSRegressor(2.0, solver_options=5).fit(X, y)


@pytest.mark.parametrize(("options", "gap"), [
    ({}, 1e-12), ({"solver": "banded"}, 1e-12), ({"fit_intercept": True}, 1e-12),
    ({"scheme": "grid_cubic"}, 1e-3)])
def test_fitted_values_are_the_predictions_at_the_training_samples(options, gap):
    t = np.arange(200.0)[:, np.newaxis]
    model = ToeplitzRLSRegressor(3.0, 0.1, **options).fit(t, np.sin(t[:, 0] / 5) + 2.0)
    np.testing.assert_allclose(model.fitted_, model.predict(t), rtol=0, atol=gap)


def test_fitted_values_of_a_failed_training_are_zero():
    model = ToeplitzRLSRegressor(3.0, 1e-12, scheme="diagonal_mean", solver="levinson")
    with pytest.warns(scipy.linalg.LinAlgWarning, match="not_positive_definite"):
        model.fit(np.random.default_rng(0).normal(size=(60, 3)), np.ones(60))
    assert not np.any(model.fitted_)
