"""codegen: the C compilers that may be at hand, and how each is called."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..sim.errors import KerncastError, fail

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
INSTALL = {"gcc": "apt-get install gcc libc6-dev", "clang": "apt-get install clang libc6-dev",
           "zig": "pip install ziglang"}


@dataclass(frozen=True)
class Compiler:
    """A compiler for this machine.

    Parameters
    ----------
    name : str
        ``gcc``, ``clang`` or ``zig``.
    command : tuple of str
        What starts it.
    """

    name: str
    command: tuple[str, ...]

    def run(self, arguments: Sequence[str], cwd: Path) -> None:
        """Compile; E320 with the compiler's own words where it fails."""
        done = subprocess.run([*self.command, *arguments], cwd=cwd, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise fail("E320", f"{self.name} could not compile the generated code",
                       where=str(cwd), value=done.stderr.strip()[-2000:],
                       remedy="this is a defect of kerncast unless a file was edited: "
                              "generate the folder again")


def _command(name: str) -> tuple[str, ...] | None:
    if name == "zig":
        found = importlib.util.find_spec("ziglang") is not None
        return (sys.executable, "-m", "ziglang", "cc") if found else None
    path = shutil.which(name)
    return None if path is None else (path,)


def available() -> list[str]:
    """Names of the host compilers found, best first."""
    return [name for name in INSTALL if _command(name) is not None]


def host_compiler(name: str = "auto") -> Compiler:
    """A compiler for this machine by name, or the first of gcc, clang, zig.

    Raises
    ------
    KerncastError
        E511 where it is not installed, with the command that installs it.
    """
    names = list(INSTALL) if name == "auto" else [name]
    for candidate in names:
        command = _command(candidate)
        if command is not None:
            return Compiler(candidate, command)
    raise _missing(name)


def _missing(name: str) -> KerncastError:
    remedy = INSTALL.get(name, INSTALL["zig"])
    return fail("E511", "no C compiler was found" if name == "auto" else f"{name} was not found",
                where="compiler", value=name, allowed=", ".join(INSTALL), remedy=remedy)
