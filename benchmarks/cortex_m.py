"""Emulate a Cortex-M core: call functions of an ELF file, and count instructions.

The counter counts instructions, not clock cycles. Every basic block that is entered counts with all of its
instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import unicorn
from elftools.elf.elffile import ELFFile
from numpy.typing import NDArray
from unicorn import arm_const

from kerncast.hw.hil.unicorn_board import count_instructions
from kerncast.sim.plan import Field, wire_dtype

#: Memory of the core, as benchmarks/instructions.py links for it.
FLASH, RAM, BYTES = 0x00000000, 0x20000000, 1 << 20
#: Linker script of a program for it.
SCRIPT = f"""MEMORY {{
  flash (rx) : ORIGIN = {FLASH:#x}, LENGTH = {BYTES}
  ram (rwx) : ORIGIN = {RAM:#x}, LENGTH = {BYTES}
}}
SECTIONS {{
  .text {FLASH + 0x100:#x} : {{ *(.text*) *(.rodata*) }} > flash
  .ARM.exidx : {{ *(.ARM.ex*) }} > flash
  .data : {{ *(.data*) }} > ram
  .bss : {{ *(.bss*) *(COMMON) }} > ram
}}
"""
_STOP = FLASH + BYTES - 16
_STACK = RAM + BYTES - 16
#: What unused stack is filled with, and how much of it.
_PAINT = b"\xA5" * 65536
_ARGUMENTS = (arm_const.UC_ARM_REG_R0, arm_const.UC_ARM_REG_R1, arm_const.UC_ARM_REG_R2,
              arm_const.UC_ARM_REG_R3)


class CortexM:
    """Emulated Cortex-M4F with a linked program.

    Parameters
    ----------
    image : Path
        ELF file. Functions and variables are accessed by their symbols.
    """

    def __init__(self, image: Path) -> None:
        self._uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        self._uc.ctl_set_cpu_model(arm_const.UC_CPU_ARM_CORTEX_M4)
        self._costs: dict[tuple[int, int], int] = {}
        self._count = 0
        for base in (FLASH, RAM):
            self._uc.mem_map(base, BYTES)
        with image.open("rb") as stream:
            elf = ELFFile(stream)
            for segment in elf.iter_segments("PT_LOAD"):
                self._uc.mem_write(segment["p_vaddr"], segment.data())
            table = elf.get_section_by_name(".symtab")
            self.symbols = {s.name: s["st_value"] for s in table.iter_symbols() if s.name}
        self._uc.reg_write(arm_const.UC_ARM_REG_FPEXC, 1 << 30)

    def start_counting(self) -> None:
        """Enable the counter.

        Before that, calls run faster and return a count of 0.
        """
        self._uc.hook_add(unicorn.UC_HOOK_BLOCK, self._on_block)
        self._uc.ctl_flush_tb()

    def _on_block(self, uc: unicorn.Uc, address: int, size: int, data: object) -> None:
        key = (address, size)
        if key not in self._costs:
            self._costs[key] = count_instructions(bytes(uc.mem_read(address, size)))
        self._count += self._costs[key]

    def write(self, name: str, words: NDArray[np.generic], offset: int = 0) -> None:
        """Write values to a variable, starting at a byte offset."""
        self._uc.mem_write(self.symbols[name] + offset, words.tobytes())

    def read(self, name: str, kind: type[np.generic], count: int, offset: int = 0) -> NDArray[np.generic]:
        """Read values from a variable, starting at a byte offset."""
        size = np.dtype(kind).itemsize * count
        return np.frombuffer(bytes(self._uc.mem_read(self.symbols[name] + offset, size)), dtype=kind)

    def read_members(self, name: str, fields: Sequence[Field]) -> dict[str, NDArray[np.generic]]:
        """Read the members of a structure by their names."""
        found, offset = {}, 0
        for field in fields:
            found[field.name] = self.read(name, np.dtype(wire_dtype(field.ctype)).type, field.count, offset)
            offset += field.bytes
        return found

    def stack_of(self, name: str, *arguments: int | str) -> int:
        """Return the number of bytes on the stack that a call overwrites."""
        self._uc.mem_write(_STACK - len(_PAINT), _PAINT)
        self.call(name, *arguments)
        left = bytes(self._uc.mem_read(_STACK - len(_PAINT), len(_PAINT)))
        return len(left) - (len(left) - len(left.lstrip(_PAINT[:1])))

    def text(self, name: str) -> str:
        """Return a string constant of the program."""
        return bytes(self._uc.mem_read(self.symbols[name], 64)).partition(b"\0")[0].decode()

    def call(self, name: str, *arguments: int | str) -> tuple[int, int]:
        """Call a function with up to four arguments; return its result and the count.

        A string argument stands for the address of the variable with this name.
        """
        for register, value in zip(_ARGUMENTS, arguments, strict=False):
            self._uc.reg_write(register, self.symbols[value] if isinstance(value, str) else value)
        self._uc.reg_write(arm_const.UC_ARM_REG_SP, _STACK)
        self._uc.reg_write(arm_const.UC_ARM_REG_LR, _STOP | 1)
        self._count = 0
        self._uc.emu_start(self.symbols[name] | 1, _STOP)
        result = self._uc.reg_read(arm_const.UC_ARM_REG_R0)
        return int(result) - (1 << 32 if result >> 31 else 0), self._count
