"""The first hour: measured values, the dialogue of ``kerncast init``, and what a shell completes."""

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kerncast
from kerncast.cli import _complete, _dialogue, init, main
from kerncast.hw.backends import check_name
from kerncast.lab.drafting import BITS

EXAMPLES = Path(kerncast.__file__).parent / "examples"


def run(*arguments, answers=None):
    result = CliRunner().invoke(main.app, [str(a) for a in arguments], prog_name="kerncast", input=answers)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def motor(tmp_path):
    """300 samples of two columns in units of their own, and of a law that is easily learned."""
    rows = [(0.017 * i % 5, 20.5 + 7.3 * i % 60) for i in range(300)]
    path = tmp_path / "motor.csv"
    path.write_text("current,temperature,torque\n"
                    + "".join(f"{a:.3f},{b:.1f},{a * (2 - 0.01 * b):.4f}\n" for a, b in rows))
    return path


# ---- measured values ----
def test_measured_values_become_adc_counts_described_by_the_spec(motor, tmp_path):
    assert run("init", "motor", "--data", motor, "-o", tmp_path)[0] == 0
    spec = kerncast.Spec.load(tmp_path / "motor.toml")
    assert list(spec.data.ranges) == ["current", "temperature", "torque"]
    counts = kerncast.load_dataset(spec, tmp_path).x_raw
    assert 0 <= counts.min() < 8 and (1 << BITS) - 8 < counts.max() < 1 << BITS
    code, out, _ = run("sim", tmp_path / "motor.toml", "--json")
    found = json.loads(out)
    assert (code, found["status"]) == (0, "ok")


def test_the_meaning_of_an_adc_count_is_right_to_half_a_step(motor, tmp_path):
    assert run("init", "motor", "--data", motor, "-o", tmp_path)[0] == 0
    spec = kerncast.Spec.load(tmp_path / "motor.toml")
    low, high = spec.data.ranges["temperature"]
    step = (high - low) / ((1 << BITS) - 1)
    told = [float(line.split(",")[1]) for line in motor.read_text().splitlines()[1:]]
    counts = kerncast.load_dataset(spec, tmp_path).x_raw[:, 1]
    assert all(abs(low + step * int(raw) - value) <= 0.51 * step
               for raw, value in zip(counts, told, strict=True))


def test_fractions_are_values_in_units_whatever_the_columns_are_called(tmp_path):
    for names in ("x0,y", "amps,volts"):
        (tmp_path / "t.csv").write_text(f"{names}\n0.5,1\n1.7,2.5\n2.5,4\n")
        code, out, _ = run("init", names[:2].replace(",", ""), "--data", tmp_path / "t.csv", "-o", tmp_path)
        assert code == 0 and "[data.ranges]" in out


def test_a_single_column_of_values_is_a_signal(tmp_path):
    (tmp_path / "t.csv").write_text("degrees\n" + "".join(f"{20 + i % 7 / 8}\n" for i in range(40)))
    code, out, _ = run("init", "warm", "--data", tmp_path / "t.csv", "-o", tmp_path)
    assert code == 0 and "toeplitz_rls, n = 40, scheme = uniform" in out
    assert run("check", tmp_path / "warm.toml")[0] == 0


@pytest.mark.parametrize(("text", "code"), [("a,b\n1,2\n", "E247"), ("a,b\nx,1.5\ny,2.5\n", "E252"),
                                            ("a,b\n1,2\n3\n", "E243"), ("a,b\n1,\n2,3\n", "E251")])
def test_an_invalid_table_is_refused_without_writing(tmp_path, text, code):
    (tmp_path / "bad.csv").write_text(text)
    exit_code, _, err = run("init", "bad", "--data", tmp_path / "bad.csv", "-o", tmp_path / "out")
    assert (exit_code, code in err) == (2, True)
    assert not (tmp_path / "out").exists()


# ---- the dialogue ----
def test_on_a_terminal_init_asks_for_missing_options_reading_data_once(motor, tmp_path, monkeypatch):
    read = []
    seen = init._inspect
    monkeypatch.setattr(init, "_inspect", lambda path, *asked: read.append(path) or seen(path, *asked))
    monkeypatch.setattr(_dialogue, "at_terminal", lambda: True)
    answers = f"engine\n{motor}\nquantum\nkernel_cg\nz80\ncortex-m0\n"
    code, out, _ = run("init", "-o", tmp_path, answers=answers)
    assert code == 0
    assert "quantum is not one of kernel_cg, kernel_lms, online_kernel_rls" in out
    assert "z80 is not one of" in out
    values = json.loads(run("check", tmp_path / "engine.toml", "--json")[1])["values"]
    assert (values["model"]["algorithm"], values["target"]["id"]) == ("kernel_cg", "cortex-m0")
    assert read == [motor]


def test_empty_answers_select_the_defaults(tmp_path, monkeypatch):
    monkeypatch.setattr(_dialogue, "at_terminal", lambda: True)
    assert run("init", "-o", tmp_path, answers="\n\n\n\n")[0] == 0
    values = json.loads(run("check", tmp_path / "model.toml", "--json")[1])["values"]
    assert (values["model"]["algorithm"], values["target"]["id"]) == ("toeplitz_rls", "cortex-m4")


