"""Recordings of boards: replayed equal, a word that differs is named, and what a pulled cable leaves."""

import hashlib
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.generate import generate, load_vectors
from kerncast.hw.backends import open_backend
from kerncast.lab.compare.origin import origin_of
from kerncast.lab.compare.recording import PIECE, Recorder, calls_on_file, load_recording, pieces, recompute
from kerncast.sim.backend import Backend, Outputs
from kerncast.sim.errors import EXIT_BAD_INPUT, EXIT_DIFFERENT, KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec

if TYPE_CHECKING:
    from conftest import HostAgent, SerialBoard

X = np.resize([[3], [50], [-9], [3], [-120]], (3 * PIECE, 1))
CALLS = [("update", X, X[:, 0]), ("predict", X, None)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path]:
    spec = Spec(model={"name": "t", "algorithm": "kernel_lms"}, numbers={"word": 16}, input={"word": "s8f0"},
                output={"word": "s8f0"}, kernel={"sigma": 40.0}, online={"budget": 4, "eta": 0.3})
    plan = make_plan(spec, X, X[:, 0])
    out = tmp_path_factory.mktemp("made") / "out"
    generate(plan, out, vectors=make_vectors(open_model(plan), CALLS), spec=spec)
    return plan, out


def run(*arguments: str | Path) -> tuple[int, dict]:
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"], prog_name="kerncast")
    assert "Traceback" not in result.output
    return result.exit_code, json.loads(result.stdout)


class Failing:
    """The model, until it has answered so many calls."""

    def __init__(self, plan: Plan, answers: int, error: BaseException) -> None:
        self._model, self._left, self._error = open_model(plan), answers, error
        self.name, self.calls, self.state = "failing", self._model.calls, self._model.state
        self.update = lambda x, y: self._answer(self._model.update, x, y)
        self.predict = lambda x: self._answer(self._model.predict, x)

    def _answer(self, function: Callable[..., Outputs], *words: object) -> Outputs:
        if not self._left:
            raise self._error
        self._left -= 1
        return function(*words)


def recorded(made: tuple[Plan, Path], path: Path, backend: Backend) -> Recorder:
    origin = origin_of(made[1], made[0], load_vectors(made[1]))
    with Recorder(path, made[0], backend, "board:t", origin) as recorder:
        for call in pieces(CALLS):
            recorder.run(call)
        recorder.finish()
    return recorder


def test_what_a_board_answered_is_computed_again_from_the_file_alone(
        made: tuple[Plan, Path], tmp_path: Path, traced_agent: Callable[[Plan, Path], "HostAgent"],
        serial_board: Callable[["HostAgent"], "SerialBoard"]) -> None:
    board = serial_board(traced_agent(*made))
    file = tmp_path / "t.recording"
    code, kept = run("hil", "record", made[1], "--on", "board:microbit", "--port", board.port, "-o", file)
    board.unplug()
    assert (code, kept["calls"], kept["samples"], kept["plan"]) == (0, 6, 6 * PIECE, made[0].hash)
    code, found = run("hil", "replay", file)
    assert (code, found["mismatches"], found["first"], found["stopped"]) == (0, 0, "", "")
    assert found["words"] == kept["words"] > 12 * PIECE
    assert found["recorded"]["target"] == f"board:microbit@{board.port}"
    assert found["recorded"]["board"] == "microbit", "HELLO told it, though the image is not known"
    code, refused = run("hil", "record", made[1], "--on", "model", "-o", file)
    assert (code, refused["errors"][0]["code"]) == (EXIT_BAD_INPUT, "E192")


def test_a_recording_states_the_image_that_ran(
        made: tuple[Plan, Path], tmp_path: Path, require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:unicorn", "python -m pip install unicorn")
    backend = open_backend(made[0], "emu:mps2-an386:unicorn", source=made[1], build_dir=tmp_path / "build")
    path = tmp_path / "t.recording"
    with pytest.raises(KerncastError, match="E411"), Recorder(path, made[0], backend, "emu") as recorder:
        recorder.run(pieces(CALLS)[0])
        backend.client.link.process.kill()  # as a pulled cable
        recorder.run(pieces(CALLS)[1])
    backend.close()
    recording = load_recording(path, trusted=True)
    assert recording.about["board"] == "mps2-an386" and len(recording.about["firmware"]) == 64
    assert len(recording.calls) == 1 and recording.stopped.startswith("E411")
    assert recompute(recording, open_model(made[0])).mismatches == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("out")])
