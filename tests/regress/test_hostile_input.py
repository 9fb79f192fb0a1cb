"""Input made to exhaust, to confuse or to steer: each is refused with a code, and nothing is written."""

import bz2
import gzip
import json
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kerncast.hw.hil.client import HilClient
from kerncast.lab.compare.verification import LARGEST_BYTES, MAX_FILES
from kerncast.lab.explore import server
from kerncast.lab.sweep import executors
from kerncast.sim import _files
from kerncast.sim._json import MAX_DEPTH, parse_json, read_json
from kerncast.sim._output_files import refuse_unwritable
from kerncast.sim.data import csv_lines as limits
from kerncast.sim.data import inspection, words_csv
from kerncast.sim.data.inspection import inspect_file
from kerncast.sim.data.predictor_file import read_model
from kerncast.sim.data.samples import load_samples
from kerncast.sim.data.samples.wav import MAX_CHUNKS
from kerncast.sim.data.words_csv import read_words
from kerncast.sim.errors import KerncastError, Problem, fail
from kerncast.sim.formats import Format
from kerncast.sim.spec import Data

Run = Callable[..., tuple[int, str, str]]


def code_of(call: Callable[[], object]) -> str:
    with pytest.raises(KerncastError) as caught:
        call()
    return caught.value.problems[0].code


# ---- numbers ----
@pytest.mark.parametrize("text", ["u\u0661\u0666f0", "u16f\u0660", "s\uff11\uff16f1"])
def test_digits_of_other_scripts_are_not_a_format(text: str) -> None:
    with pytest.raises(KerncastError):
        Format.parse(text)


@pytest.mark.parametrize("text", ["1_0", "\u0661", "\uff11", "0x10"])
def test_what_only_python_reads_as_a_number_is_not_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"y\n{text}\n", encoding="utf-8")
    problems: list[Problem] = []
    read_words(path, {"y": Format(True, 16, 0)}, problems)
    assert [problem.code for problem in problems] == ["E244"]
    path.write_text(f"a,y\n1,2\n{text},3\n", encoding="utf-8")
    assert code_of(lambda: load_samples(path)) == "E252"


