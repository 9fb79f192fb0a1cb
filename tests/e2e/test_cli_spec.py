"""The command line as a user meets it: help, check, init, explain, targets, and how errors end."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kerncast
from kerncast.cli import _guard, main
from kerncast.codegen.c.shared import render_shared
from kerncast.sim.backend import STATUSES
from kerncast.sim.errors import fail
from kerncast.sim.spec import Spec
from kerncast.sim.statuses import MEANINGS

EXAMPLES = Path(kerncast.__file__).parent / "examples"


def run(*arguments):
    """Run a command in this process: exit code, stdout, stderr."""
    result = CliRunner().invoke(main.app, [str(a) for a in arguments], prog_name="kerncast")
    assert "Traceback" not in result.stdout + result.stderr
    return result.exit_code, result.stdout, result.stderr


def program(*arguments, **options):
    """Run the program itself."""
    return subprocess.run([sys.executable, "-m", "kerncast", *map(str, arguments)], capture_output=True,
                          text=True, timeout=120, check=False, **options)


# ---- help ------------------------------------------------------------------------------------------------
def test_the_version_is_printed():
    done = program("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"kerncast {kerncast.__version__}\n", "")


@pytest.mark.parametrize("command", [*sorted(main.COMMANDS), *(f"hil {action}" for action in main.ACTIONS)])
def test_the_help_of_every_command_has_examples_and_a_json_flag(command):
    code, out, _ = run(*command.split(), "--help")
    assert code == 0
    assert f"\n  Examples:\n    kerncast {command}" in out
    assert "--json" in out


def test_help_and_check_load_no_heavy_package():
    heavy = {"numba", "sklearn", "scipy", "matplotlib", "pywt", "unicorn", "cffi"}
    for arguments in (["--help"], ["check", str(EXAMPLES / "digits.toml")]):
        code = ("import sys\nfrom kerncast.cli.main import app\ntry:\n    app(sys.argv[1:])\nfinally:\n"
                f"    print(*sorted({heavy!r} & set(sys.modules)), file=sys.stderr)")
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True,
                              timeout=120, check=False)
        assert (done.returncode, done.stderr.split()) == (0, [])


def test_no_command_and_an_unknown_command_are_bad_input():
    assert run("nonsense")[0] == 2
    assert run("check")[0] == 2
    assert run("check", EXAMPLES / "ecg.toml", "--nonsense")[0] == 2


# ---- check -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["ecg", "digits", "equaliser", "ecg_stream", "drift"])
def test_the_examples_are_good_specs(name):
    code, out, err = run("check", EXAMPLES / f"{name}.toml")
    assert (code, err) == (0, "")
    assert out.startswith(f"ok  {name}: ")
    assert out.splitlines()[1] == f"next: kerncast sim {EXAMPLES / name}.toml"


def test_check_prints_one_json_object():
    code, out, err = run("check", EXAMPLES / "ecg.toml", "--json")
    answer = json.loads(out)
    assert (code, err, answer["values"]["toeplitz"]["lambda"]) == (0, "", 0.1)
    assert len(answer["hash"]) == 64


def bad_spec(folder):
    path = folder / "bad.toml"
    text = (EXAMPLES / "ecg.toml").read_text(encoding="utf-8")
    path.write_text(text.replace("sigma = 3.0", "sgima = 3.0").replace("lambda = 0.1", "lambda = 0"),
                    encoding="utf-8")
    return path


def line_of(path, start):
    """``FILE:LINE`` of the line that starts so."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return f"{path}:{next(i for i, line in enumerate(lines, 1) if line.startswith(start))}"


def test_check_reports_all_errors_on_stderr_with_their_lines(tmp_path):
    path = bad_spec(tmp_path)
    code, out, err = run("check", path)
    assert (code, out) == (2, "")
    for part in (f"{line_of(path, 'sgima')} [kernel] sgima: E103", "did you mean sigma?",
                 f"{line_of(path, '[kernel]')} [kernel] sigma: E106",
                 f"{line_of(path, 'lambda')} [toeplitz] lambda: E108"):
        assert part in err


def test_check_reports_all_errors_as_one_json_object(tmp_path):
    code, out, err = run("check", bad_spec(tmp_path), "--json")
    assert (code, err) == (2, "")
    errors = json.loads(out)["errors"]
    assert [e["code"] for e in errors] == ["E106", "E103", "E108"]
    assert set(errors[0]) == {"code", "message", "where", "value", "allowed", "remedy"}


