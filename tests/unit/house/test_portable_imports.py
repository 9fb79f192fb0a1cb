"""The parts in Python import nothing of POSIX alone, so that they run where it is absent."""

import os
import subprocess
import sys
from pathlib import Path

import kerncast

ROOT = Path(kerncast.__file__).resolve().parent
#: Modules of Python that Windows lacks.
POSIX = ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
#: Refuses these modules to kerncast only: other packages have their own ways on Windows.
BLOCK = f"""
import builtins, sys
original = builtins.__import__
def blocked(name, globals=None, *rest, **more):
    if name.partition(".")[0] in {POSIX!r} and (globals or {{}}).get("__name__", "").startswith("kerncast"):
        raise ImportError(f"{{name}} is of POSIX alone")
    return original(name, globals, *rest, **more)
builtins.__import__ = blocked
"""


def run(code: str, cwd: Path) -> str:
    path = os.pathsep.join(sys.path)
    done = subprocess.run([sys.executable, "-c", BLOCK + code], cwd=cwd, capture_output=True, text=True,
                          check=False, env=os.environ | {"PYTHONPATH": path, "KERNCAST_ENGINE": "python"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_module_imports_without_the_modules_of_posix(tmp_path):
    names = sorted(".".join(("kerncast", *path.relative_to(ROOT).with_suffix("").parts))
                   for room in ("sim", "codegen", "hw", "lab", "cli") for path in (ROOT / room).rglob("*.py")
                   if path.name != "__init__.py" and "benches" not in path.parts)
    assert len(names) > 200
    run(f"import importlib\nfor name in {names!r}:\n    importlib.import_module(name)\n", tmp_path)


def test_the_way_from_data_to_c_runs_without_the_modules_of_posix(tmp_path):
    (tmp_path / "d.csv").write_text("value\n" + "".join(f"{i * i % 17 / 7}\n" for i in range(40)))
    calls = [["init", "d.csv"], ["check", "d.toml"], ["sim", "d.toml"], ["plan", "d.toml"],
             ["gen", "d.toml", "-o", "out"]]
    run("from typer.testing import CliRunner\nfrom kerncast.cli.main import app\n"
        f"for words in {calls!r}:\n    found = CliRunner().invoke(app, words)\n"
        "    assert found.exit_code == 0, (words, found.output)\n", tmp_path)
    assert (tmp_path / "out" / "d.h").is_file()