def test_init_does_not_ask_if_options_decide_with_json_or_off_a_terminal(tmp_path, monkeypatch):
    assert run("init", "plain", "-o", tmp_path)[0] == 0
    code, _, err = run("init", "-o", tmp_path)
    assert (code, "E194: NAME is missing" in err) == (2, True)
    monkeypatch.setattr(_dialogue, "at_terminal", lambda: True)
    assert run("init", "one", "--algorithm", "kernel_cg", "-o", tmp_path)[0] == 0
    assert run("init", "two", "--json", "-o", tmp_path)[0] == 0


# ---- completion ----
def completed(line, monkeypatch):
    """What bash is offered for a line."""
    monkeypatch.setenv("_KERNCAST_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    return run()[1].split()


@pytest.mark.parametrize(("line", "offered"), [
    ("kerncast gen ec", {"ecg.toml", "ecg_stream.toml", "ecg_stream_fir.toml"}),
    ("kerncast test out --on emu:mps2-an386:u", {"emu:mps2-an386:unicorn"}),
    ("kerncast targets cortex-m5", {"cortex-m55"}),
    ("kerncast explain E10", None), ("kerncast init motor --data dr", {"drift.csv"}),
    ("kerncast ver", {"verify"}), ("kerncast build nowhere/", set())])
def test_the_shell_completes_commands_specs_data_back_ends_targets_and_codes(line, offered, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    found = set(completed(line, monkeypatch))
    assert found == offered if offered is not None else len(found) > 2


def test_every_back_end_that_is_offered_has_a_name_that_can_be_opened():
    for name in _complete.backends(""):
        if not name.startswith("board:"):
            check_name(name)


def test_keys_and_measures_of_a_sweep_and_groups_of_tools_are_offered():
    assert _complete.sweep_keys("numbers.ro") == ["numbers.rounding="] and _complete.measures("ra") == ["ram"]
    assert _complete.tool_groups("e") == ["emu", "emulators"]


def test_generated_folders_are_distinguished_from_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "manifest.json").write_text("{}")
    assert _complete.generated("m") == ["made", "mine/"]
    assert _complete.generated("") == ["made", "mine/"] and _complete.specs("mine/") == []


def test_a_board_reports_each_tenth_of_a_long_call(motor, tmp_path, require_tool):
    require_tool("python:unicorn", "python -m pip install unicorn")
    assert run("init", "motor", "--data", motor, "-o", tmp_path)[0] == 0
    code, _, err = run("test", tmp_path / "motor.toml", "--on", "emu:mps2-an386", "--predictions", "1")
    tenths = [line for line in err.splitlines() if "update, " in line]
    assert code == 0 and 1 < len(tenths) < 10
    assert all(line.endswith(" % of 300 samples") for line in tenths)
    quiet = run("test", tmp_path / "motor.toml", "--on", "emu:mps2-an386", "--predictions", "1", "--json")
    assert quiet[2] == ""


def test_generated_c_converts_predictions_to_the_units_of_the_file(motor, tmp_path, require_tool):
    compiler = require_tool("gcc", "install gcc")
    assert run("init", "motor", "--data", motor, "-o", tmp_path)[0] == 0
    assert run("gen", tmp_path / "motor.toml", "-o", tmp_path / "out")[0] == 0
    assert run("sim", tmp_path / "motor.toml", "-o", tmp_path / "f.csv")[0] == 0
    calls = json.loads((tmp_path / "out" / "vectors.json").read_text())["calls"]
    words = next(call["expected"]["f"] for call in calls if call["call"] == "predict")
    rows = [line.split(",") for line in (tmp_path / "f.csv").read_text().splitlines()]
    shown = [float(row[rows[0].index("f_fixed")]) for row in rows[1:]]
    (tmp_path / "t.c").write_text('#include <stdio.h>\n#include "motor.h"\nint main(void)\n{\n    int f;\n'
                                  '    while (scanf("%d", &f) == 1) printf("%.9g\\n", MOTOR_TO_UNIT(f));\n'
                                  "    return 0;\n}\n")
    subprocess.run([compiler, f"-I{tmp_path / 'out'}", f"-I{tmp_path / 'out' / 'rt'}", tmp_path / "t.c", "-o",
                    tmp_path / "t"], check=True)
    told = subprocess.run([tmp_path / "t"], input=" ".join(map(str, words)), capture_output=True, text=True,
                          check=True).stdout.split()
    assert len(words) == len(shown) > 100
    assert [float(one) for one in told] == pytest.approx(shown, rel=1e-5, abs=1e-6)


def test_two_classes_keep_their_values_of_minus_and_plus_one(motor, tmp_path):
    """The range of an input, the only one that is left, is none of the target."""
    rows = [line.split(",") for line in motor.read_text().splitlines()[1:]]
    text = "".join(f"{a},{b},{str(float(y) > 2).lower()}\n" for a, b, y in rows)
    (tmp_path / "two.csv").write_text("current,temperature,fault\n" + text)
    assert run("init", "two", "--data", tmp_path / "two.csv", "-o", tmp_path)[0] == 0
    assert run("gen", tmp_path / "two.toml", "-o", tmp_path / "out")[0] == 0
    header = (tmp_path / "out" / "two.h").read_text()
    assert "TWO_TO_UNIT" in header and "OUT_ZERO" not in header
    assert run("sim", tmp_path / "two.toml", "-o", tmp_path / "two_f.csv")[0] == 0
    head, *lines = (line.split(",") for line in (tmp_path / "two_f.csv").read_text().splitlines())
    assert {float(line[head.index("y")]) for line in lines} == {-1.0, 1.0}
