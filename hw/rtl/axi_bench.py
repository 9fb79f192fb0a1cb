"""hw: cocotb testbench of a generated trainer behind its registers; see :mod:`.bench`."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from .bench import StreamBench, carry_out, the_script


class AxiBench(StreamBench):
    """The module ``<prefix>_trainer_axi``: its streams and its registers."""

    def __init__(self, dut: Any, limit: int) -> None:
        super().__init__(dut, limit, ("y",), ("model",))
        self._registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)

    async def targets(self, words: list[int]) -> None:
        """Queue raw targets."""
        await self.send("y", words)

    async def model(self) -> list[int]:
        """Wait for a model: the status and the words of its frame."""
        words, users = await self.receive("model")
        return [users[0], *words]

    async def write(self, address: int, word: int) -> None:
        """Write a register."""
        await self._registers.write_dword(address, word)

    async def read(self, address: int, count: int = 1) -> list[int]:
        """Read registers from an address on."""
        return [int(await self._registers.read_dword(address + 4 * i)) for i in range(count)]


@cocotb.test()
async def replay(dut: Any) -> None:
    """Carry out the script."""
    script = the_script()
    await carry_out(AxiBench(dut, script["limit"]), script)
