"""Kernel regularised least squares as estimators: every solver, lambda by leave-one-out, and grids."""

import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kerncast import (
    KernelRLSClassifier,
    KernelRLSRegressor,
    ToeplitzRLSClassifier,
    ToeplitzRLSRegressor,
    load_samples,
    loo_errors,
)
from kerncast.sim.errors import KerncastError
from kerncast.sim.kernels import Laplacian, Linear, Polynomial, gaussian
from kerncast.sim.reference.solvers.auto import SOLVERS

WIDTH, LAM = 1.3, 0.1


def cloud(n=120, outputs=()):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)
    return X, np.column_stack((y, y**2)) if outputs else y


def signal(jitter, n=400, width=5.0, seed=0):
    """Times with jitter, in parts of the step, and a noisy signal at them."""
    rng = np.random.default_rng(seed)
    t = np.arange(n) + jitter * rng.normal(size=n)
    return t[:, np.newaxis], np.sin(t / (2 * width)) + 0.1 * rng.normal(size=n)


def ridge(X, y, width=WIDTH, lam=LAM):
    return KernelRidge(alpha=lam, kernel="rbf", gamma=1 / (2 * width**2)).fit(X, y)


def error(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


# ---- every solver ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("outputs", [(), (2,)])
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_the_result_is_that_of_kernel_ridge_regression(solver, outputs):
    X, y = cloud(outputs=outputs)
    exact = ridge(X, y)
    options = {"cg": {"tolerance": 1e-12}}.get(solver)
    model = KernelRLSRegressor(WIDTH, LAM, solver=solver, solver_options=options).fit(X, y)
    assert model.dual_coef_.shape == y.shape and model.status_ == "ok" and model.intercept_ == 0.0
    np.testing.assert_allclose(model.predict(X + 0.1), exact.predict(X + 0.1), rtol=0, atol=1e-10)
    assert (model.solver_ == solver or solver == "auto") and model.residual_ < 1e-9
    assert (model.kernel_.sigma, model.lam_, model.coef_) == (WIDTH, LAM, None)


@pytest.mark.parametrize("outputs", [(), (2,)])
@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_the_intercept_solves_the_ls_svm_system(solver, outputs):
    X, y = cloud(outputs=outputs)
    y = y + 7
    model = KernelRLSRegressor(WIDTH, LAM, fit_intercept=True, solver=solver).fit(X, y)
    n = len(X)
    system = np.block([[gaussian(X, X, WIDTH) + LAM * np.eye(n), np.ones((n, 1))],
                       [np.ones((1, n)), np.zeros((1, 1))]])
    exact = np.linalg.solve(system, np.concatenate((y, np.zeros((1, *outputs)))))
    np.testing.assert_allclose(model.dual_coef_, exact[:-1], rtol=0, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, exact[-1], rtol=0, atol=1e-7)
    rest = y - model.intercept_ - system[:n, :n] @ model.dual_coef_
    assert model.residual_ == pytest.approx(np.max(np.linalg.norm(rest, axis=0)), abs=1e-12)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_subset_of_regressors_carries_the_machine_alone(fit_intercept):
    X, y = cloud()
    model = KernelRLSRegressor(WIDTH, LAM, solver="subset", solver_options={"landmarks": 40},
                               fit_intercept=fit_intercept).fit(X, y)
    assert model.X_fit_.shape == (40, 3) and model.dual_coef_.shape == (40,)
    assert {tuple(x) for x in model.X_fit_} <= {tuple(x) for x in X}
    np.testing.assert_allclose(model.predict(X), gaussian(X, model.X_fit_, WIDTH) @ model.dual_coef_
                               + model.intercept_, atol=1e-12)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("outputs", [(), (2,)])
def test_the_linear_kernel_predicts_by_its_weights(outputs):
    X, y = cloud(outputs=outputs)
    model = KernelRLSRegressor(lam=LAM, kernel=Linear(), fit_intercept=True).fit(X, y)
    assert model.solver_ == "linear_svd" and model.coef_.shape == (3, *outputs)
    expected = X @ X.T @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "linear_svd", "linear_direct"])
