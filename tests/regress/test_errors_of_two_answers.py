"""Look-ahead's answers to indefinite systems were measured against float64's refusal: infinite errors."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.sim.planner import make_plan
from kerncast.sim.reference import backend
from kerncast.sim.reference.result import Status
from kerncast.sim.spec import Spec

ROOT = Path(__file__).resolve().parents[2]


def test_look_ahead_is_measured_against_look_ahead():
    x, y = np.arange(12)[:, None] ** 2 % 97, np.arange(12)
    for solver, answers in (("lookahead", True), ("lookahead_f32", True), ("levinson", False)):
        spec = Spec(model={"name": "t", "algorithm": "toeplitz_rls"}, input={"word": "s8f0"},
                    output={"word": "s8f0"}, kernel={"sigma": 60.0}, numbers={"word": 32},
                    toeplitz={"n": 12, "lam": 1e-4, "scheme": "diagonal_mean", "solver": solver})
        assert backend.FloatReference(make_plan(spec)).train(x, y).ok == answers


def test_without_a_float64_answer_no_error_is_reported(monkeypatch):
    solve = backend.solve_toeplitz
    monkeypatch.setattr(backend, "solve_toeplitz", lambda r, y, method: replace(
        solve(r, y, method), status=Status.NOT_POSITIVE_DEFINITE, x=0 * y))
    path = str(ROOT / "examples" / "ecg.toml")
    told, found = (CliRunner().invoke(app, ["sim", path, *more]) for more in ((), ("--json",)))
    assert (told.exit_code, found.exit_code) == (0, 0)
    assert "Float64  cannot solve this system" in told.stdout
    assert "compared with float64" not in told.stdout
    assert "error on the training data" not in told.stdout
    values = json.loads(found.stdout)
    assert values["trained"] and values["budget"] is None and "cannot solve" in values["float64"]
    assert not {"f_error", "alpha_error"} & set(values)
