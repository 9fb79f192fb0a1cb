"""Estimators of many classes and outputs: the labels and outputs of scikit-learn, and what is refused."""

import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

import kerncast
from kerncast.sim.data.predictor_file import check_fit, read_model
from kerncast.sim.errors import KerncastError
from kerncast.sim.interop.convert import evaluate
from kerncast.sim.interop.sklearn import known_model

RNG = np.random.default_rng(8)
X = RNG.normal(size=(90, 3)) * [1.0, 20.0, 0.1] + [0.0, 5.0, 1.0]
NEW = RNG.normal(size=(60, 3)) * [1.0, 20.0, 0.1] + [0.0, 5.0, 1.0]
NAMES = np.array(["sit", "walk", "run", "jump"])
LABELS = NAMES[(X[:, 0] > 0) + 2 * (X[:, 1] > 5)]
TARGETS = np.column_stack([np.sin(X[:, 0]), 0.1 * X[:, 1], X[:, 2] + 2.0])

CLASSIFIERS = {
    "svc": SVC(), "svc poly": SVC(kernel="poly", degree=2, gamma=0.01), "nu svc": NuSVC(nu=0.2),
    "svc linear": SVC(kernel="linear", C=0.1), "svc ties": SVC(break_ties=True),
    "svc scaled": make_pipeline(StandardScaler(), SVC(C=3.0)),
    "rest svc": OneVsRestClassifier(SVC(gamma=0.01)),
    "rest scaled": make_pipeline(StandardScaler(), OneVsRestClassifier(SVC(gamma=0.3))),
    "rest inside": OneVsRestClassifier(make_pipeline(StandardScaler(), SVC(gamma=0.3))),
    "kernel rls": kerncast.KernelRLSClassifier(sigma=15.0, lam=0.1),
    "kernel lms": kerncast.KernelLMSClassifier(sigma=15.0, budget=30),
}
REGRESSORS = {
    "ridge": KernelRidge(kernel="rbf", alpha=0.1, gamma=0.01),
    "process": GaussianProcessRegressor(ConstantKernel(2.0) * RBF([1.0, 20.0, 0.1]) + WhiteKernel(0.1),
                                        optimizer=None, normalize_y=True),
    "process with constant": GaussianProcessRegressor(RBF(5.0) + ConstantKernel(0.5), alpha=0.1,
                                                      optimizer=None),
    "kernel rls": kerncast.KernelRLSRegressor(sigma=2.0, lam=0.1),
}


