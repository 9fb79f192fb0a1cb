"""`kerncast test OUT --on rtl:...` replays a folder's vectors on every core by its name."""

import json

import pytest
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.generate import generate
from kerncast.sim.model import open_model
from kerncast.sim.replay.vectors import make_vectors, usual_calls

from .conftest import make, places
from .learner_cases import stream
from .test_trainer import targets


def folder(tmp_path, case):
    """A generated folder with few vectors."""
    plan = make(case)
    if plan.trains:
        x, y = places(plan, plan.sizes["n"], 1), targets(plan, 1)
    else:
        x, y = stream(plan, 6, 1)
    generate(plan, tmp_path / "out", vectors=make_vectors(open_model(plan), usual_calls(plan, x, y, x[:2])))
    return tmp_path / "out"


@pytest.mark.parametrize(("case", "name"), [
    ("means24", "rtl:icarus:solver"), ("gains16", "rtl:icarus:learner"),
    *(pytest.param(*slow, marks=pytest.mark.campaign) for slow in (
        ("grid16", "rtl:icarus:solver"), ("means24", "rtl:icarus:trainer"),
        ("gains16", "rtl:icarus:predictor"), ("grid16", "rtl:verilator:trainer"),
        ("gains16", "rtl:verilator:learner")))])
def test_the_command_line_replays_vectors_on_a_core_and_writes_waveforms(require_simulator, ledger, tmp_path,
                                                                         case, name):
    require_simulator(name.split(":")[1], waves=True)
    result = CliRunner().invoke(app, ["test", str(folder(tmp_path, case)), "--on", name, "--json",
                                      "--waves", str(tmp_path / "waves")])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [row["backend"] for row in found["backends"]] == [name]
    waves = list((tmp_path / "waves" / name.replace(":", "-")).glob("*.fst"))
    assert waves
    assert all(path.stat().st_size > 100 for path in waves)
    ledger.record(backend=name.rpartition(":")[0], words=found["words"], mismatches=found["mismatches"],
                  case=f"{name} by the command line")


def test_waveforms_of_other_back_ends_are_refused(tmp_path):
    result = CliRunner().invoke(app, ["test", str(folder(tmp_path, "gains16")), "--on", "host",
                                      "--waves", str(tmp_path / "waves")])
    assert result.exit_code == 2
    assert "E424" in result.output
