"""``kerncast init DATA`` for faulty files: the message names the cause, and its remedy works as typed."""

from pathlib import Path

import pytest

from .init_runs import SINE, TABLE, made, refused, remedy_of, run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_suggested_stretch_has_neither_missing_values_nor_time_gaps():
    rows = [f"{i + (i > 15)},{'' if i == 40 else v}" for i, v in enumerate(SINE)]
    text = "time,value\n" + "\n".join(rows) + "\n"
    problem = refused(text)
    assert (problem["code"], problem["where"]) == ("E251", "d.csv:42 value")
    _, data, _ = made(text, *remedy_of(problem))
    assert len(data.y_raw) == 24  # rows 17 to 40


def test_a_stretch_after_an_empty_line_starts_at_the_suggested_row():
    text = "value\n" + "".join(f"{v}\n" + "\n" * (i in (9, 49, 52, 55)) for i, v in enumerate(SINE))
    problem = refused(text)
    assert remedy_of(problem) == ["--rows", "12..51"]
    _, data, found = made(text, *remedy_of(problem))
    assert len(data.y_raw) == 40 and found["rows"].startswith("40 read")


def test_empty_lines_between_rows_of_a_table_are_counted():
    lines = TABLE.splitlines(keepends=True)
    _, data, found = made("".join([*lines[:9], "\n", *lines[9:30], "\n", *lines[30:]]) + "\n")
    assert len(data.y_raw) == 60 and found["rows"].endswith("60 used; empty lines: 2, ignored")


def test_two_used_columns_of_one_name_are_refused_until_one_is_left_out():
    text = TABLE.replace("a,b,c", "a,a,c")
    problem = refused(text)
    assert (problem["code"], problem["value"]) == ("E242", "a") and "--inputs" in problem["remedy"]
    spec, data, _ = made(text, "--inputs", "1")
    assert spec.input.columns == 1 and data.x_raw.shape == (60, 1)


@pytest.mark.parametrize("above", ["# made by a logger\n", "Logger 7\n\n", "title;x\nof the file\n"])
def test_lines_above_the_table_are_refused_and_can_be_deleted(above):
    problem = refused(above + TABLE)
    assert (problem["code"], problem["where"]) == ("E243", "d.csv:1")
    assert "delete the lines above" in problem["remedy"]
    assert made(TABLE)[0].input.columns == 2


def test_a_line_of_units_below_the_header_is_named():
    text = TABLE.replace("a,b,c\n", "a,b,c\nV,mV,1\n")
    Path("d.csv").write_text(text)
    code, _, err = run("init", "d.csv")
    assert code == 2 and err.count("if this line states units, delete it") == 2


def test_a_signal_is_reported_with_the_option_that_predicts_its_next_sample():
    text = "value\n" + "".join(f"{v}\n" for v in SINE)
    _, _, found = made(text)
    spec, _, _ = made(text, *remedy_of({"remedy": found["inputs"]}), name="e.csv")
    assert spec.model.algorithm == "kernel_lms" and spec.input.columns == 8


def test_uneven_instants_that_increase_are_not_said_to_decrease():
    instants = [i + 0.45 * (i % 3 == 0) - 0.1 * (i % 3 == 1) for i in range(60)]
    text = "time,value\n" + "".join(f"{t:.2f},{v}\n" for t, v in zip(instants, SINE, strict=True))
    problem = refused(text)
    assert problem["code"] == "E259" and "do not have a constant step" in problem["message"]
