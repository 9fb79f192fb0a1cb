"""kerncast doctor: what is installed, what is missing, and what adds it."""

import json
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import kerncast
from kerncast.cli import _tools, doctor, main
from kerncast.codegen.build.toolchains import compilers
from kerncast.codegen.firmware.targets import board_ids, load_board, load_target
from kerncast.sim.errors import Problem, for_this_python

PYPROJECT = Path(kerncast.__file__).parent / "pyproject.toml"


def run(*arguments):
    result = CliRunner().invoke(main.app, ["doctor", *arguments], prog_name="kerncast")
    return result.exit_code, result.stdout


@pytest.fixture
def bare(monkeypatch):
    """A machine on which nothing is installed."""
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)


def test_what_is_missing_is_named_with_the_one_command_that_adds_it(bare):
    code, out = run("--group", "emu", "--group", "fast", "--group", "emulators")
    assert code == 0
    assert out.count("MISSING") >= 3
    *_, verdict, _, command = out.splitlines()
    assert re.fullmatch(r"\d+ missing: (\S+, )*unicorn, (\S+, )*qemu-system-arm(, \S+)*", verdict)
    assert re.fullmatch(re.escape(f"{sys.executable} -m pip install numba unicorn && ") +
                        r"sudo apt-get install -y --no-install-recommends (\S+ )*qemu-system-arm( \S+)*",
                        command)


def test_commands_of_pip_name_the_interpreter_that_runs(monkeypatch, tmp_path):
    command = "python -m pip install numba"
    problem = Problem("E501", "missing", remedy="python -m pip install x")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "a b" / "python"))
    for on_path in (None, "/usr/bin/python"):
        monkeypatch.setattr(shutil, "which", lambda _, found=on_path: found)
        assert for_this_python(command) == f"'{tmp_path}/a b/python' -m pip install numba"
        assert f"do: '{tmp_path}/a b/python' -m pip install x" in str(problem)
    monkeypatch.setattr(shutil, "which", lambda _: sys.executable)
    assert for_this_python(command) == command


def test_strict_exits_with_3_where_something_is_missing(bare):
    assert run("--strict")[0] == 3
    code, out = run("--strict", "--json")
    answer = json.loads(out)
    assert (code, answer["missing"]) == (3, len(answer["tools"]))


def test_strict_exits_with_0_where_nothing_is_missing(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda program: f"/usr/bin/{program}")
    code, out = run("--strict", "--group", "base", "--group", "compilers")
    assert code == 0
    assert "MISSING" not in out
    assert "nothing missing" in out


def test_versions_and_paths_are_those_of_this_machine():
    tools = {t["name"]: t["found"] for t in json.loads(run("--json")[1])["tools"]}
    assert re.match(r"\d+\.\d+", tools["numpy"])
    assert tools["make"] == (shutil.which("make") or "")


def test_every_program_that_a_board_needs_is_checked(bare):
    tools = json.loads(run("--json")[1])["tools"]
    boards = [load_board(name) for name in board_ids()]
    needed = {row.program for board in boards for row in board.emulators.values()} \
        | {row.command[0] for board in boards for row in board.flashers.values()} \
        | {row.program for board in boards for row in compilers(load_target(board.target)).values()}
    missing = {"ziglang": "python:ziglang", "unicorn": "python:unicorn"}
    assert needed <= {missing.get(t["name"], t["name"]) for t in tools if not t["found"]}
    assert "openocd" in run("--group", "loaders")[1].splitlines()[-1]


def test_an_unknown_group_is_bad_input():
    assert run("--group", "nonsense")[0] == 2


def test_every_package_of_every_extra_is_checked():
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = {"base": project["dependencies"], **project["optional-dependencies"]}
    looked = {group: {package for package, *_ in rows} for group, rows in _tools.PACKAGES.items()}
    wanted = {group: {re.split(r"[<>=\[;!~ ]", line)[0] for line in lines} for group, lines in extras.items()
              if group not in ("test", "dev", "docs", "demo")}  # for developers; a list of other extras
    assert looked == wanted
