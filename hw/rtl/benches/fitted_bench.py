"""hw: cocotb testbench of a generated core of fitted values; see :mod:`.bench`."""

from __future__ import annotations

from typing import Any

import cocotb

from .bench import StreamBench, carry_out, read_script


class FittedBench(StreamBench):
    """Access to the streams of the module ``<prefix>_fitted``."""

    def __init__(self, dut: Any, limit: int) -> None:
        super().__init__(dut, limit, ("y", "alpha"), ("f",))
        dut.error_clear.value = 0
        dut.drop.value = 0

    async def y(self, words: list[int]) -> None:
        """Queue a frame with a right-hand side."""
        await self.send("y", words)

    async def alpha(self, words: list[int]) -> None:
        """Queue a frame with its solution."""
        await self.send("alpha", words)

    async def values(self) -> list[list[int]]:
        """Wait for a reply; return the status of each value, and the values."""
        words, users = await self.receive("f")
        return [users, words]


@cocotb.test()
async def replay(dut: Any) -> None:
    """Execute the script of the caller."""
    script = read_script()
    await carry_out(FittedBench(dut, script["limit"]), script)
