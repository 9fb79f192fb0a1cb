"""codegen: run a compiler or another tool in a folder, without a shell."""

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
    """Report whether a program, or the module of ``python:MODULE``, is installed."""
    module = program.removeprefix("python:")
    found = importlib.util.find_spec(module) if module != program else shutil.which(program)
    return found is not None


def run_tool(command: Sequence[str], folder: Path,
             cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a tool in `folder`; return the completed process with its output.

    The caches of zig are stored below `cache`, unless environment variables specify other folders.
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
    """Return error E320 with the first lines of a tool's error output.

    Lines with warnings and notes are omitted if there are other lines.
    """
    lines = done.stderr.strip().splitlines()
    errors = [line for line in lines if ": warning: " not in line and ": NOTE: " not in line]
    said = "\n".join((errors or lines)[:_LINES_SHOWN])
    return fail("E320", message, where=name, value=said,
                remedy="if you have not changed the C files, report this error and attach the spec")
