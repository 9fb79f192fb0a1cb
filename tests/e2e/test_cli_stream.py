"""The commands on a spec with a stream: plan prints its taps and bound, sim compares it with float64."""

import json
from pathlib import Path

from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.sim.planner import make_plan

SPEC = Path(__file__).resolve().parents[2] / "examples" / "ecg_stream_fir.toml"


def test_plan_states_that_the_design_is_a_filter_and_prints_its_taps():
    done = CliRunner().invoke(app, ["plan", str(SPEC)])
    assert done.exit_code == 0, done.output
    text, plan = " ".join(done.output.split()), make_plan(SPEC)
    assert "This design is a symmetric FIR filter of 61 taps." in text
    assert ", ".join(map(str, plan.tables["taps"].values[30:])) in text
    assert f"at most {sum(plan.evidence['stream']['bound'].values()):.3g} LSB of y" in text
    listed = json.loads(CliRunner().invoke(app, ["plan", str(SPEC), "--json"]).stdout)["stream"]
    assert listed == plan.evidence["stream"]


def test_plan_states_a_sufficient_lag_if_the_lag_is_too_short(tmp_path):
    short = tmp_path / "short.toml"
    short.write_text(SPEC.read_text().replace("stream_lag = 30", "stream_lag = 12"))
    text = " ".join(CliRunner().invoke(app, ["plan", str(short)]).output.split())
    assert f"With stream_lag = {make_plan(short).evidence['stream']['enough']} or more" in text


def test_sim_compares_the_stream_with_the_fitted_values_of_the_record():
    done = CliRunner().invoke(app, ["sim", str(SPEC), "--json"])
    found = json.loads(done.stdout)["stream"]
    assert (found["values"], found["saturated"]) == (1024 - 60, 0)
    assert 0 < found["middle"] <= found["difference"] <= found["bound"]
    assert "stream: 964 values" in CliRunner().invoke(app, ["sim", str(SPEC)]).output
