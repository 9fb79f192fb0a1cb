"""``kerncast plan`` and ``kerncast sim``: who decided what, advice, and where the error comes from."""

import json
import math
import re
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


@pytest.mark.parametrize("name", ["ecg", "digits", "equaliser", "ecg_stream", "drift"])
def test_plan_shows_for_every_signal_who_decided_and_what_was_seen(name):
    code, out, _ = run("plan", EXAMPLES / f"{name}.toml")
    table = out.split("\n\n")[1].splitlines()
    plan = make_plan(Spec.load(EXAMPLES / f"{name}.toml"))
    assert code == 0
    assert table[0].split()[:5] == ["signal", "format", "exponent", "cast", "decided"]
    assert [line.split()[0] for line in table[1:]] == list(plan.signals)
    for heading in ("memory", "RAM", "flash", "multiplications"):
        assert heading in out


def test_plan_as_json_has_the_evidence_beside_the_hashed_decisions():
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
    assert "was chosen" in out and "bits of headroom" in out
    assert ("Predicted relative error" in out) == (signal in _SOLVED)


def test_why_of_an_unknown_signal_lists_the_known_ones():
    code, _, err = run("plan", EXAMPLES / "ecg.toml", "--why", "beta")
    assert code == 2
    assert "E119" in err and "alpha" in err


def test_a_requested_error_is_answered_with_a_word_length():
    code, out, _ = run("plan", EXAMPLES / "ecg.toml", "--error", "1e-4", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["advice"]["error"] <= 1e-4 and answer["advice"]["word"] > 16
    assert answer["conditioning"]["bits_lost"] > 1
    code, out, _ = run("plan", EXAMPLES / "ecg.toml", "--error", "1e-4")
    assert f"[numbers] word = {answer['advice']['word']}" in out


def test_an_unattainable_error_is_reported():
    code, out, _ = run("plan", EXAMPLES / "ecg.toml", "--error", "1e-12")
    assert code == 0
    assert "No word length achieves" in out
    assert run("plan", EXAMPLES / "ecg.toml", "--error", "0")[0] == 2
    assert "E120" in run("plan", EXAMPLES / "digits.toml", "--error", "1e-3")[2]


def test_a_requested_error_of_kernel_cg_is_judged_by_runs_on_the_data(tmp_path):
    path = refused(tmp_path)
    code, out, _ = run("plan", path, "--error", "1e-3")
    assert code == 0
    assert "on the data" in out and "no answer" in out and "not_positive_definite" in out
    answer = json.loads(run("plan", path, "--error", "1e-3", "--json")[1])
    assert [choice["word"] for choice in answer["choices"]] == [16, 24, 32]
    assert answer["choices"][0]["error"] is None
    path.write_text(path.read_text().split("[data]")[0])
    assert "E240" in run("plan", path, "--error", "1e-3")[2]


@pytest.mark.parametrize(("name", "terms"), [
    ("ecg", ["regularisation", "Toeplitz approximation", "quantisation"]),
    ("digits", ["learning rule", "reduction", "quantisation"])])
def test_sim_prints_where_the_error_comes_from_and_the_parts_add_up(name, terms):
    _, out, _ = run("sim", EXAMPLES / f"{name}.toml", "--json")
    budget = json.loads(out)["budget"]
    assert list(budget["terms"]) == terms
    assert math.isclose(sum(term["part"] for term in budget["terms"].values()), 1.0, rel_tol=1e-9)
    text = run("sim", EXAMPLES / f"{name}.toml")[1]
    assert all(term in text for term in [*terms, "total"])


# ---- a training that is refused --------------------------------------------------------------------------
def refused(folder, **changes):
    """A spec whose training is refused, and its data: a linear kernel at 16 bits, far from its origin."""
    values = {"algorithm": "kernel_cg", "kernel": 'type = "linear"', "trainer": "[cg]\nn = 40\nlambda = 0.1"}
    values |= changes
    x = [1000 + (i * 37) % 101 for i in range(40)]
    rows = [f"{v},{(i * i) % 23}" for i, v in enumerate(x)]
    (folder / "d.csv").write_text("\n".join(["x0,y", *rows, ""]))
    path = folder / "refused.toml"
    path.write_text(f"""
[model]
name = "refused"
algorithm = "{values['algorithm']}"
[input]
word = "u16f0"
[output]
word = "s8f0"
[kernel]
{values['kernel']}
{values['trainer']}
[data]
file = "d.csv"
""")
    return path


INDEFINITE = {"algorithm": "toeplitz_rls", "kernel": "sigma = 20.0",
              "trainer": '[toeplitz]\nn = 40\nlambda = 0.01\nscheme = "diagonal_mean"'}


@pytest.mark.parametrize(("changes", "why"), [({}, "float64 solves this system"),
                                              (INDEFINITE, "float64 cannot solve this system either")])
def test_sim_of_a_refused_training_prints_reason_and_remedy_but_no_error(tmp_path, changes, why):
    path = refused(tmp_path, **changes)
    code, out, _ = run("sim", path)
    assert code == 2
    for part in ("status not_positive_definite", "No result:", why, "aise lambda"):
        assert part in out
    for part in ("compared with float64", "error on the training data", "total"):
        assert part not in out
    code, out, _ = run("sim", path, "--json")
    found = json.loads(out)
    assert (code, found["trained"], found["budget"], found["status"]) == (2, False, None,
                                                                         "not_positive_definite")
    assert why in found["why"] and found["do"]
    assert not {"f_error", "alpha_error"} & set(found)


def test_sim_of_an_answer_that_is_not_ok_explains_its_status(tmp_path):
    path = refused(tmp_path, **INDEFINITE | {"trainer": INDEFINITE["trainer"].replace("0.01", "16.0")})
    code, out, _ = run("sim", path)
    assert code == 0
    assert "status inaccurate\nMeaning  trained, but no error bound is known" in out
    assert "f_error compared with float64" in out and "No result:" not in out


def test_every_command_that_plans_a_doubtful_spec_prints_its_warning(tmp_path):
    path = refused(tmp_path)
    for command, code in ((["check", path], 0), (["plan", path], 0), (["sim", path], 2),
                          (["gen", path, "-o", tmp_path / "out"], 0)):
        found, out, err = run(*command)
        assert found == code
        assert f"warning: {path}:13 [cg] lambda: W201" in err and "W201" not in out
        _, out, err = run(*command, "--json")
        assert ([w["code"] for w in json.loads(out)["warnings"]], err) == (["W201"], "")
    assert run("explain", "W201")[0] == 0


# ---- is it any good? -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["ecg", "digits", "equaliser", "ecg_stream", "drift"])
def test_sim_prints_the_held_out_error_and_its_baselines_first(name):
    _, out, _ = run("sim", EXAMPLES / f"{name}.toml", "--json")
    found = json.loads(out)["held_out"]
    assert found["baselines"] and found["verdict"] and found["error"] > 0
    text = run("sim", EXAMPLES / f"{name}.toml")[1]
    parts = ("\nthis model ", "\nbaseline: ", "\nVerdict ", "training ", "headroom")
    places = [text.index(part) for part in parts]
    assert places == sorted(places) and found["judged_by"] in text


def test_sim_writes_samples_and_predictions_in_units_as_csv(tmp_path):
    table, chart = tmp_path / "out.csv", tmp_path / "out.svg"
    code, _, _ = run("sim", EXAMPLES / "ecg.toml", "-o", table, "--plot", chart)
    rows = [line.split(",") for line in table.read_text().splitlines()]
    assert code == 0 and rows[0] == ["x", "y", "clean", "f_float", "f_fixed"] and len(rows) == 257
    assert rows[1][:3] == ["0.0", "-52.400000000000006", "-60.0"]
    rms = math.sqrt(sum((float(r[4]) - float(r[2])) ** 2 for r in rows[1:]) / 256)
    found = json.loads(run("sim", EXAMPLES / "ecg.toml", "--json")[1])["held_out"]
    assert math.isclose(rms, found["error"], rel_tol=1e-9)
    first = chart.read_bytes()
    run("sim", EXAMPLES / "ecg.toml", "--plot", chart)
    assert b"<svg" in first and chart.read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.svg"]


def test_sim_adds_what_a_stream_predicted_before_it_learnt(tmp_path):
    run("sim", EXAMPLES / "drift.toml", "-o", tmp_path / "out.csv")
    rows = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()]
    assert rows[0] == ["x0", "x1", "y", "f_float", "f_fixed", "f_held_out"]
    assert rows[1000][-1] == "" and rows[1001][-1] != ""


