"""How mistakes on the command line are reported: one style, with a remedy that the command has; Ctrl-C."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from kerncast.cli._guard import guarded

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(("words", "message", "found"), [
    (["tset"], "no such command", "tset"),
    (["check"], "SPEC is missing", "nothing"),
    (["init"], "NAME is missing", "nothing"),
    (["gen", "a.toml"], "--out is missing", "nothing"),
    (["test", "out"], "no back end is named", "nothing"),
    (["hil", "record", "out"], "no back end is named", "nothing"),
    (["cost", "out", "--compilr"], "no such option", "--compilr"),
    (["sweep", "a.toml", "--trials", "x"], "the value of --trials is not valid", "x"),
    (["sweep", "a.toml", "--trials=0"], "the value of --trials is not valid", "0"),
    (["sweep", "a.toml", "--trials"], "--trials needs a value", "nothing"),
    (["init", "a", "--kernel", "cubic"], "the value of --kernel is not valid", "cubic")])
def test_a_usage_error_has_code_place_value_allowed_values_and_remedy(
        run: Run, words: list[str], message: str, found: str) -> None:
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert f": E194: {message}\n    found: {found}\n    allowed: " in err
    assert "\n    do: " in err and "kerncast explain E194" in err
    code, out, err = run(*words, "--json")
    (error,) = json.loads(out)["errors"]
    assert (code, err) == (2, "")
    assert error["code"] == "E194" and error["where"].startswith("kerncast") and error["remedy"]


def test_a_wrong_choice_is_reported_with_the_choices(run: Run) -> None:
    err = run("init", "a", "--kernel", "cubic")[2]
    assert "\n    allowed: gaussian, laplacian, matern32, matern52, periodic, polynomial, linear\n" in err


def test_a_wrong_target_is_reported_with_the_other_mistakes_of_the_spec(run: Run, spec: Path) -> None:
    text = spec.read_text().replace("sigma = 2.0", "sgima = 2.0").replace("lambda = 0.5", "lambda = 0")
    spec.write_text(text + '[target]\nid = "z80"\n')
    for command in (["check", spec], ["plan", spec], ["gen", spec, "-o", spec.parent / "out"]):
        code, out, _ = run(*command, "--json")
        assert code == 2
        assert sorted(e["code"] for e in json.loads(out)["errors"]) == ["E103", "E106", "E108", "E323"]


def test_rows_with_one_cause_are_counted_and_the_remedy_is_one_of_init(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "act.csv"
    rows = "".join(f"{i * i % 7},{('idle', 'run', 'walk')[i % 3]}\n" for i in range(600))
    data.write_text(f"a,label\n{rows}")
    code, _, err = run("init", "act", "--data", data, "--classes", "none", "-o", tmp_path)
    assert code == 2
    assert f"{data} label: E252: the target is text\n    found: idle, run, walk\n" in err
    assert "omit --classes none" in err and "header" not in err
    assert run("init", "act", "--data", tmp_path / "no.csv", "-o", tmp_path)[2].count("[data]") == 0


def test_more_than_ten_different_problems_are_counted(run: Run, spec: Path) -> None:
    spec.write_text(spec.read_text() + "[numbers]\n" + "".join(f"key{i} = 1\n" for i in range(14)))
    code, _, err = run("check", spec)
    assert code == 2
    assert err.count(": E103: ") == 10 and "... and 4 more problems" in err
    assert len(json.loads(run("check", spec, "--json")[1])["errors"]) == 14


def test_init_takes_a_board_for_its_target_and_refuses_what_is_neither(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("init", "motor", "--target", "nucleo-f446re", "-o", tmp_path)
    assert code == 0 and "nucleo-f446re is a board with the target cortex-m4" in out
    assert 'id = "cortex-m4"' in (tmp_path / "motor.toml").read_text()
    code, _, err = run("init", "other", "--target", "stm32", "-o", tmp_path)
    assert (code, "--target: E323" in err) == (2, True)
    assert not (tmp_path / "other.toml").exists()


@pytest.mark.parametrize(("words", "code"), [
    (["--on", "board:microbit"], "E421"), (["--on", "board:nucelo@/dev/x"], "E322"),
    (["--on", "host", "--flash", "auto"], "E418"), (["--on", "board:/dev/x", "--flash", "auto"], "E418"),
    (["--on", "emu:nucelo"], "E322")])
def test_one_board_syntax_is_refused_alike_by_test_and_record(
        run: Run, generated: Path, tmp_path: Path, words: list[str], code: str) -> None:
    tested = json.loads(run("test", generated, *words, "--json")[1])["errors"]
    kept = json.loads(run("hil", "record", generated, *words, "-o", tmp_path / "r", "--json")[1])["errors"]
    assert tested == kept and tested[0]["code"] == code
    assert "--port" not in tested[0]["allowed"] + tested[0]["remedy"].replace("--ports", "")


def test_old_spellings_of_board_and_port_mean_the_same(run: Run, generated: Path, tmp_path: Path) -> None:
    new = json.loads(run("hil", "record", generated, "--on", "board:microbit@/dev/none", "--json")[1])
    old = json.loads(run("hil", "record", generated, "--on", "board:microbit", "--port", "/dev/none",
                         "--json")[1])
    ran = json.loads(run("hil", "run", generated, "--board", "microbit", "--port", "/dev/none", "--json")[1])
    assert new == old == ran and new["errors"][0]["code"] == "E410"
    code, _, err = run("hil", "run", generated, "--port", "/dev/none", "--emulator", "qemu")
    assert (code, "--emulator: E194" in err) == (2, True)


def test_values_are_taken_repeated_or_with_commas(run: Run, generated: Path) -> None:
    for words in (["--on", "model", "--on", "host"], ["--on", "model,host"]):
        found = json.loads(run("test", generated, *words, "--json")[1])
        assert [row["backend"].split(":")[0] for row in found["backends"]] == ["model", "host"]


_INTERRUPTED_AT_IMPORT = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "kerncast.cli._complete":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from kerncast.__main__ import main
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_while_the_command_line_is_parsed_is_one_line() -> None:
    code = ("import os, signal, sys; sys.argv = ['kerncast', 'check', 'none.toml']\n"
            "from kerncast import __main__; from kerncast.cli import main\n"
            "main.app.registered_callback.callback = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
            "__main__.main()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_while_a_class_is_made_is_no_internal_error(capsys: pytest.CaptureFixture[str]) -> None:
    class Slow:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises(typer.Exit) as ended:
        guarded(lambda: type("Made", (), {"slow": Slow()}) and None)()
    assert (ended.value.exit_code, capsys.readouterr().err) == (130, "interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_while_modules_are_loaded_prints_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", _INTERRUPTED_AT_IMPORT], capture_output=True, text=True,
                          timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
