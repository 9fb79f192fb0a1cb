"""hw: cocotb testbench of a generated learner; see :mod:`.bench`."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from .bench import StreamBench, carry_out, read_script


class LearnerBench(StreamBench):
    """Access to the streams of the module ``<prefix>_learner``."""

    def __init__(self, dut: Any, limit: int) -> None:
        super().__init__(dut, limit, ("x", "state"), ("f", "state"))
        self._spans: list[list[int]] = []
        self._watch: Any = None
        self._reads = [name for name in ("read_model", "read_slots", "read_state") if hasattr(dut, name)]
        for name in ("error_clear", *self._reads):
            getattr(dut, name).value = 0

    async def sample(self, words: list[int], learning: bool) -> None:
        """Queue a frame on the stream of samples.

        If `learning` is true, the last beat of the frame is the target.
        """
        await self.send("x", words, int(learning))

    async def answers(self, count: int) -> list[list[int]]:
        """Wait for `count` replies; each is a list of status, prediction and error.

        The error is present only if the sample had a target.
        """
        found = []
        for _ in range(count):
            words, users = await self.receive("f")
            assert len(set(users)) == 1, "the status changes within a reply"
            found.append([users[0], *words])
        return found

    async def state(self) -> list[list[int]]:
        """Read the core's state as two frames: the model, and the data of its centers.

        The state of kernel RLS is one frame.
        """
        for name in self._reads:
            await self.pulse(name)
        frames = [await self.receive("state") for _ in self._reads]
        if len(frames) > 1:
            kinds = [set(users) for _, users in frames]
            assert kinds == [{0}, {1}], "the frames of the state have the wrong kinds"
        return [words for words, _ in frames]

    async def restore(self, *frames: list[int]) -> None:
        """Send the frames of a state, and wait until the core has accepted them."""
        for of_slots, words in enumerate(frames):
            await self.send("state", words, of_slots)
        await self.sent()
        await ClockCycles(self.dut.clk, 3)

    async def errors(self) -> list[int]:
        """Return the error outputs ``error_x`` and ``error_state``."""
        return [int(self.dut.error_x.value), int(self.dut.error_state.value)]

    async def clear_errors(self) -> None:
        """Clear the error outputs."""
        await self.pulse("error_clear")
        await ClockCycles(self.dut.clk, 2)

    async def watch(self) -> None:
        """Start measuring the clock cycles of each sample."""
        self._spans = []
        self._watch = cocotb.start_soon(self._watch_samples())

    async def spans(self) -> list[list[int]]:
        """Stop measuring; return two numbers of clock cycles for each sample.

        Both are counted from the sample's first beat: the first number to its reply, the second to the time
        at which the core is ready for the next sample.
        """
        self._watch.cancel()
        return self._spans

    async def _watch_samples(self) -> None:
        dut, now, ended, inside, fresh = self.dut, 0, 0, False, True
        begun: list[int] = []
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            now += 1
            # A long reply may begin after the first beat of the next sample.
            for span, start in zip(self._spans[-2:], begun[-2:], strict=True):
                if not span[0] and fresh and dut.m_axis_f_tvalid.value:
                    span[0], fresh = now - start, False
                if not span[1] and not inside and now > ended and dut.s_axis_x_tready.value:
                    span[1] = now - start
            if dut.m_axis_f_tvalid.value and dut.m_axis_f_tready.value:
                fresh = bool(dut.m_axis_f_tlast.value)  # the next beat is of another answer
            if dut.s_axis_x_tvalid.value and dut.s_axis_x_tready.value:
                if not inside:
                    begun.append(now)
                    self._spans.append([0, 0])
                inside, ended = not dut.s_axis_x_tlast.value, now


@cocotb.test()
async def replay(dut: Any) -> None:
    """Execute the script of the caller."""
    script = read_script()
    await carry_out(LearnerBench(dut, script["limit"]), script)
