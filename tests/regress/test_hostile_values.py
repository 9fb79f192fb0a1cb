"""Values, names and sizes that end a reader or exhaust it: each is refused with a code."""

import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile
from sklearn.svm import SVC

import kerncast
from kerncast.sim.data import inspection
from kerncast.sim.data.clock import read_clock
from kerncast.sim.data.predictor_file import read_model
from kerncast.sim.data.samples import load_samples
from kerncast.sim.data.words_csv import read_words
from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format
from kerncast.sim.reference.first_row import first_row
from kerncast.sim.spec.source import Source

Run = Callable[..., tuple[int, str, str]]


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(KerncastError) as caught:
        call()
    return caught.value.problems[0].code


def test_an_array_of_python_2_is_read_without_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, shape in (("X", "(2L, 1L)"), ("y", "(2L,)")):
            text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
                             + np.arange(2.0).tobytes())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_samples(path).y.tolist() == [0, 1]


@pytest.mark.parametrize("change", [
    {"vectors": [["1"], ["\u0661"]]}, {"bias": "1"}, {"bias": True}, {"alpha": ["1", "2"]}, {"scale": ["1"]},
    {"classes": ["\x1b[31m", "b"]}, {"classes": ["x" * 10**6, "b"]}, {"classes": ["a\u202eb", "b"]},
    {"classes": [10**400, 1]}, {"classes": [1, "1"]}, {"classes": ["", "b"]}])
def test_text_in_place_of_numbers_and_hostile_labels_are_refused(change: dict[str, object]) -> None:
    text = {"format": "kerncast model 1", "origin": "SVC", "kernel": {"type": "gaussian", "sigma": 1.0},
            "classes": [], "scale": [1.0], "bias": 0.5, "alpha": [1.0, 2.0], "vectors": [[1.0], [2.0]]}
    read_model(json.dumps(text), "m.json")
    assert code_of(lambda: read_model(json.dumps(text | change), "m.json")) == "E275"


@pytest.mark.parametrize("labels", [["a", "x" * 201], ["a", "\x1b[31m"], ["", "a"], ["a", "b\nc"]])
def test_an_estimator_with_a_hostile_label_is_refused(tmp_path: Path, labels: list[str]) -> None:
    X = np.arange(12.0).reshape(6, 2)
    fitted = SVC().fit(X, np.repeat(np.array(labels), 3))
    assert code_of(lambda: kerncast.plan(fitted, X)) == "E122"
    assert code_of(lambda: kerncast.export(fitted, X, tmp_path / "a.toml")) == "E122"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", [("--target-column", ""), ("--inputs", ""), ("--inputs", ",")])
