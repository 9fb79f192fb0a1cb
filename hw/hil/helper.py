"""hw: compile the helper programs of some emulators.

The helpers use libraries that kerncast does not include (libsimavr, QEMU plugins). Therefore, they are
compiled on the user's machine.
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
    """Compile the helper program of an emulator into `folder`, unless it exists.

    Returns the path of the program.

    Raises
    ------
    KerncastError
        E511 if no C compiler for the host is installed, E512 if a library that the helper requires is
        missing.
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
            raise fail("E512", "the helper program of the emulator cannot be compiled", where=name,
                       value=refusal(compiler.name, "", done).problems[0].value,
                       allowed="a machine with the emulator's library", remedy=entry.install)
        (Path(work) / program.name).replace(program)
        (Path(work) / name).replace(source)
    return program
