"""An output replaces neither a file that the spec reads, nor a link, and is refused before the work."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kerncast.cli import _progress
from kerncast.sim.data.predictor_file import TrainedModel
from kerncast.sim.errors import KerncastError
from kerncast.sim.spec import Spec

Run = Callable[..., tuple[int, str, str]]
PREDICTOR = {
    "model": {"name": "m", "algorithm": "kernel_predictor"},
    "input": {"word": "u8f0"},
    "output": {"word": "s8f0"},
    "kernel": {"sigma": 20.0},
}


# ---- inputs ----
@pytest.mark.parametrize("name", ["small.toml", "small.csv", "./small.csv", "hard.csv"])
@pytest.mark.parametrize("command", [
    ("sim", "-o"), ("sim", "--plot"), ("report", "-o"),
    ("sweep", "--grid", "kernel.sigma=1,2", "--export")])
def test_no_output_replaces_the_spec_or_its_data(run: Run, spec: Path, monkeypatch: pytest.MonkeyPatch,
                                                 command: tuple[str, ...], name: str) -> None:
    monkeypatch.chdir(spec.parent)
    (spec.parent / "hard.csv").hardlink_to(spec.parent / "small.csv")
    before = {path.name: path.read_bytes() for path in spec.parent.iterdir()}
    code, _, errors = run(command[0], "small.toml", *command[1:], name)
    assert code == 2 and ("E192" in errors or "E254" in errors)
    assert {path.name: path.read_bytes() for path in spec.parent.iterdir()} == before


def test_a_table_replaces_no_model_that_the_spec_names(run: Run, tmp_path: Path) -> None:
    model = _model(tmp_path / "t.json")
    (tmp_path / "m.csv").write_text("x0,y\n3,4\n5,6\n")
    spec = Spec(**PREDICTOR, predictor={"file": "t.json"}, data={"file": "m.csv"})
    (tmp_path / "m.toml").write_text(spec.to_toml())
    code, _, errors = run("sim", tmp_path / "m.toml", "-o", tmp_path / "t.json")
    assert code == 2 and "E192" in errors
    assert (tmp_path / "t.json").read_text() == model


# ---- links ----
@pytest.mark.parametrize("kind", ["dangling", "loop"])
@pytest.mark.parametrize("command", ["verify", "row", "checkpoint"])
def test_no_output_replaces_a_link(run: Run, generated: Path, tmp_path: Path, command: str,
                                   kind: str) -> None:
    link = tmp_path / "a.npz"
    link.symlink_to(link.name if kind == "loop" else "nowhere")
    data = tmp_path / "d.csv"
    data.write_text("a,y\n" + "".join(f"{i * i % 17},{i % 5}\n" for i in range(20)))
    arguments = {"verify": ("verify", generated, "--on", "model", "--flips", "0", "-o", link),
                 "row": ("row", data, "--sigma", "1", "-o", link),
                 "checkpoint": ("row", data, "--sigma", "1", "--checkpoint", link, "-o", tmp_path / "r.npz"),
                 }[command]
    code, _, errors = run(*arguments)
    assert code == 2 and ("E191" in errors or "E339" in errors)
    assert link.is_symlink() and not (tmp_path / "r.npz").exists()


@pytest.mark.parametrize("place", ["none/a.zip", "small.toml/a.zip"])
def test_a_bundle_that_cannot_be_written_is_refused_at_once(run: Run, generated: Path, place: str) -> None:
    code, _, errors = run("verify", generated, "--on", "model", "-o", generated.parent / place)
    assert code == 2 and errors.startswith("-o: E191")


@pytest.mark.parametrize("place", ["small.toml", "small.toml/packs", "nowhere"])
def test_a_pack_that_cannot_be_written_is_refused_before_the_folder(run: Run, spec: Path, place: str) -> None:
    (spec.parent / "nowhere").symlink_to("missing")
    out = spec.parent / "out"
    code, _, errors = run("gen", spec, "-o", out, "--pack", spec.parent / place)
    assert code == 2 and errors.startswith("--pack: E191") and not out.exists()


def test_a_pack_replaces_no_link(run: Run, spec: Path) -> None:
    out, packs = spec.parent / "out", spec.parent / "packs"
    assert run("gen", spec, "-o", out, "--pack", packs)[0] == 0
    pack, = packs.iterdir()
    kept = pack.rename(packs / "mine")
    pack.symlink_to(kept.name)
    before = kept.read_bytes()
    code, _, errors = run("gen", spec, "-o", out, "--pack", packs)
    assert code == 2 and "E191" in errors
    assert pack.is_symlink() and kept.read_bytes() == before


# ---- generated files ----
@pytest.mark.parametrize("name", ["library.json", "LIBRARY.json"])
def test_a_model_file_replaces_no_file_of_a_package(run: Run, tmp_path: Path, name: str) -> None:
    _model(tmp_path / name)
    (tmp_path / "m.csv").write_text("x0,y\n3,4\n5,6\n")
    spec = Spec(**PREDICTOR, predictor={"file": name}, data={"file": "m.csv"})
    (tmp_path / "m.toml").write_text(spec.to_toml())
    code, _, errors = run("gen", tmp_path / "m.toml", "-o", tmp_path / "out", "--package", "platformio")
    assert code == 2 and "E109" in errors
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["Plan.json", "a\\b.json", "\x1b[2J.json"])
def test_a_model_file_that_some_systems_cannot_store_is_refused(name: str) -> None:
    with pytest.raises(KerncastError, match="E109"):
        Spec(**PREDICTOR, predictor={"file": name})


def _model(path: Path) -> str:
    text = TrainedModel({"type": "gaussian", "sigma": 20.0}, np.array([[3.0], [9.0]]), np.array([1.0, -2.0]),
                        0.5, scale=np.ones(1)).to_json()
    path.write_text(text)
    return text


# ---- terminals and messages ----
@pytest.mark.parametrize("name", ["\x1b[31mred.zip", "a[/b].zip", "\x9bx.zip"])
def test_a_name_neither_steers_the_terminal_of_a_step_nor_ends_it(
        name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for at_terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda at_terminal=at_terminal: at_terminal)
        with _progress.steps(as_json=False) as step:
            step(f"unpacking {name}")
    shown = capsys.readouterr().err
    assert "unpacking" in shown and "\x1b[31m" not in shown and "\x9b" not in shown


def test_a_folder_in_place_of_a_file_has_value_and_remedy(run: Run, spec: Path) -> None:
    code, out, _ = run("init", "m", "--data", spec.parent / "small.csv", "-o", spec, "--json")
    (problem,) = json.loads(out)["errors"]
    assert code == 2 and all(problem[key] for key in ("where", "value", "allowed", "remedy"))


def test_too_little_memory_is_an_error_with_a_code(run: Run, spec: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 14.9 GiB")

    monkeypatch.setattr("kerncast.sim.data.load_dataset", exhausted)
    monkeypatch.setattr("kerncast.lab.workflow.load_dataset", exhausted)
    code, _, errors = run("sim", spec)
    assert code == 2 and "E237" in errors and "14.9 GiB" in errors


def test_samples_at_the_end_of_float64_are_refused_by_their_column(
        run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 7 + 0.5},{(-1) ** i * (i + 1) * 1e306}\n" for i in range(40))
    Path("d.csv").write_text(f"a,y\n{rows}")
    code, _, errors = run("init", "d.csv")
    assert code == 2 and errors.startswith("d.csv y: E246")
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]