# ---- files without end ----
def test_a_line_without_an_end_is_refused_in_bounded_memory(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LINE", 1 << 16)
    path = tmp_path / "a.csv"
    path.write_bytes(bytes(1 << 17))
    problems: list[Problem] = []
    read_words(path, {"y": Format(True, 16, 0)}, problems)
    assert [problem.code for problem in problems] == ["E241"]


@pytest.mark.parametrize("rows", ["x\n", "\n"])
def test_a_file_of_wrong_rows_is_read_to_a_limit(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: str) -> None:
    monkeypatch.setattr(words_csv, "MOST_PROBLEMS", 50)
    path = tmp_path / "a.csv"
    path.write_text("y\n" + rows * 1000 + "1\n")
    problems: list[Problem] = []
    read_words(path, {"y": Format(True, 16, 0)}, problems)
    assert len(problems) == 50


@pytest.mark.parametrize("kind", ["fifo", "/dev/zero"])
def test_an_input_that_is_not_a_regular_file_is_refused_at_once(
        run: Run, spec: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "f" if kind == "fifo" else Path(kind)
    if kind == "fifo":
        os.mkfifo(path)
    spec.write_text(spec.read_text().replace('file = "small.csv"', f'file = "{path}"'))
    for command in (("check", spec), ("sim", spec), ("init", "m", "--data", path),
                    ("row", path, "--sigma", "1", "-o", tmp_path / "r.npz")):
        status, _, err = run(*command)
        assert (status, "E241" in err or "E254" in err) == (2, True), command
    for form in ("csv", "npz", "wav", "libsvm"):
        assert code_of(lambda form=form: load_samples(path, format=form)) == "E241", form
    with pytest.raises(ValueError, match="not a regular file"):
        read_json(path)
    with pytest.raises(OSError, match="not a regular file"):
        _files.read_text(path)


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
@pytest.mark.parametrize(("limit", "value"), [("MAX_LINE", 100), ("MAX_TEXT", 1000), ("MAX_LINES", 50)])
def test_what_unpacks_beyond_a_limit_is_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, pack: Callable[[bytes], bytes],
        limit: str, value: int) -> None:
    path = tmp_path / f"a.csv{ending}"
    path.write_bytes(pack(b"y\n" + (b"1" * 200 + b"\n" if limit == "MAX_LINE" else b"1\n" * 2000)))
    monkeypatch.setattr(limits, limit, value)
    problems: list[Problem] = []
    read_words(path, {"y": Format(True, 16, 0)}, problems)
    assert problems[-1].code == "E241" and "too large" in problems[-1].message


@pytest.mark.covering
@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize(("member", "code"), [("manifest.json", "E336"), ("y.npy", "E241")])
def test_an_archive_unpacks_no_more_than_it_states(
        tmp_path: Path, run: Run, method: int, member: str, code: str) -> None:
    path = tmp_path / ("a.zip" if code == "E336" else "a.npz")
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr(member, bytes(64 << 20))
        file.getinfo(member).file_size, file.getinfo(member).CRC = 100, 0
    arguments = ("verify", path) if code == "E336" else ("row", path, "--sigma", 1, "-o", tmp_path / "o.npz")
    tracemalloc.start()
    try:
        exit_code, _, err = run(*map(str, arguments))
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()
    assert (exit_code, code in err) == (2, True)
    assert not (tmp_path / "o.npz").exists()


@pytest.mark.parametrize("command", [("check",), ("sweep",), ("hil", "replay"), ("verify",)])
def test_a_device_without_an_end_is_refused(run: Run, command: tuple[str, ...]) -> None:
    code, _, err = run(*command, "/dev/zero")
    assert code == 2 and "/dev/zero" in err


def test_a_libsvm_file_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LINE", 1 << 16)
    path = tmp_path / "a.svm.gz"
    path.write_bytes(gzip.compress(b"1 1:" + b"0" * (1 << 17)))
    assert code_of(lambda: load_samples(path)) == "E241"


def test_a_libsvm_comment_may_be_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_bytes(b"1 1:2 # \xed\n\n\x0c\r\n-1 1:3 # \xff\r\n")
    assert load_samples(path).y.tolist() == [1, -1]
    path.write_bytes(b"1 1:2 # \xed\n\xc2\x85 1:1\n")
    assert code_of(lambda: load_samples(path)) == "E252"
    path.write_bytes(b"1 1:2 # \xed\ninf 1:2\n")
    with pytest.raises(KerncastError) as caught:
        load_samples(path)
    assert [(p.code, p.where.split()[0]) for p in caught.value.problems] == [("E245", f"{path}:2")]


def test_arrays_that_unpack_beyond_the_limit_are_refused(tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, y=np.zeros(100_000))
    monkeypatch.setattr(_files, "MAX_ARRAYS", 1 << 16)
    assert code_of(lambda: load_samples(path)) == "E241"


def test_a_nul_in_a_file_name_is_an_error_with_a_code(run: Run, spec: Path) -> None:
    spec.write_text(spec.read_text().replace('file = "small.csv"', 'file = "a\\u0000b.csv"'))
    for command in ("check", "plan", "sim"):
        code, _, err = run(command, spec)
        assert code == 2 and "E241" in err and "\0" not in err


def test_a_test_set_without_samples_is_refused_by_check(run: Run, spec: Path) -> None:
    (spec.parent / "test.csv").write_text("x0,y\n")
    spec.write_text(spec.read_text() + 'test = "test.csv"\n')
    code, _, err = run("check", spec)
    assert code == 2 and "E247" in err


@pytest.mark.parametrize("high", ["1" + "0" * 400, "-1" + "0" * 400, "1000000000000000001", "nan"])
def test_a_range_that_is_no_range_of_floats_is_refused(run: Run, spec: Path, high: str) -> None:
    spec.write_text(spec.read_text() + f"ranges = {{y = [1000000000000000000, {high}]}}\n")
    status, _, err = run("check", spec)
    assert status == 2 and "E108" in err


def test_one_row_with_a_time_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t,y\n2026-01-01T00:00:07,49\n")
    assert code_of(lambda: inspect_file(path, Data(file=str(path), time="t"))) in ("E247", "E259")
    path.write_text("2026-01-01T00:00:07,49\n")
    assert code_of(lambda: inspect_file(path, Data(file=str(path)))) in ("E247", "E259")


# ---- archives and recordings ----
def test_foreign_npz_files_are_unreadable_data(tmp_path: Path) -> None:
    import zipfile

    plain = tmp_path / "plain.npz"
    with plain.open("wb") as file:
        np.save(file, np.zeros(3))
    odd = tmp_path / "odd.npz"
    with zipfile.ZipFile(odd, "w") as archive:
        archive.writestr("X.txt", "text")
        archive.writestr("y.npy", "text")
    huge = tmp_path / "huge.npz"
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }"
    with zipfile.ZipFile(huge, "w") as archive:
        text = header.ljust(117) + "\n"
        archive.writestr("y.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
    bare = tmp_path / "bare.npz"
    with zipfile.ZipFile(bare, "w") as archive:
        archive.writestr("X", "text")
        archive.writestr("y", "text")
    for path in (plain, odd, huge, bare):
        assert code_of(lambda path=path: load_samples(path)) in ("E241", "E257")
    empty = tmp_path / "empty.npz"
    np.savez(empty, X=np.zeros((3, 0)), y=np.zeros(3))
    assert code_of(lambda: load_samples(empty)) == "E257"


def test_an_interrupted_wav_recording_is_unreadable_data(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    head = b"fmt " + (16).to_bytes(4, "little") + b"\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0"
    path.write_bytes(b"RIFF" + bytes(4) + b"WAVE" + head + b"data" + bytes(4) + b"\1\0" * 50)
    assert code_of(lambda: load_samples(path)) in ("E241", "E247")


@pytest.mark.parametrize("change", [{"bias": 10**400}, {"classes": [{}, []]}, {"scale": [float("inf")]}],
                         ids=["bias", "classes", "scale"])
def test_a_trained_model_of_impossible_values_is_refused(change: dict[str, object]) -> None:
    model = {"format": "kerncast model 1", "origin": "x", "kernel": {"type": "gaussian", "sigma": 1.0},
             "classes": [], "scale": [1.0], "bias": 0.0, "alpha": [1.0], "vectors": [[1.0]]}
    read_model(json.dumps(model), "m.json")
    assert code_of(lambda: read_model(json.dumps(model | change), "m.json")) == "E275"


@pytest.mark.parametrize("name", ["plan.json", "a/vectors.json", "manifest.json", "m.h", "m_model.c",
                                  ".json"])
def test_a_model_file_named_as_a_generated_file_is_refused(name: str) -> None:
    from kerncast.sim.spec import Spec

    assert code_of(lambda: Spec(
        model={"name": "m", "algorithm": "kernel_predictor"}, input={"word": "u8f0"}, output={"word": "s8f0"},
        kernel={"sigma": 1.0}, predictor={"file": name})) == "E109"


@pytest.mark.parametrize("name", ["kc", "features", "arm_acle", "near", "std", "arm", "corecrt", "vadefs",
                                  "newlib", "sdkconfig"])
def test_a_name_that_c_compilers_stumble_over_is_refused(name: str) -> None:
    from kerncast.sim.spec import Spec

    assert code_of(lambda: Spec(
        model={"name": name, "algorithm": "toeplitz_rls"}, input={"word": "u8f0"}, output={"word": "s8f0"},
        kernel={"sigma": 1.0}, toeplitz={"n": 4, "lambda": 1.0, "scheme": "uniform"})) == "E110"


@pytest.mark.parametrize("header", [
    "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), '''", "(" * 250,
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 400 + ",), }",
    "{'descr': '(,)', 'fortran_order': False, 'shape': (4,), }", "{'descr': ('<f8',), 'shape': (4,), }"])
def test_an_array_header_of_any_text_is_unreadable_data(tmp_path: Path, header: str) -> None:
    import zipfile

    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        text = header.encode() + b"\n"
        archive.writestr("y.npy", b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    assert code_of(lambda: load_samples(path)) == "E241"


@pytest.mark.parametrize("text", ["[" * 65 + "]" * 65, '{"a":' * 300 + "1" + "}" * 300, "[" * 100_000])
def test_json_that_nests_deeper_than_any_of_ours_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="nested"):
        parse_json(text)
    assert parse_json("[" * 64 + "]" * 64)


# ---- what is printed and written ----
def test_a_message_neither_steers_a_terminal_nor_floods_it() -> None:
    problem = fail("E241", "x", where="\x1b[31mred", value="v" * 10**6 + "\x07", allowed="\u202e").problems[0]
    assert "\x1b" not in str(problem) and "\\x1b[31mred" in str(problem)
    assert len(str(problem)) < 10_000 and "\u202e" not in problem.allowed


@pytest.mark.parametrize("kind", ["fifo", "link", "folder"])
def test_an_output_that_is_not_a_regular_file_is_refused_and_stays(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "out"
    (tmp_path / "target").write_text("mine")
    {"fifo": lambda: os.mkfifo(path), "link": lambda: path.symlink_to(tmp_path / "target"),
     "folder": path.mkdir}[kind]()
    before = path.lstat()
    assert code_of(lambda: refuse_unwritable(path, "-o", "the report")) == "E191"
    assert code_of(lambda: refuse_unwritable(Path(os.devnull), "-o", "the report")) == "E191"
    assert path.lstat().st_mode == before.st_mode and (tmp_path / "target").read_text() == "mine"


# ---- workers and boards ----
def test_there_are_no_more_workers_than_points(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Evaluator:
        def load(self, points: object) -> None:
            pass

    monkeypatch.setattr(executors, "_on_processes",
                        lambda evaluator, chunks, jobs: asked.append(jobs) or iter(()))
    list(executors.evaluate_points(Evaluator(), [{}] * 3, jobs=99_999_999))
    list(executors.evaluate_points(Evaluator(), [{}] * 5000, jobs=99_999_999))
    assert asked == [3, executors.MAX_JOBS]


@pytest.mark.parametrize("answer", [{"result": 0, "slot": 255}, {"result": 200, "slot": 0}])
def test_a_board_that_invents_a_slot_or_a_result_differs(answer: dict[str, int]) -> None:
    client = HilClient.__new__(HilClient)
    client.request = lambda opcode, **values: answer  # type: ignore[method-assign]
    client.link = type("Link", (), {"name": "pty"})()
    assert code_of(client.save) == "E414"
    if answer["result"]:
        assert code_of(client.restore) == "E414"


# ---- what is documented ----
def test_the_documented_limits_are_those_of_the_code() -> None:
    assert (limits.MAX_LINE, limits.MAX_TEXT, limits.MAX_LINES) == (16 << 20, 1 << 30, 20_000_000)
    assert (_files.MAX_SPEC, _files.MAX_ARRAYS, _files.MAX_BYTES) == (4 << 20, 1 << 30, 256 << 20)
    assert (MAX_DEPTH, MAX_FILES, LARGEST_BYTES, executors.MAX_JOBS) == (64, 4096, 256 << 20, 256)
    assert inspection.MAX_INPUTS == 65_535
    assert (server._MOST_BYTES, server._SECONDS, server._MOST_CONNECTIONS) == (64 << 10, 60, 64)


# ---- recordings ----
@pytest.mark.parametrize("behind", [False, True])
def test_a_recording_of_many_chunks_is_refused(tmp_path: Path, behind: bool) -> None:
    many = b"LIST\0\0\0\0" * (MAX_CHUNKS + 1)
    sound = b"fmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\4\0\0\0\1\0\2\0"
    chunks = sound + many if behind else many + sound
    path = tmp_path / "a.wav"
    path.write_bytes(b"RIFF" + (len(chunks) + 4).to_bytes(4, "little") + b"WAVE" + chunks)
    assert code_of(lambda: load_samples(path)) == "E241"


def test_a_recording_beyond_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with path.open("wb") as file:
        file.write(b"RIFF\0\0\0\0WAVE")
        file.truncate(_files.MAX_ARRAYS + 1)  # sparse
    assert code_of(lambda: load_samples(path)) == "E241"
