"""``kerncast row``: the first row of the Toeplitz matrix, its checkpoint, and what is refused."""

import importlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kerncast.cli import _progress
from kerncast.sim.reference import first_row

# The package holds a function of this name, too.
diagonal_sums = importlib.import_module("kerncast.sim.reference.first_row.diagonal_sums")
Run = Callable[..., tuple[int, str, str]]
X = np.random.default_rng(5).normal(size=(60, 3))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of sixty samples, whose sums are taken in eight bands."""
    monkeypatch.setattr(diagonal_sums, "_BAND", 8)
    np.savez(tmp_path / "data.npz", X=X, y=np.array(["cat", "dog"] * 30))
    return tmp_path / "data.npz"


def test_the_row_is_that_of_python_and_progress_goes_to_stderr(run: Run, data: Path) -> None:
    out = data.with_name("row.npz")
    code, said, told = run("row", data, "--labels", "--sigma", "1.5", "-o", out)
    assert code == 0 and "60 samples, 3 columns" in said and "scheme diagonal_mean_biased, float64" in said
    assert f"{out.stat().st_size:,} bytes" in said and "first row: 100 %" in told
    with np.load(out) as held:
        np.testing.assert_array_equal(held["r"], first_row(X, 1.5))
        assert (float(held["sigma"]), str(held["scheme"]), str(held["dtype"])) == (
            1.5, "diagonal_mean_biased", "float64")


def test_a_data_set_by_name_in_json_with_the_scheme_that_auto_chose(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "row.npz"
    code, said, told = run("row", "ecg", "--sigma", "2", "-o", out, "--limit", "100", "--json")
    found = json.loads(said)
    assert (code, told) == (0, "")
    assert (found["n"], found["columns"], found["scheme"], found["bytes"]) == (100, 1, "uniform",
                                                                              out.stat().st_size)


def test_an_interrupted_command_resumes_from_its_checkpoint(
        run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, kept = data.with_name("row.npz"), data.with_name("done.npz")
    command = ("row", data, "--labels", "--sigma", "1.5", "-o", out, "--checkpoint", kept)
    with monkeypatch.context() as patch:
        patch.setattr(diagonal_sums, "band_sums", _stopped(diagonal_sums.band_sums, 3))
        code, _, told = run(*command)
    assert code == 130 and f"the progress is saved in {kept}: run the same command again" in told
    assert not out.exists()
    with np.load(kept) as state:
        assert state["bands"] == 3
    assert run(*command)[0] == 0
    with np.load(out) as held:
        np.testing.assert_array_equal(held["r"], first_row(X, 1.5))


def test_an_interruption_without_a_checkpoint_suggests_one(
        run: Run, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagonal_sums, "band_sums", _stopped(diagonal_sums.band_sums, 1))
    code, _, told = run("row", data, "--labels", "--sigma", "1.5", "-o", data.with_name("row.npz"))
    assert code == 130 and "--checkpoint FILE" in told


def _stopped(real: Callable[..., object], calls: int) -> Callable[..., object]:
    """The same, interrupted as Ctrl-C does after so many calls."""
    left = [calls]

    def one(*given: object) -> object:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGINT)
        left[0] -= 1
        return real(*given)

    return one


def test_a_scheme_without_checkpoints_reports_it(run: Run, tmp_path: Path) -> None:
    out, kept = tmp_path / "row.npz", tmp_path / "done.npz"
    code, _, told = run("row", "ecg", "--sigma", "2", "-o", out, "--checkpoint", kept)
    assert code == 0 and "needs neither a checkpoint nor a cluster" in told and not kept.exists()


@pytest.mark.parametrize(("given", "code"), [
    (("-o", "no/row.npz"), "E191"), (("-o", "."), "E191"), (("-o", "data.npz"), "E192"),
    (("-o", "a", "--checkpoint", "a"), "E192"), (("-o", "a", "--checkpoint", "data.npz"), "E192"),
    (("-o", "a", "--sigma", "-1"), "E220"), (("-o", "a", "--scheme", "none"), "E222"),
    (("-o", "a", "--dtype", "int8"), "E263"), (("-o", "a", "--limit", "0"), "E242")])
def test_bad_input_is_refused_before_anything_is_written(
        run: Run, data: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], code: str) -> None:
    monkeypatch.chdir(data.parent)
    status, _, told = run("row", "data.npz", "--labels", "--sigma", "1.5", *given)
    assert status == 2 and code in told and list(data.parent.iterdir()) == [data]


def test_a_missing_cluster_is_named(run: Run, data: Path, monkeypatch: pytest.MonkeyPatch,
                                              require_tool: Callable[..., None]) -> None:
    require_tool("python:distributed", "python -m pip install distributed")
    cluster = importlib.import_module("kerncast.sim.reference.first_row.cluster")
    monkeypatch.setattr(cluster, "_PATIENCE", 1)
    status, _, told = run("row", data, "--labels", "--sigma", "1", "-o", data.with_name("r.npz"),
                          "--scheduler", "nowhere")
    assert status == 2 and "E262" in told and "nowhere" in told


def test_on_a_terminal_progress_is_a_bar(monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(_progress.sys.stderr, "isatty", lambda: True)
    with _progress.bar(False, "first row") as tell:
        tell(3, 4)
    assert capsys.readouterr().out == ""
