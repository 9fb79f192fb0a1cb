"""hw.hls: compile the generated testbench, and run it as a process.

Each line of text that is sent to the process calls a core; the reply is one line.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ...codegen.build.tools import refusal, run_tool
from ...sim.errors import KerncastError, fail
from .headers import header_folder

#: Best first, with the command that installs each.
COMPILERS = {"g++": "sudo apt-get install -y g++", "clang++": "sudo apt-get install -y clang",
             "zig": "python -m pip install ziglang"}
#: Warnings are errors, except for pragmas of the other dialect and uninitialised values: the vendors'
#: constructors do not initialise, which an optimiser detects after inlining.
FLAGS = ("-std=c++14", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-Wno-uninitialized")


def _command(name: str) -> tuple[str, ...] | None:
    if name == "zig":
        found = importlib.util.find_spec("ziglang") is not None
        return (sys.executable, "-m", "ziglang", "c++", "-fno-sanitize=undefined") if found else None
    return (name,) if shutil.which(name) else None


def cpp_compiler(name: str = "auto") -> tuple[str, ...]:
    """Return the command of a C++ compiler, or of the first one installed.

    Raises E511 if the compiler is not installed, or if none is.
    """
    for candidate in COMPILERS if name == "auto" else [name]:
        command = _command(candidate)
        if command is not None:
            return command
    raise fail("E511", "the C++ compiler is not installed", where="compiler", value=name,
               allowed=", ".join(COMPILERS), remedy=COMPILERS.get(name, COMPILERS["zig"]))


def build(dialect: str, sources: Sequence[Path], program: Path, *, compiler: str = "auto",
          flags: Sequence[str] = ("-O1",)) -> None:
    """Compile HLS C++ into a program.

    Parameters
    ----------
    dialect : str
    sources : sequence of Path
        C++ files in one folder, together with their headers. They are compiled as one translation unit,
        because most of the time is spent on the vendors' headers.
    program : Path
        The program to create.
    compiler : str
        ``auto``, or a name from :data:`COMPILERS`.
    flags : sequence of str

    Raises
    ------
    KerncastError
        E501 if the header files are missing; E511 if the compiler is missing; E320, with the compiler's
        message, if the compiler fails.
    """
    command, headers = cpp_compiler(compiler), header_folder(dialect)
    program.parent.mkdir(parents=True, exist_ok=True)
    folder = sources[0].parent
    *first, last = (os.path.relpath(source, folder) for source in sources)
    included = [word for name in first for word in ("-include", name)]
    done = run_tool([*command, *FLAGS, *flags, "-I.", "-isystem", str(headers), *included, last, "-o",
                     str(program.absolute())], folder, program.parent)
    if done.returncode != 0:
        raise refusal(command[0], "the compiler rejected the generated code", done)


class Testbench:
    """Process of a testbench; its cores keep their state between calls.

    Parameters
    ----------
    program : Path
        The program that :func:`build` created.
    """

    __test__ = False  # no test of pytest's

    def __init__(self, program: Path) -> None:
        self._program = program
        self._process: subprocess.Popen[str] | None = None

    def call(self, line: str) -> list[int]:
        """Send a line to the testbench; return the reply. Raise E435 if the process ends."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            found = process.stdout.readline()
        except OSError:
            found = ""
        if not found.endswith("\n"):
            raise self._ended(line)
        return [int(word) for word in found.split()]

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen([str(self._program.absolute())], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return self._process

    def _ended(self, line: str) -> KerncastError:
        code = None if self._process is None else self._process.wait()
        self.close()
        return fail("E435", "the C simulation ended before it returned a result", where=str(self._program),
                    value=f"{line.split(' ')[0]}: exit {code}", allowed="a result",
                    remedy="generate the folder again; if that does not help, report this error "
                           "with the spec")

    def close(self) -> None:
        """End the process; the state of its cores is lost."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # it ended first
                pipe.close()
        process.wait()
