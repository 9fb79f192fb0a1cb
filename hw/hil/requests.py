"""hw: send requests over a link, and repeat them until a reply is received.

:meth:`Requests.one` has one request in progress, and repeats it with the same sequence number. The agent
recognises a repetition and sends the stored reply again, so that no request is executed twice.
:meth:`Requests.several` has a window of READ or WRITE requests in progress. These may be executed twice and
in any order; a lost request is repeated with a new sequence number. The link preserves the order of frames.
Therefore, a reply also shows which earlier requests were lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...codegen.firmware.hil_table import Timing
from ...sim.errors import KerncastError, fail
from .link import Link
from .protocol import (
    LONG,
    RESEND,
    SEQUENCES,
    TABLE,
    FrameSplitter,
    Reply,
    Value,
    decode_reply,
    encode_request,
    reply_values,
)

Answer = dict[str, Value]


@dataclass
class _Exchange:
    """State of a single request in progress."""

    opcode: str
    sequence: int
    next_send: float
    deadline: float
    working: bool = False
    reply: Reply | None = None


@dataclass
class _Flight:
    """State of several requests of one kind.

    `waiting` contains the indices of the requests to send; `numbers` maps each sequence number in use to the
    index of its request; `under_way` contains the sequence numbers that were sent and not answered, oldest
    first; `answers` maps the index of a request to its reply.
    """

    waiting: deque[int]
    numbers: dict[int, int] = field(default_factory=dict)
    under_way: deque[int] = field(default_factory=deque)
    answers: dict[int, Answer] = field(default_factory=dict)

    def lose(self, count: int) -> None:
        """Schedule the oldest `count` requests in progress for retransmission."""
        for _ in range(min(count, len(self.under_way))):
            self.waiting.append(self.numbers[self.under_way.popleft()])


class Requests:
    """Requests to the agent of a board.

    Parameters
    ----------
    link : Link
    timing : Timing
    clock : callable
        Returns the monotonic time in seconds.

    Attributes
    ----------
    window : int
        Maximum number of requests that :meth:`several` has in progress. The board specifies it in its reply
        to HELLO.
    """

    def __init__(self, link: Link, timing: Timing, clock: Callable[[], float]) -> None:
        self.window = 1
        self._link = link
        self._timing = timing
        self._clock = clock
        self._splitter = FrameSplitter()
        self._sequence = 0
        self._strange = 0  # bytes since the last frame of an agent
        # An emulator that is silent may not have run: a loaded machine has no time for it.  One that
        # has ended closes its link, and is reported at once.
        self._timeout_s = timing.startup if link.announces else timing.timeout_s

    def _next(self) -> int:
        self._sequence = (self._sequence + 1) % SEQUENCES
        return self._sequence

    def _replies(self, data: bytes, opcode: str) -> Iterator[Reply | None]:
        """Yield the replies that `data` completes; None for a damaged frame.

        Raises E416 if the board reports a fault or a restart.
        """
        self._strange += len(data)
        for content in self._splitter.feed(data):
            reply = decode_reply(content) if content else None
            self._strange = self._strange if reply is None else 0
            if reply is not None and reply.status == "FAULT":
                raise fail("E416", "the processor of the board stopped with a fault", where=self._link.name,
                           value="FAULT",
                           remedy="check for a stack overflow or a damaged image, then reset the board")
            if reply is not None and opcode != "HELLO" and (
                    reply.opcode == "READY" or reply.status == "NO_SESSION"):
                raise self._restarted(opcode, reply)
            yield reply

    # --------------------------------------------------------------------------------- one

    def one(self, opcode: str, **values: Value) -> Answer:
        """Send a request, wait for its reply, and decode it.

        Raises
        ------
        KerncastError
            E411 if the link is lost, E412 if no reply is received, E414 if the reply has another layout, E415
            if the board rejects the request, E416 if the board faults or restarts.
        """
        sequence, now = self._next(), self._clock()
        frame = encode_request(opcode, sequence, **values)
        # A board that announces READY gets its HELLO then: its UART may not be ready earlier.
        first = now + self._timing.retransmit if opcode == "HELLO" and self._link.announces else now
        exchange = _Exchange(opcode, sequence, first, now + self._timeout_s)
        while exchange.reply is None:
            self._step(exchange, frame)
        return self._apart(exchange.reply)

    def _step(self, exchange: _Exchange, frame: bytes) -> None:
        """Send the request if it is due, then read until the next transmission is due."""
        now = self._clock()
        late = now >= exchange.deadline  # look once more at what came while this process slept
        if not late and now >= exchange.next_send:
            self._link.write(frame)
            exchange.next_send = now + (self._timing.poll if exchange.working else self._timing.retransmit)
        data = self._link.read(0.0 if late else min(exchange.next_send, exchange.deadline) - now)
        for reply in self._replies(data, exchange.opcode):
            self._take(exchange, reply, now)
        if late and exchange.reply is None:
            raise self._silent(exchange.opcode,
                               self._timing.operation if exchange.working else self._timeout_s)

    def _take(self, exchange: _Exchange, reply: Reply | None, now: float) -> None:
        """Process a received frame.

        If the frame is damaged, it may have been the reply; therefore, the request is repeated.
        """
        if reply is None or reply.opcode == "READY" or (reply.opcode == "NAK" and reply.status in RESEND):
            exchange.next_send = now
        elif (reply.opcode, reply.sequence) != (exchange.opcode, exchange.sequence):
            pass  # the answer to a duplicate of an earlier request
        elif reply.status == "WORKING" and exchange.opcode in LONG:
            if not exchange.working:
                exchange.working = True
                now = self._clock()
                exchange.deadline = now + self._timing.operation
                exchange.next_send = now + self._timing.poll
        elif reply.status != "OK":
            raise self._refused(exchange.opcode, reply.status)
        else:
            exchange.reply = reply

    # ----------------------------------------------------------------------------- several

    def several(self, opcode: str, pieces: Sequence[Mapping[str, Value]]) -> list[Answer]:
        """Send requests that may be executed more than once and in any order.

        Parameters
        ----------
        opcode : str
        pieces : sequence of mapping
            The fields of each request.

        Returns
        -------
        list of dict
            The reply to each request, in the order of `pieces`.

        Raises
        ------
        KerncastError
            The errors of :meth:`one`; E412 if no reply is received within the timeout of a single request.
        """
        flight = _Flight(deque(range(len(pieces))))
        heard = self._clock()
        deadline, resend = heard + self._timeout_s, heard + self._timing.retransmit
        while len(flight.answers) < len(pieces):
            answered, now = len(flight.answers), self._clock()
            late = now >= deadline
            if now >= resend:  # by the clock: noise on the line does not count as a reply
                flight.lose(len(flight.under_way))
                resend = now + self._timing.retransmit
            if not late:
                self._fill(flight, opcode, pieces)
            data = self._link.read(0.0 if late else min(resend, deadline) - now)
            for reply in self._replies(data, opcode):
                self._settle(flight, opcode, reply)
            if len(flight.answers) > answered:
                heard = self._clock()
                deadline, resend = heard + self._timeout_s, heard + self._timing.retransmit
            elif late:
                raise self._silent(opcode, self._timeout_s)
        return [flight.answers[piece] for piece in range(len(pieces))]

    def _fill(self, flight: _Flight, opcode: str, pieces: Sequence[Mapping[str, Value]]) -> None:
        """Send requests until the window is full."""
        while flight.waiting and len(flight.under_way) < self.window:
            piece = flight.waiting.popleft()
            if piece in flight.answers:
                continue  # its answer was late, not lost
            sequence = self._next()
            self._link.write(encode_request(opcode, sequence, **pieces[piece]))
            flight.numbers[sequence] = piece
            flight.under_way.append(sequence)

    def _settle(self, flight: _Flight, opcode: str, reply: Reply | None) -> None:
        """Process a received frame.

        A damaged frame counts as the lost reply to the oldest request in progress.
        """
        if reply is None or (reply.opcode == "NAK" and reply.status in RESEND):
            flight.lose(1)
            return
        if reply.opcode != opcode or reply.sequence not in flight.numbers:
            return  # the answer to a duplicate of an earlier request
        if reply.sequence in flight.under_way:
            flight.lose(flight.under_way.index(reply.sequence))
            if reply.status == "STALE":  # a repetition of it came after a later one
                flight.lose(1)
                return
            flight.under_way.popleft()
        if reply.status == "OK":
            flight.answers[flight.numbers[reply.sequence]] = self._apart(reply)
        elif reply.status != "STALE":
            raise self._refused(opcode, reply.status)

    # ---------------------------------------------------------------------------- problems

    def _apart(self, reply: Reply) -> Answer:
        try:
            return reply_values(reply)
        except ValueError as error:
            raise differs("layout of a reply", error, f"that of {reply.opcode}", self._link.name) from None

    def _restarted(self, opcode: str, reply: Reply) -> KerncastError:
        said = reply.opcode if reply.opcode == "READY" else reply.status
        return fail("E416", "the board restarted and lost its state", where=self._link.name,
                    value=f"{said} while waiting for {opcode}",
                    remedy="check the power supply and the watchdog of the board, then start again")

    def _silent(self, opcode: str, limit: float) -> KerncastError:
        strange = f", but {self._strange} bytes that are not part of a frame" if self._strange else ""
        return fail("E412", "the board does not respond", where=self._link.name,
                    value=f"no reply to {opcode} in {limit:g} s{strange}",
                    allowed="a board that runs the HIL agent",
                    remedy="check the port and the baud rate: another device or program may be sending data"
                    if strange else "check the port, the baud rate and the firmware, then reset the board")

    def _refused(self, opcode: str, status: str) -> KerncastError:
        return fail("E415", f"the board rejected {opcode}", where=self._link.name, value=status,
                    allowed=TABLE.status_named(status).meaning,
                    remedy="build the firmware and the host program from the same plan and version")


def differs(what: str, found: object, wanted: object, where: str) -> KerncastError:
    """Return error E414: the board and the host have different versions."""
    return fail("E414", f"the board and the host differ in the {what}", where=where, value=found,
                allowed=str(wanted),
                remedy="build the firmware and the host program from the same version of kerncast")
