"""``--json`` printed ``Infinity``, which is no JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kerncast.cli._output import print_json
from kerncast.cli.main import app


def test_null_replaces_non_finite_numbers_at_any_depth(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": float("inf"), "b": [1.5, (float("nan"), {"c": -float("inf")})], "d": True, "e": "NaN"})
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail) == {
        "a": None, "b": [1.5, [None, {"c": None}]], "d": True, "e": "NaN"}


def test_the_condition_of_an_indefinite_system_is_null(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x0,y\n" + "".join(f"{i * i % 97},{i}\n" for i in range(12)))
    (tmp_path / "t.toml").write_text(
        'model = {name = "t", algorithm = "toeplitz_rls"}\n'
        'input = {word = "s8f0"}\noutput = {word = "s8f0"}\n'
        'kernel = {sigma = 60.0}\nnumbers = {word = 32}\ndata = {file = "t.csv"}\n'
        'toeplitz = {n = 12, lambda = 1e-4, scheme = "diagonal_mean"}\n')
    result = CliRunner().invoke(app, ["plan", str(tmp_path / "t.toml"), "--error", "0.01", "--json"])
    found: dict[str, Any] = json.loads(result.stdout, parse_constant=pytest.fail)
    assert found["conditioning"]["condition"] is None