@pytest.mark.parametrize(("option", "name", "code"), [
    ("--plot", "out.bmp", "E254"), ("--plot", "none/out.png", "E191"), ("-o", "none/out.csv", "E191")])
def test_sim_refuses_an_output_that_cannot_be_written_before_it_runs(tmp_path, option, name, code):
    status, out, err = run("sim", EXAMPLES / "ecg.toml", option, tmp_path / name)
    assert (status, out) == (2, "") and code in err


def test_sim_says_why_a_table_is_missing(monkeypatch):
    from kerncast.sim.diagnostics import error_budget

    monkeypatch.setattr(error_budget, "MAX_SAMPLES", 100)
    assert "Error budget: omitted above 100 training samples." in run("sim", EXAMPLES / "ecg.toml")[1]


def test_sim_writes_the_values_of_a_file_with_ranges_in_its_units(tmp_path):
    rows = [(0.1 * i, 20 + 3 * math.sin(0.7 * i)) for i in range(64)]
    (tmp_path / "d.csv").write_text("time,level\n" + "".join(f"{t:.1f},{v:.4f}\n" for t, v in rows))
    assert run("init", "m", "--data", tmp_path / "d.csv", "-o", tmp_path)[0] == 0
    assert run("sim", tmp_path / "m.toml", "-o", tmp_path / "out.csv")[0] == 0
    found = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()]
    assert found[0][:3] == ["time", "x", "y"]
    assert all(row[0] == f"{t:.1f}" and abs(float(row[2]) - v) < 0.002
               for row, (t, v) in zip(found[1:], rows, strict=True))


