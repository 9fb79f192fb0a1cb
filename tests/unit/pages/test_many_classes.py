"""docs/measured/many-classes.md: what its rows promise, and how they are made."""

import numpy as np
import pytest

from kerncast.benchmarks.charts import number, rows_of
from kerncast.benchmarks.many_classes.machine import Cost
from kerncast.benchmarks.many_classes.ours import Row
from kerncast.benchmarks.many_classes.page import lost

TASKS = ("Ten digits", "Nine speakers", "Four activities")


def rows(task):
    return {row["method"]: row for row in rows_of("many-classes", task)}


@pytest.mark.parametrize("task", TASKS)
def test_an_exported_classifier_is_as_accurate_as_scikit_learns(task):
    found = rows(task)
    assert found["kerncast, exported SVC"]["accuracy"] == found["m2cgen==0.10.0, SVC"]["accuracy"]


@pytest.mark.parametrize("task", TASKS)
def test_an_exported_classifier_needs_the_fewest_instructions_of_its_kind(task):
    machines = {name: number(row["predict"]) for name, row in rows(task).items() if "SV" in name}
    assert len(machines) == 4 and min(machines, key=machines.get) == "kerncast, exported SVC"


@pytest.mark.parametrize(("task", "algorithm", "accuracy", "most"), [
    ("Ten digits", "kernel_lms", 95.8, 9800), ("Nine speakers", "kernel_lms", 96.5, 5000),
    ("Nine speakers", "online_kernel_rls", 97.0, 5000), ("Four activities", "kernel_lms", 97.0, 2100)])
def test_a_learner_of_few_kilobytes_is_accurate(task, algorithm, accuracy, most):
    assert any(number(row["accuracy"]) >= accuracy and number(row["RAM, bytes"]) <= most
               for name, row in rows(task).items() if name.startswith(f"kerncast, {algorithm}"))


@pytest.mark.parametrize("task", TASKS)
def test_each_other_learner_on_the_device_needs_more_to_predict_as_well(task):
    learners = [row for row in rows(task).values() if row["learns on"] == "device"]
    for other in (row for row in learners if not row["method"].startswith("kerncast")):
        assert any(number(ours["accuracy"]) >= number(other["accuracy"])
                   and number(ours["predict"]) < number(other["predict"])
                   for ours in learners if ours["method"].startswith("kerncast"))


def row(method, accuracy, predict, *, learn=None, flash=1000, ram=100, peer=True):
    return Row(method, "device", (accuracy,), Cost(learn, predict, flash, ram), peer)


def test_a_row_names_every_method_that_is_as_accurate_with_less():
    ours = row("ours", 0.95, 500.0, learn=900.0, peer=False)
    others = [row("quick", 0.95, 400.0), row("small", 0.96, 600.0, flash=900), row("bad", 0.90, 1.0),
              row("learner", 0.97, 700.0, learn=10.0)]
    assert lost(ours, [ours, *others]) == "| ours | quick | small | learner |"


def test_a_row_that_loses_to_none_is_reported_as_such():
    ours = row("ours", 0.95, 500.0, peer=False)
    assert "none is as accurate" in lost(ours, [ours, row("bad", 0.9, 1.0)])
    assert lost(ours, [ours, row("large", 0.95, 501.0, flash=1100)]) == "| ours | none | none | none |"


def test_the_speakers_have_features_of_one_byte(require_tool):
    require_tool("python:aeon", "python -m pip install --no-deps aeon==1.6.0")
    from kerncast.benchmarks.many_classes.tasks import speakers

    (x, y), (x_test, y_test) = speakers("TRAIN"), speakers("TEST")
    assert (x.shape, x_test.shape) == ((270, 24), (370, 24))
    assert np.abs(x).max() < 127 and set(y) == set(y_test) == set(range(9))


def test_a_learner_on_the_core_finds_the_labels_of_the_integer_model(require_tool):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    require_tool("python:aeon", "python -m pip install --no-deps aeon==1.6.0")
    from kerncast.benchmarks.many_classes.ours import LEARNERS, learner_row
    from kerncast.benchmarks.many_classes.tasks import Task

    task = Task("activities", "", "s8f0", 4, 1)
    measured = learner_row(task, "N = 16", LEARNERS["activities", "N = 16"])
    assert measured.accuracies[0] >= 0.975 and measured.cost.learn > measured.cost.predict > 0
