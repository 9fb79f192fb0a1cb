"""codegen: the cross compilers, found and called."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePosixPath

from ..sim.errors import KerncastError, fail
from ..sim.target import Target
from .tools import refusal, run_tool

COMPILERS = ("auto", "gcc", "clang", "zig")
_GCC = "arm-none-eabi-gcc"
_INSTALL = {
    "gcc": "sudo apt-get install -y --no-install-recommends gcc-arm-none-eabi",
    "clang": "sudo apt-get install -y --no-install-recommends clang gcc-arm-none-eabi",
    "zig": "python -m pip install ziglang",
}


@dataclass(frozen=True)
class Toolchain:
    """One compiler for one target.

    Parameters
    ----------
    name : str
        ``gcc``, ``clang`` or ``zig``.
    compiler, linker : tuple of str
        Commands.
    flags, link_flags : tuple of str
        What the target needs, for either.
    libraries : tuple of str
        The compiler's own runtime (64-bit division), where it must be named.
    """

    name: str
    compiler: tuple[str, ...]
    linker: tuple[str, ...]
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    libraries: tuple[str, ...]

    @property
    def version(self) -> str:
        """The compiler's version, such as ``12.2.1``; figures of images hold for this one."""
        if self.name == "zig":
            return version("ziglang")
        done = subprocess.run([*self.compiler, "-dumpversion"], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    def compile(self, sources: Sequence[str], flags: Sequence[str], folder: Path) -> list[str]:
        """Compile in `folder`; the object files' names. E320 with the compiler's words."""
        objects = [f"{PurePosixPath(source).stem}.o" for source in sources]
        for source, name in zip(sources, objects, strict=True):
            done = run_tool([*self.compiler, *flags, "-c", source, "-o", name], folder, folder.parent)
            if done.returncode:
                raise refusal(self.name, f"the compiler refused {PurePosixPath(source).name}", done)
        return objects

    def link(self, objects: Sequence[str], flags: Sequence[str], script: str, name: str,
             folder: Path) -> subprocess.CompletedProcess[str]:
        """Link without any library but the compiler's own."""
        return run_tool([*self.linker, *self.link_flags, "-Wl,--gc-sections", "-Wl,-e,Reset_Handler",
                         *objects, "-T", script, *self.libraries, "-o", name], folder, folder.parent)


def _missing(name: str) -> KerncastError:
    return fail("E511", "this cross compiler is not installed", where="compiler", value=name,
                allowed="gcc (arm-none-eabi-gcc), clang with arm-none-eabi-gcc, zig (ziglang)",
                remedy=_INSTALL[name])


def available(name: str) -> bool:
    """Whether the compiler family `name` can build an ARM image on this machine."""
    if name == "zig":
        return importlib.util.find_spec("ziglang") is not None
    return shutil.which(_GCC) is not None and (name == "gcc" or shutil.which("clang") is not None)


def choose_toolchain(name: str, target: Target) -> Toolchain:
    """The toolchain `name` for `target`; ``auto`` is gcc where it is installed, else zig.

    Raises
    ------
    KerncastError
        E325 for an unknown name, E511 with the command that installs what is missing.
    """
    if name not in COMPILERS:
        raise fail("E325", "there is no such compiler", where="compiler", value=name,
                   allowed=", ".join(COMPILERS), remedy="choose one of these")
    if name == "auto":
        name = "gcc" if available("gcc") else "zig"
    if not available(name):
        raise _missing(name)
    flags = target.flags[name]
    if name == "zig":
        zig = (sys.executable, "-m", "ziglang", "cc")
        # Zig adds its runtime by itself, but not under -nostdlib; freestanding, there is no other library.
        return Toolchain(name, zig, zig, (*flags, "-fno-sanitize=undefined"), flags, ())
    gcc = (_GCC,)
    compiler = gcc if name == "gcc" else ("clang",)
    # clang compiles, but Debian has no runtime of its own for ARM: gcc's is linked.
    return Toolchain(name, compiler, gcc, flags, (*target.flags["gcc"], "-nostdlib"), ("-lgcc",))
