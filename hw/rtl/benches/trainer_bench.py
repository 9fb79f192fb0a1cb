"""hw: cocotb testbench of a generated trainer; see :mod:`.bench`."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from .bench import StreamBench, carry_out, read_script


class TrainerBench(StreamBench):
    """Access to the streams of the module ``<prefix>_trainer``."""

    def __init__(self, dut: Any, limit: int) -> None:
        self._samples = hasattr(dut, "s_axis_x_tvalid")
        super().__init__(dut, limit, ("x", "y") if self._samples else ("y",), ("model",))
        self._spans: list[int] = []
        self._watch: Any = None
        dut.error_clear.value = 0

    async def samples(self, words: list[int]) -> None:
        """Queue a frame with the inputs of all samples in ADC counts."""
        await self.send("x", words)

    async def targets(self, words: list[int]) -> None:
        """Queue a frame with the targets in ADC counts."""
        await self.send("y", words)

    async def model(self) -> list[int]:
        """Wait for a model; return its status and the beats of its frame."""
        words, users = await self.receive("model")
        assert len(set(users)) == 1, "the status changes within a model"
        return [users[0], *words]

    async def errors(self) -> list[int]:
        """Return the error outputs ``error_x`` (if present) and ``error_y``."""
        of_x = [int(self.dut.error_x.value)] if self._samples else []
        return [*of_x, int(self.dut.error_y.value)]

    async def clear_errors(self) -> None:
        """Clear the error outputs."""
        await self.pulse("error_clear")
        await ClockCycles(self.dut.clk, 2)

    async def watch(self) -> None:
        """Start measuring the clock cycles of training."""
        self._spans = []
        self._watch = cocotb.start_soon(self._watch_trainings())

    async def spans(self) -> list[int]:
        """Stop measuring; return the clock cycles of each training.

        They are counted from the first input beat to the last beat of the model.
        """
        self._watch.cancel()
        return self._spans

    async def _watch_trainings(self) -> None:
        dut, now, begun = self.dut, 0, 0
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            now += 1
            taken = [dut.s_axis_y_tvalid.value and dut.s_axis_y_tready.value]
            if self._samples:
                taken.append(dut.s_axis_x_tvalid.value and dut.s_axis_x_tready.value)
            if not begun and any(taken):
                begun = now
            if dut.m_axis_model_tvalid.value and dut.m_axis_model_tready.value \
                    and dut.m_axis_model_tlast.value:
                self._spans.append(now - begun)
                begun = 0


@cocotb.test()
async def replay(dut: Any) -> None:
    """Execute the script of the caller."""
    script = read_script()
    await carry_out(TrainerBench(dut, script["limit"]), script)
