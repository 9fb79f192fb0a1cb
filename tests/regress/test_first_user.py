"""Troubles that a first user of the commands met."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.sim.errors import KerncastError
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_the_demo_does_not_write_into_a_folder_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "ecg.png").write_text("mine")
    code, _, err = run("demo", "-o", tmp_path)
    assert (code, "E302" in err) == (2, True)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("ecg.png", "mine")]
    code, _, err = run("demo", "-o", tmp_path / "ecg.png")
    assert (code, "E302" in err) == (2, True)


def test_a_model_too_large_for_its_target_is_refused_before_solving(tmp_path: Path) -> None:
    (tmp_path / "y.csv").write_text("y\n" + "1\n" * 60_000)
    (tmp_path / "big.toml").write_text(
        'model = {name = "big", algorithm = "toeplitz_rls"}\ninput = {word = "u16f0"}\n'
        'output = {word = "s8f0"}\nkernel = {sigma = 2.0}\nnumbers = {word = 32}\n'
        'toeplitz = {n = 60000, lambda = 9.0, scheme = "uniform"}\ndata = {file = "y.csv"}\n')
    for command, *more in (("gen", "-o", tmp_path / "out"), ("check",)):
        code, _, err = run(command, tmp_path / "big.toml", *more)
        assert (code, "E301" in err) == (2, True)
        assert "big.toml:6" in err
    assert not (tmp_path / "out").exists()


def test_a_rho_that_rounds_to_nothing_is_refused() -> None:
    with pytest.raises(KerncastError, match="rho is too small"):
        make_plan(Spec(model={"name": "slow", "algorithm": "kernel_lms"}, input={"word": "u8f0"},
                       output={"word": "s8f0"}, kernel={"sigma": 9.0},
                       online={"budget": 3, "eta": 0.5, "rho": 1e-6}))


def test_measurements_before_a_missing_tool_are_still_reported(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("gen", ROOT / "examples" / "ecg.toml", "-o", tmp_path / "ecg")[0] == 0
    monkeypatch.setenv("PATH", "")
    code, out, _ = run("test", tmp_path / "ecg", "--on", "model", "--on", "host:gcc", "--json")
    found = json.loads(out)
    assert code == 3
    assert [row["backend"] for row in found["backends"]] == ["model"]
    assert [problem["code"] for problem in found["errors"]] == ["E511"]


def test_a_system_that_the_device_would_refuse_is_not_exit_code_0(tmp_path: Path) -> None:
    text = (ROOT / "examples" / "ecg.toml").read_text()
    (tmp_path / "ecg.toml").write_text(text.replace("sigma = 3.0", "sigma = 40.0")
                                       .replace("lambda = 0.1", "lambda = 0.0005"))
    code, out, _ = run("sim", tmp_path / "ecg.toml")
    assert code == 2
    assert "not_positive_definite" in out