def plan_of(fitted, samples, **choices):
    """The plan of an estimator without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kerncast.plan(fitted, samples, **choices)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_labels_are_those_of_the_estimator(name):
    fitted = CLASSIFIERS[name].fit(X, LABELS)
    plan = plan_of(fitted, np.vstack([X, NEW]), word=32)
    found = kerncast.simulate(plan, kerncast.raw_inputs(plan, NEW))
    assert np.array_equal(found.labels, fitted.predict(NEW))
    assert plan.class_names == tuple(sorted(NAMES))


@pytest.mark.parametrize("name", ["svc", "svc poly", "nu svc", "svc linear"])
def test_the_outputs_of_pairs_are_the_decision_functions_one_against_one(name):
    fitted = CLASSIFIERS[name].fit(X, LABELS).set_params(decision_function_shape="ovo")
    assert np.allclose(evaluate(known_model(fitted), NEW), fitted.decision_function(NEW), atol=1e-9)


@pytest.mark.parametrize("name", REGRESSORS)
def test_several_outputs_are_those_of_the_estimator(name):
    fitted = REGRESSORS[name].fit(X, TARGETS)
    model = known_model(fitted)
    assert model.outputs == 3 and np.allclose(evaluate(model, NEW), fitted.predict(NEW), atol=1e-9)
    plan = plan_of(fitted, np.vstack([X, NEW]), word=24)
    found = kerncast.simulate(plan, kerncast.raw_inputs(plan, NEW))
    assert found.f.shape == (60, 3) and found.labels is None
    assert np.abs(found.f - fitted.predict(NEW)).max() < 0.01
    assert np.allclose(found.budget.total, found.f - found.f_float)


def test_ten_digits_have_the_labels_of_scikit_learn_at_16_bits():
    digits, labels = load_digits(return_X_y=True)
    fitted = SVC().fit(digits[:400], labels[:400])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no W208
        plan = kerncast.plan(fitted, digits[400:], word=16)
    found = kerncast.simulate(plan, kerncast.raw_inputs(plan, digits[400:]))
    assert np.array_equal(found.labels, fitted.predict(digits[400:]))
    assert plan.sizes["C"] == 45 and plan.sizes["M"] == 9 and plan.sizes["N"] <= fitted.n_support_.sum()


def test_labels_that_differ_are_warned_of_with_a_sufficient_word_length():
    fitted = SVC(kernel="poly").fit(X, LABELS)
    with pytest.warns(UserWarning, match=r"W208.*label.*differ") as told:
        plan = kerncast.plan(fitted, X, input={"word": "s16f8"})
    word = int(str(told[0].message).split("word=")[1].split()[0])
    longer = plan_of(fitted, X, input={"word": "s16f8"}, word=word)
    found = kerncast.simulate(longer, kerncast.raw_inputs(longer, X))
    assert plan.word == 16 and np.array_equal(found.labels, fitted.predict(X))


def test_vectors_that_several_estimators_share_are_stored_once():
    rest = OneVsRestClassifier(SVC(gamma=0.01)).fit(X, LABELS)
    stored = known_model(rest).vectors
    assert len(np.unique(stored, axis=0)) == len(stored) < sum(len(e.support_) for e in rest.estimators_)


def test_a_center_of_an_exported_svc_has_one_coefficient_per_other_class():
    fitted = SVC().fit(X, LABELS)
    plan = plan_of(fitted, X)
    assert len(plan.tables["alpha"].values) == 3 * plan.sizes["N"]
    assert plan.tables["group_end"].values[-1] == plan.sizes["N"]


@pytest.mark.parametrize("name", ["svc", "rest svc"])
def test_the_exported_spec_and_its_files_have_the_classes_by_name(tmp_path, name):
    fitted = CLASSIFIERS[name].fit(X, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec = kerncast.export(fitted, NEW, tmp_path / "act.toml", fitted.predict(NEW))
    assert spec.output.classes == tuple(sorted(NAMES))
    assert (tmp_path / "act.csv").read_text().splitlines()[1].split(",")[-1] in NAMES
    plan = kerncast.plan(spec)
    found = kerncast.simulate(plan, kerncast.raw_inputs(plan, NEW))
    assert np.array_equal(found.labels, fitted.predict(NEW))


def test_an_unknown_label_is_not_exported(tmp_path):
    with pytest.raises(KerncastError) as told:
        kerncast.export(CLASSIFIERS["svc"].fit(X, LABELS), NEW, tmp_path / "act.toml", ["fly"] * len(NEW))
    assert told.value.problems[0].code == "E232"


@pytest.mark.parametrize("estimator", [
    OneVsRestClassifier(SVC()).fit(X, np.column_stack([X[:, 0] > 0, X[:, 1] > 5]).astype(int)),
    SVC().fit(RNG.normal(size=(66, 2)), np.arange(66) % 33)])
def test_classes_that_cannot_be_exported_together_are_refused(estimator):
    with pytest.raises(KerncastError) as told:
        known_model(estimator)
    problem, = told.value.problems
    assert problem.code == "E273" and problem.remedy


def test_estimators_with_different_kernels_are_refused():
    rest = OneVsRestClassifier(SVC(gamma=0.01)).fit(X, LABELS)
    rest.estimators_[1] = SVC(gamma=0.5).fit(X, LABELS == "run")
    with pytest.raises(KerncastError) as told:
        known_model(rest)
    assert told.value.problems[0].code == "E273" and "gamma" in told.value.problems[0].remedy


def test_a_linear_part_is_not_exported_silently():
    with pytest.raises(KerncastError) as told:
        known_model(kerncast.KernelLMSRegressor(sigma=2.0, linear="rls").fit(X, TARGETS[:, 0]))
    assert told.value.problems[0].code == "E271"


@pytest.mark.parametrize("change", [
    {"groups": [1, 2]}, {"groups": [90, 0, 0, 1]}, {"groups": [-1, 30, 30, 31]}, {"decision": "argmax"},
    {"decision": "coin"}, {"classes": ["a", "b"]}, {"bias": [0.0] * 5}, {"bias": 0.0}, {"alpha": [1.0]},
    {"decision": 7}])
def test_a_file_whose_classes_do_not_fit_is_refused(change):
    whole = json.loads(known_model(CLASSIFIERS["svc"].fit(X, LABELS)).to_json())
    read_model(json.dumps(whole), "act.json")
    with pytest.raises(KerncastError) as told:
        read_model(json.dumps(whole | change), "act.json")
    assert told.value.problems[0].code == "E275"


@pytest.mark.parametrize("output", [
    {"word": "s15f10"}, {"word": "s15f10", "outputs": 6}, {"classes": ["run", "sit", "walk", "jump"]}])
def test_a_model_whose_classes_are_not_those_of_the_spec_is_refused(tmp_path, output):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec = kerncast.export(CLASSIFIERS["svc"].fit(X, LABELS), NEW, tmp_path / "act.toml")
    values = spec.model_dump(mode="json", by_alias=True, exclude_none=True) | {"output": output}
    with pytest.raises(KerncastError) as told:
        check_fit(kerncast.Spec(**values), read_model((tmp_path / "act.json").read_text(), "act.json"))
    assert told.value.problems[0].code == "E277"
