"""A command that runs in a folder from elsewhere takes neither code nor settings from it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import kerncast

LAUNCHER = Path(kerncast.__file__).parent / ".ci" / "kerncast.sh"
#: Modules that kerncast or a program that it starts imports, and files that Python runs at its start.
MODULES = (
    *sorted(sys.stdlib_module_names),
    *("kerncast", "numpy", "numba", "joblib", "typer", "pydantic", "jinja2", "cffi", "unicorn", "ziglang"),
    *("matplotlib", "scipy", "yaml", "rich", "sitecustomize", "usercustomize", "conftest", "setup"),
)
COMMANDS = {
    "verify": ["verify", ".", "--on", "model", "--flips", "1"],
    "workers": ["sweep", "small.toml", "--grid", "kernel.sigma=2,3", "--jobs", "2", "-o", "{0}/run"],
    "zig": ["test", ".", "--on", "host:zig"],
    "emulator": ["test", ".", "--on", "emu:mps2-an386:unicorn"],
}


def launched(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the program `kerncast` of a checkout in a folder."""
    programs = folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "kerncast").write_bytes(LAUNCHER.read_bytes())
    (programs / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    for path in programs.iterdir():
        path.chmod(0o755)
    return subprocess.run(
        [programs / "kerncast", *arguments],
        cwd=folder,
        env=os.environ | {"KERNCAST_ENGINE": "python"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not LAUNCHER.is_file(), reason="an installed wheel has pip's launcher")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_runs_no_file_of_the_working_folder(generated: Path, tmp_path: Path, name: str) -> None:
    mark = tmp_path / "executed"
    for module in MODULES:
        (generated / f"{module}.py").write_text(f"open({str(mark)!r}, 'a').write({module!r} + ' ')\n")
    (generated / "all.pth").write_text(f"import os; open({str(mark)!r}, 'a').write('pth ')\n")
    for file in ("small.toml", "small.csv"):
        (generated / file).write_bytes((tmp_path / file).read_bytes())
    done = launched(generated, *(word.format(tmp_path) for word in COMMANDS[name]))
    assert not mark.exists(), mark.read_text()
    assert done.returncode == 0, done.stderr


SETTINGS = """
import sys
from kerncast.__main__ import main
sys.argv = ["kerncast", "schema"]
try:
    main()
except SystemExit:
    pass
from kerncast.sim import jit
jit._numba()
from numba.core import config
from kerncast.lab.figures.style import pyplot
print("found:", config.CACHE_DIR == "", pyplot().rcParams["text.usetex"])
"""


def test_a_command_takes_no_settings_of_the_working_folder(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    pytest.importorskip("matplotlib")
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: elsewhere\n")
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\n")
    ours = ("KERNCAST_ENGINE", "NUMBA_CACHE_DIR")
    env = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        [sys.executable, "-P", "-c", SETTINGS],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == "found: True False", done.stderr
