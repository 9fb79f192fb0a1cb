"""hw: the host's side of the HIL link: one request at a time, repeated until it is answered.

Every wait has a deadline.  A request is sent again after `Timing.retransmit` seconds of silence, or
at once when a damaged frame or a NAK comes back; the agent answers a repeated request from memory,
so nothing is done twice.  A long operation is acknowledged with WORKING first; from then on its own
deadline counts, and the request is repeated only now and then, in case its last reply got lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ...codegen.hil_table import Timing
from ...sim.errors import KerncastError, fail
from ...sim.trace import Event, Trace
from .link import Link
from .protocol import (
    LONG,
    REGIONS,
    RESEND,
    SEQUENCES,
    TABLE,
    VERSION,
    FrameSplitter,
    Reply,
    Value,
    decode_reply,
    encode_request,
    reply_values,
)

#: Bytes of WRITE's fields before its data: what a chunk leaves for them.
_WRITE_FIXED = sum(f.size for f in TABLE.opcode_named("WRITE").request)
_OVERRUN = (1 << 64) - 1
#: How an agent refuses what it was built without: of this version, or of one that does not know it.
_LACKING = ("NOT_SUPPORTED", "UNKNOWN_OPCODE")


@dataclass(frozen=True)
class Identity:
    """What HELLO told of the board."""

    name: str
    plan_hash: str
    abi: int
    word_bits: int
    fields: int
    capacity: int
    max_payload: int


@dataclass
class _Exchange:
    """One request under way."""

    opcode: str
    sequence: int
    next_send: float
    deadline: float
    working: bool = False
    resend: bool = False
    reply: Reply | None = field(default=None)


class HilClient:
    """Requests to an agent over a link.

    Parameters
    ----------
    link : Link
    timing : Timing, optional
        By default that of the link's table.
    clock : callable
        Monotonic seconds; tests give their own.

    Attributes
    ----------
    identity : Identity
        After :meth:`start`.
    """

    identity: Identity

    def __init__(self, link: Link, timing: Timing | None = None,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self.link = link
        self._timing = timing or TABLE.timing
        self._clock = clock
        self._splitter = FrameSplitter()
        self._sequence = 0

    # ------------------------------------------------------------------------------ session

    def start(self, plan_hash: str | None = None, abi: int | None = None) -> Identity:
        """Wait for the board, greet it, and refuse it where it is not the one expected.

        Raises
        ------
        KerncastError
            E412 for a silent board, E413 for another plan, E414 for another protocol or ABI.
        """
        if self.link.announces:
            self._wait_ready()
        v = self.request("HELLO")
        if v["version"] != VERSION:
            raise _other("version of the link's protocol", v["version"], VERSION, self.link.name)
        self.identity = Identity(
            str(v["name"]), _bytes(v["plan_hash"]).hex(), _int(v["abi"]), _int(v["word_bits"]),
            _int(v["fields"]), _int(v["capacity"]), _int(v["max_payload"]))
        if self.identity.capacity < 1 or not _WRITE_FIXED < self.identity.max_payload <= TABLE.max_payload:
            raise _other("size of the buffers", self.identity, f"payloads up to {TABLE.max_payload}",
                         self.link.name)
        if abi is not None and self.identity.abi != abi:
            raise _other("ABI", self.identity.abi, abi, self.link.name)
        if plan_hash is not None and self.identity.plan_hash != plan_hash:
            raise fail("E413", f"the firmware ({self.identity.name}) was generated from another plan",
                       where=self.link.name, value=f"plan {self.identity.plan_hash}",
                       allowed=f"plan {plan_hash}",
                       remedy="build and load the firmware again from this plan")
        return self.identity

    def _wait_ready(self) -> None:
        deadline = self._clock() + self._timing.startup
        while self._clock() < deadline:
            for content in self._splitter.feed(self.link.read(deadline - self._clock())):
                reply = decode_reply(content) if content else None
                if reply is not None and reply.opcode == "READY":
                    return
                self._check_fault(reply)
        raise self._silent("READY", self._timing.startup)

    def close(self) -> None:
        """Close the link."""
        self.link.close()

    # ----------------------------------------------------------------------------- requests

    def request(self, opcode: str, **values: Value) -> dict[str, Value]:
        """Send a request, wait for its answer, and take it apart.

        Raises
        ------
        KerncastError
            E411 for a lost link, E412 for silence, E415 where the board refuses, E416 where it
            faults or restarts.
        """
        self._sequence = (self._sequence + 1) % SEQUENCES
        frame = encode_request(opcode, self._sequence, **values)
        now = self._clock()
        exchange = _Exchange(opcode, self._sequence, now, now + self._timing.surrender)
        while exchange.reply is None:
            self._step(exchange, frame)
        try:
            return reply_values(exchange.reply)
        except ValueError as error:
            raise _other("layout of a reply", error, f"that of {opcode}", self.link.name) from None

    def _step(self, exchange: _Exchange, frame: bytes) -> None:
        """Send if it is time to, then take what comes until it is time again."""
        now = self._clock()
        if now >= exchange.deadline:
            limit = self._timing.operation if exchange.working else self._timing.surrender
            raise self._silent(exchange.opcode, limit)
        if exchange.resend or now >= exchange.next_send:
            self.link.write(frame)
            exchange.resend = False
            pause = self._timing.poll if exchange.working else self._timing.retransmit
            exchange.next_send = now + pause
        data = self.link.read(min(exchange.next_send, exchange.deadline) - now)
        for content in self._splitter.feed(data):
            self._take(exchange, decode_reply(content) if content else None)

    def _take(self, exchange: _Exchange, reply: Reply | None) -> None:
        """Weigh one frame; a damaged one may have been the answer, so the request goes out again."""
        if reply is None or (reply.opcode == "NAK" and reply.status in RESEND):
            exchange.resend = True
            return
        self._check_fault(reply)
        if reply.opcode == "READY" and exchange.opcode != "HELLO":
            raise fail("E416", "the board restarted and lost its state", where=self.link.name,
                       value=f"READY while waiting for {exchange.opcode}",
                       remedy="look at its power and its watchdog, then start again")
        if (reply.opcode, reply.sequence) != (exchange.opcode, exchange.sequence):
            return  # the answer to a duplicate of an earlier request
        if reply.status == "WORKING" and exchange.opcode in LONG:
            if not exchange.working:
                now = self._clock()
                exchange.working = True
                exchange.deadline = now + self._timing.operation
                exchange.next_send = now + self._timing.poll
            return
        if reply.status != "OK":
            raise self._refused(exchange.opcode, reply.status)
        exchange.reply = reply

    # ----------------------------------------------------------------------------- problems

    def _check_fault(self, reply: Reply | None) -> None:
        if reply is not None and reply.status == "FAULT":
            raise fail("E416", "the processor of the board took a fault", where=self.link.name,
                       value="FAULT", remedy="look for a stack overflow or a damaged image, then reset it")

    def _silent(self, opcode: str, limit: float) -> KerncastError:
        return fail("E412", "the board does not answer", where=self.link.name,
                    value=f"no answer to {opcode} in {limit:g} s", allowed="a board that runs the HIL agent",
                    remedy="check port, baud rate and firmware, and reset the board")

    def _refused(self, opcode: str, status: str) -> KerncastError:
        return fail("E415", f"the board refused {opcode}", where=self.link.name, value=status,
                    allowed=TABLE.status_named(status).meaning,
                    remedy="build firmware and host from the same plan and version")

    # --------------------------------------------------------------------------- operations

    def write(self, region: str, data: bytes) -> None:
        """Put bytes at the start of a buffer, in as many requests as it takes."""
        chunk = self.identity.max_payload - _WRITE_FIXED
        for offset in range(0, len(data), chunk):
            self.request("WRITE", region=REGIONS[region], offset=offset, data=data[offset:offset + chunk])

    def read(self, region: int, size: int) -> bytes:
        """The first `size` bytes of a region, in as many requests as it takes."""
        data = b""
        while len(data) < size:
            count = min(size - len(data), self.identity.max_payload)
            piece = _bytes(self.request("READ", region=region, offset=len(data), count=count)["data"])
            if len(piece) != count:
                raise _other("length of a reply", len(piece), count, self.link.name)
            data += piece
        return data

    def read_field(self, index: int, size: int) -> bytes:
        """The `index`-th field of the model structure."""
        return self.read(REGIONS["FIELDS"] + index, size)

    def train(self, count: int) -> int:
        """Train on what X and Y hold; the library's status."""
        return _int(self.request("TRAIN", count=count)["result"])

    def update(self, count: int) -> int:
        """Learn from `count` samples; how many statuses were not OK."""
        return _int(self.request("UPDATE", count=count)["not_ok"])

    def predict(self, count: int) -> int:
        """Predict `count` samples; how many statuses were not OK."""
        return _int(self.request("PREDICT", count=count)["not_ok"])

    def save(self) -> tuple[int, int]:
        """Save the model on the board; the library's status, and the slot written.  E447 without room."""
        v = self._saved("SAVE")
        return _int(v["result"]), _int(v["slot"])

    def restore(self) -> int:
        """Restore the newest state of the board's slots; the library's status.  E447 without room."""
        return _int(self._saved("RESTORE")["result"])

    def _saved(self, opcode: str) -> dict[str, Value]:
        try:
            return self.request(opcode)
        except KerncastError as error:
            if error.problems[0].value not in _LACKING:
                raise
            raise fail("E447", "the firmware has no room for saved states", where=self.link.name,
                       value=error.problems[0].value, allowed="RAM for two of them besides the model",
                       remedy="use a larger board or a smaller model") from None

    def counters(self) -> tuple[int, int] | None:
        """Ticks of the last operation and of an empty one; None without a counter or past its end."""
        v = self.request("COUNTERS")
        known = v["unit"] != 0 and v["ticks"] != _OVERRUN
        return (_int(v["ticks"]), _int(v["overhead"])) if known else None

    def stack(self) -> tuple[int, int]:
        """Bytes of stack ever used since reset, and bytes there are."""
        v = self.request("STACK")
        return _int(v["used"]), _int(v["total"])

    def trace(self, limit: int) -> Trace:
        """What was traced since the last call; a new trace begins.  E434 without trace hooks."""
        try:
            v = self.request("TRACE", limit=limit)
        except KerncastError as error:
            if error.problems[0].value not in _LACKING:
                raise
            raise fail("E434", "the firmware has no trace hooks", where=self.link.name,
                       value=error.problems[0].value, allowed="firmware built with them",
                       remedy="kerncast build OUT --trace, then load that image") from None
        operation, _, signal = str(v["place"]).partition(" ")
        event = Event(operation, signal, *(_int(v[name]) for name in ("step", "index", "word"))) \
            if operation else None
        return Trace(_int(v["count"]), _int(v["hash"]), event)

    def reset(self) -> None:
        """Initialise the model and clear the buffers."""
        self.request("RESET")


def _int(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _bytes(value: Value) -> bytes:
    assert isinstance(value, bytes)
    return value


def _other(what: str, found: object, wanted: object, where: str) -> KerncastError:
    return fail("E414", f"board and host differ in the {what}", where=where, value=found,
                allowed=str(wanted), remedy="build firmware and host from the same version of kerncast")
