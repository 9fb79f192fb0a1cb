"""The help of every command: panels, whole summaries, no Python types, 80 columns; and old spellings."""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

import kerncast
from kerncast.cli import main
from kerncast.cli._help import LONGEST_SUMMARY

Run = Callable[..., tuple[int, str, str]]
CLI = Path(kerncast.__file__).parent / "cli"
LISTED = [*main.COMMANDS, *(f"hil {action}" for action in main.ACTIONS)]
HIDDEN = [*main.HIDDEN, *(f"hil {action}" for action in main.HIDDEN_ACTIONS)]


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_every_command_is_in_one_panel_with_its_whole_summary(run: Run) -> None:
    panels = [name for names in main.PANELS.values() for name in names]
    assert sorted(panels) == sorted(LISTED)
    out = run("--help")[1]
    assert [line[:-1] for line in out.splitlines() if re.fullmatch(r"[A-Z]\w+:", line)][1:] == [*main.PANELS]
    commands = main.COMMANDS | {f"hil {name}": action for name, action in main.ACTIONS.items()}
    for name in LISTED:
        summary = commands[name].__doc__.split("\n")[0]
        assert len(summary.rstrip(".")) <= LONGEST_SUMMARY
        assert re.search(rf"^  {name} +{re.escape(summary.rstrip('.'))}$", out, re.MULTILINE)
    assert "..." not in out.replace("[ARGS]...", "")


@pytest.mark.parametrize("command", ["", "hil", *LISTED, *HIDDEN])
def test_help_fits_80_columns(run: Run, command: str) -> None:
    code, out, _ = run(*command.split(), "--help")
    assert code == 0
    assert [line for line in out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("command", [*LISTED, *HIDDEN])
def test_help_shows_no_python_type_and_no_old_spelling(run: Run, command: str) -> None:
    out = run(*command.split(), "--help")[1]
    assert not re.search(r"<(\w+|list\[.*\]|\w+ range)>|[<>]=x|x[<>]=|\{|=\(", out)
    if command in LISTED:
        assert not re.search(r"--(port|levels|output)\b", out) or command == "explore"


@pytest.mark.parametrize("command", HIDDEN)
def test_an_old_command_works_and_is_not_listed(run: Run, command: str) -> None:
    *group, name = command.split()
    assert run(*group, name, "--help")[0] == 0
    assert not re.search(rf"^  {name} ", run(*group, "--help")[1], re.MULTILINE)


def test_old_options_are_taken_and_not_shown(run: Run, generated: Path) -> None:
    code, _, err = run("cost", generated, "--levels=-O9")
    assert (code, "E325" in err) == (2, True)
    assert "--out: E191" in run("row", "ecg", "--sigma", "1", "--output", "no/row.npz")[2]
    names = {opt for command in typer.main.get_command(main.app).commands.values()
             for param in command.params if getattr(param, "hidden", False) for opt in param.opts}
    assert {"--levels", "--output", "--samples"} <= names


def test_no_module_of_the_command_line_imports_one_that_imports_it() -> None:
    imports = {}
    for path in CLI.glob("*.py"):
        found = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                found |= {node.module} if node.module else {alias.name for alias in node.names}
        imports[path.stem] = found

    def reached(start: str) -> set[str]:
        seen, left = set(), [*imports[start]]
        while left:
            name = left.pop()
            if name not in seen:
                seen.add(name)
                left += imports.get(name, ())
        return seen

    assert not [name for name in imports if name in reached(name)]
