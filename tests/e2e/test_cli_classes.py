"""Classes at the command line: accuracy, recall and confusion matrix; and the commands with one output."""

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.svm import SVC
from typer.testing import CliRunner

import kerncast
from kerncast.cli import main
from kerncast.lab.fitting.tuners import TUNERS
from kerncast.sim.errors import EXIT_BAD_INPUT
from kerncast.sim.spec import Spec

RNG = np.random.default_rng(6)
X = RNG.integers(0, 60, size=(150, 2)).astype(float)
LABELS = np.array(["idle", "walk", "run"])[(X[:, 0] > 30).astype(int) + (X[:, 1] > 30)]


def run(*arguments):
    result = CliRunner().invoke(main.app, [str(a) for a in arguments], prog_name="kerncast")
    assert "Traceback" not in result.stdout + result.stderr
    return result.exit_code, result.stdout + result.stderr


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The spec of a classifier of three classes, with the true labels of 50 samples."""
    folder = tmp_path_factory.mktemp("act")
    fitted = SVC().fit(X[:100], LABELS[:100])
    kerncast.export(fitted, X[100:], folder / "act.toml", LABELS[100:])
    return folder / "act.toml", fitted.predict(X[100:])


def test_sim_prints_accuracy_recall_and_the_confusion_matrix(exported):
    path, labels = exported
    code, text = run("sim", path)
    right = float(np.mean(labels == LABELS[100:]))
    assert code == 0 and f"accuracy: {right:.2%} of 50 samples" in text
    assert "float64 predicts another label for 0 of 50" in text
    assert all(line in text for line in ("true class", "recall", "Samples by true class (rows)"))


def test_sim_gives_the_confusion_matrix_as_json(exported):
    path, labels = exported
    found = json.loads(run("sim", path, "--json")[1])
    names = found["classes"]["names"]
    assert (found["labels"], names) == (labels.tolist(), ["idle", "run", "walk"])
    matrix = [[int(((LABELS[100:] == true) & (labels == label)).sum()) for label in names] + [0]
              for true in names]
    assert found["classes"]["confusion"] == matrix
    assert found["classes"]["recall"]["run"] == matrix[1][1] / sum(matrix[1])


def test_a_generated_folder_of_classes_is_tested_on_the_host(exported, tmp_path):
    assert run("gen", exported[0], "-o", tmp_path / "c")[0] == 0
    code, text = run("test", tmp_path / "c", "--on", "host", "--json")
    row, = json.loads(text)["backends"]
    assert (code, row["mismatches"]) == (0, 0)


@pytest.mark.parametrize("command", [
    ("sweep", "--grid", "numbers.word=16,32", "-o"), ("report", "-o")])
def test_a_command_with_one_output_refuses_classes(exported, tmp_path, command):
    name, *options = command
    code, text = run(name, exported[0], *options, tmp_path / "out.html")
    assert code == EXIT_BAD_INPUT and "E124" in text and "kerncast sim" in text
    assert not (tmp_path / "out").exists()


def test_sim_draws_the_counts_of_labels_by_true_class(exported, tmp_path):
    path, labels = exported
    assert run("sim", path, "--plot", tmp_path / "labels.svg")[0] == 0
    text = (tmp_path / "labels.svg").read_text()
    counts = [int(((LABELS[100:] == true) & (labels == label)).sum()) for true in sorted(set(LABELS))
              for label in sorted(set(LABELS))]
    assert [int(n) for n in re.findall(r">(\d+)</text>", text)] == counts
    assert all(f">{name}" in text for name in ("idle", "run", "walk"))


def test_sim_draws_each_of_several_outputs(tmp_path):
    rows = [f"{i % 40},{(i * 7) % 31},{i % 40 * 3 % 50},{(i * 7) % 31 * 2}" for i in range(60)]
    (tmp_path / "two.csv").write_text("\n".join(["x0,x1,y0,y1", *rows]) + "\n")
    (tmp_path / "two.toml").write_text(LEARNER.replace('classes = ["idle", "walk", "run"]', OUTPUTS)
                                       .replace('"act', '"two').replace('test = "more.csv"\n', ""))
    code, text = run("sim", tmp_path / "two.toml", "--plot", tmp_path / "two.svg", "-o", tmp_path / "out.csv")
    assert code == 0, text
    drawn = (tmp_path / "two.svg").read_text()
    assert all(f"output {i}" in drawn for i in (0, 1)) and "output 2" not in drawn
    head = (tmp_path / "out.csv").read_text().splitlines()[0].split(",")
    assert head[:8] == ["x0", "x1", "y0", "y1", "f_float0", "f_float1", "f_fixed0", "f_fixed1"]


OUTPUTS = 'outputs = 2\nword = "u6f0"'
LEARNER = """
[model]
name = "act"
algorithm = "kernel_lms"
[input]
word = "u6f0"
columns = 2
[output]
classes = ["idle", "walk", "run"]
[kernel]
sigma = 12.0
[online]
budget = 20
eta = 0.5
quantise = 0.6
[data]
file = "act.csv"
test = "more.csv"
"""


@pytest.fixture(scope="module")
def learner(tmp_path_factory):
    """A spec that learns three classes by name from 100 samples, with 50 to test."""
    folder = tmp_path_factory.mktemp("learner")
    rows = [f"{int(a)},{int(b)},{label}" for (a, b), label in zip(X, LABELS, strict=True)]
    for name, part in (("act.csv", rows[:100]), ("more.csv", rows[100:])):
        (folder / name).write_text("\n".join(["x0,x1,y", *part]) + "\n")
    (folder / "act.toml").write_text(LEARNER)
    return folder / "act.toml"


def test_sim_judges_a_learner_of_three_classes_on_the_test_samples(learner):
    found = json.loads(run("sim", learner, "--json")[1])["classes"]
    most = max(np.mean(LABELS[100:] == name) for name in ("idle", "walk", "run"))
    assert found["names"] == ["idle", "walk", "run"] and found["majority"] == most
    assert found["accuracy"] > 0.8 > most and np.sum(found["confusion"]) == 50
    text = run("sim", learner)[1]
    assert "accuracy on the test samples" in text and "baseline: majority class" in text
    assert "Test samples by true class" in text


def test_a_learner_of_classes_is_judged_on_held_out_samples_and_tuned(learner, tmp_path):
    rows = (learner.parent / "act.csv").read_text().splitlines()
    by_class = sorted(rows[1:], key=lambda row: row.split(",")[2])
    (tmp_path / "act.csv").write_text("\n".join([rows[0], *by_class]))
    (tmp_path / "act.toml").write_text(LEARNER.replace('test = "more.csv"\n', ""))
    judged = json.loads(run("sim", tmp_path / "act.toml", "--json")[1])["held_out"]
    assert judged["judged_by"] == "on the held-out samples of four folds"
    assert judged["measure"] == "error rate"
    assert set(judged["baselines"]) == {"majority class", "linear model"}
    assert run("fit", tmp_path / "act.toml", "-o", tmp_path / "better.toml")[0] == 0
    better = json.loads(run("sim", tmp_path / "better.toml", "--json")[1])["held_out"]
    assert better["error"] <= judged["error"] < judged["baselines"]["majority class"]


def held_out_error(spec):
    return json.loads(run("sim", spec, "--json")[1])["held_out"]["error"]


def table(folder, x, labels):
    """Write samples and labels; return the file."""
    rows = [",".join(map(str, [*row, f"c{label}"])) for row, label in zip(x, labels, strict=True)]
    names = ",".join([f"x{i}" for i in range(x.shape[1])] + ["y"])
    (folder / "d.csv").write_text("\n".join([names, *rows]))
    return folder / "d.csv"


def test_init_and_fit_give_classes_a_linear_part(tmp_path):
    rng = np.random.default_rng(8)
    x = rng.integers(0, 64, (240, 12))
    file = table(tmp_path, x, np.argmax((x - 32) @ rng.normal(size=(12, 3)), axis=1))
    assert run("init", file, "-o", tmp_path)[0] == 0
    text = (tmp_path / "d.toml").read_text().splitlines()
    (tmp_path / "bare.toml").write_text("\n".join(
        line for line in text if not line.startswith(("linear", "joint"))))
    assert run("fit", tmp_path / "bare.toml", "-o", tmp_path / "fitted.toml")[0] == 0
    bare, drafted, fitted = (Spec.load(tmp_path / f"{name}.toml").online for name in ("bare", "d", "fitted"))
    assert bare.linear is None and drafted.linear == fitted.linear == "rls" and drafted.joint and fitted.joint
    errors = [held_out_error(tmp_path / f"{name}.toml") for name in ("bare", "d", "fitted")]
    assert errors[2] <= errors[1] < errors[0]


def test_init_chooses_a_kernel_width_that_suits_random_features(tmp_path):
    wine = load_wine()
    file = table(tmp_path, wine.data, wine.target)
    assert run("init", file, "-o", tmp_path, "--algorithm", "online_kernel_rls")[0] == 0
    drafted = Spec.load(tmp_path / "d.toml")
    narrow = drafted.kernel.sigma / 4
    text = (tmp_path / "d.toml").read_text()
    (tmp_path / "narrow.toml").write_text(re.sub(r"(?m)^sigma = \S+", f"sigma = {narrow:g}", text))
    assert held_out_error(tmp_path / "d.toml") < 0.5 * held_out_error(tmp_path / "narrow.toml")


def test_fit_proposes_kernel_rls_with_a_wider_kernel_for_classes(tmp_path):
    rng = np.random.default_rng(2)
    x = rng.integers(-32, 32, (100, 4))
    a, b, c, d = x.T / 32
    table(tmp_path, x, np.argmax([2 * a * b + c, -a - 2 * b * c, 0.2 + d], axis=0))
    columns = LEARNER.replace("act.csv", "d.csv").replace("u6f0", "s6f0").replace("= 2", "= 4")
    text = columns.replace("idle", "c0").replace("walk", "c1").replace("run", "c2")
    (tmp_path / "d.toml").write_text(text.replace('test = "more.csv"\n', ""))
    *_, change = TUNERS["kernel_lms"].variants(Spec.load(tmp_path / "d.toml"))
    assert change.changes["model", "algorithm"] == "online_kernel_rls"
    assert change.changes["kernel", "sigma"] == 4 * 12.0
    assert run("fit", tmp_path / "d.toml", "-o", tmp_path / "fitted.toml")[0] == 0
    assert Spec.load(tmp_path / "fitted.toml").model.algorithm == "online_kernel_rls"
    errors = [held_out_error(tmp_path / name) for name in ("fitted.toml", "d.toml")]
    assert errors[0] <= 0.9 * errors[1]


@pytest.mark.parametrize(("inputs", "linear"), [(32, "rls"), (33, "nlms")])
def test_fit_tries_the_linear_part_whose_time_suits_the_number_of_inputs(learner, inputs, linear):
    base = Spec.load(learner)
    spec = base.model_copy(update={"input": base.input.model_copy(update={"columns": inputs})})
    tried = [variant.changes for variant in TUNERS["kernel_lms"].variants(spec)]
    assert {changes["online", "linear"] for changes in tried if ("online", "linear") in changes} == {linear}


def test_sim_writes_the_classes_and_labels_of_a_learner_by_name(learner, tmp_path):
    code, text = run("sim", learner, "-o", tmp_path / "out.csv", "--json")
    head, *rows = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()]
    matrix = json.loads(text)["classes"]
    assert code == 0 and head[-4:] == ["class", "label_float", "label_fixed", "margin"]
    assert sum(row[-2] == row[-4] for row in rows) == np.trace(np.array(matrix["confusion"]))
    assert {row[-4] for row in rows} == set(matrix["names"])
    assert all(float(row[-1]) > 0 for row in rows)


def test_a_generated_learner_of_classes_is_tested_on_the_host(learner, tmp_path):
    assert run("gen", learner, "-o", tmp_path / "c")[0] == 0
    code, text = run("test", tmp_path / "c", "--on", "host", "--json")
    assert (code, json.loads(text)["backends"][0]["mismatches"]) == (0, 0)
    assert "#define ACT_CLASS_WALK 1u" in (tmp_path / "c" / "act.h").read_text()


@pytest.mark.parametrize("command", ["report", "sweep"])
def test_commands_with_one_output_reject_a_learner_of_classes(learner, tmp_path, command):
    code, text = run(command, learner, "-o", tmp_path / "out.html")
    assert code == EXIT_BAD_INPUT and "E124" in text


def test_explore_rejects_classes_before_it_starts(learner):
    code, text = run("explore", learner, "--no-browser")
    assert code == EXIT_BAD_INPUT and "E124" in text and "kerncast explore supports only one output" in text


TRAINER = LEARNER.replace("kernel_lms", "kernel_cg").replace("""[online]
budget = 20
eta = 0.5
quantise = 0.6
""", """[cg]
n = 100
lambda = 0.1
steps = 12
""")


@pytest.fixture(scope="module")
def trainer(learner, tmp_path_factory):
    """A spec that trains three classes at once on the samples of the learner."""
    folder = tmp_path_factory.mktemp("trainer")
    for name in ("act.csv", "more.csv"):
        (folder / name).write_text((learner.parent / name).read_text())
    (folder / "act.toml").write_text(TRAINER)
    return folder / "act.toml"


def test_sim_judges_a_trainer_of_three_classes_on_the_test_samples(trainer):
    found = json.loads(run("sim", trainer, "--json")[1])
    assert found["classes"]["accuracy"] > 0.9 and np.sum(found["classes"]["confusion"]) == 50
    assert set(found["budget"]["terms"]) == {"regularisation", "early stopping", "quantisation"}
    assert "accuracy on the test samples" in run("sim", trainer)[1]


def test_a_trainer_of_classes_is_judged_on_held_out_samples_and_tuned(trainer, tmp_path):
    (tmp_path / "act.csv").write_text((trainer.parent / "act.csv").read_text())
    (tmp_path / "act.toml").write_text(TRAINER.replace('test = "more.csv"\n', "").replace(
        "sigma = 12.0", "sigma = 2.0"))
    judged = json.loads(run("sim", tmp_path / "act.toml", "--json")[1])["held_out"]
    assert judged["judged_by"] == "on the held-out samples of four folds"
    assert judged["measure"] == "error rate"
    assert run("fit", tmp_path / "act.toml", "-o", tmp_path / "better.toml")[0] == 0
    better = json.loads(run("sim", tmp_path / "better.toml", "--json")[1])["held_out"]
    assert better["error"] <= judged["error"] < judged["baselines"]["majority class"]


def test_a_generated_trainer_of_classes_is_tested_on_the_host(trainer, tmp_path):
    assert run("gen", trainer, "-o", tmp_path / "c")[0] == 0
    code, text = run("test", tmp_path / "c", "--on", "host", "--json")
    assert (code, json.loads(text)["backends"][0]["mismatches"]) == (0, 0)
    header = (tmp_path / "c" / "act.h").read_text()
    assert "#define ACT_CLASS_WALK 1u" in header and "100 labels" in header


@pytest.mark.parametrize("command", ["report", "sweep"])
def test_commands_with_one_output_reject_a_trainer_of_classes(trainer, tmp_path, command):
    code, text = run(command, trainer, "-o", tmp_path / "out.html")
    assert code == EXIT_BAD_INPUT and "E124" in text
