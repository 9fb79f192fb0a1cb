"""codegen: measure the footprint of a library.

The footprint is the flash and the static RAM that a program needs in addition if it calls the library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..build.toolchains import Toolchain
from ..build.tools import refusal

_SHF_WRITE, _SHF_ALLOC = 1, 2
#: The function that makes the calls, in a separate section, whose bytes are not counted.
_CALLER = "kc_footprint"
_NOT_COUNTED = (".stack", f".{_CALLER}", ".persistent", ".noinit")  # of the usual script: padding


@dataclass(frozen=True)
class Footprint:
    """Footprint of a library in bytes.

    Parameters
    ----------
    flash : int
        Code, constants and initial values, including the functions called in the compiler's runtime library.
    ram : int
        Static variables of the library.
    functions : dict of str to int
        Size of each function, with the constants in its code. An inlined function counts in its caller.
    """

    flash: int
    ram: int
    functions: dict[str, int] = field(default_factory=dict)


def footprint(toolchain: Toolchain, folder: Path, objects: Sequence[str], flags: Sequence[str],
              calls: Sequence[str]) -> Footprint:
    """Measure the footprint of a library in a program that makes only certain calls.

    Parameters
    ----------
    toolchain : Toolchain
    folder : Path
        The folder of the objects.
    objects : sequence of str
        Objects of the library and of everything that it may call. The linker removes unused functions.
    flags : sequence of str
        Compiler flags.
    calls : sequence of str
        The functions that the program calls.

    Raises
    ------
    KerncastError
        E320 if the program cannot be linked.
    """
    source, name = f"{_CALLER}.c", f"{_CALLER}.elf"
    lines = [f"void {call}(void);\n" for call in calls]
    lines += [f'__attribute__((section(".{_CALLER}"))) void {_CALLER}(void);\n',
              f"void {_CALLER}(void)\n{{\n", *(f"    {call}();\n" for call in calls)]
    (folder / source).write_text("".join(lines) + "}\n", encoding="utf-8")
    caller = toolchain.compile([source], flags, folder)
    done = toolchain.link([*caller, *objects], None, name, folder, entry=_CALLER)
    if done.returncode:
        raise refusal(toolchain.name, "the linker rejected the generated library", done)
    return sections(folder / name)


def sections(elf: Path) -> Footprint:
    """Return the sizes of code, data and functions of a linked program."""
    from elftools.elf.elffile import ELFFile  # not at import: most commands read no object file

    flash = ram = 0
    with elf.open("rb") as stream:
        read = ELFFile(stream)
        functions = _functions(read)
        for section in read.iter_sections():
            if section["sh_flags"] & _SHF_ALLOC and section.name not in _NOT_COUNTED:
                flash += section["sh_size"] if section["sh_type"] == "SHT_PROGBITS" else 0
                ram += section["sh_size"] if section["sh_flags"] & _SHF_WRITE else 0
    return Footprint(flash, ram, functions)


def _functions(elf: Any) -> dict[str, int]:
    """Return the size of each function with a symbol, except the caller's, by name.

    A function with several names counts once, so that the sum is at most the flash.
    """
    table = elf.get_section_by_name(".symtab")
    symbols = () if table is None else table.iter_symbols()
    own = {symbol["st_value"]: (symbol.name, symbol["st_size"])
           for symbol in sorted(symbols, key=lambda symbol: symbol.name, reverse=True)
           if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"] and symbol.name != _CALLER}
    return dict(sorted(own.values()))
