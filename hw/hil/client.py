"""hw: HIL client, which sends requests to the agent on a board.

Every wait has a timeout, and no operation is executed twice: see :mod:`.requests`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ...codegen.firmware.hil_table import Timing
from ...sim.errors import KerncastError, fail
from ...sim.replay.trace import Event, Trace
from ...sim.statuses import RestoreStatus
from .link import Link
from .protocol import REGIONS, TABLE, VERSION, Value
from .requests import Requests, differs

#: Bytes of WRITE's fields before its data: what a chunk leaves for them.
_WRITE_FIXED = sum(f.size for f in TABLE.opcode_named("WRITE").request)
_OVERRUN = (1 << 64) - 1
#: How an agent refuses what it was built without: an operation, and the memory that it would work in.
_LACKING = ("NOT_SUPPORTED", "UNKNOWN_OPCODE", "BAD_REGION")

#: Regions of the slots for saved states.
SLOTS = ("SLOT_A", "SLOT_B")
T = TypeVar("T")


@dataclass(frozen=True)
class Identity:
    """Properties of the board and its firmware, from the reply to HELLO."""

    board: str
    name: str
    plan_hash: str
    abi: int
    word_bits: int
    fields: int
    capacity: int
    max_payload: int
    window: int


class HilClient:
    """Client that sends requests to the agent on a board.

    Parameters
    ----------
    link : Link
        The connection to the board.
    timing : Timing, optional
        Timeouts; by default those of the protocol definition.
    clock : callable
        Returns the monotonic time in seconds; tests pass a simulated clock.

    Attributes
    ----------
    identity : Identity
        The reply to HELLO, available after :meth:`start`.
    """

    identity: Identity

    def __init__(self, link: Link, timing: Timing | None = None,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self.link = link
        self._requests = Requests(link, timing or TABLE.timing, clock)

    # ------------------------------------------------------------------------------ session

    def start(self, plan_hash: str | None = None, abi: int | None = None,
              board: str | None = None) -> Identity:
        """Send HELLO and return the reply; raise an error if the firmware does not match.

        Raises
        ------
        KerncastError
            E412 if the board does not reply, E413 if the firmware is for another plan, E414 if it has another
            version of the protocol or the ABI, E422 if it is for another board.
        """
        where = self.link.name
        v = self.request("HELLO")
        if v["version"] != VERSION:
            raise differs("version of the link protocol", v["version"], VERSION, where)
        self.identity = found = _identity(v)
        if min(found.capacity, found.window) < 1 or not _WRITE_FIXED < found.max_payload <= TABLE.max_payload:
            raise differs("size of the buffers", found, f"payloads up to {TABLE.max_payload}", where)
        if abi is not None and found.abi != abi:
            raise differs("ABI", found.abi, abi, where)
        if board is not None and found.board != board:
            raise fail("E422", "the firmware was built for another board", where=where, value=found.board,
                       allowed=board,
                       remedy=f"name the board {found.board}, or flash firmware built for {board}")
        if plan_hash is not None and found.plan_hash != plan_hash:
            raise fail("E413", f"the firmware ({found.name}) was generated from another plan",
                       where=where, value=f"plan {found.plan_hash}", allowed=f"plan {plan_hash}",
                       remedy="build the firmware from this plan and flash it again")
        self._requests.window = found.window
        return found

    def close(self) -> None:
        """Close the link to the board."""
        self.link.close()

    def request(self, opcode: str, **values: Value) -> dict[str, Value]:
        """Send one request and return the fields of its reply.

        See :meth:`.requests.Requests.one`.
        """
        return self._requests.one(opcode, **values)

    # --------------------------------------------------------------------------- operations

    def write(self, region: str, data: bytes) -> None:
        """Write bytes to the start of a buffer, in several requests if necessary."""
        chunk = self.identity.max_payload - _WRITE_FIXED
        self._requests.several("WRITE", [
            {"region": REGIONS[region], "offset": at, "data": data[at:at + chunk]}
            for at in range(0, len(data), chunk)])

    def read(self, region: int, size: int) -> bytes:
        """Read the first `size` bytes of a region, in several requests if necessary."""
        chunk = self.identity.max_payload
        pieces: list[dict[str, Value]] = [
            {"region": region, "offset": at, "count": min(size - at, chunk)} for at in range(0, size, chunk)]
        answers = [_bytes(v["data"]) for v in self._requests.several("READ", pieces)]
        for piece, answer in zip(pieces, answers, strict=True):
            if len(answer) != piece["count"]:
                raise differs("length of a reply", len(answer), piece["count"], self.link.name)
        return b"".join(answers)

    def read_field(self, index: int, size: int) -> bytes:
        """Read a member of the model structure by its index."""
        return self.read(REGIONS["FIELDS"] + index, size)

    def train(self, count: int) -> int:
        """Train on the samples in the buffers X and Y; return the status."""
        return _int(self.request("TRAIN", count=count)["result"])

    def fitted(self, count: int) -> int:
        """Compute the fitted values of the last training; return the status."""
        return _int(self.request("FITTED", count=count)["result"])

    def stream(self, count: int) -> int:
        """Stream `count` targets; return the number of statuses other than OK."""
        return _int(self.request("STREAM", count=count)["not_ok"])

    def update(self, count: int) -> int:
        """Learn from the `count` samples in the buffers X and Y.

        Returns the number of samples with a status other than OK.
        """
        return _int(self.request("UPDATE", count=count)["not_ok"])

    def predict(self, count: int) -> int:
        """Predict for the `count` samples in the buffer X.

        Returns the number of samples with a status other than OK.
        """
        return _int(self.request("PREDICT", count=count)["not_ok"])

    def save(self) -> tuple[RestoreStatus, int]:
        """Save the state on the board; return the status and the slot that was written.

        Raises E447 if the firmware has no space for saved states.
        """
        v = self._saved(lambda: self.request("SAVE"))
        slot = _int(v["slot"])
        if slot >= len(SLOTS):
            raise differs("slot that was written", slot, f"0 to {len(SLOTS) - 1}", self.link.name)
        return self._verdict(v["result"]), slot

    def restore(self) -> RestoreStatus:
        """Restore the newest state from the board's slots; return the status.

        Raises E447 if the firmware has no space for saved states.
        """
        return self._verdict(self._saved(lambda: self.request("RESTORE"))["result"])

    def _verdict(self, result: Value) -> RestoreStatus:
        """Convert the result of a save or restore to a status; raise E414 if unknown."""
        try:
            return RestoreStatus(_int(result))
        except ValueError:
            allowed = ", ".join(str(int(status)) for status in RestoreStatus)
            raise differs("result of a saved state", result, allowed, self.link.name) from None

    def read_slot(self, name: str, size: int) -> bytes:
        """Read the first `size` bytes of a slot for saved states.

        Raises E447 if the firmware has no space for saved states.
        """
        return self._saved(lambda: self.read(REGIONS[name], size))

    def _saved(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except KerncastError as error:
            if error.problems[0].value not in _LACKING:
                raise
            raise fail("E447", "the firmware has no space for saved states", where=self.link.name,
                       value=error.problems[0].value, allowed="enough RAM for two saved states in addition "
                                                              "to the model",
                       remedy="use a larger board or a smaller model") from None

    def counters(self) -> tuple[int, int] | None:
        """Return the counter ticks of the last operation, and of an empty operation.

        The result is None if the board has no counter, or if it overflowed.
        """
        v = self.request("COUNTERS")
        known = v["unit"] != 0 and v["ticks"] != _OVERRUN
        ticks, overhead = _int(v["ticks"]), _int(v["overhead"])
        return (ticks, min(ticks, overhead)) if known else None

    def stack(self) -> tuple[int, int]:
        """Return the maximum stack used since reset, and the size of the stack, in bytes."""
        v = self.request("STACK")
        return _int(v["used"]), _int(v["total"])

    def trace(self, limit: int) -> Trace:
        """Return the trace since the last call, and start a new one.

        Raises E434 if the firmware has no trace hooks.
        """
        try:
            v = self.request("TRACE", limit=limit)
        except KerncastError as error:
            if error.problems[0].value not in _LACKING:
                raise
            raise fail("E434", "the firmware has no trace hooks", where=self.link.name,
                       value=error.problems[0].value, allowed="firmware built with trace hooks",
                       remedy="run `kerncast build OUT --trace`, then flash the image") from None
        operation, _, signal = str(v["place"]).partition(" ")
        event = Event(operation, signal, *(_int(v[name]) for name in ("step", "index", "word"))) \
            if operation else None
        return Trace(_int(v["count"]), _int(v["hash"]), event)

    def reset(self) -> None:
        """Initialise the model and clear the buffers of the board."""
        self.request("RESET")


def _identity(v: dict[str, Value]) -> Identity:
    board, _, name = str(v["name"]).partition(" ")
    return Identity(board, name, _bytes(v["plan_hash"]).hex(), *(
        _int(v[key]) for key in ("abi", "word_bits", "fields", "capacity", "max_payload", "window")))


def _int(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _bytes(value: Value) -> bytes:
    assert isinstance(value, bytes)
    return value