def test_answers_before_the_end_are_kept(
        made: tuple[Plan, Path], tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "t.recording"
    with pytest.raises(type(error)):
        recorded(made, path, Failing(made[0], 4, error))
    recording = load_recording(path)
    result = recompute(recording, open_model(made[0]))
    assert (len(recording.calls), result.mismatches, recording.state) == (4, 0, None)
    assert recording.stopped == ("interrupted" if isinstance(error, KeyboardInterrupt) else
                                 "interrupted: OSError")
    code, found = run("hil", "replay", path)
    assert (code, found["stopped"], found["words"]) == (0, recording.stopped, result.words)


def test_values_unknown_to_the_plan_are_reported_with_their_line(
        made: tuple[Plan, Path], tmp_path: Path) -> None:
    path = tmp_path / "t.recording"
    recorded(made, path, open_model(made[0]))
    lines = path.read_text().splitlines()
    call = json.loads(lines[2])
    call["x"][0] = [10**6 for _ in call["x"][0]]
    path.write_text("\n".join([*lines[:2], json.dumps(call), *lines[3:]]) + "\n")
    code, told = run("hil", "replay", path)
    assert (code, told["errors"][0]["code"]) == (EXIT_BAD_INPUT, "E212")
    assert told["errors"][0]["where"].startswith("line 3, ")


def test_nothing_is_left_where_nothing_was_answered(made: tuple[Plan, Path], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        recorded(made, tmp_path / "t.recording", Failing(made[0], 0, KeyboardInterrupt()))
    assert not list(tmp_path.iterdir())


def test_a_file_that_was_cut_off_anywhere_is_read_as_far_as_it_goes(
        made: tuple[Plan, Path], tmp_path: Path) -> None:
    path = tmp_path / "t.recording"
    recorded(made, path, open_model(made[0]))
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for calls, (before, end) in enumerate(pairwise(ends)):
        path.write_bytes(whole[:(before + end) // 2])  # in the middle of a line
        if not calls:
            with pytest.raises(KerncastError, match="the recording contains no call"):
                load_recording(path)
            continue
        recording = load_recording(path)
        assert (len(recording.calls), recording.stopped) == (min(calls, 6), "the file is truncated")
        assert recompute(recording, open_model(made[0])).mismatches == 0


def test_the_first_mismatch_is_named_with_its_sample(
        made: tuple[Plan, Path], tmp_path: Path) -> None:
    path = tmp_path / "t.recording"
    recorded(made, path, open_model(made[0]))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[2]["answered"]["f"][5] += 1
    lines[-1]["state"]["count"][0] -= 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, found = run("hil", "replay", path)
    assert (code, found["mismatches"]) == (EXIT_DIFFERENT, 2)
    assert found["first"].startswith(f"call 1 (update, samples {PIECE} to {2 * PIECE - 1}): f[{PIECE + 5}]: ")


def test_a_file_other_than_a_recording_is_refused(tmp_path: Path, made: tuple[Plan, Path]) -> None:
    for text in ("", "{}\n", "[]\n", "\xff\n", '{"recording": 3, "origin": null, "plan": {}}\n',
                 (made[1] / "vectors.json").read_text()):
        (tmp_path / "x").write_bytes(text.encode("latin-1"))
        code, found = run("hil", "replay", tmp_path / "x")
        assert (code, found["errors"][0]["code"]) == (EXIT_BAD_INPUT, "E212"), text
    for text in ('{"recording": 99}\n', '{"recording": 2, "plan": {}}\n'):
        (tmp_path / "x").write_text(text)
        (problem,) = run("hil", "replay", tmp_path / "x")[1]["errors"]
        assert (problem["code"], problem["remedy"]) == ("E213", "record it again")
    for path, why in ((tmp_path / "none", "does not exist"), (tmp_path, "is a folder")):
        (problem,) = run("hil", "replay", path)[1]["errors"]
        assert (problem["code"], problem["message"]) == ("E191", f"the recording {why}")
        assert (problem["value"], problem["remedy"]) == (str(path), "check the path")


def test_a_reason_that_was_changed_is_refused(made: tuple[Plan, Path], tmp_path: Path) -> None:
    path = tmp_path / "t.recording"
    recorded(made, path, open_model(made[0]))
    whole = path.read_text().splitlines()[:-1]
    for stopped in ({}, 5, {"code": "E411"}, {"code": 5, "message": [3]}):
        path.write_text("\n".join([*whole, json.dumps({"stopped": stopped})]) + "\n")
        code, found = run("hil", "replay", path)
        assert (code, found["errors"][0]["code"]) == (EXIT_BAD_INPUT, "E212"), stopped


@pytest.mark.parametrize(("key", "value"), [("x", None), ("y", None), ("answered", {"f": [1] * PIECE}),
                                            ("answered", {"status": [0] * PIECE}), ("answered", None)])
def test_a_call_that_lacks_values_is_refused(
        made: tuple[Plan, Path], tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "t.recording"
    recorded(made, path, open_model(made[0]))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1][key] = value
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, found = run("hil", "replay", path)
    assert (code, found["errors"][0]["code"]) == (EXIT_BAD_INPUT, "E212")


def test_samples_without_targets_are_predicted_by_a_model_that_was_taught(
        made: tuple[Plan, Path], tmp_path: Path) -> None:
    data, file = tmp_path / "night.csv", tmp_path / "t.recording"
    data.write_text("x0\n3\n50\n")
    code, kept = run("hil", "record", made[1], "--on", "model", "--data", data, "-o", file)
    assert (code, kept["samples"]) == (0, len(X) + 2)
    last = load_recording(file).calls[-1]
    taught = open_model(made[0])
    taught.update(X, X[:, 0])
    assert last.expected["f"].tolist() == taught.predict([[3], [50]])["f"].tolist() != [0, 0]
    assert run("hil", "replay", file)[1]["mismatches"] == 0


def test_answers_that_are_not_ok_are_reported(made: tuple[Plan, Path], tmp_path: Path) -> None:
    folder, data = tmp_path / "out", tmp_path / "night.csv"
    generate(made[0], folder)  # no vectors, so that nothing teaches it
    data.write_text("x0\n3\n50\n")
    arguments = ["hil", "record", str(folder), "--on", "model", "--data", str(data), "-o"]
    done = CliRunner().invoke(app, [*arguments, str(tmp_path / "a")], prog_name="kerncast")
    assert done.exit_code == 0 and "warning: 2 of 2 results are not_trained: " in done.stderr
    assert run(*arguments, tmp_path / "b")[1]["statuses"] == {"not_trained": 2}


def test_a_recording_that_cannot_be_begun_leaves_no_file(made: tuple[Plan, Path], tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Recorder, line: dict) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Recorder, "_put", full)
    with pytest.raises(OSError, match="no space"):
        recorded(made, tmp_path / "t.recording", open_model(made[0]))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("place", "options", "code"), [
    ("t.recording", (), "E192"), ("none/t.recording", (), "E191"), ("new", ("--flash", "auto"), "E418")])
def test_what_cannot_be_recorded_is_refused_before_a_back_end_is_built(
        made: tuple[Plan, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str,
        options: tuple[str, ...], code: str) -> None:
    (tmp_path / "t.recording").touch()
    monkeypatch.setattr("kerncast.hw.backends.open_backend", lambda *_, **__: pytest.fail("it was opened"))
    status, found = run("hil", "record", made[1], "--on", "host", "-o", tmp_path / place, *options)
    assert (status, found["errors"][0]["code"]) == (EXIT_BAD_INPUT, code)
    monkeypatch.chdir(tmp_path)  # where the name of the model is the file's
    if code == "E192":
        assert run("hil", "record", made[1], "--on", "host")[0] == EXIT_BAD_INPUT


def test_samples_of_ones_own_are_learnt_or_predicted(made: tuple[Plan, Path], tmp_path: Path) -> None:
    data, file = tmp_path / "night.csv", tmp_path / "t.recording"
    data.write_text("y,x0\n" + "".join(f"{i % 9},{i % 100}\n" for i in range(100)))
    assert [(call.name, len(call.x_raw)) for call in calls_on_file(made[0], data)] == [
        ("update", PIECE), ("update", 100 - PIECE)]
    assert run("hil", "record", made[1], "--on", "model", "--data", data, "-o", file)[1]["samples"] == 100
    assert run("hil", "replay", file)[0] == 0
    data.write_text("x0\n7\n8\n")
    (call,) = calls_on_file(made[0], data)
    assert (call.name, call.x_raw.tolist(), call.y_raw) == ("predict", [[7], [8]], None)
    data.write_text("x0,y\n7,1000\n")
    code, found = run("hil", "record", made[1], "--on", "model", "--data", data)
    assert (code, found["errors"][0]["code"]) == (EXIT_BAD_INPUT, "E246")


@pytest.mark.parametrize(("scheme", "header", "calls"), [
    ("uniform", "y", ["train", "predict"]), ("diagonal_mean", "x0,y", ["train", "predict"])])
def test_a_trainer_takes_the_first_n_samples(
        tmp_path: Path, scheme: str, header: str, calls: list[str]) -> None:
    plan = make_plan(Spec(model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
                          output={"word": "s8f0"}, kernel={"sigma": 2.0},
                          toeplitz={"n": 8, "lam": 0.5, "scheme": scheme}))
    (tmp_path / "d.csv").write_text(f"{header}\n" + "".join(f"{i},{i}\n"[-2 * len(header.split(',')):]
                                                            for i in range(9)))
    found = calls_on_file(plan, tmp_path / "d.csv")
    assert [call.name for call in found] == calls and len(found[0].y_raw) == 8
    (tmp_path / "d.csv").write_text(f"{header}\n")
    with pytest.raises(KerncastError, match="E247"):
        calls_on_file(plan, tmp_path / "d.csv")


@pytest.mark.parametrize(("arguments", "code"), [
    (("--on", "board:microbit"), "E421"), (("--on", "board:nucelo", "--port", "/dev/x"), "E322"),
    (("--on", "emu:microbit", "--port", "/dev/x"), "E420"),
    (("--on", "board:/dev/x", "--flash", "auto"), "E418"),
    (("--on", "board:microbit", "--port", "/dev/there-is-none"), "E410")])
def test_a_board_that_cannot_be_recorded_states_the_reason(
        made: tuple[Plan, Path], tmp_path: Path, arguments: tuple[str, ...], code: str) -> None:
    status, found = run("hil", "record", made[1], "-o", tmp_path / "x", *arguments)
    assert (status, found["errors"][0]["code"]) == (EXIT_BAD_INPUT, code)
    assert not list(tmp_path.iterdir())


# ---- recordings from other machines ----
def forged(path: Path, change: Callable[[dict], None]) -> None:
    """Change the plan of a recording, and its hash with it."""
    head, *rest = path.read_text().splitlines()
    values = json.loads(head)
    change(values["plan"]["decisions"])
    text = json.dumps(values["plan"]["decisions"], sort_keys=True, separators=(",", ":"))
    values["plan"]["hash"] = hashlib.sha256(text.encode()).hexdigest()
    path.write_text("\n".join([json.dumps(values), *rest]) + "\n")


@pytest.mark.parametrize(("change", "refused"), [
    (lambda plan: plan["memory"][0].update(meaning="x */ int system(const char *); /*"), "E214"),
    (lambda plan: plan.update(name="../../outside"), "E212"),
    (lambda plan: plan["sizes"].update(N=10**9), "E214"),
    (lambda plan: plan["units"].update(y="1/0"), "E214")], ids=["comment", "name", "size", "unit"])
def test_a_forged_plan_of_a_recording_is_refused(
        made: tuple[Plan, Path], tmp_path: Path, change: Callable[[dict], None], refused: str) -> None:
    path = tmp_path / "t.recording"
    recorded(made, path, open_model(made[0]))
    forged(path, lambda plan: None)
    assert run("hil", "replay", path)[0] == 0, "the forger computes the hash as kerncast does"
    forged(path, change)
    for on in ("model", "host"):
        code, found = run("hil", "replay", path, "--on", on)
        assert (code, found["errors"][0]["code"]) == (EXIT_BAD_INPUT, refused)
    assert [place.name for place in tmp_path.iterdir()] == ["t.recording"]


def test_a_recording_without_its_spec_needs_your_trust(made: tuple[Plan, Path], tmp_path: Path) -> None:
    generate(made[0], tmp_path / "out", vectors=load_vectors(made[1]))
    file = tmp_path / "t.recording"
    assert run("hil", "record", tmp_path / "out", "--on", "model", "-o", file)[0] == 0
    code, found = run("hil", "replay", file)
    assert (code, found["errors"][0]["code"]) == (EXIT_BAD_INPUT, "E214")
    assert run("hil", "replay", file, "--trusted")[0] == 0
