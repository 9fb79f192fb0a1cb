"""hw: cocotb testbench of a core with AXI4-Lite registers; see :mod:`.bench`."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from .bench import StreamBench, carry_out, read_script
from .c_driver import CDriver

#: Whatever a core may have of streams.
_SOURCES, _SINKS = ("x", "y", "r", "model", "state"), ("f", "alpha", "model", "state")


class AxiBench(StreamBench):
    """Access to the streams and registers of the module ``<prefix>_<core>_axi``."""

    def __init__(self, dut: Any, limit: int) -> None:
        super().__init__(dut, limit, [name for name in _SOURCES if hasattr(dut, f"s_axis_{name}_tvalid")],
                         [name for name in _SINKS if hasattr(dut, f"m_axis_{name}_tvalid")])
        self._registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)

    async def frame(self, stream: str) -> list[int]:
        """Wait for a frame; return its ``tuser`` followed by its beats."""
        words, users = await self.receive(stream)
        return [users[0], *words]

    async def frames(self, stream: str) -> list[list[int]]:
        """Return the frames that were received and not yet read, without waiting.

        Each frame is its ``tuser`` followed by its beats.
        """
        return [await self.frame(stream) for _ in range(self._sinks[stream].count())]

    async def write(self, address: int, word: int) -> None:
        """Write a value to a register."""
        await self._registers.write_dword(address, word)

    async def read(self, address: int, count: int = 1) -> list[int]:
        """Read `count` consecutive registers from an address on."""
        return [int(await self._registers.read_dword(address + 4 * i)) for i in range(count)]

    async def responses(self, address: int) -> list[int]:
        """Read and write an address; return both responses: 0 (OKAY) or 2 (SLVERR)."""
        read, written = await self._registers.read(address, 4), await self._registers.write(address, bytes(4))
        return [int(read.resp), int(written.resp)]

    async def driver(self, library: str, inputs: list[str], outputs: list[str],
                     calls: list[list[Any]]) -> list[Any]:
        """Call functions of the compiled C driver in order; return their results."""
        return await CDriver(library, self, inputs, outputs).carry_out(calls)

    async def irq(self) -> int:
        """Return the level of the interrupt output."""
        return int(self.dut.irq.value)


@cocotb.test()
async def replay(dut: Any) -> None:
    """Execute the script of the caller."""
    script = read_script()
    await carry_out(AxiBench(dut, script["limit"]), script)
