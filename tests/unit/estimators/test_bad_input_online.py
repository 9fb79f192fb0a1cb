"""Bad input to the online learner, by every door: a code, or a warning with the bound; nothing is changed."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from typer.testing import CliRunner

import kerncast
from kerncast.cli import main
from kerncast.sim.errors import KerncastError
from kerncast.sim.estimators import KernelLMSClassifier, KernelLMSRegressor
from kerncast.sim.model import open_model
from kerncast.sim.spec import Spec

NAN = float("nan")
X = np.random.default_rng(0).normal(size=(30, 2))
Y = (X[:, 0] > 0).astype(int)
X_RAW = np.random.default_rng(1).integers(-2000, 2000, (40, 2))
Y_RAW = X_RAW[:, 0] // 2
TEXT = """[model]
name = "m"
algorithm = "kernel_lms"
[input]
word = "s12f0"
columns = 2
[output]
word = "s12f0"
[kernel]
sigma = 50.0
[online]
budget = 8
eta = 0.3
rho = 0.0
[data]
file = "train.csv"
"""


def spoilt(values, *index):
    """With one NaN."""
    values = np.array(values, dtype=float)
    values[index] = NAN
    return values


def code_of(function, *args, **options):
    with pytest.raises(KerncastError) as caught:
        function(*args, **options)
    (problem,) = caught.value.problems
    assert problem.message and problem.allowed and problem.remedy
    return problem.code


def everything(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_") or name == "_learner"}


# ---- estimators ------------------------------------------------------------------------------------------
REFUSED = [(spoilt(X, 3, 1), Y), (X, spoilt(Y, 4)), (np.where(X.max() == X, np.inf, X), Y), (X[:, :0], Y),
           (X, Y[:-1]), (X[:0], Y[:0]), (X[:, :1], Y), (X, np.array(["q", "p"] * 15))]


@pytest.mark.parametrize("kind", [KernelLMSRegressor, KernelLMSClassifier])
@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_a_refused_call_changes_no_attribute_and_no_prediction(kind, number):
    model = kind(sigma=1.0, budget=10).partial_fit(X, Y)
    before, f = everything(model), model.predict(X)
    for call in (model.partial_fit, model.fit)[:1 + (number < 6)]:  # fit takes other columns and labels
        assert code_of(call, *REFUSED[number]) in ("E232", "E233")
    assert everything(model).keys() == before.keys()
    assert all(everything(model)[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.predict(X), f)


@pytest.mark.parametrize("kind", [KernelLMSRegressor, KernelLMSClassifier])
@pytest.mark.parametrize(("options", "code"), [
    ({"budget": 0}, "E229"), ({"eta": 0.0}, "E228"), ({"eta": NAN}, "E228"), ({"rho": 11.0}, "E228"),
    ({"rho": NAN}, "E228"), ({"sigma": 0.0}, "E220")])
def test_a_fit_refused_for_its_parameters_leaves_the_model_that_was_there(kind, options, code):
    model = kind(sigma=1.0, budget=10).fit(X, Y)
    f = model.predict(X)
    model.set_params(**options)
    assert code_of(model.fit, X[:, :1], Y + 7) == code
    np.testing.assert_array_equal(model.predict(X), f)


def test_labels_that_change_between_calls_are_refused():
    model = KernelLMSClassifier(1.0).partial_fit(X[:3], [1, 1, 1], classes=[0, 1, 2])
    f = model.predict(X)
    for y, classes in (([1, 3, 1], None), (["1", "2", "1"], None), ([1, 1, 1], [0, 1])):
        with pytest.raises(KerncastError, match="E232") as caught:
            model.partial_fit(X[:3], y, classes=classes)
        assert "np." not in str(caught.value)
    np.testing.assert_array_equal(model.predict(X), f)


def test_a_learner_refused_at_its_first_call_begins_with_the_next():
    model = KernelLMSClassifier(1.0)
    assert code_of(model.partial_fit, spoilt(X, 0, 0), Y) == "E233"
    assert code_of(model.partial_fit, X, Y, classes=[5, 6]) == "E232"
    assert not everything(model)
    assert model.partial_fit(X[:, :1], Y).n_features_in_ == 1


def test_an_eta_beyond_the_bound_is_warned_of_and_learns_until_it_diverges():
    with pytest.warns(ConvergenceWarning) as caught:
        model = KernelLMSRegressor(1.0, eta=5.0).partial_fit(X, X[:, 0])
    assert ["= 2." in str(w.message) for w in caught] == [True, False]
    assert "diverged" in str(caught[1].message) and model.status_ == "diverged"
    assert np.all(np.isfinite(model.predict(X)))


# ---- Python: plan, simulate, model -----------------------------------------------------------------------
@pytest.mark.parametrize(("x", "y", "code"), [
    (spoilt(X_RAW, 2, 1), Y_RAW, "E245"), (X_RAW, spoilt(Y_RAW, 2), "E245"), (X_RAW[:, :1], Y_RAW, "E248"),
    (X_RAW[:, :0], Y_RAW, "E248"), (X_RAW, Y_RAW[:-1], "E248"), (99 * X_RAW, Y_RAW, "E246"),
    (X_RAW + 0.5, Y_RAW, "E244")])
def test_invalid_samples_are_refused_everywhere_with_the_state_unchanged(x, y, code):
    spec = Spec.from_text(TEXT)
    plan = kerncast.plan(spec)
    model = open_model(plan)
    model.update(X_RAW, Y_RAW)
    before = model.state()
    for call in ((kerncast.plan, spec), (kerncast.simulate, plan), (model.update,)):
        assert code_of(*call, x, y) == code
    after = model.state()
    assert all(np.array_equal(before[name], after[name]) for name in before)


# ---- spec and command line -------------------------------------------------------------------------------
def run(folder, text, rows, *command):
    (folder / "bad.toml").write_text(text, encoding="utf-8")
    (folder / "train.csv").write_text("x0,x1,y\n" + rows, encoding="utf-8")
    result = CliRunner().invoke(main.app, [*command, str(folder / "bad.toml")], prog_name="kerncast")
    assert "Traceback" not in result.output
    return result.exit_code, result.stderr


@pytest.mark.parametrize(("old", "new", "code", "allowed"), [
    ("budget = 8", "budget = 0", "E108", "2 to 65535"), ("columns = 2", "columns = 0", "E108", "1 to 65535"),
    ("eta = 0.3", "eta = 2.0", "E108", "below 2"), ("eta = 0.3", "eta = 0.0", "E108", "above 0"),
    ("eta = 0.3", "eta = nan", "E108", "below 2"), ("rho = 0.0", "rho = 2.0", "E113", "0 to 1.66667")])
def test_an_invalid_number_in_a_spec_is_refused_with_line_and_allowed_range(tmp_path, old, new, code,
                                                                            allowed):
    exit_code, said = run(tmp_path, TEXT.replace(old, new), "1,2,3\n", "check")
    line = TEXT.splitlines().index(old) + 1
    assert exit_code == 2 and f"bad.toml:{line}" in said and code in said and allowed in said


@pytest.mark.parametrize("command", ["check", "sim", "plan"])
def test_a_sample_that_is_nan_is_refused_at_its_line(tmp_path, command):
    exit_code, said = run(tmp_path, TEXT, "1,2,3\n4,nan,6\n", command)
    assert exit_code == 2 and "train.csv:3 x1: E245" in said


@pytest.mark.parametrize("command", ["check", "plan"])
def test_an_eta_outside_the_stable_range_is_warned_of_with_the_bound(tmp_path, command):
    text = TEXT.replace("eta = 0.3", "eta = 1.9").replace("rho = 0.0", "rho = 0.1")
    exit_code, said = run(tmp_path, text, "1,2,3\n4,5,6\n", command)
    assert exit_code == 0 and "W206" in said and "1.81818" in said and "bad.toml:13" in said
