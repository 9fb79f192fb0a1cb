"""hw: compile the small helper programs that some emulators need.

The helpers use libraries that kerncast does not ship (libsimavr, QEMU's plugins), so they are built on the
machine that has these libraries.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from ...codegen.build.compilers import host_compiler
from ...codegen.build.tools import refusal, run_tool
from ...codegen.firmware.targets import Emulator
from ...codegen.resources import firmware_files
from ...sim.errors import fail


def build_helper(entry: Emulator, folder: Path) -> Path:
    """Compile the helper of an emulator in `folder`, unless it exists; return it.

    Raises
    ------
    KerncastError
        E511 without a C compiler for this machine, E512 if a library that the helper needs is missing.
    """
    name = str(entry.helper)
    text = firmware_files("emulators")[name].read_text(encoding="utf-8")
    source, program = folder / name, folder / name.removesuffix(".c")
    if program.is_file() and source.is_file() and source.read_text(encoding="utf-8") == text:
        return program
    compiler = host_compiler()
    with tempfile.TemporaryDirectory(dir=folder) as work:  # no process finds a partly written helper
        (Path(work) / name).write_text(text, encoding="utf-8")
        done = run_tool([*compiler.command, "-std=gnu99", "-O2", name, "-o", program.name,
                         *entry.helper_flags], Path(work), folder)
        if done.returncode != 0:
            raise fail("E512", "the emulator's helper cannot be built", where=name,
                       value=refusal(compiler.name, "", done).problems[0].value,
                       allowed="a machine with the emulator's library", remedy=entry.install)
        (Path(work) / program.name).replace(program)
        (Path(work) / name).replace(source)
    return program
