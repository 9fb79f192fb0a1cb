"""codegen: find the C compilers installed on this machine, and run them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...sim.errors import fail
from .tools import refusal, run_tool

WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
#: Best first, with the command that installs each.
INSTALL = {"gcc": "sudo apt-get install -y gcc libc6-dev",
           "clang": "sudo apt-get install -y clang libc6-dev",
           "zig": "python -m pip install ziglang"}


@dataclass(frozen=True)
class Compiler:
    """C compiler that builds for the host.

    Parameters
    ----------
    name : str
        ``gcc``, ``clang`` or ``zig``.
    command : tuple of str
        Command line that starts the compiler, without options.
    """

    name: str
    command: tuple[str, ...]

    def build_library(self, sources: Sequence[Path], flags: Sequence[str], library: Path,
                      work: Path, together: bool = False) -> None:
        """Compile C sources into a shared library.

        Raises E320, with the compiler's message, if the compiler fails.

        Parameters
        ----------
        sources : sequence of Path
            C files. The folder of the first one is added to the include path.
        flags : sequence of str
        library : Path
            The shared library to write.
        work : Path
            Folder for the compiler's cache.
        together : bool
            Whether to compile all sources as one translation unit, which takes about half the time.
        """
        quiet = ("-fno-sanitize=undefined",) if self.name == "zig" else ()
        folder = sources[0].parent
        if quiet:  # zig alone keeps something
            work.mkdir(parents=True, exist_ok=True)
        if together:
            flags = (*flags, *(f"-I{place.absolute()}" for place in {path.parent: None for path in sources[1:]}))
            sources = [_one_unit(sources, library)]
        names = [os.path.relpath(source, folder) for source in sources]
        done = run_tool([*self.command, "-std=c99", "-ffp-contract=off", *WARNINGS, *quiet, *flags,
                         "-shared", "-fPIC", "-I.", *names, "-o", str(library.absolute())], folder, work)
        if done.returncode != 0:
            raise refusal(self.name, "the compiler rejected the generated code", done)


def _one_unit(sources: Sequence[Path], library: Path) -> Path:
    """Write a C file next to `library` that includes all sources; return it."""
    unit = library.with_name(f"{library.stem}_all.c")
    unit.write_text("".join(f'#include "{source.name}"\n' for source in sources), encoding="utf-8")
    return unit


def _command(name: str) -> tuple[str, ...] | None:
    if name == "zig":
        found = importlib.util.find_spec("ziglang") is not None
        return (sys.executable, "-m", "ziglang", "cc") if found else None
    path = shutil.which(name)
    return None if path is None else (path,)


def available() -> list[str]:
    """List the names of the installed compilers in order of preference."""
    return [name for name in INSTALL if _command(name) is not None]


def host_compiler(name: str = "auto") -> Compiler:
    """Return a compiler by name, or the first of gcc, clang and zig.

    Raises
    ------
    KerncastError
        E511 if the compiler is not installed. The error contains the command that installs it.
    """
    for candidate in INSTALL if name == "auto" else [name]:
        command = _command(candidate)
        if command is not None:
            return Compiler(candidate, command)
    raise fail("E511", "this C compiler is not installed", where="compiler", value=name,
               allowed=", ".join(INSTALL), remedy=INSTALL.get(name, INSTALL["zig"]))
