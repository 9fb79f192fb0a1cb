"""Estimators that were fitted elsewhere: what they compute, as a plan, and what is refused."""

import json
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import kerncast
from kerncast.sim.data.predictor_file import read_model
from kerncast.sim.errors import KerncastError
from kerncast.sim.interop import convert_estimator
from kerncast.sim.interop.convert import evaluate
from kerncast.sim.interop.sklearn import known_model
from kerncast.sim.kernels import Linear, Matern32, Polynomial
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.spec import Spec

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3)) * [1.0, 20.0, 0.1] + [0.0, 5.0, 1.0]
Y = np.sin(X[:, 0]) + 0.1 * X[:, 1] + 3.0
LABELS = np.where(np.median(Y) < Y, "up", "down")
NEW = RNG.normal(size=(40, 3)) * [1.0, 20.0, 0.1] + [0.0, 5.0, 1.0]
RBF, Constant, White = kernels.RBF, kernels.ConstantKernel, kernels.WhiteKernel


def refused(*codes: str, **arguments):
    """What an estimator is refused with."""
    with pytest.raises(KerncastError) as told:
        kerncast.plan(**arguments)
    assert [problem.code for problem in told.value.problems] == list(codes)
    assert all(problem.remedy for problem in told.value.problems)
    return told.value.problems[0]


def process(kernel, **options):
    return GaussianProcessRegressor(kernel, optimizer=None, **options)


