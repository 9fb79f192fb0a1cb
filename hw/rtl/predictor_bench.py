"""hw: cocotb testbench of a generated predictor: carries out a script and writes down what came out.

It is loaded by the simulator, not by kerncast.  The script is a JSON list of operations, each
``[name, argument, ...]`` with the name of a method of :class:`PredictorBench`; what the methods
return is written, as a JSON list, for the caller to compare.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

#: Environment variables that name the script, and the file for its results.
SCRIPT, RESULTS = "KERNCAST_RTL_SCRIPT", "KERNCAST_RTL_RESULTS"

_PERIOD_NS = 10
_RESET_CYCLES = 3


class PredictorBench:
    """A predictor with a source on each input stream and a sink on its output.

    Parameters
    ----------
    dut : cocotb handle
        The module ``<prefix>_predictor``.
    limit : int
        Clocks that an operation may wait before the script fails.
    """

    def __init__(self, dut: Any, limit: int) -> None:
        self.dut = dut
        self._timeout_ns = limit * _PERIOD_NS
        Clock(dut.clk, _PERIOD_NS, unit="ns").start()
        self._x = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_x"), dut.clk, dut.rst, byte_lanes=1)
        self._model = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_model"), dut.clk, dut.rst,
                                      byte_lanes=1)
        self._f = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis_f"), dut.clk, dut.rst, byte_lanes=1)
        self._spans: list[int] = []
        self._watch: Any = None
        dut.error_clear.value = 0

    async def reset(self) -> None:
        """Drop what is on its way, on both sides of the streams, and reset the core."""
        for side in (self._x, self._model, self._f):
            side.clear()
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, _RESET_CYCLES)
        self._f.clear()
        self.dut.rst.value = 0
        await RisingEdge(self.dut.clk)

    async def stall(self, idle: float, pressure: float, seed: int) -> None:
        """From now on the sources pause, and the sink refuses, in this share of the clocks."""
        for k, (side, share) in enumerate([(self._x, idle), (self._model, idle), (self._f, pressure)]):
            side.set_pause_generator(_stalls(share, 3 * seed + k) if share else None)
            if not share:
                side.pause = False

    async def model(self, words: list[int]) -> None:
        """Queue a frame on the model's stream."""
        await self._model.send(AxiStreamFrame(words))

    async def sample(self, words: list[int]) -> None:
        """Queue a frame on the samples' stream."""
        await self._x.send(AxiStreamFrame(words))

    async def sent(self) -> None:
        """Wait until all frames are taken."""
        await with_timeout(self._model.wait(), self._timeout_ns, "ns")
        await with_timeout(self._x.wait(), self._timeout_ns, "ns")

    async def cycles(self, count: int) -> None:
        """Let clocks pass."""
        await ClockCycles(self.dut.clk, count)

    async def answers(self, count: int) -> list[list[int]]:
        """Wait for answers: word and status of each."""
        found = []
        for _ in range(count):
            frame = await with_timeout(self._f.recv(compact=False), self._timeout_ns, "ns")
            assert len(frame.tdata) == 1, "an answer of more than one word"
            found.append([int(frame.tdata[0]), int(frame.tuser[0])])
        return found

    async def waiting(self) -> int:
        """Count the answers that nobody asked for."""
        return int(self._f.count())

    async def errors(self) -> list[int]:
        """Read ``error_x`` and ``error_model``."""
        return [int(self.dut.error_x.value), int(self.dut.error_model.value)]

    async def clear_errors(self) -> None:
        """Pulse ``error_clear``."""
        self.dut.error_clear.value = 1
        await RisingEdge(self.dut.clk)
        self.dut.error_clear.value = 0
        await ClockCycles(self.dut.clk, 2)

    async def watch(self) -> None:
        """Start to watch: an answer must stand until it is taken; clocks of each sample are counted."""
        self._spans = []
        self._watch = cocotb.start_soon(self._watch_answers())

    async def spans(self) -> list[int]:
        """Stop to watch; clocks from the first beat of each sample to its answer."""
        self._watch.cancel()
        return self._spans

    async def _watch_answers(self) -> None:
        dut, now, begun, inside, standing = self.dut, 0, 0, False, None
        edge = RisingEdge(dut.clk)
        while True:
            await edge
            now += 1
            answer = (int(dut.m_axis_f_tdata.value), int(dut.m_axis_f_tuser.value)) \
                if dut.m_axis_f_tvalid.value else None
            assert standing in (None, answer), f"answer {standing} became {answer} before it was taken"
            standing = None if dut.m_axis_f_tready.value else answer
            # The next sample may begin in the clock of the answer.
            if answer is not None and standing is None:
                self._spans.append(now - begun)
            if dut.s_axis_x_tvalid.value and dut.s_axis_x_tready.value:
                if not inside:
                    begun = now
                inside = not dut.s_axis_x_tlast.value


def _stalls(share: float, seed: int) -> Iterator[bool]:
    chance = random.Random(seed)
    while True:
        yield chance.random() < share


@cocotb.test()
async def replay(dut: Any) -> None:
    """Carry out the script."""
    script = json.loads(Path(os.environ[SCRIPT]).read_text(encoding="utf-8"))
    bench = PredictorBench(dut, script["limit"])
    await bench.reset()
    results = []
    for name, *arguments in script["operations"]:
        result = await getattr(bench, name)(*arguments)
        if result is not None:
            results.append(result)
    Path(os.environ[RESULTS]).write_text(json.dumps(results), encoding="utf-8")