@pytest.mark.parametrize("lam", [1e-10, 1e-6, 1.0])
def test_the_weights_of_an_ill_conditioned_linear_model_are_right_or_refused(solver, lam):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * [30, 10, 3, 1, 1, 0]
    X[:, 5] = X[:, 0] + X[:, 1] + 1e-4 * rng.normal(size=200)
    Y = np.column_stack((np.sign(X[:, 2] + X[:, 3]), rng.normal(size=200)))
    model = KernelRLSRegressor(kernel=Linear(), lam=lam, solver=solver)
    if solver == "linear_direct" and lam < 1.0:
        with pytest.warns(LinAlgWarning, match="breakdown.*condition number of X'X"):
            model.fit(X, Y)
        assert model.status_ == "breakdown" and not model.coef_.any() and not model.predict(X).any()
        return
    U, S, Vt = np.linalg.svd(X, full_matrices=False)
    exact = Vt.T @ ((S / (S**2 + lam))[:, np.newaxis] * (U.T @ Y))
    model.fit(X, Y)
    assert model.status_ == "ok"
    np.testing.assert_allclose(model.coef_, exact, rtol=0, atol=1e-6 * np.abs(exact).max())
    np.testing.assert_allclose(model.predict(X), X @ exact, rtol=0, atol=1e-6)


def test_a_system_that_is_not_solved_warns_and_gives_a_model_of_zeros():
    X, y = cloud()
    X = np.vstack((X, X))
    model = KernelRLSRegressor(WIDTH, 1e-12, solver="cg", solver_options={"max_steps": 3})
    with pytest.warns(LinAlgWarning, match=r"KernelRLSRegressor: no solution, status not_converged \(cg"):
        model.fit(X, np.concatenate((y, y + 1)))
    assert model.status_ == "not_converged" and not model.dual_coef_.any() and not model.predict(X).any()


# ---- lambda by leave-one-out ------------------------------------------------------------------------------
@pytest.mark.parametrize("kernel", [None, Laplacian(2.0), Linear(), Polynomial(2, 1.0, 1.0)])
def test_leave_one_out_chooses_the_lambda_of_least_error(kernel):
    X, y = cloud()
    options = {"sigma": WIDTH} if kernel is None else {"kernel": kernel}
    model = KernelRLSRegressor(lam="loo", fit_intercept=True, **options).fit(X, y)
    lams = model.lam_ * 10.0 ** np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    errors = np.mean(loo_errors(X, y, kernel or WIDTH, lams, fit_intercept=True) ** 2, axis=1)
    assert np.argmin(errors) == 2


def test_leave_one_out_serves_classes_and_subsets_too():
    X, y = cloud()
    classes = np.digitize(y, [-0.5, 0.5])
    model = KernelRLSClassifier(WIDTH, "loo", solver="subset", solver_options={"landmarks": 30})
    model.fit(X, classes)
    assert model.dual_coef_.shape == (30, 3) and model.lam_ < 100 and model.score(X, classes) > 0.8


# ---- among others -----------------------------------------------------------------------------------------
def test_estimators_work_in_pipelines_and_searches():
    samples = load_samples("breast_cancer")
    search = GridSearchCV(make_pipeline(StandardScaler(), KernelRLSClassifier(fit_intercept=True)),
                          {"kernelrlsclassifier__lam": [1.0, "loo"],
                           "kernelrlsclassifier__kernel": ["gaussian", Linear()]}, cv=KFold(2))
    search.fit(samples.X[:200], samples.y[:200])
    assert search.score(samples.X[200:], samples.y[200:]) > 0.95


