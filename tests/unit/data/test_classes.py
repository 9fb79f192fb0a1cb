"""Classes in a CSV file: names become labels; a label outside the classes is an error with its line."""

import pytest

from kerncast.sim.data import load_dataset
from kerncast.sim.data.raw import check_targets
from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format
from kerncast.sim.spec import Spec

TABLES = {"model": {"name": "act", "algorithm": "kernel_predictor"}, "input": {"word": "u8f0", "columns": 2},
          "kernel": {"sigma": 2.0}, "predictor": {"file": "act.json"}, "data": {"file": "act.csv"}}


def load(folder, text, **output):
    (folder / "act.csv").write_text(text, encoding="utf-8")
    return load_dataset(Spec(**TABLES, output=output), folder)


def test_names_in_the_target_column_become_labels(tmp_path):
    data = load(tmp_path, 'x0,x1,y\n1,2,run\n3,4,"sit, still"\n5,6,run\n', classes=["sit, still", "run"])
    assert data.y_raw.tolist() == [1, 0, 1] and data.x_raw.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_numbers_are_names_too(tmp_path):
    assert load(tmp_path, "x0,x1,y\n1,2,7\n3,4,3.0\n", classes=[3, 7]).y_raw.tolist() == [1, 0]


@pytest.mark.parametrize("label", ["jump", "", "nan", "1", "Run"])
def test_a_label_outside_the_classes_is_an_error_with_its_line(tmp_path, label):
    with pytest.raises(KerncastError) as told:
        load(tmp_path, f"x0,x1,y\n1,2,run\n3,4,{label}\n", classes=["idle", "run"])
    problem, = told.value.problems
    assert problem.code == "E253" and problem.where.endswith("act.csv:3 y") and problem.remedy
    assert problem.allowed == "idle, run"


def test_many_rows_with_labels_outside_the_classes_are_one_message(tmp_path):
    rows = "".join(f"1,2,{name}\n" for name in ("hop", "jump", "skip") * 200)
    with pytest.raises(KerncastError) as told:
        load(tmp_path, f"x0,x1,y\n{rows}", classes=["idle", "run"])
    problem, = told.value.problems
    assert "in 600 rows" in problem.message and problem.value == "hop, jump, skip"


def test_several_outputs_have_a_column_each(tmp_path):
    data = load(tmp_path, "y1,x0,x1,y0\n10,1,2,20\n30,3,4,40\n", word="s8f0", outputs=2)
    assert data.y_raw.tolist() == [[20, 10], [40, 30]]


def test_an_array_with_a_label_beyond_the_classes_is_refused():
    assert check_targets([0, 2], Format(False, 8, 0), 1, ("a", "b", "c")).tolist() == [0, 2]
    with pytest.raises(KerncastError) as told:
        check_targets([0, 3], Format(False, 8, 0), 1, ("a", "b", "c"))
    problem, = told.value.problems
    assert (problem.code, problem.where) == ("E253", "y_raw[1]")


def test_a_table_of_the_user_has_classes_by_name(tmp_path):
    text = "time,acc,gyro,activity\n0,1,2,walk\n1,3,4,idle\n2,5,6,walk\n"
    (tmp_path / "act.csv").write_text(text, encoding="utf-8")
    keys = {"file": "act.csv", "target_column": "activity", "inputs": ["acc", "gyro"]}
    three = Spec(**{**TABLES, "data": keys}, output={"classes": ["idle", "walk", "run"]})
    data = load_dataset(three, tmp_path)
    assert data.y_raw.tolist() == [1, 0, 1] and data.x_raw.tolist() == [[1, 2], [3, 4], [5, 6]]
    with pytest.raises(KerncastError) as told:
        load_dataset(Spec(**{**TABLES, "data": keys}, output={"classes": ["idle", "run"]}), tmp_path)
    assert [(p.code, p.where.rpartition("/")[2]) for p in told.value.problems] == [
        ("E253", "act.csv:2 activity"), ("E253", "act.csv:4 activity")]
