"""hw: cocotb testbench of a generated trainer; see :mod:`.bench`."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from .bench import StreamBench, carry_out, the_script


class TrainerBench(StreamBench):
    """The module ``<prefix>_trainer`` and its streams."""

    def __init__(self, dut: Any, limit: int) -> None:
        super().__init__(dut, limit, ("y",), ("model",))
        dut.error_clear.value = 0

    async def targets(self, words: list[int]) -> None:
        """Queue raw targets."""
        await self.send("y", words)

    async def model(self) -> list[int]:
        """Wait for a model: the status and the words of its frame."""
        words, users = await self.receive("model")
        assert len(set(users)) == 1, "the status changes within a model"
        return [users[0], *words]

    async def errors(self) -> list[int]:
        """Read ``error_y``."""
        return [int(self.dut.error_y.value)]

    async def clear_errors(self) -> None:
        """Pulse ``error_clear``."""
        await self.pulse("error_clear")
        await ClockCycles(self.dut.clk, 2)


@cocotb.test()
async def replay(dut: Any) -> None:
    """Carry out the script."""
    script = the_script()
    await carry_out(TrainerBench(dut, script["limit"]), script)