def test_the_linear_classifier_is_the_ridge_classifier():
    samples = load_samples("digits")
    X, y = samples.X[:300], samples.y[:300]
    model = KernelRLSClassifier(lam=10.0, kernel=Linear()).fit(X, y)
    other = RidgeClassifier(alpha=10.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(model.predict(samples.X), other.predict(samples.X))


@pytest.mark.parametrize("kind", [KernelRLSRegressor, KernelRLSClassifier])
@pytest.mark.parametrize(("options", "code"), [
    ({"lam": 0.0}, "E221"), ({"lam": float("nan")}, "E221"), ({"lam": "big"}, "E221"),
    ({"kernel": "laplacian"}, "E231"), ({"kernel": 3}, "E231"), ({"kernel": Linear(), "sigma": 2.0}, "E220"),
    ({"solver": "levinson"}, "E238"), ({"solver_options": {"magic": 1}}, "E238"),
    ({"solver": "linear_svd"}, "E238"), ({"solver": "cg", "solver_options": {"tolerance": 2.0}}, "E236")])
def test_bad_settings_are_refused(kind, options, code):
    with pytest.raises(KerncastError, match=code):
        kind(**options).fit([[0.0], [1.0], [3.0]], [0, 1, 1])


# ---- signals at irregular times ---------------------------------------------------------------------------
@pytest.mark.parametrize("jitter", [0.01, 0.1, 0.3])
def test_a_grid_keeps_irregular_signals_near_exact_regression(jitter):
    t, y = signal(jitter)
    order = np.random.default_rng(1).permutation(len(t))
    exact, new = ridge(t, y, 5.0), np.linspace(-5, len(t) + 5, 1000)[:, np.newaxis]
    model = ToeplitzRLSRegressor(5.0, LAM).fit(t[order], y[order])
    assert (model.scheme_, model.status_) == ("grid_cubic", "ok")
    assert error(model.predict(new), exact.predict(new)) < 2e-4
    assert error(model.dual_coef_, exact.dual_coef_[order]) < 2e-3
    linear = ToeplitzRLSRegressor(5.0, LAM, scheme="grid_linear").fit(t, y)
    assert error(linear.predict(new), exact.predict(new)) < 1e-3


def test_a_grid_has_a_bias_several_outputs_and_classes():
    t, y = signal(0.2)
    Y = np.column_stack((y + 3, y**2))
    grid = ToeplitzRLSRegressor(5.0, LAM, fit_intercept=True).fit(t, Y)
    exact = KernelRLSRegressor(5.0, LAM, fit_intercept=True).fit(t, Y)
    assert grid.intercept_.shape == (2,) and grid.grid_coef_.shape == (len(grid.grid_), 2)
    assert error(grid.predict(t), exact.predict(t)) < 2e-4
    assert error(grid.intercept_, exact.intercept_) < 2e-4
    sign = np.sign(y)
    classes = ToeplitzRLSClassifier(5.0, LAM).fit(t, sign).predict(t)
    np.testing.assert_array_equal(classes, KernelRLSClassifier(5.0, LAM).fit(t, sign).predict(t))


def test_long_irregular_signals_are_solved_by_conjugate_gradients():
    t, y = signal(0.2, n=3000)
    model = ToeplitzRLSRegressor(3.0, 1e-3).fit(t, y)
    assert (model.solver_, model.status_) == ("cg", "ok") and "multiplied by FFT" in model.why_
    assert model.residual_ <= 1e-9 * np.linalg.norm(y)


def test_a_grid_search_over_long_irregular_signals_finds_sigma():
    t, y = signal(0.2, n=3000)
    search = GridSearchCV(ToeplitzRLSRegressor(), {"sigma": [1.0, 4.0, 1000.0]}, cv=KFold(3, shuffle=True,
                                                                                       random_state=0))
    assert search.fit(t, y).best_params_ == {"sigma": 4.0} and search.best_score_ > 0.9


def test_the_automatic_width_is_two_steps_of_a_signal_at_irregular_times_too():
    t, y = signal(0.1)
    assert ToeplitzRLSRegressor().fit(t, y).sigma_ == pytest.approx(2.0, rel=0.05)
    assert ToeplitzRLSRegressor().fit(t[::-1], y).sigma_ == pytest.approx(2.0, rel=0.05)
    assert KernelRLSRegressor().fit(t, y).kernel_.sigma == pytest.approx(2.0, rel=0.05)
    assert KernelRLSRegressor().fit(np.repeat(t, 2, axis=0), np.repeat(y, 2)).kernel_.sigma < 2.1
    shuffled = np.random.default_rng(0).permutation(t)
    assert ToeplitzRLSRegressor().fit(shuffled, y).sigma_ == pytest.approx(np.sqrt(t.var() / 2))


def test_auto_uses_a_grid_only_for_one_column_without_large_gaps():
    t, y = signal(0.1, n=50)
    far = t.copy()
    far[25:] += 1e6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ToeplitzRLSRegressor(2.0).fit(np.hstack((t, t)), y).scheme_ == "diagonal_mean_biased"
        model = ToeplitzRLSRegressor(2.0).fit(np.arange(50.0)[:, np.newaxis], y)
    assert (model.scheme_, model.grid_, model.grid_coef_) == ("uniform", None, None)
    for X, solver in ((far, "auto"), (t, "levinson")):
        with pytest.warns(LinAlgWarning, match="do not lie on a uniform grid"):
            assert ToeplitzRLSRegressor(2.0, solver=solver).fit(X, y).scheme_ == "diagonal_mean_biased"


@pytest.mark.parametrize(("options", "columns", "code"), [
    ({"scheme": "grid_cubic"}, 2, "E223"), ({"scheme": "grid_linear", "solver": "levinson"}, 1, "E226"),
    ({"scheme": "grid_quintic"}, 1, "E222")])
def test_what_a_grid_cannot_do_is_refused(options, columns, code):
    t, y = signal(0.1, n=20)
    with pytest.raises(KerncastError, match=code):
        ToeplitzRLSRegressor(2.0, **options).fit(np.repeat(t, columns, axis=1), y)
