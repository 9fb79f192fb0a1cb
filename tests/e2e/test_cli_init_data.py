"""``kerncast init DATA``: each kind of file gives a right spec, or a message whose remedy works as typed."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

from .init_runs import SINE, TABLE, A, B, labels, made, refused, remedy_of, run


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- plain tables ----
@pytest.mark.parametrize("text", [
    TABLE, TABLE.replace("\n", "\r\n"), "\ufeff" + TABLE, TABLE.replace(",", ";"), TABLE.replace(",", "\t"),
    TABLE.replace(",", " ")])
def test_a_table_gives_the_same_samples_whatever_its_line_ends_and_separator(text):
    spec, data, found = made(text)
    assert spec.model.algorithm == "kernel_lms" and list(spec.data.ranges) == ["a", "b", "c"]
    assert found["rows"] == "60 read, 0 dropped, 60 used" and found["target"].startswith("c, ")
    low, high = spec.data.ranges["a"]
    assert np.abs(low + data.x_raw[:, 0] * (high - low) / 4095 - A).max() <= 0.51 * (high - low) / 4095


def test_a_table_without_a_header_has_numbered_columns():
    spec, data, found = made(TABLE.split("\n", 1)[1])
    assert found["target"].startswith("column 2, ") and data.x_raw.shape == (60, 2)
    assert spec.data.target_column == 2


def test_spaces_in_the_names_of_file_and_folder_are_accepted_and_give_a_name():
    Path("my data").mkdir()
    spec, data, _ = made(TABLE, name="my data/My Motor-2 (new).csv")
    assert spec.model.name == "my_motor_2_new" and len(data.y_raw) == 60


@pytest.mark.parametrize(("name", "suggested"), [
    ("my motor", "my_motor"), ("my-motor", "my_motor"), ("Motor", "motor"), ("3phase", "m_3phase"),
    ("Größe", "grosse"), ("int", "my_int"), ("a" * 40, "a" * 24)])
def test_a_name_that_c_cannot_use_is_refused_with_one_that_works(name, suggested):
    Path("my data.csv").write_text(TABLE)
    code, _, err = run("init", name, "--data", "my data.csv")
    typed = re.search(r"run kerncast (init (\S+).*)", err)
    assert code == 2 and "E110" in err and typed[2] == suggested.replace("grosse", "groe")
    assert run(*shlex.split(typed[1]))[0] == 0
    assert 'file = "my data.csv"' in Path(f"{typed[2]}.toml").read_text()


def test_the_remedy_for_a_file_name_keeps_every_option_and_one_suffix():
    Path("my data.csv").write_text(TABLE)
    options = ["--data", "my data.csv", "--target-column", "b", "--inputs", "a,c", "--rows", "40",
               "--algorithm", "online_kernel_rls", "--target", "cortex-m7", "--out", "to here"]
    _, _, err = run("init", "motor.toml", *options)
    typed = shlex.split(re.search(r"run kerncast (init .*)", err)[1])
    assert typed == ["init", "motor", *options]
    assert run(*typed)[0] == 0 and [path.name for path in Path("to here").iterdir()] == ["motor.toml"]


# ---- decimal commas ----
def test_decimal_commas_are_found_and_stated():
    spec, data, found = made(TABLE.replace(",", ";").replace(".", ","))
    assert (spec.data.decimal, spec.data.separator, found["decimal"]) == (",", ";", "commas")
    assert (data.x_raw == made(TABLE, name="e.csv")[1].x_raw).all()


def test_one_column_of_decimal_commas_is_a_signal():
    spec, data, found = made("accel\n" + "\n".join(SINE).replace(".", ",") + "\n")
    assert spec.toeplitz.n == 60 and spec.data.decimal == "," and found["inputs"].startswith("none")
    assert (data.y_raw == made("accel\n" + "\n".join(SINE) + "\n", name="e.csv")[1].y_raw).all()
    bare, words, _ = made("\n".join(SINE).replace(".", ",") + "\n", name="f.csv")
    assert bare.data.decimal == "," and (words.y_raw == data.y_raw).all()


def test_decimal_commas_in_quotes_may_be_separated_by_commas():
    text = "a,y\n" + "".join(f'"{x:.3f}","{y:.3f}"\n'.replace(".", ",") for x, y in zip(A, B, strict=True))
    spec, data, found = made(text)
    assert found["decimal"] == "commas" and spec.data.separator == "," and len(data.y_raw) == 60


def test_two_columns_of_integers_are_no_decimal_commas():
    spec, _, found = made("a,b\n" + "\n".join(f"{i % 7},{i * i % 50}" for i in range(60)) + "\n")
    assert spec.input.columns == 1 and "decimal" not in found
    codes = "\n".join(f"{i % 7},0{i * i % 50}" for i in range(60))
    spec, _, found = made(f"a,b\n{codes}\n", name="e.csv")
    assert spec.input.columns == 1 and "decimal" not in found


# ---- classes ----
@pytest.mark.parametrize(("names", "first"), [(("idle", "run"), "idle"), ((0, 1), "0"), (("true", "false"),
                                                                                          "false")])
def test_two_classes_are_the_targets_minus_one_and_one(names, first):
    spec, data, found = made(labels(names))
    assert spec.data.classes[0] == first and sorted(set(data.y_raw)) == [-1, 1]
    assert found["classes"].startswith(f"{first} (30, target -1)")
    assert (data.y_raw[0] == -1) == (str(names[0]) == first)


@pytest.mark.parametrize("names", [("idle", "run", "walk"), (0, 1, 2)])
@pytest.mark.parametrize("algorithm", [(), ("--algorithm", "kernel_cg"),
                                       ("--algorithm", "online_kernel_rls")])
def test_three_classes_are_learned_by_name(names, algorithm):
    spec, data, found = made(labels(names), *algorithm)
    assert spec.output.classes == tuple(map(str, names)) and spec.data.classes is None
    assert data.y_raw[:3].tolist() == [0, 1, 2] and len(data.y_raw) == 60
    assert found["classes"] == ", ".join(f"{name} (20)" for name in names)


def test_an_algorithm_without_labels_separates_two_classes():
    names = ("idle", "run", "walk")
    Path("d.csv").write_text(labels(names))
    code, out, _ = run("init", "d.csv", "--algorithm", "toeplitz_rls", "--json")
    (problem,) = json.loads(out)["errors"]
    assert code == 2 and problem["code"] == "E253" and "20" in problem["value"]
    spec, data, found = made(labels(names), "--algorithm", "toeplitz_rls", *remedy_of(problem))
    assert len(spec.data.classes) == 2 and sorted(set(data.y_raw)) == [-1, 1] and len(data.y_raw) == 40
    assert "20 (other classes) dropped" in found["rows"]


def test_few_integers_are_a_number_on_request():
    spec, data, found = made(labels((0, 1, 2)), "--classes", "none")
    assert spec.data.classes is None and found["classes"].startswith("none")
    assert len(set(data.y_raw)) == 3


def test_a_class_in_the_first_column_is_the_target_by_its_name():
    rows = "".join(f"{'ab'[i % 2]},{A[i]},{B[i]}\n" for i in range(60))
    spec, _, found = made("label,u,v\n" + rows)
    assert (spec.data.target_column, found["target"]) == ("label", "label")
    problem = refused("kind,u,v\n" + rows, name="e.csv") if not Path("d.toml").unlink() else {}
    assert problem["code"] == "E252" and made("kind,u,v\n" + rows, *remedy_of(problem), name="f.csv")


def test_names_of_single_rows_are_not_classes():
    problem = refused("a,b,label\n" + "".join(f"{A[i]},{B[i]},n{i}\n" for i in range(60)))
    assert problem["code"] == "E253" and "--target-column" in problem["remedy"]


# ---- missing values ----
@pytest.mark.parametrize("field", ["NaN", "NA", ""])
def test_a_missing_value_is_refused_with_its_line_or_dropped_on_request(field):
    text = TABLE.splitlines()
    text[10] = f"{field},1.5,2.5"
    problem = refused("\n".join(text) + "\n")
    assert (problem["code"], problem["where"]) == ("E251", "d.csv:11 a")
    _, data, found = made("\n".join(text) + "\n", *remedy_of(problem))
    assert len(data.y_raw) == 59 and found["rows"].startswith("60 read, 1 (missing values) dropped")


def test_empty_lines_of_a_table_are_no_samples():
    assert len(made(TABLE.replace("\n", "\n\n"))[1].y_raw) == 60


@pytest.mark.parametrize("text", ["value\n" + "\n".join([*SINE[:40], "", *SINE[40:]]) + "\n",
                                  "y\n" + "\n".join([*"123456789" * 4, "", *"12345" * 4]) + "\n"])
def test_an_empty_line_in_a_signal_is_refused_with_its_line(text):
    problem = refused(text)
    empty = text.split("\n").index("")
    assert problem["code"] == "E251" and problem["where"].startswith(f"d.csv:{empty + 1}")
    assert "by linear interpolation" in problem["remedy"] and "docs/measured/gaps.md" in problem["remedy"]
    _, data, _ = made(text, *remedy_of(problem))
    assert len(data.y_raw) == empty - 1


# ---- size ----
def test_samples_that_are_not_used_are_counted():
    spec, data, found = made("value\n" + "".join(f"{np.sin(i / 40):.4f}\n" for i in range(20_000)))
    assert spec.toeplitz.n == len(data.y_raw) == 1024
    assert found["rows"].startswith("20,000 read, 0 dropped, 1,024 used") and "raise n" in found["rows"]


def test_a_range_of_rows_is_what_every_command_reads():
    text = "value\n" + "".join(f"{i}.5\n" for i in range(300))
    spec, data, _ = made(text, "--rows", "101..200")
    low, high = spec.data.ranges["value"]
    assert (spec.data.rows, len(data.y_raw), low, high) == ("101..200", 100, 100.5, 199.5)
    assert data.y_raw[0] == 0


def test_n_is_lowered_to_fit_the_target_and_said_so():
    text = "value\n" + "".join(f"{np.sin(i / 40):.4f}\n" for i in range(1200))
    spec, _, found = made(text, "--target", "atmega328p")
    assert 2 < spec.toeplitz.n < 1024 and "lowered from 1,024" in found["size"]
    assert "raise n" not in found["rows"]
    Path("d.toml").unlink()
    assert "raise n" in made(text)[2]["rows"]
    assert run("gen", "d.toml", "-o", "out")[0] == 0


def test_a_board_is_accepted_and_its_target_stated():
    Path("d.csv").write_text(TABLE)
    code, out, _ = run("init", "d.csv", "--target", "nucleo-f446re")
    assert code == 0 and "nucleo-f446re is a board with the target cortex-m4" in out


# ---- other formats ----
def test_a_recording_is_a_signal_and_two_channels_need_a_choice():
    sound = (8000 * np.sin(np.arange(400) / 7)).astype(np.int16)
    wavfile.write("s.wav", 8000, sound)
    spec, data, found = made(Path("s.wav").read_bytes(), name="s.wav")
    assert spec.toeplitz.n == len(data.y_raw) == 400 and "step 0.000125" in found["time"]
    wavfile.write("t.wav", 8000, np.column_stack([sound, -sound]))
    Path("s.toml").unlink()
    problem = refused(Path("t.wav").read_bytes(), name="t.wav")
    assert problem["code"] == "E242"
    assert len(made(Path("t.wav").read_bytes(), *remedy_of(problem), name="t.wav")[1].y_raw) == 400


def test_an_archive_of_arrays_is_a_table_or_a_signal():
    np.savez("a.npz", X=np.column_stack([A, B]), y=A * B)
    assert made(Path("a.npz").read_bytes(), name="a.npz")[1].x_raw.shape == (60, 2)
    np.savez("b.npz", y=A)
    assert made(Path("b.npz").read_bytes(), name="b.npz")[0].toeplitz.n == 60
    np.savez("c.npz", X=np.column_stack([A, B]), y=np.where(A > 0, "up", "down"))
    assert made(Path("c.npz").read_bytes(), name="c.npz")[0].data.classes == ["down", "up"]


@pytest.mark.parametrize(("arrays", "columns"), [({"value": A}, 0),
                                                 ({"X": np.column_stack([A, B]), "t": B}, 2)])
def test_the_remedy_for_a_target_of_another_name_works(arrays, columns):
    np.savez("d.npz", **arrays)
    problem = refused(Path("d.npz").read_bytes(), name="d.npz")
    typed = re.search(r"--target-column \"(\w+)\" with", problem["remedy"])
    assert problem["code"] == "E257" and typed is not None
    spec, data, _ = made(Path("d.npz").read_bytes(), "--target-column", typed[1], name="d.npz")
    assert spec.model.algorithm == ("kernel_lms" if columns else "toeplitz_rls") and len(data.y_raw) == 60


def test_an_array_that_may_be_the_inputs_is_not_ignored():
    np.savez("d.npz", pixels=np.column_stack([A, B]), y=A * B)
    problem = refused(Path("d.npz").read_bytes(), name="d.npz")
    assert problem["code"] == "E257" and problem["value"] == "pixels"
    typed = problem["remedy"].partition(": ")[2]
    exec(typed, {"numpy": np})
    assert made(Path("d-xy.npz").read_bytes(), name="d-xy.npz")[1].x_raw.shape == (60, 2)


def test_a_libsvm_file_is_a_table():
    text = "".join(f"{1 if A[i] > 0 else -1} 1:{A[i]} 2:{B[i]}\n" for i in range(60))
    spec, data, found = made(text, name="d.svm")
    assert spec.data.classes == ["-1", "1"] and sorted(set(data.y_raw)) == [-1, 1]
    assert data.x_raw.shape == (60, 2) and found["classes"]


# ---- files that cannot be learned from ----
@pytest.mark.parametrize(("encoding", "named"), [("latin-1", "LATIN1"), ("utf-16", "UTF-16")])
def test_another_encoding_is_refused_with_the_command_that_converts_it(encoding, named):
    problem = refused(TABLE.replace("a,", "Température,", 1).encode(encoding))
    assert problem["code"] == "E241" and "not UTF-8" in problem["message"]
    assert f"iconv -f {named} -t UTF-8 \"d.csv\" > \"d-utf8.csv\"" in problem["remedy"]


def test_a_file_without_a_known_suffix_is_refused_with_a_name_that_works():
    problem = refused(TABLE, name="d.dat")
    assert problem["code"] == "E254" and "\"d.csv\"" in problem["remedy"]
    Path("folder").mkdir()
    assert "E241: the data file is a folder" in run("init", "d", "--data", "folder")[2]


@pytest.mark.parametrize("text", ["", "a,b\n", "a,b\n1,2.5\n"])
def test_a_file_without_two_samples_is_refused(text):
    assert refused(text)["code"] == "E247"


def test_a_constant_target_is_refused_and_a_constant_input_reported():
    assert {refused(text)["code"] for text in ("v\n" + "1.0\n" * 9, "a,y\n" + "5,1.5\n5,2\n" * 9)} == {"E249"}
    lines = enumerate(TABLE.splitlines())
    text = "k,copy," + "\n".join(f"7,{A[i - 1]}," * bool(i) + line for i, line in lines)
    _, _, found = made(text + "\n", name="e.csv")
    assert found["constant"] == "k" and found["duplicate"] == "a equals copy"


def test_an_input_of_text_is_refused_with_the_columns_that_are_numbers():
    text = "who," + "\n".join(f"p{i % 7}," * bool(i) + line for i, line in enumerate(TABLE.splitlines()))
    problem = refused(text + "\n")
    typed = re.search(r"--inputs \"([^\"]*)\"", problem["remedy"])
    assert problem["code"] == "E252" and typed is not None
    assert made(text + "\n", "--inputs", typed[1])[1].x_raw.shape == (60, 2)


ANIMALS = "kind,place,length,mass,sex\n" + "".join(
    f"{'ab'[i % 2]},{'xyz'[i % 3]},{A[i]},{B[i]},{'fm'[i % 5 > 2]}\n" for i in range(60))
NAMED = "power,mass,name\n" + "".join(f"{A[i]},{B[i]},car {i}\n" for i in range(60))
STILL = "a,b,c\n" + "".join(f"{A[i]},{B[i]},7.5\n" for i in range(60))
STATES = "time,state\n" + "".join(f"{i},{'on' if A[i] > 0 else 'off'}\n" for i in range(60))


@pytest.mark.parametrize(("text", "code"), [(ANIMALS, "E252"), (NAMED, "E253"), (STILL, "E249"),
                                            (STATES, "E252")])
def test_every_remedy_for_a_choice_of_columns_works(text, code):
    problem = refused(text)
    assert problem["code"] == code
    for part in problem["remedy"].split("; or "):
        options = shlex.split(part.partition(": ")[2])
        if options:
            made(text, *options)
            for path in Path().glob("*.toml"):
                path.unlink()


@pytest.mark.parametrize(("options", "code"), [
    (("--target-column", "z"), "E242"), (("--inputs", "a,z"), "E242"), (("--time", "z"), "E242"),
    (("--rows", "0"), "E194"), (("--rows", "9..2"), "E194"), (("--separator", "|"), "E194"),
    (("--classes", "one"), "E194"), (("--inputs", "a,c"), "E242")])
def test_an_option_that_does_not_fit_the_file_is_refused(options, code):
    assert refused(TABLE, *options)["code"] == code