def test_check_looks_at_target_plan_and_data_file_together(tmp_path):
    (tmp_path / "train.csv").write_text("y\n" + "1\n" * 255 + "nan\n")
    text = (EXAMPLES / "ecg.toml").read_text(encoding="utf-8")
    path = tmp_path / "spec.toml"
    for old, new in (("\"cortex-m4\"", "\"z80\""), ("builtin = \"ecg\"", "file = \"train.csv\""),
                     ("lambda = 0.1", "lambda = 1e-12")):
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    code, _, err = run("check", path)
    assert code == 2
    for part in (f"{line_of(path, 'id =')} [target] id: E323",
                 f"{line_of(path, 'lambda')} [toeplitz] lambda: E205",
                 f"{tmp_path / 'train.csv'}:257 y: E245"):
        assert part in err


@pytest.mark.parametrize("path", ["nosuch.toml", "."])
def test_a_missing_spec_is_bad_input(path):
    code, _, err = run("check", path)
    assert code == 2
    assert "E101" in err


# ---- init ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("algorithm", ["toeplitz_rls", "kernel_cg", "kernel_lms", "online_kernel_rls"])
def test_init_writes_a_commented_spec_that_passes_check(tmp_path, algorithm):
    code, out, _ = run("init", "motor", "--algorithm", algorithm, "-o", tmp_path)
    path = tmp_path / "motor.toml"
    assert code == 0
    assert str(path) in out
    assert run("check", path)[0] == 0
    keys = [line for line in path.read_text(encoding="utf-8").splitlines() if " = " in line]
    assert len(keys) > 12
    assert all("# " in line for line in keys)


def test_init_never_overwrites(tmp_path):
    path = tmp_path / "motor.toml"
    path.write_text("mine")
    code, _, err = run("init", "motor", "-o", tmp_path)
    assert code == 2
    assert "E192" in err
    assert path.read_text() == "mine"


@pytest.mark.parametrize("name", ["Motor", "a/b", "int", "../up", ""])
def test_init_writes_nothing_under_a_name_that_cannot_be_used(tmp_path, name):
    code, _, err = run("init", name, "-o", tmp_path)
    assert code == 2
    assert "E110" in err
    assert not list(tmp_path.iterdir())


def test_init_creates_a_missing_output_folder(tmp_path):
    assert run("init", "motor", "-o", tmp_path / "new" / "specs")[0] == 0
    assert run("check", tmp_path / "new" / "specs" / "motor.toml")[0] == 0


def test_init_refuses_a_file_in_place_of_the_output_folder(tmp_path):
    (tmp_path / "file").write_text("mine")
    code, _, err = run("init", "motor", "-o", tmp_path / "file")
    assert code == 2
    assert f"{tmp_path / 'file'}: E191" in err


@pytest.mark.parametrize(("algorithm", "options"), [
    ("toeplitz_rls", ["unit", "unit", "scaling", "refine", "bias", "stream_lag",
                      "tolerance", "rounding", "overflow", "casts", "ranges", "margin", "exp_table", "test"]),
    ("kernel_cg", ["unit", "unit", "tolerance", "rounding", "overflow", "casts", "exp_table", "test"]),
    ("kernel_lms", ["unit", "unit", "linear_forgetting", "joint", "last_errors", "projection", "metric",
                    "truncation", "max_deterioration", "max_age", "newest_only", "rounding", "overflow",
                    "casts", "ranges", "margin", "exp_table", "formats", "test"])])
def test_every_option_that_init_comments_out_is_valid_as_written(tmp_path, algorithm, options):
    assert run("init", "motor", "--algorithm", algorithm, "-o", tmp_path)[0] == 0
    lines = (tmp_path / "motor.toml").read_text(encoding="utf-8").splitlines()
    offered = [line for line in lines if re.match(r"# \w+ = ", line) and not line.startswith("# file")]
    assert [line.split()[1] for line in offered] == options
    assert all(len(line) <= 110 for line in lines)
    for line in offered[:-1]:  # test goes with [data]
        text = "\n".join(lines).replace(line, line.removeprefix("# "))
        if line.startswith("# ranges") and algorithm == "toeplitz_rls":
            text = text.replace('# scaling = "block" ', 'scaling = "static"')
        assert Spec.from_text(text) is not None


