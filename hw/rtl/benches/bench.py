"""hw: streams, stalls, reset and scripts that the cocotb testbenches share.

The simulator, not kerncast, imports this module. A script is a JSON list of operations, each ``[name,
argument, ...]`` with the name of a method of the testbench. The results of the methods are written to a file
as a JSON list, which the caller reads.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer, ValueChange, with_timeout
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

#: Environment variables that name the script, and the file for its results.
SCRIPT, RESULTS = "KERNCAST_RTL_SCRIPT", "KERNCAST_RTL_RESULTS"

_PERIOD_NS = 10
_RESET_CYCLES = 3


class StreamBench:
    """Testbench of a core, with a source or a sink for each of its streams.

    Parameters
    ----------
    dut : cocotb handle
    limit : int
        Maximum number of clock cycles that an operation may wait; after that, the script fails.
    sources, sinks : sequence of str
        Names of the input and output streams without the prefixes ``s_axis_`` and ``m_axis_``.
    """

    def __init__(self, dut: Any, limit: int, sources: Sequence[str], sinks: Sequence[str]) -> None:
        self.dut = dut
        self._timeout_ns = limit * _PERIOD_NS
        # Driven by the simulator's own timer: in Python a clock takes most of the time of a simulation.
        Clock(dut.clk, _PERIOD_NS, unit="ns", impl="gpi").start(start_high=False)
        self._sources = {name: AxiStreamSource(AxiStreamBus.from_prefix(dut, f"s_axis_{name}"), dut.clk,
                                               dut.rst, byte_lanes=1) for name in sources}
        self._sinks = {name: AxiStreamSink(AxiStreamBus.from_prefix(dut, f"m_axis_{name}"), dut.clk,
                                           dut.rst, byte_lanes=1) for name in sinks}
        self._pausing: Any = None

    async def reset(self) -> None:
        """Drop all pending frames, and reset the core."""
        for side in (*self._sources.values(), *self._sinks.values()):
            side.clear()
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, _RESET_CYCLES)
        for sink in self._sinks.values():
            sink.clear()
        self.dut.rst.value = 0
        await RisingEdge(self.dut.clk)

    async def stall(self, idle: float, pressure: float, seed: int) -> None:
        """Pause sources and sinks at random.

        `idle` is the fraction of clock cycles in which a source pauses, `pressure` that of a sink.
        """
        sides = [(side, idle) for side in self._sources.values()]
        sides += [(side, pressure) for side in self._sinks.values()]
        if self._pausing is not None:
            self._pausing.cancel()
        stalled = [(side, _stalls(share, len(sides) * seed + k)) for k, (side, share) in enumerate(sides)
                   if share]
        for side, share in sides:
            if not share:
                side.pause = False
        self._pausing = cocotb.start_soon(self._pause(stalled)) if stalled else None

    async def _pause(self, stalled: list[tuple[Any, Iterator[bool]]]) -> None:
        """Pause streams from their generators, all in one task.

        With the generators of cocotbext.axi, a task per stream would wake up in every clock cycle.
        """
        edge = RisingEdge(self.dut.clk)
        while True:
            for side, pauses in stalled:
                side.pause = next(pauses)
            await edge

    async def send(self, stream: str, words: list[int], user: int | None = None) -> None:
        """Queue a frame on an input stream."""
        await self._sources[stream].send(AxiStreamFrame(words, tuser=user))

    async def sent(self) -> None:
        """Wait until the core has accepted all queued frames."""
        for source in self._sources.values():
            await with_timeout(source.wait(), self._timeout_ns, "ns")

    async def cycles(self, count: int) -> None:
        """Wait for a number of clock cycles."""
        if count > 2:  # ClockCycles would wake up in every clock cycle
            await RisingEdge(self.dut.clk)
            await Timer((count - 2) * _PERIOD_NS - _PERIOD_NS // 2, "ns")
            count = 2
        await ClockCycles(self.dut.clk, count)

    async def receive(self, stream: str) -> tuple[list[int], list[int]]:
        """Wait for a frame of an output stream; return its beats, and the status of each."""
        frame = await with_timeout(self._sinks[stream].recv(compact=False), self._timeout_ns, "ns")
        return [int(word) for word in frame.tdata], [signed_status(int(user)) for user in frame.tuser]

    async def waiting(self) -> int:
        """Return the number of received frames that have not been read."""
        return sum(int(sink.count()) for sink in self._sinks.values())

    async def cover(self, names: list[str]) -> None:
        """Start recording the set of values that each signal takes.

        The names are relative to the core, with dots between levels of hierarchy.
        """
        self._notes: list[Any] = [set() for _ in names]
        self._note_tasks = [cocotb.start_soon(self._note_changes(self._handle(name), values))
                            for name, values in zip(names, self._notes, strict=True)]

    async def record(self, names: list[str]) -> None:
        """Start recording the values of signals in every clock cycle."""
        self._notes = [[] for _ in names]
        self._note_tasks = [cocotb.start_soon(self._note_clocks([self._handle(name) for name in names]))]

    async def noted(self) -> list[list[int]]:
        """Stop recording; return the values of each signal.

        After ``cover``, these are the distinct values in ascending order; after ``record``, one value per
        clock cycle.
        """
        for task in self._note_tasks:
            task.cancel()
        return [sorted(values) if isinstance(values, set) else values for values in self._notes]

    def _handle(self, name: str) -> Any:
        handle = self.dut
        for part in name.split("."):
            handle = getattr(handle, part)
        return handle

    async def _note_changes(self, handle: Any, values: set[int]) -> None:
        change = ValueChange(handle)
        while True:
            if handle.value.is_resolvable:
                values.add(int(handle.value))
            await change

    async def _note_clocks(self, handles: list[Any]) -> None:
        edge = RisingEdge(self.dut.clk)
        while True:
            await edge
            for handle, values in zip(handles, self._notes, strict=True):
                values.append(int(handle.value) if handle.value.is_resolvable else 0)

    async def pulse(self, name: str) -> None:
        """Set an input of the core to 1 for one clock cycle."""
        getattr(self.dut, name).value = 1
        await RisingEdge(self.dut.clk)
        getattr(self.dut, name).value = 0


async def carry_out(bench: StreamBench, script: dict[str, Any]) -> None:
    """Reset the core, execute a script, and write the results to a file."""
    await bench.reset()
    results = []
    for name, *arguments in script["operations"]:
        result = await getattr(bench, name)(*arguments)
        if result is not None:
            results.append(result)
    Path(os.environ[RESULTS]).write_text(json.dumps(results), encoding="utf-8")


def signed_status(user: int) -> int:
    """Convert a 3-bit status from two's complement to a signed integer."""
    return user - 8 if user > 3 else user


def read_script() -> dict[str, Any]:
    """Read the script that the caller wrote to a file."""
    script: dict[str, Any] = json.loads(Path(os.environ[SCRIPT]).read_text(encoding="utf-8"))
    return script


def _stalls(share: float, seed: int) -> Iterator[bool]:
    chance = random.Random(seed)
    while True:
        yield chance.random() < share
