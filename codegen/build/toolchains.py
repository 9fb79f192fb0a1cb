"""codegen: find the cross compilers and run them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePosixPath

from ...sim.errors import KerncastError, fail
from ...sim.spec.target import Target
from ..firmware import target_files
from ..firmware.targets import Compiler, load_arch
from .tools import is_installed, refusal, run_tool

COMPILERS = ("auto", *target_files.COMPILERS)
#: Compilers that write the frame of each function next to the object; zig does not report it.
TELL_FRAMES = ("gcc", "clang")


@dataclass(frozen=True)
class Toolchain:
    """Compiler and linker for one target.

    Parameters
    ----------
    name : str
        ``gcc``, ``clang`` or ``zig``.
    compiler, linker : tuple of str
        Command lines of the compiler and of the linker, without flags.
    flags, link_flags : tuple of str
        Flags that the target requires when compiling and when linking.
    libraries : tuple of str
        The compiler's runtime library (such as 64-bit division), if it must be linked explicitly.
    """

    name: str
    compiler: tuple[str, ...]
    linker: tuple[str, ...]
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    libraries: tuple[str, ...]

    @property
    def version(self) -> str:
        """Return the compiler's version, such as ``12.2.1``."""
        if self.name == "zig":
            return version("ziglang")
        done = subprocess.run([*self.compiler, "-dumpversion"], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    @property
    def reports_stack_usage(self) -> bool:
        """Report whether the compiler can write the stack frame size of each function."""
        return self.name in TELL_FRAMES

    def compile(self, sources: Sequence[str], flags: Sequence[str], folder: Path) -> list[str]:
        """Compile sources in `folder`; return the names of the object files.

        Raises E320, with the compiler's message, if the compiler fails.
        """
        objects = [f"{PurePosixPath(source).stem}.o" for source in sources]
        for source, name in zip(sources, objects, strict=True):
            done = run_tool([*self.compiler, *flags, "-c", source, "-o", name], folder, folder.parent)
            if done.returncode:
                raise refusal(self.name, f"the compiler rejected {PurePosixPath(source).name}", done)
        return objects

    def link(self, objects: Sequence[str], script: str | None, name: str, folder: Path, *,
             entry: str = "") -> subprocess.CompletedProcess[str]:
        """Link object files with the compiler's runtime library and no other library.

        If `entry` is given, the program starts at this symbol, and the start-up code is omitted.
        """
        begin = ("-nostartfiles", f"-Wl,-e,{entry}") if entry else ()
        return run_tool([*self.linker, *self.link_flags, "-Wl,--gc-sections", *begin, *objects,
                         *(("-T", script) if script else ()), *self.libraries, "-o", name], folder,
                        folder.parent)


def compilers(target: Target) -> dict[str, Compiler]:
    """List the compilers that can build for `target`, in order of preference."""
    return {name: row for name, row in load_arch(target.arch).compilers().items() if name in target.flags}


def available(name: str, target: Target) -> bool:
    """Report whether compiler `name` can build for `target` on this machine."""
    rows = compilers(target)
    return name in rows and all(is_installed(rows[n].program) for n in (name, rows[name].linker or name))


def _command(program: str) -> tuple[str, ...]:
    module = program.removeprefix("python:")
    return (sys.executable, "-m", module, "cc") if module != program else (program,)


def choose_toolchain(name: str, target: Target) -> Toolchain:
    """Return toolchain `name` for `target`; ``auto`` selects the best one installed.

    Raises
    ------
    KerncastError
        E325 if the name is unknown, E327 if the compiler cannot build for this target, E511 if the compiler
        is not installed. E511 contains the command that installs it.
    """
    rows = compilers(target)
    if name not in COMPILERS:
        raise fail("E325", "no such compiler", where="compiler", value=name,
                   allowed=", ".join(COMPILERS), remedy="choose one of the allowed values")
    if name == "auto":
        name = next((n for n in rows if available(n, target)), "zig" if "zig" in rows else next(iter(rows)))
    if name not in rows:
        raise fail("E327", f"this compiler cannot build for {target.id}", where="compiler", value=name,
                   allowed=", ".join(rows), remedy="choose one of the allowed values")
    if not available(name, target):
        raise _missing(name, target)
    row = rows[name]
    linker = row.linker or name
    links = rows[linker]
    return Toolchain(name, _command(row.program), _command(links.program),
                     flags=(*target.flags[name], *row.compile),
                     link_flags=(*target.flags[linker], *links.link), libraries=links.libraries)


def _missing(name: str, target: Target) -> KerncastError:
    rows = compilers(target)
    return fail("E511", "this cross compiler is not installed", where="compiler", value=name,
                allowed=", ".join(f"{n} ({row.program.removeprefix('python:')})" for n, row in rows.items()),
                remedy=rows[name].install)