@pytest.mark.parametrize("kernel", ["polynomial", "linear"])
def test_init_with_a_dot_product_kernel_gives_a_spec_that_trains(tmp_path, kernel):
    rows = [f"{(i * 977) % 4096},{(i * 31) % 4001},{(i * 977) % 4096 - 2048 + i % 7}" for i in range(60)]
    (tmp_path / "train.csv").write_text("\n".join(["x0,x1,y", *rows, ""]))
    assert run("init", "motor", "--data", tmp_path / "train.csv", "--kernel", kernel, "-o", tmp_path)[0] == 0
    code, out, _ = run("sim", tmp_path / "motor.toml", "--json")
    assert (code, json.loads(out)["status"]) == (0, "ok")


def test_init_fits_columns_formats_and_n_to_a_data_file(tmp_path):
    data = tmp_path / "raw" / "train.csv"
    data.parent.mkdir()
    data.write_text("x0,x1,y\n" + "".join(f"{i},{-300 * i},{1 - 2 * (i % 2)}\n" for i in range(100)))
    code, out, _ = run("init", "motor", "--data", data, "-o", tmp_path, "--json")
    assert code == 0
    assert json.loads(out)["written"] == str(tmp_path / "motor.toml")
    values = json.loads(run("check", tmp_path / "motor.toml", "--json")[1])["values"]
    assert values["model"]["algorithm"] == "kernel_lms"
    assert (values["input"]["columns"], values["input"]["word"]) == (2, "s16f0")
    assert values["output"]["word"] == "s2f0"
    assert values["data"]["file"] == os.path.join("raw", "train.csv")  # noqa: PTH118  # as the spec spells it


def test_init_reads_a_file_of_targets_as_a_sampled_signal(tmp_path):
    data = tmp_path / "signal.csv"
    data.write_text("y\n" + "".join(f"{i * i}\n" for i in range(60)))
    assert run("init", "wave", "--data", data, "-o", tmp_path)[0] == 0
    values = json.loads(run("check", tmp_path / "wave.toml", "--json")[1])["values"]
    assert (values["toeplitz"]["scheme"], values["toeplitz"]["n"]) == ("uniform", 60)
    assert values["output"]["word"] == "u12f0"
    assert run("init", "other", "--data", data, "-o", tmp_path, "--algorithm", "kernel_lms")[0] == 0
    values = json.loads(run("check", tmp_path / "other.toml", "--json")[1])["values"]
    assert (values["input"]["columns"], values["data"]["lagged"]) == (8, True)


def test_the_learner_of_init_beats_the_same_one_without_a_linear_part(tmp_path):
    t = np.arange(1200)
    signal = np.rint(900 * np.sin(0.1 * t) + 400 * np.sin(0.037 * t)
                     + np.random.default_rng(0).normal(0, 20, 1200)).astype(int)
    rows = np.lib.stride_tricks.sliding_window_view(signal, 5).tolist()
    lines = ["x0,x1,x2,x3,y", *(",".join(map(str, row)) for row in rows), ""]
    (tmp_path / "train.csv").write_text("\n".join(lines))
    assert run("init", "motor", "--data", tmp_path / "train.csv", "-o", tmp_path)[0] == 0
    path, error = tmp_path / "motor.toml", {}
    for linear in (True, False):
        if not linear:
            with_it = path.read_text()
            path.write_text(re.sub(r"^(linear|linear_ridge|gate|quantise) = .*\n", "", with_it, flags=re.M))
        found = json.loads(run("sim", path, "--json")[1])
        assert found["status"] == "ok"
        error[linear] = found["budget"]["rms"]
    assert error[True] < 0.7 * error[False]


@pytest.mark.parametrize(("columns", "linear"), [(32, True), (33, False)])
def test_init_adds_a_linear_part_to_few_columns_only(tmp_path, columns, linear):
    rows = np.random.default_rng(0).integers(-2048, 2048, (40, columns + 1)).tolist()
    names = [*(f"x{i}" for i in range(columns)), "y"]
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows), ""]
    (tmp_path / "train.csv").write_text("\n".join(lines))
    assert run("init", "motor", "--data", tmp_path / "train.csv", "-o", tmp_path)[0] == 0
    online = json.loads(run("check", tmp_path / "motor.toml", "--json")[1])["values"]["online"]
    assert (online.get("linear") == "rls") == linear == bool(online.get("gate"))


