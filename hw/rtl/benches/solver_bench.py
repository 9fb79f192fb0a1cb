"""hw: cocotb testbench of a generated solver; see :mod:`.bench`."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from .bench import StreamBench, carry_out, read_script


class SolverBench(StreamBench):
    """Access to the streams of the module ``<prefix>_solver``."""

    def __init__(self, dut: Any, limit: int) -> None:
        self._rows = hasattr(dut, "s_axis_r_tvalid")
        super().__init__(dut, limit, ("r", "y") if self._rows else ("y",), ("alpha",))
        self._written: list[list[Any]] = []
        self._spans: list[int] = []
        self._watch: Any = None
        dut.error_clear.value = 0

    async def r(self, words: list[int]) -> None:
        """Queue a frame with the first row of a system."""
        await self.send("r", words)

    async def y(self, words: list[int]) -> None:
        """Queue a frame with the right-hand side of a system."""
        await self.send("y", words)

    async def solution(self) -> list[int]:
        """Wait for a solution; return its status, its exponent and its values."""
        words, users = await self.receive("alpha")
        assert len(set(users)) == 1, "the status changes within a solution"
        return [users[0], *words]

    async def errors(self) -> list[int]:
        """Return the error outputs ``error_r`` (if present) and ``error_y``."""
        of_r = [int(self.dut.error_r.value)] if self._rows else []
        return [*of_r, int(self.dut.error_y.value)]

    async def clear_errors(self) -> None:
        """Clear the error outputs."""
        await self.pulse("error_clear")
        await ClockCycles(self.dut.clk, 2)

    async def watch(self, inner: int) -> None:
        """Start measuring clock cycles, and checking that output beats do not change.

        A beat must not change until it is accepted. If `inner` is true, the values of a and x are recorded.
        """
        self._written, self._spans = [], []
        self._watch = cocotb.start_soon(self._watch_all(bool(inner)))

    async def spans(self) -> list[int]:
        """Stop measuring; return the clock cycles of each solution.

        They are counted from the last input beat to the last beat of the solution.
        """
        self._watch.cancel()
        return self._spans

    async def written(self) -> list[list[Any]]:
        """Return the recorded values of a and x as (name, step, index, value)."""
        return self._written

    async def _watch_all(self, inner: bool) -> None:
        dut, now, begun, standing = self.dut, 0, 0, None
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            now += 1
            if inner:
                self._write_down(dut.levinson_inst)
            beat = (int(dut.m_axis_alpha_tdata.value), int(dut.m_axis_alpha_tlast.value)) \
                if dut.m_axis_alpha_tvalid.value else None
            assert standing in (None, beat), f"beat {standing} changed to {beat} before it was accepted"
            standing = None if dut.m_axis_alpha_tready.value else beat
            if beat is not None and standing is None and beat[1]:
                self._spans.append(now - begun)
            for name in ("r", "y") if self._rows else ("y",):
                valid, ready, last = (getattr(dut, f"s_axis_{name}_{end}")
                                      for end in ("tvalid", "tready", "tlast"))
                if valid.value and ready.value and last.value:
                    begun = now

    def _write_down(self, core: Any) -> None:
        for name, mask in (("a", core.a_mask), ("x", core.x_mask)):
            lanes = int(mask.value)
            if lanes:
                row, words, width = int(core.write_row.value), core.data.value, int(core.W.value)
                for lane in range(len(mask)):
                    if lanes >> lane & 1:
                        word = words[(lane + 1) * width - 1:lane * width]
                        self._written.append([name, int(core.step_reg.value), row * len(mask) + lane,
                                              int(word)])


@cocotb.test()
async def replay(dut: Any) -> None:
    """Execute the script of the caller."""
    script = read_script()
    await carry_out(SolverBench(dut, script["limit"]), script)
