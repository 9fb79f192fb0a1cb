"""What every command prints fits a terminal of 80 columns; a pipe keeps one line a row."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import kerncast
from kerncast.cli import _output, main

Run = Callable[..., tuple[int, str, str]]
EXAMPLES = Path(kerncast.__file__).parent / "examples"
SMALL = (Path(__file__).parents[1] / "small.toml").read_text(encoding="utf-8")

#: What is run to see the output of each command; {spec} and {out} are short relative paths.
LINES = {
    "init": "init motor -o specs", "check": "check ecg.toml", "explain": "explain", "doctor": "doctor --all",
    "demo": "", "fit": "fit small.toml", "sim": "sim digits.toml", "plan": "plan ecg.toml",
    "sweep": "sweep small.toml --grid numbers.word=16,24 --grid toeplitz.refine=0,1 -o run",
    "explore": "", "report": "", "gen": "gen small.toml -o new", "build": "build out --board nucleo-f446re",
    "cost": "cost out --target cortex-m4 -Os", "estimate": "", "freeze": "",
    "test": "test out --on model,host", "verify": "verify out --flips 2 --on model",
    "targets": "targets", "schema": "",
}
MORE = ["explain E203", "plan digits.toml", "plan ecg.toml --why alpha", "plan ecg.toml --error 1e-4",
        "targets microbit", "targets cortex-m4", "targets --ports", "hil list", "doctor",
        "hil record out --on model -o small.recording", "check wrong.toml", "init motor --target nothing",
        "test out", "test out --on board:microbit", "nonsense", "explain E999", "gen", "doctor --group x"]


@pytest.fixture(scope="module")
def made(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with specs and a generated library."""
    path = tmp_path_factory.mktemp("width")
    for name in ("ecg", "digits"):
        (path / f"{name}.toml").write_text((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    words = [str((7 * i * i) % 100 - 50) for i in range(12)]
    (path / "small.csv").write_text("\n".join(["y", *words, ""]))
    (path / "small.toml").write_text(SMALL)
    (path / "wrong.toml").write_text(SMALL.replace("sigma", "sgima").replace("lambda = 0.5", "lambda = 0")
                                     + '[target]\nid = "z80"\n')
    assert run("gen", path / "small.toml", "-o", path / "out")[0] == 0
    return path


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, from which commands are run."""
    monkeypatch.chdir(made)
    return made


def too_long(text: str) -> list[str]:
    """Lines of more than 80 characters; a path or a quoted argument is not broken."""
    return [line for line in text.splitlines() if len(line) > 80 and not re.search(r"\S{60}|'.{60}", line)]


def test_every_command_has_a_line_here() -> None:
    assert list(LINES) == list(main.COMMANDS)


@pytest.mark.parametrize("line", [*filter(None, LINES.values()), *MORE])
def test_output_fits_80_columns(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, line: str,
                                require_tool: Callable[[str, str], str]) -> None:
    if line.startswith(("build", "cost")):
        require_tool("arm-none-eabi-gcc", "make tools")
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run(*shlex.split(line))
    assert code in (0, 2), err
    assert out or err
    assert too_long(out + err) == []


def test_a_pipe_keeps_a_row_on_one_line(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    rows = run("plan", "ecg.toml")[1].split("\n\n")[1].splitlines()
    assert max(map(len, rows)) > 100


# ---- the parts ----
def test_a_table_is_wrapped_between_words_then_split_by_columns() -> None:
    rows = [("name", "meaning", "count"), ("alpha", "the coefficients of the expansion", "1,234"),
            ("f", "a prediction", "7")]
    assert _output.table(rows, limit=200).splitlines() == [
        "name   meaning                            count",
        "alpha  the coefficients of the expansion  1,234",
        "f      a prediction                           7"]
    assert _output.table(rows, limit=40).splitlines() == [
        "name   meaning                     count",
        "alpha  the coefficients of the     1,234",
        "       expansion",
        "f      a prediction                    7"]
    blocks = _output.table([("key", *"abcdefgh"), ("one", *["12345678"] * 8)], limit=40).split("\n\n")
    assert len(blocks) > 1
    assert all(block.startswith("key") and len(line) <= 40 for block in blocks for line in block.splitlines())
    assert sum(block.count("12345678") for block in blocks) == 8


def test_a_long_command_continues_after_a_backslash_and_can_be_pasted() -> None:
    words = ["openocd", "-f", "board/st_nucleo_f4.cfg", "-c", "program {a b} verify"] * 3
    text = _output.command_lines(words, "load with openocd: ", limit=60)
    assert all(len(line) <= 60 for line in text.splitlines())
    assert shlex.split(text.removeprefix("load with openocd: ").replace("\\\n", "")) == words


def test_counts_of_values_keep_the_old_name_too(run: Run, folder: Path,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run("test", "out", "--on", "model", "--json")[1])
    assert found["values"] == found["words"] > 0 == found["mismatches"]
    assert found["backends"][0]["values"] == found["backends"][0]["words"]


def test_each_step_names_the_next_command(run: Run, folder: Path) -> None:
    for line, after in (("init motor -o new", "check new/motor.toml"), ("check small.toml", "sim small.toml"),
                        ("sim small.toml", "gen small.toml -o build/small"),
                        ("fit small.toml -o fitted.toml", "sim fitted.toml"),
                        ("plan small.toml", "gen small.toml -o build/small"),
                        ("gen small.toml -o out", "test out --on host"),
                        ("test out --on model", "cost out")):
        code, out, err = run(*line.split())
        assert code == 0, err
        assert out.splitlines()[-1] == f"next: kerncast {after}"
