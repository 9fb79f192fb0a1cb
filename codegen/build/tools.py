"""codegen: run a compiler in a folder, without a shell, with its caches beside the build."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ...sim.errors import KerncastError, fail

_LINES_SHOWN = 12


def is_installed(program: str) -> bool:
    """Report whether a program is on the path, or ``python:MODULE`` can be imported."""
    module = program.removeprefix("python:")
    found = importlib.util.find_spec(module) if module != program else shutil.which(program)
    return found is not None


def run_tool(command: Sequence[str], folder: Path,
             cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a tool in `folder` and return its output.

    The caches of zig go below `cache` unless the environment places them.
    """
    kept = str(cache.absolute() / "zig-cache")
    env = {"ZIG_GLOBAL_CACHE_DIR": kept, "ZIG_LOCAL_CACHE_DIR": kept, **os.environ, "LC_ALL": "C"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)


def refusal(name: str, message: str, done: subprocess.CompletedProcess[str]) -> KerncastError:
    """Return E320 with the first errors, or else the first lines, of a tool's output."""
    lines = done.stderr.strip().splitlines()
    errors = [line for line in lines if ": warning: " not in line and ": NOTE: " not in line]
    said = "\n".join((errors or lines)[:_LINES_SHOWN])
    return fail("E320", message, where=name, value=said,
                remedy="report this together with the spec, if you have not changed the C files")
