"""hw: cocotb testbench of a generated predictor; see :mod:`.bench`."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from .bench import StreamBench, carry_out, read_script, signed_status


class PredictorBench(StreamBench):
    """Access to the streams of the module ``<prefix>_predictor``."""

    def __init__(self, dut: Any, limit: int) -> None:
        super().__init__(dut, limit, ("x", "model"), ("f",))
        self._spans: list[int] = []
        self._paces: list[tuple[int, int]] = []
        self._watch: Any = None
        dut.error_clear.value = 0

    async def model(self, words: list[int]) -> None:
        """Queue a frame on the stream of models."""
        await self.send("model", words)

    async def sample(self, words: list[int]) -> None:
        """Queue a frame on the stream of samples."""
        await self.send("x", words)

    async def answers(self, count: int) -> list[list[int]]:
        """Wait for `count` replies; return the values and the status of each."""
        found = []
        for _ in range(count):
            words, users = await self.receive("f")
            assert len(set(users)) == 1, "the status changes within a reply"
            found.append([*words, users[0]])
        return found

    async def errors(self) -> list[int]:
        """Return the error outputs ``error_x`` and ``error_model``."""
        return [int(self.dut.error_x.value), int(self.dut.error_model.value)]

    async def clear_errors(self) -> None:
        """Clear the error outputs."""
        await self.pulse("error_clear")
        await ClockCycles(self.dut.clk, 2)

    async def watch(self) -> None:
        """Start measuring clock cycles, and checking that replies do not change.

        A reply must not change until it is accepted.
        """
        self._spans, self._paces = [], []
        self._watch = cocotb.start_soon(self._watch_answers())

    async def spans(self) -> list[int]:
        """Stop measuring; return the clock cycles of each sample.

        They are counted from its first beat to the last beat of its reply.
        """
        self._watch.cancel()
        return self._spans

    async def paces(self) -> dict[str, list[int]]:
        """Stop measuring; return two numbers for each interval between replies.

        These are the clock cycles of the interval, and the number of them in which the core computed
        products.
        """
        self._watch.cancel()
        return {name: [after[i] - before[i] for before, after in pairwise(self._paces)]
                for i, name in enumerate(("clocks", "multiplying"))}

    async def _watch_answers(self) -> None:
        dut, now, multiplied, begun, inside, standing = self.dut, 0, 0, deque[int](), False, None
        edge, row = RisingEdge(dut.clk), dut.expansion_inst.row
        while True:
            await edge
            now += 1
            multiplied += int(row.value)
            answer = (int(dut.m_axis_f_tdata.value), signed_status(int(dut.m_axis_f_tuser.value))) \
                if dut.m_axis_f_tvalid.value else None
            assert standing in (None, answer), f"reply {standing} changed to {answer} before it was accepted"
            standing = None if dut.m_axis_f_tready.value else answer
            # The next samples are taken meanwhile.
            if answer is not None and standing is None and dut.m_axis_f_tlast.value:
                self._spans.append(now - begun.popleft())
                self._paces.append((now, multiplied))
            if dut.s_axis_x_tvalid.value and dut.s_axis_x_tready.value:
                if not inside:
                    begun.append(now)
                inside = not dut.s_axis_x_tlast.value


@cocotb.test()
async def replay(dut: Any) -> None:
    """Execute the script of the caller."""
    script = read_script()
    await carry_out(PredictorBench(dut, script["limit"]), script)
