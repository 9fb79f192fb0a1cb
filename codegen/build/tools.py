"""codegen: run a compiler in a folder, without a shell.

The compiler's caches are next to the build.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock file exclusively while the block runs.

    The system releases the lock when the process ends.
    """
    import fcntl  # of POSIX alone

    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def refusal(name: str, message: str, done: subprocess.CompletedProcess[str]) -> KerncastError:
    """Return E320 with the first errors of a tool's output, or its first lines."""
    lines = done.stderr.strip().splitlines()
    errors = [line for line in lines if ": warning: " not in line and ": NOTE: " not in line]
    said = "\n".join((errors or lines)[:_LINES_SHOWN])
    return fail("E320", message, where=name, value=said,
                remedy="if you have not changed the C files, report this with the spec")
