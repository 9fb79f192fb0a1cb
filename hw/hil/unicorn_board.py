"""hw: run a Cortex-M image in Unicorn, with its UART on a socket.

This is a separate program at the other end of a link: ``python -m kerncast.hw.hil.unicorn_board IMAGE.elf
--socket FD|PATH``. It counts the instructions while the board's counter runs, and reports them as ticks of
this counter. The values are identical to those of QEMU with ``-icount``.
"""

from __future__ import annotations

import argparse
import socket
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from ...codegen.firmware.targets import Board, board_ids, load_board, load_target
from .unicorn_devices import Clock, CmsdkTimer, Device, SystemSpace, Uart

# Typed in part only, and not so that strict checking could use it.
unicorn: Any = import_module("unicorn")
arm_const: Any = import_module("unicorn.arm_const")

PAGE = 0x1000
_SYSTEM = 0xE000E000
_NOWHERE = 0xFFFFFFFE


def count_instructions(code: bytes) -> int:
    """Return the number of Thumb instructions in machine code.

    An instruction has 32 bits if its first halfword is at least 0xE800.
    """
    at = count = 0
    while at < len(code):
        at += 4 if code[at + 1] >= 0xE8 else 2
        count += 1
    return count


def _core(board: Board) -> str:
    return load_target(board.target).core.upper().replace("-", "_")


class Machine:
    """Emulated board: processor, memories and peripherals.

    Parameters
    ----------
    image : Path
        ELF file of the firmware.
    board : Board
    sock : socket.socket
        The socket that is connected to the UART.
    """

    def __init__(self, image: Path, board: Board, sock: socket.socket) -> None:
        self.uart = Uart(board.uart.kind, sock)
        self.clock = Clock(board.counter)
        self._costs: dict[int, int] = {}
        self._broken: OSError | None = None
        self._uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        self._uc.ctl_set_cpu_model(getattr(arm_const, f"UC_CPU_ARM_{_core(board)}"))
        memory = board.memory
        self._uc.mem_map(memory.flash_origin, memory.flash_bytes)
        self._uc.mem_map(memory.ram_origin, memory.ram_bytes)
        devices: dict[int, Device] = {board.uart.base: self.uart, _SYSTEM: SystemSpace(self.clock)}
        if board.counter.kind == "cmsdk_timer":
            devices[board.counter.base] = CmsdkTimer(self.clock)
        for base, device in devices.items():
            at = (device, base % PAGE)
            self._uc.mmio_map(base - base % PAGE, PAGE, self._on_read, at, self._on_write, at)
        taken = {base // PAGE for base in devices}
        for page in {step.address // PAGE for step in board.setup} - taken:
            self._uc.mem_map(page * PAGE, PAGE)  # clocks and pins, without effect here
        self._uc.hook_add(unicorn.UC_HOOK_BLOCK, self._on_block)
        with image.open("rb") as stream:
            for segment in ELFFile(stream).iter_segments("PT_LOAD"):
                self._uc.mem_write(segment["p_paddr"], segment.data())
        self._vectors = memory.flash_origin

    def _on_read(self, uc: Any, offset: int, size: int, at: tuple[Device, int]) -> int:
        device, base = at
        return device.read(offset - base)

    def _on_write(self, uc: Any, offset: int, size: int, value: int, at: tuple[Device, int]) -> None:
        device, base = at
        try:
            device.write(offset - base, value)
        except OSError as error:
            self._broken = error
            uc.emu_stop()

    def _on_block(self, uc: Any, address: int, size: int, data: object) -> None:
        # Flash does not change, so a block is counted once; called for every block, so kept short.
        key = address | size << 32
        try:
            self.clock.count += self._costs[key]
        except KeyError:
            cost = self._costs[key] = count_instructions(bytes(uc.mem_read(address, size)))
            self.clock.count += cost

    def run(self) -> None:
        """Run from reset until the socket is closed.

        Raises unicorn.UcError if the processor stops with a fault.
        """
        stack, start = (int.from_bytes(self._uc.mem_read(self._vectors + at, 4), "little")
                        for at in (0, 4))
        self._uc.reg_write(arm_const.UC_ARM_REG_SP, stack)
        at = start
        while True:
            self._uc.emu_start(at | 1, _NOWHERE)
            # It comes back at WFI: the firmware waits for a byte.
            at = self._uc.reg_read(arm_const.UC_ARM_REG_PC)
            if self._broken is not None or not self.uart.wait():
                return

    def where(self) -> str:
        """Return the program counter, link register and stack pointer, for a message."""
        read = self._uc.reg_read
        return (f"pc {read(arm_const.UC_ARM_REG_PC):#010x} lr {read(arm_const.UC_ARM_REG_LR):#010x} "
                f"sp {read(arm_const.UC_ARM_REG_SP):#010x}")


def open_socket(text: str) -> socket.socket:
    """Return the inherited socket of a given number, or wait for a client at a path."""
    if text.isdecimal():
        return socket.socket(fileno=int(text))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(text)
        server.listen(1)
        print(f"waiting at {text}", flush=True)
        client, _ = server.accept()
    Path(text).unlink()
    return client


def main(argv: Sequence[str] | None = None) -> int:
    """Run an image until the client closes the socket."""
    parser = argparse.ArgumentParser(prog="kerncast.hw.hil.unicorn_board", description=__doc__)
    parser.add_argument("image", type=Path, help="ELF file of the firmware")
    parser.add_argument("--board", default="mps2-an386", choices=board_ids())
    parser.add_argument("--socket", required=True, metavar="FD|PATH",
                        help="number of an inherited socket, or the path of a socket to create and wait on")
    options = parser.parse_args(argv)
    with open_socket(options.socket) as sock:
        machine = Machine(options.image, load_board(options.board), sock)
        try:
            machine.run()
        except unicorn.UcError as error:
            print(f"the processor stopped with a fault: {error}; {machine.where()}", file=sys.stderr)
            return 1
        except (ConnectionError, KeyboardInterrupt):
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