def test_an_empty_name_of_a_column_is_an_error_of_its_option(
        run: Run, tmp_path: Path, option: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d.csv").write_text("a,b\n1.5,2\n2.5,4\n3.5,3\n")
    status, _, err = run("init", "d.csv", *option)
    assert status == 2 and err.startswith(f"{option[0]}: E194")
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


def test_a_number_of_rows_of_many_digits_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,b\n1.5,2\n2.5,4\n3.5,3\n")
    status, _, err = run("init", tmp_path / "d.csv", "--rows", "9" * 5000)
    assert status == 2 and err.startswith("--rows: E194")


@pytest.mark.parametrize("end", ["1e308", "1e300"])
def test_values_that_no_clock_counts_are_no_sampling_instants(end: str) -> None:
    time = np.array([*range(20), float(end)])
    with np.errstate(all="raise"):
        assert not read_clock(time).even
        assert not read_clock(np.array([0.0, 1e-320, 2e-320, float(end)])).even
        assert not read_clock(np.array([-1.0, 0.0, 1.0]) * 1.7e308).even


@pytest.mark.parametrize("text", [
    "[a]\n" + "a." * 2000 + "b = 1\n", "x = {" + "'a' . " * 64 + "b = 1}", "[[" + '"a".' * 64 + "b]]",
    "x = 0x" + "f" * 5000, "x = [[{y = 0b1" + "0" * 20_000 + "}]]"])
def test_keys_and_integers_without_end_are_not_toml(text: str) -> None:
    with pytest.raises(KerncastError, match=r"E102: .* (a key|an integer) has too many"):
        Source.parse(text, "s.toml")


def test_the_lines_of_a_long_spec_are_counted_once() -> None:
    found = Source.parse("[a]\n" + "".join(f"k{i} = 1  # \n\n" for i in range(50)), "s.toml")
    assert found.lines["a", "k49"] == 100


def test_an_axis_of_a_number_of_thousands_of_digits_is_refused(run: Run, spec: Path) -> None:
    digits = "9" * 5000
    for axis in (f"kernel.sigma={digits}", f"kernel.sigma=1..{digits}/3", f"kernel.sigma=1..2/{digits}"):
        status, _, err = run("sweep", spec, "--grid", axis, "-o", spec.parent / "run")
        assert status == 2 and ("E107" in err or "E360" in err)
    assert not (spec.parent / "run").exists()


def test_the_root_folder_is_not_a_data_file(run: Run) -> None:
    status, _, err = run("init", "m", "--data", "/")
    assert status == 2 and "E241" in err


def test_a_recording_without_a_rate_is_unreadable_data(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    wavfile.write(path, 8000, np.arange(20, dtype=np.int16))
    whole = path.read_bytes()
    path.write_bytes(whole[:24] + bytes(8) + whole[32:])  # samples and bytes per second
    assert code_of(lambda: load_samples(path)) == "E241"


@pytest.mark.parametrize("kind", ["npz", "libsvm"])
def test_inputs_without_memory_for_copies_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                      kind: str) -> None:
    monkeypatch.setattr("kerncast.sim.data.samples.files.free_bytes", lambda: 20_000)
    path = tmp_path / f"a.{kind}"
    if kind == "npz":
        np.savez(path, X=np.zeros(1000, dtype=np.uint8).reshape(10, 100), y=np.arange(10))
    else:
        path.write_text("1 100:1\n2 1:1\n" * 5)
    assert code_of(lambda: load_samples(path)) == "E237"


def test_a_checkpoint_that_is_a_link_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "a.npz"
    link.symlink_to(tmp_path / "nowhere")
    X = np.arange(40.0).reshape(20, 2)
    assert code_of(lambda: first_row(X, 1.5, "diagonal_mean", checkpoint=link)) == "E191"
    assert link.is_symlink()


@pytest.mark.parametrize("kind", ["csv", "npz", "libsvm"])
def test_more_inputs_than_a_spec_can_have_are_refused(run: Run, tmp_path: Path, kind: str,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspection, "MAX_INPUTS", 3)
    X, path = np.arange(32.0).reshape(8, 4) ** 2 % 7, tmp_path / f"a.{kind}"
    if kind == "npz":
        np.savez(path, X=X, y=X[:, 0])
    elif kind == "csv":
        np.savetxt(path, X[:, [0, 1, 2, 3, 0]], delimiter=",", header="a,b,c,d,y", comments="")
    else:
        path.write_text("".join(f"{row[0]} " + " ".join(f"{i + 1}:{x}" for i, x in enumerate(row)) + "\n"
                                for row in X))
    status, _, err = run("init", "m", "--data", path)
    assert status == 2 and "E242: the file has too many columns" in err
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_ranges_of_wide_data_are_computed_once(run: Run, tmp_path: Path,
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    ranges = inspection.Inspection.ranges.fget
    monkeypatch.setattr(inspection.Inspection, "ranges",
                        property(lambda self: calls.append(1) or ranges(self)))
    X, names = np.arange(400.0).reshape(4, 100) ** 2 % 11 + 0.5, ",".join(f"c{i}" for i in range(100))
    np.savetxt(tmp_path / "a.csv", X, delimiter=",", header=names, comments="")
    monkeypatch.chdir(tmp_path)
    assert run("init", "m", "--data", "a.csv")[0] == 0
    assert len(calls) < 10


def test_check_reads_the_data_once(run: Run, spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    load = kerncast.sim.data.load_dataset
    monkeypatch.setattr("kerncast.sim.data.load_dataset", lambda *given: calls.append(given) or load(*given))
    assert run("check", spec)[0] == 0
    assert len(calls) == 1


def test_a_count_may_have_a_sign_spaces_or_a_point(tmp_path: Path) -> None:
    path, problems = tmp_path / "a.csv", []
    path.write_text("y,x0\n1,2\n\n+3, 4\n5.0,-6\n 7 ,8e0\n9,10\n")
    formats = {"x0": Format(True, 16, 0), "y": Format(False, 8, 0)}
    assert read_words(path, formats, problems).tolist() == [[2, 1], [4, 3], [-6, 5], [8, 7], [10, 9]]
    assert not problems
    path.write_text("y,x0\n256,1\n-1,2\n1,40000\n1\n1,2,3\n0,0\n")
    assert read_words(path, formats, problems).tolist() == [[0, 0]]
    assert [problem.code for problem in problems] == ["E246"] * 3 + ["E243"] * 2


@pytest.mark.parametrize("command", ["cost", "estimate"])
@pytest.mark.parametrize("clock", ["inf", "nan", "1e300"])
def test_a_clock_without_end_is_not_a_clock(run: Run, generated: Path, command: str, clock: str) -> None:
    status, _, err = run(command, generated, "--clock", clock)
    assert status == 2 and "E194" in err and not (generated / "build").exists()