REGRESSORS = {
    "svr": SVR(gamma="scale", C=5.0),
    "svr auto": SVR(gamma="auto"),
    "svr poly": SVR(kernel="poly", degree=2, gamma=0.01, coef0=1.0),
    "svr linear": SVR(kernel="linear", C=0.01),
    "nu svr": NuSVR(gamma=0.01),
    "ridge rbf": KernelRidge(kernel="rbf", alpha=0.1),
    "ridge laplacian": KernelRidge(kernel="laplacian", gamma=0.05),
    "ridge polynomial": KernelRidge(kernel="polynomial", degree=3, gamma=0.01),
    "ridge linear": KernelRidge(kernel="linear"),
    "process": process(None, alpha=0.1),
    "process rbf": process(RBF(3.0), alpha=0.1, normalize_y=True),
    "process constant": process(2.5 * RBF(3.0) + White(0.1), normalize_y=True),
    "process sum": process(0.5 * (RBF(4.0) + Constant(0.3)) + White(0.2)),
    "process columns": process(1.5 * RBF([1.0, 20.0, 0.2]) + White(0.1), normalize_y=True),
    "process matern": process(2.5 * kernels.Matern(3.0, nu=1.5) + White(0.1), normalize_y=True),
    "process matern columns": process(1.5 * kernels.Matern([4.0, 20.0, 3.0], nu=2.5) + Constant(0.3),
                                      alpha=0.1),
    "process smooth": process(kernels.Matern(3.0, nu=np.inf), alpha=0.1),
    "ridge matern": KernelRidge(kernel=0.5 * kernels.Matern(5.0, nu=2.5) + 0.2, alpha=0.3),
    "kernel rls": kerncast.KernelRLSRegressor(sigma=4.0, lam=0.1, fit_intercept=True),
    "kernel rls matern": kerncast.KernelRLSRegressor(lam=1.0, kernel=Matern32(5.0)),
    "kernel rls polynomial": kerncast.KernelRLSRegressor(lam=1.0, kernel=Polynomial(2, 0.01, 1.0)),
    "kernel rls linear": kerncast.KernelRLSRegressor(lam=1.0, kernel=Linear()),
    "toeplitz": kerncast.ToeplitzRLSRegressor(sigma=4.0, lam=1.0, scheme="diagonal_mean_biased"),
    "lms": kerncast.KernelLMSRegressor(sigma=4.0, budget=20),
    "scaled": make_pipeline(StandardScaler(), SVR()),
    "scaled twice": make_pipeline(MinMaxScaler((-1, 2)), MaxAbsScaler(),
                                  process(RBF([0.5, 0.3, 0.4]), alpha=0.1)),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_is_reproduced_in_float_to_rounding(name):
    fitted = REGRESSORS[name].fit(X, Y)
    expected = fitted.predict(NEW)
    found = evaluate(known_model(fitted), NEW)
    assert abs(found - expected).max() <= 1e-12 * max(1.0, abs(expected).max()) * 30


CLASSIFIERS = {
    "svc": SVC(), "svc gamma": SVC(gamma=0.01, C=10.0), "nu svc": NuSVC(nu=0.3),
    "svc poly": SVC(kernel="poly", degree=3, coef0=1.0), "svc probability": SVC(class_weight="balanced"),
    "scaled": make_pipeline(StandardScaler(), SVC()),
    "kernel rls": kerncast.KernelRLSClassifier(sigma=4.0),
    "lms": kerncast.KernelLMSClassifier(sigma=4.0, budget=20)}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_is_reproduced_with_its_sign_and_its_classes(name):
    fitted = CLASSIFIERS[name].fit(X, LABELS)
    model, expected = known_model(fitted), fitted.decision_function(NEW)
    f = evaluate(model, NEW)
    assert abs(f - expected).max() <= 1e-12 * max(1.0, abs(expected).max()) * 30
    assert np.array_equal(np.array(model.classes)[(f > 0).astype(int)], fitted.predict(NEW))


def test_a_detector_of_outliers_is_a_classifier_of_minus_one_and_one():
    fitted = OneClassSVM(gamma=0.01, nu=0.2).fit(X)
    plan = kerncast.plan(fitted, X)
    result = kerncast.simulate(plan, kerncast.raw_inputs(plan, NEW))
    assert np.array_equal(result.labels, fitted.predict(NEW))


# ---- words ----
def digits():
    inputs, labels = load_digits(return_X_y=True)
    chosen = np.isin(labels, (3, 8))
    return inputs[chosen], labels[chosen]


def test_digits_3_and_8_in_16_bits_have_scikit_learns_label_on_every_sample():
    inputs, labels = digits()
    svc = SVC(kernel="rbf").fit(inputs[:250], labels[:250])
    plan = kerncast.plan(svc, inputs[:250], name="digits")
    assert plan.word == 16 and plan.units["x_raw"] == "1" == plan.units["x"]
    result = kerncast.simulate(plan, kerncast.raw_inputs(plan, inputs))
    assert result.labels.tolist() == svc.predict(inputs).tolist()
    assert result.status == "ok" and result.f_error < 3e-4
    assert abs(result.f_float - svc.decision_function(inputs)).max() < 1e-12


@pytest.mark.parametrize("name", REGRESSORS)
def test_32_bits_are_close_to_float_and_16_within_a_percent(name):
    fitted = REGRESSORS[name].fit(X, Y)
    # Of the polynomials the largest value that input words allow must fit the word: 16 bits are few.
    products = any(part in name for part in ("poly", "linear"))
    for word, most in ((32, 1e-3),) if products else ((32, 1e-5), (16, 1e-2)):
        plan = kerncast.plan(fitted, X, word=word)
        result = kerncast.simulate(plan, kerncast.raw_inputs(plan, X))
        assert (result.f_error < most, result.status) == (True, "ok"), (word, result.f_error)


@pytest.mark.filterwarnings("ignore:.*W208")
def test_the_terms_of_the_budget_add_up_to_the_error_against_the_estimator():
    fitted = REGRESSORS["scaled"].fit(X, Y)
    plan = kerncast.plan(fitted, X, input={"word": "s16f8"})
    raw = kerncast.raw_inputs(plan, X)
    result = kerncast.simulate(plan, raw)
    assert list(result.budget.terms) == ["input rounding", "coefficients", "arithmetic"]
    assert abs(result.budget.total - (result.f - result.f_float)).max() < 1e-12
    assert abs(result.f_float - fitted.predict(raw / 256)).max() < 1e-12


def test_a_sample_that_is_a_vector_is_at_distance_0():
    fitted = REGRESSORS["svr"].fit(X, Y)
    plan = kerncast.plan(fitted, X)
    model = open_model(plan)
    model.predict(kerncast.raw_inputs(plan, fitted.support_vectors_[:1]))
    kernel = next(r for r in model.ranges if r.name == "kernel")
    assert kernel.hi == 1 << plan.signals["kernel"].format.frac


def test_the_sensor_s_formats_may_be_given():
    inputs, labels = digits()
    svc = SVC().fit(inputs / 16.0, labels)
    plan = kerncast.plan(svc, inputs / 16.0, input={"word": "u5f0", "gain": 1 / 16})
    assert str(plan.signals["x_raw"].format) == "u5f0"
    assert np.array_equal(kerncast.raw_inputs(plan, inputs / 16.0), inputs)


def test_a_predictor_file_is_read_back_exactly():
    fitted = REGRESSORS["process columns"].fit(X, Y)
    made = convert_estimator(fitted, X)
    again = read_model(made.text, "model.json")
    assert again.to_json() == made.text and np.array_equal(evaluate(again, NEW), evaluate(made.model, NEW))


def test_the_plan_hash_covers_the_quantised_values_of_a_predictor(tmp_path):
    fitted = REGRESSORS["process columns"].fit(X, Y)
    made = convert_estimator(fitted, X)
    plan = kerncast.plan(fitted, X)
    spec = kerncast.export(fitted, X, tmp_path / "predictor.toml")
    assert kerncast.plan(spec).hash == plan.hash == Plan.from_json(plan.to_json()).hash
    other = json.loads(made.text)
    other["bias"] += 100 * float(Fraction(plan.units["y"]))
    (tmp_path / "predictor.json").write_text(json.dumps(other))
    unpinned = {name: table for name, table in spec.model_dump(by_alias=True, exclude_none=True).items()}
    unpinned["predictor"] = {"file": str(tmp_path / "predictor.json")}
    assert kerncast.plan(Spec(**unpinned)).hash != plan.hash


def test_a_vector_whose_coefficient_rounds_to_zero_is_left_out():
    fitted = REGRESSORS["svr"].fit(X, Y)
    fitted = SVR(gamma="scale", C=5.0).fit(X, Y)
    fitted.dual_coef_[0, :2] = 1e-9
    plan = kerncast.plan(fitted, X)
    assert plan.sizes["N"] == len(fitted.support_vectors_) - 2
    assert 0 not in plan.tables["alpha"].values


# ---- refusals ----
@pytest.mark.parametrize(("code", "estimator"), [
    ("E270", SVC()), ("E270", KernelRidge()), ("E270", GaussianProcessRegressor()),
    ("E270", kerncast.KernelRLSRegressor()), ("E271", Ridge().fit(X, Y)),
    ("E271", make_pipeline(StandardScaler(), Ridge()).fit(X, Y)),
    ("E271", make_pipeline(StandardScaler(), SVR(kernel="linear")).fit(X, Y)),
    ("E271", make_pipeline(Ridge(), SVR())),
    ("E272", SVC(kernel="sigmoid").fit(X, LABELS)), ("E272", SVR(kernel="precomputed").fit(X @ X.T, Y)),
    ("E272", SVR(kernel=lambda a, b: a @ b.T).fit(X, Y)), ("E272", process(RBF() * RBF(2.0)).fit(X, Y)),
    ("E272", process(kernels.Matern(nu=0.5), alpha=0.1).fit(X, Y)),
    ("E272", process(Constant(), alpha=1).fit(X, Y)),
    ("E273", OneVsRestClassifier(SVC()).fit(X, np.c_[Y > 3, X[:, 0] > 0].astype(int))),
    ("E274", SVR().fit(csr_matrix(X), Y))])
def test_an_invalid_predictor_is_refused_with_a_remedy(code, estimator):
    fitted = estimator
    if isinstance(estimator, type(make_pipeline(SVR()))) and isinstance(estimator.steps[0][1], Ridge):
        fitted.steps[-1][1].fit(X, Y)  # what stands before it is no scaler
    refused(code, spec=fitted, x_raw=X)


def test_samples_that_do_not_fit_the_estimator_are_refused():
    fitted = SVR().fit(X, Y)
    refused("E245", spec=fitted, x_raw=np.where(X > 1, np.nan, X))
    refused("E248", spec=fitted, x_raw=X[:, :2])
    refused("E247", spec=fitted, x_raw=X[:0])
    refused("E274", spec=fitted, x_raw=csr_matrix(X))
    refused("E246", spec=fitted, x_raw=X, input={"word": "s8f4"})
    assert "choices" in refused("E113", spec=Spec(**SPEC), word=16).message


SPEC = {"model": {"name": "a", "algorithm": "kernel_cg"}, "input": {"word": "s16f8"},
        "output": {"word": "s12f0"}, "kernel": {"sigma": 2.0}, "cg": {"n": 8, "lam": 0.1}}


def test_formats_too_short_for_the_predictions_are_refused():
    fitted = SVR().fit(X, Y * 1e6)
    assert refused("E278", spec=fitted, x_raw=X, output={"word": "s4f28"})


# ---- files ----
def test_a_missing_damaged_changed_or_foreign_model_is_refused(tmp_path):
    fitted = SVR().fit(X, Y)
    path = tmp_path / "motor.toml"
    kerncast.export(fitted, X, path, Y)
    text, model = path.read_text(), tmp_path / "motor.json"
    whole = model.read_text()
    model.write_text(whole.replace('"bias": ', '"bias": 1'))
    refused("E276", spec=path)
    for damaged in ("", "[]", '{"format": 1}', whole.replace('"alpha": [', '"alpha": [1.0, '),
                    whole.replace('"bias": ', '"bias": NaN, "b": '), whole.replace("gaussian", "magic")):
        model.write_text(damaged)
        path.write_text(text.replace("sha256", "# sha256"))
        refused("E275", spec=path)
    model.unlink()
    refused("E275", spec=path)
    model.write_text(whole)
    path.write_text(text.replace("sigma = ", "sigma = 1"))
    refused("E277", spec=path)
    path.write_text(text.replace("columns = 3", "columns = 2"))
    assert "[input] columns" in refused("E277", spec=path).where


def test_export_overwrites_nothing_unless_requested(tmp_path):
    fitted = SVC().fit(X, LABELS)
    kerncast.export(fitted, X, tmp_path / "A motor-2.toml", LABELS)
    spec = Spec.load(tmp_path / "A motor-2.toml")
    assert spec.model.name == "a_motor_2" and spec.data.file == "A motor-2.csv"
    with pytest.raises(KerncastError) as told:
        kerncast.export(fitted, X, tmp_path / "A motor-2.toml")
    assert told.value.problems[0].code == "E192"
    kerncast.export(fitted, X, tmp_path / "A motor-2.toml", overwrite=True)
    with pytest.raises(KerncastError) as told:
        kerncast.export(fitted, X, tmp_path / "a.json")
    assert told.value.problems[0].code == "E192"
    for bad, code in ((LABELS[:5], "E248"), (np.full(60, "sideways"), "E232")):
        with pytest.raises(KerncastError) as told:
            kerncast.export(fitted, X, tmp_path / "b.toml", bad)
        assert told.value.problems[0].code == code
    assert not (tmp_path / "b.toml").exists()


@pytest.mark.parametrize("suffix", [".toml", ".json", ".csv"])
def test_export_replaces_no_link_and_writes_through_none(tmp_path, suffix):
    target = tmp_path / "theirs"
    (tmp_path / f"c{suffix}").symlink_to(target)
    for present in (False, True):
        if present:
            target.write_text("theirs")
        with pytest.raises(KerncastError) as told:
            kerncast.export(SVC().fit(X, LABELS), X, tmp_path / "c.toml", LABELS, overwrite=True)
        assert told.value.problems[0].code == "E191"
        assert not present or target.read_text() == "theirs"
    assert {path.name for path in tmp_path.iterdir()} == {f"c{suffix}", "theirs"}


def test_a_wrong_argument_is_reported_with_a_remedy(tmp_path):
    svc = SVC().fit(X, LABELS)
    for word in ("16", 16.0, 17, None):
        problem = refused("E109", spec=svc, x_raw=X, word=word)
        assert "32 for results close to floating point" in problem.remedy
    assert "epsilon" in refused("E270", spec=SVR(epsilon=99.0).fit(X, Y), x_raw=X).remedy
    assert "the range of the model's centers" in refused("E246", spec=svc, x_raw=X[:1]).remedy
    with pytest.raises(KerncastError, match="E191"):
        kerncast.export(svc, X, tmp_path / "absent" / "svc.toml")


# ---- what words cannot follow ----
def test_a_large_prediction_gap_warns_with_a_sufficient_word_length():
    steep = SVR(C=1e6, gamma=0.01).fit(X, Y)
    with pytest.warns(UserWarning, match="W208") as told:
        plan = kerncast.plan(steep, NEW)
    (caution,) = kerncast.cautions(plan)
    word = plan.evidence["apart"]["word"]
    assert caution.code == "W208" and word in (24, 32) and f"word={word}" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not kerncast.cautions(kerncast.plan(steep, NEW, word=word))
        kerncast.plan(SVR(C=1.0).fit(X, Y), NEW)
    f = kerncast.simulate(plan, kerncast.raw_inputs(plan, NEW)).f
    expected = steep.predict(NEW)
    share = abs(f - expected).max() / np.ptp(expected)
    assert plan.evidence["apart"]["share"] == pytest.approx(share, rel=0.05)


def test_export_warns_as_plan_does_and_writes_all_the_same(tmp_path):
    steep = SVR(C=1e6, gamma=0.01).fit(X, Y)
    with pytest.warns(UserWarning, match="W208") as planned:
        kerncast.plan(steep, NEW)
    with pytest.warns(UserWarning, match="W208") as exported:
        spec = kerncast.export(steep, NEW, tmp_path / "steep.toml")
    assert str(exported[0].message) == str(planned[0].message)
    assert exported[0].filename == __file__ and spec.numbers.word == 16
    word = int(str(exported[0].message).split("pass word=")[1][:2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kerncast.export(steep, NEW, tmp_path / "steep.toml", word=word, overwrite=True)


def test_if_no_word_length_suffices_the_warning_names_the_sensor_s():
    with pytest.warns(UserWarning, match="even 32 bits are not enough"):
        kerncast.plan(SVR().fit(X, Y), NEW, input={"word": "s10f0"})