@pytest.mark.parametrize(("header", "options"), [("time,level", ["--lags", "3"]), ("a,b,level", [])])
def test_sim_writes_every_input_of_a_file_with_ranges_in_its_units(tmp_path, header, options):
    values = [20 + 3 * math.sin(0.7 * i) for i in range(64)]
    rows = [(0.1 * i, v) if options else (5 * math.cos(0.3 * i), 100 - v, v) for i, v in enumerate(values)]
    (tmp_path / "d.csv").write_text(f"{header}\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    assert run("init", "m", "--data", tmp_path / "d.csv", "-o", tmp_path, *options)[0] == 0
    assert run("sim", tmp_path / "m.toml", "-o", tmp_path / "out.csv")[0] == 0
    found = [[float(v) for v in line.split(",")[:-1]]
             for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
    lagged = [(0.1 * (i + 3), *values[i:i + 3][::-1], values[i + 3]) for i in range(61)]
    expected = lagged if options else rows
    assert len(found) == len(expected)
    assert all(abs(a - b) < 0.003 for row, right in zip(found, expected, strict=True)
               for a, b in zip(row, right, strict=False))


def test_an_advised_word_length_is_confirmed_by_the_integer_model(monkeypatch):
    from kerncast.sim.diagnostics import word_length

    right = word_length.predicted_error
    answer = json.loads(run("plan", EXAMPLES / "ecg.toml", "--error", "1e-5", "--json")[1])["advice"]
    assert answer["status"] == "ok" and answer["error"] <= 1e-5
    monkeypatch.setattr(word_length, "predicted_error", lambda *given: right(*given) / 1000)
    again = json.loads(run("plan", EXAMPLES / "ecg.toml", "--error", "1e-5", "--json")[1])["advice"]
    assert (again["word"], again["refine"]) == (answer["word"], answer["refine"])


def test_plan_states_which_solver_auto_chose_and_why(tmp_path):
    text = (EXAMPLES / "ecg.toml").read_text(encoding="utf-8")
    spec = tmp_path / "auto.toml"
    spec.write_text(text.replace("[toeplitz]", '[toeplitz]\nsolver = "auto"'), encoding="utf-8")
    code, out, _ = run("plan", spec)
    assert code == 0 and "solver banded, chosen automatically: " in out
    assert "core" not in out


def test_plan_states_that_a_toeplitz_design_is_a_filter_and_prints_its_taps():
    _, out, _ = run("plan", EXAMPLES / "ecg.toml")
    fir = json.loads(run("plan", EXAMPLES / "ecg.toml", "--json")[1])["filter"]
    lag = len(fir["taps"]) - 1
    assert "This design is a linear filter." in out
    assert f"same weighted sum of {2 * lag + 1} targets" in " ".join(out.split())
    assert f"{fir['taps'][0]:.6g}, {fir['taps'][1]:.6g}" in out and fir["error"] <= 2.0**-15


@pytest.mark.parametrize(("sigma", "words"), [
    (0.1, "each fitted value is its own target times"), (0.3, "More than 1 sample from both ends")])
def test_plan_describes_a_filter_of_one_tap_or_few(tmp_path, sigma, words):
    text = (EXAMPLES / "ecg.toml").read_text(encoding="utf-8")
    spec = tmp_path / "narrow.toml"
    spec.write_text(re.sub("(?m)^sigma = .*$", f"sigma = {sigma}", text), encoding="utf-8")
    code, out, err = run("plan", spec)
    assert code == 0, err
    assert words in out


def test_plan_names_no_filter_for_a_design_that_is_none():
    code, out, _ = run("plan", EXAMPLES / "drift.toml")
    assert code == 0 and "linear filter" not in out
    assert json.loads(run("plan", EXAMPLES / "drift.toml", "--json")[1])["filter"] is None


def test_plan_states_the_worst_case_of_every_part_of_a_call():
    spec = EXAMPLES / "ecg_stream_fir.toml"
    _, out, _ = run("plan", spec)
    parts = json.loads(run("plan", spec, "--json")[1])["parts"]
    assert list(parts) == ["train_begin", "train_push", "train_run", "train_commit", "train_fitted",
                           "stream_push"]
    lines = [re.split(r" {2,}", line) for line in out.splitlines()]
    assert all([kind, cost] in lines for kind, cost in parts.items())
    assert parts["train_fitted"] == "1024 multiplications"


def test_plan_lists_the_candidates_and_what_happens_without_a_valid_one(tmp_path):
    text, spec = (EXAMPLES / "ecg_stream_fir.toml").read_text(encoding="utf-8"), tmp_path / "pairs.toml"
    spec.write_text(text.replace("stream_lag = 30", "candidates = [[2.0, 0.1], [3.0, 0.5]]"),
                    encoding="utf-8")
    code, out, err = run("plan", spec)
    assert code == 0, err
    assert "the\nstatus is no_candidate (-6)" in out
    rows = [line.split() for line in out.splitlines()]
    found = [row for row in rows if len(row) == 3 and row[1] in ("0.1", "0.5")]
    assert found == [["3.0", "0.1", "16"], ["2.0", "0.1", "10"], ["3.0", "0.5", "15"]]