def test_init_refuses_data_that_no_sensor_delivers(tmp_path):
    data = tmp_path / "train.csv"
    data.write_text("x0,y\n1,nan\n-1,4294967296\n")
    code, _, err = run("init", "motor", "--data", data, "-o", tmp_path)
    assert code == 2
    assert f"{data}:2 y: E251" in err
    data.write_text("x0,y\n1,-1\n-1,4294967295\n")
    assert "E246" in run("init", "motor", "--data", data, "-o", tmp_path)[2]
    assert [path.name for path in tmp_path.iterdir()] == ["train.csv"]


# ---- explain, targets ------------------------------------------------------------------------------------
def test_explain_gives_cause_and_remedy_of_a_code_in_either_case():
    for code in ("E108", "e108"):
        exit_code, out, _ = run("explain", code)
        assert exit_code == 0
        assert out.startswith("E108: ")
        assert "Cause " in out
        assert "Remedy " in out
    assert set(json.loads(run("explain", "E108", "--json")[1])) == {"code", "title", "cause", "remedy"}


def test_explain_without_a_code_lists_all():
    codes = json.loads(run("explain", "--json")[1])["codes"]
    assert list(codes) == sorted(codes)
    assert "E108" in run("explain")[1]


@pytest.mark.parametrize("status", STATUSES.values())
def test_explain_knows_every_status_of_the_generated_header(status):
    code, out, _ = run("explain", status.upper())
    assert code == 0
    assert out.startswith(f"{status}: {MEANINGS[status].title}\n")
    assert f"KC_{status.upper()} = " in render_shared()["rt/kc_config.h"]
    assert status in json.loads(run("explain", "--json")[1])["statuses"]


def test_an_unknown_code_or_target_is_bad_input():
    assert run("explain", "E999")[0] == 2
    assert run("targets", "z80")[0] == 2


def test_targets_are_listed_and_shown():
    assert "cortex-m4" in [t["id"] for t in json.loads(run("targets", "--json")[1])["targets"]]
    assert "cortex-m4" in run("targets")[1]
    assert json.loads(run("targets", "cortex-m4", "--json")[1])["ram_bytes"] > 0


# ---- how a command ends ----------------------------------------------------------------------------------
def ending(monkeypatch, capsys, error, **arguments):
    """Exit code, stdout and stderr of a command that meets `error`."""
    monkeypatch.delenv(_guard.DEBUG, raising=False)

    def command(**_):
        raise error

    with pytest.raises(_guard.typer.Exit) as caught:
        _guard.guarded(command)(**arguments)
    return (caught.value.exit_code, *capsys.readouterr())


def test_a_missing_tool_exits_with_3(monkeypatch, capsys):
    error = fail("E501", "missing", remedy="python -m pip install numba")
    code, out, err = ending(monkeypatch, capsys, error)
    assert (code, out) == (3, "")
    assert "-m pip install numba" in err


@pytest.mark.parametrize("as_json", [False, True])
def test_an_unexpected_error_is_one_message_with_the_way_to_a_traceback(monkeypatch, capsys, as_json):
    code, out, err = ending(monkeypatch, capsys, ZeroDivisionError("by zero"), as_json=as_json)
    text = out if as_json else err
    assert code == 70
    assert "ZeroDivisionError: by zero" in text
    assert "KERNCAST_DEBUG=1" in text
    assert "Traceback" not in out + err
    assert not as_json or json.loads(out)["errors"][0]["code"] == "internal"


def test_the_traceback_of_an_unexpected_error_is_shown_on_request(capsys):
    def command():
        raise ZeroDivisionError("by zero")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(_guard.DEBUG, "1")
        with pytest.raises(_guard.typer.Exit):
            _guard.guarded(command)()
    assert "Traceback" in capsys.readouterr().err


def test_the_help_lists_every_exit_code():
    told = " ".join(CliRunner().invoke(main.app, ["--help"]).stdout.split())
    assert told.endswith("Exit codes: 0 ok, 1 results differ, 2 bad input, 3 a tool is missing, "
                         "70 internal error, 130 interrupted.")


def test_an_interrupt_exits_with_130(monkeypatch, capsys):
    assert ending(monkeypatch, capsys, KeyboardInterrupt())[0] == 130


def test_a_refusal_of_the_system_is_bad_input(monkeypatch, capsys):
    code, _, err = ending(monkeypatch, capsys, PermissionError(13, "Permission denied", "out"))
    assert code == 2
    assert "out: E191" in err


def test_the_reader_of_a_pipe_may_leave_early():
    with subprocess.Popen([sys.executable, "-m", "kerncast", "explain"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
