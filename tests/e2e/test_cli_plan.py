"""``kerncast plan`` and ``kerncast sim``: who decided what, advice, and where the error comes from."""

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kerncast
from kerncast.cli import main
from kerncast.cli.plan import _SOLVED
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

EXAMPLES = Path(kerncast.__file__).parent / "examples"


def run(*arguments):
    """Run a command in this process: exit code, stdout, stderr."""
    result = CliRunner().invoke(main.app, [str(a) for a in arguments], prog_name="kerncast")
    assert "Traceback" not in result.stdout + result.stderr
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("name", ["ecg", "digits"])
def test_plan_shows_for_every_signal_who_decided_and_what_was_seen(name):
    code, out, _ = run("plan", EXAMPLES / f"{name}.toml")
    table = out.split("\n\n")[1].splitlines()
    plan = make_plan(Spec.load(EXAMPLES / f"{name}.toml"))
    assert code == 0
    assert table[0].split()[:4] == ["signal", "format", "cast", "decided"]
    assert [line.split()[0] for line in table[1:]] == list(plan.signals)
    for heading in ("memory", "RAM", "flash", "multiplications"):
        assert heading in out


def test_plan_as_json_holds_the_evidence_beside_the_hashed_decisions():
    code, out, _ = run("plan", EXAMPLES / "digits.toml", "--json")
    whole = json.loads(out)
    assert code == 0
    assert set(whole["decisions"]["signals"]) <= set(whole["evidence"])
    assert whole["evidence"]["alpha"]["decided_by"] == "simulated"
    assert whole["evidence"]["f"]["seen"] > 0


@pytest.mark.parametrize("signal", ["x", "f", "alpha", "accumulator", "xi"])
def test_why_explains_one_signal_in_sentences(signal):
    code, out, _ = run("plan", EXAMPLES / "ecg.toml", "--why", signal)
    assert code == 0
    assert out.startswith(f"{signal} has the format ")
    assert "was decided" in out and "bits of headroom" in out
    assert ("Predicted relative error" in out) == (signal in _SOLVED)


def test_why_of_a_signal_that_is_none_lists_those_there_are():
    code, _, err = run("plan", EXAMPLES / "ecg.toml", "--why", "beta")
    assert code == 2
    assert "E119" in err and "alpha" in err


def test_an_asked_error_is_answered_with_a_word_length():
    code, out, _ = run("plan", EXAMPLES / "ecg.toml", "--error", "1e-4", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["advice"]["error"] <= 1e-4 and answer["advice"]["word"] > 16
    assert answer["conditioning"]["bits_lost"] > 1
    code, out, _ = run("plan", EXAMPLES / "ecg.toml", "--error", "1e-4")
    assert f"[numbers] word = {answer['advice']['word']}" in out


def test_an_error_out_of_reach_is_said_to_be_so():
    code, out, _ = run("plan", EXAMPLES / "ecg.toml", "--error", "1e-12")
    assert code == 0
    assert "No word length reaches" in out
    assert run("plan", EXAMPLES / "ecg.toml", "--error", "0")[0] == 2
    assert "E120" in run("plan", EXAMPLES / "digits.toml", "--error", "1e-3")[2]


@pytest.mark.parametrize(("name", "terms"), [
    ("ecg", ["regularisation", "Toeplitz approximation", "quantisation"]),
    ("digits", ["learning rule", "reduction", "quantisation"])])
def test_sim_prints_where_the_error_comes_from_and_the_parts_add_up(name, terms):
    _, out, _ = run("sim", EXAMPLES / f"{name}.toml", "--json")
    budget = json.loads(out)["budget"]
    assert list(budget["terms"]) == terms
    assert math.isclose(sum(term["part"] for term in budget["terms"].values()), 1.0, rel_tol=1e-9)
    text = run("sim", EXAMPLES / f"{name}.toml")[1]
    assert all(term in text for term in [*terms, "in all"])
