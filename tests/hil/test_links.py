"""Links that break, ports that cannot be opened, and boards that are not the one expected: at real ports."""

import os
import pty
import socket
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import serial

from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.link import SerialLink, SocketLink
from kerncast.hw.hil.protocol import TABLE, encode_reply
from kerncast.sim.errors import KerncastError

if TYPE_CHECKING:
    from conftest import HostAgent, SerialBoard


def code_of(caught: pytest.ExceptionInfo[KerncastError]) -> str:
    return caught.value.problems[0].code


def test_a_link_that_closes_in_the_middle_of_a_frame_is_reported_at_once() -> None:
    ours, theirs = socket.socketpair()
    client = HilClient(SocketLink(ours, "wire"))
    theirs.sendall(encode_reply("STACK", 1, "OK", bytes(8))[:6])
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(KerncastError) as caught:
        client.stack()
    assert code_of(caught) == "E411"
    client.close()
    theirs.close()


def test_a_link_used_after_it_was_closed_is_reported_as_lost() -> None:
    ours, theirs = socket.socketpair()
    link = SocketLink(ours, "wire")
    link.close()
    link.close()
    for use in (lambda: link.write(b"x"), lambda: link.read(0.0)):
        with pytest.raises(KerncastError) as caught:
            use()
        assert code_of(caught) == "E411"
    theirs.close()


# ---- ports -------------------------------------------------------------------------------------------------

NOBODY = 65534


@contextmanager
def not_as_root() -> Iterator[None]:
    """What root may do proves nothing about permissions."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def told(caught: pytest.ExceptionInfo[KerncastError]) -> str:
    """The code, of an error that has a cause and a remedy too."""
    (problem,) = caught.value.problems
    assert problem.value and problem.remedy
    return problem.code


class Wire:
    """A serial port whose far end does what the test says."""

    def __init__(self, answer: Callable[[bytes], bytes | None]) -> None:
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self._answer = answer
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        """Answer until there is nothing to read, or until the answer is None: the cable is pulled."""
        try:
            while (answer := self._answer(os.read(self._master, 4096))) is not None:
                os.write(self._master, answer)
        except OSError:
            pass
        os.close(self._master)

    def close(self) -> None:
        os.close(self._slave)
        self._thread.join()


@pytest.fixture
def wire() -> Iterator[Callable[..., str]]:
    """``wire(answer)``: the name of a serial port at whose far end `answer` turns bytes into bytes."""
    wires: list[Wire] = []

    def lay(answer: Callable[[bytes], bytes | None]) -> str:
        wires.append(Wire(answer))
        return wires[-1].port

    yield lay
    for each in wires:
        each.close()


#: For boards that never answer; whoever waits for an answer waits as long as the link does.
SOON = TABLE.timing.model_copy(update={"retransmit": 0.05, "timeout_s": 0.3})


def test_a_port_that_one_may_not_use_is_refused(wire: Callable[..., str]) -> None:
    port = wire(lambda data: b"")
    Path(port).chmod(0)
    with not_as_root(), pytest.raises(KerncastError, match="you do not have permission") as caught:
        SerialLink(port)
    assert told(caught) == "E410" and "dialout" in caught.value.problems[0].remedy


def test_a_port_open_in_another_program_is_refused(wire: Callable[..., str]) -> None:
    port = wire(lambda data: b"")
    with serial.Serial(port, exclusive=True), pytest.raises(KerncastError, match="another program") as caught:
        SerialLink(port)
    assert told(caught) == "E410"


@pytest.mark.parametrize("answer", [lambda data: b"", lambda data: b"AT+OK\r\n", lambda data: data,
                                    lambda data: b"\0\x05abc\0", lambda data: b"\xff" * 100])
def test_a_port_without_a_board_that_understands_is_given_up(
        answer: Callable[[bytes], bytes], wire: Callable[..., str]) -> None:
    """Nothing there, a modem, an echo, a wrong baud rate."""
    client = HilClient(SerialLink(wire(answer)), SOON)
    with pytest.raises(KerncastError) as caught:
        client.start()
    assert told(caught) == "E412"
    assert ("another device" in str(caught.value)) == bool(answer(b"?"))
    client.close()


def test_a_cable_that_is_pulled_in_the_middle_of_a_frame_is_reported(wire: Callable[..., str]) -> None:
    heard: list[bytes] = []

    def half(data: bytes) -> bytes | None:
        heard.append(data)
        return encode_reply("STACK", 1, "OK", bytes(8))[:6] if len(heard) == 1 else None

    client = HilClient(SerialLink(wire(half)))
    with pytest.raises(KerncastError) as caught:
        client.stack()
    assert told(caught) == "E411"
    client.close()


def test_firmware_of_the_links_first_version_is_refused(wire: Callable[..., str]) -> None:
    old = bytes([1, 16, 1, 0, 0, 2, 0, 0, 1, 0, 0, 0]) + bytes(32) + b"ecg"
    client = HilClient(SerialLink(wire(lambda data: encode_reply("HELLO", 1, "OK", old))))
    with pytest.raises(KerncastError, match="version") as caught:
        client.start()
    assert told(caught) == "E414"
    client.close()


@pytest.mark.parametrize(("expected", "code"), [
    ({"plan_hash": "11" * 32}, "E413"), ({"abi": 2}, "E414"), ({"board": "nucleo-f446re"}, "E422")])
def test_a_board_that_is_not_the_one_expected_is_refused(
        expected: dict[str, object], code: str, agent: "HostAgent",
        serial_board: Callable[["HostAgent"], "SerialBoard"]) -> None:
    board = serial_board(agent)
    client = HilClient(SerialLink(board.port))
    with pytest.raises(KerncastError) as caught:
        client.start(**expected)  # type: ignore[arg-type]
    assert told(caught) == code
    client.close()
    board.unplug()


def test_a_board_that_restarted_unheard_does_nothing_but_say_so(
        agent: "HostAgent", serial_board: Callable[["HostAgent"], "SerialBoard"]) -> None:
    board = serial_board(agent)
    client = HilClient(SerialLink(board.port))
    client.start()
    client.train(300)
    agent.start()  # what it says first is lost
    for call in (lambda: client.train(300), lambda: client.read_field(0, 4)):
        with pytest.raises(KerncastError, match="restarted") as caught:
            call()
        assert told(caught) == "E416"
    client.start()
    assert client.read_field(0, 4) == bytes(4)  # it has never trained
    client.close()
    board.unplug()


@pytest.mark.parametrize(("port", "why"), [
    ("/dev/there-is-no-such-port", "the port does not exist"), (f"{__file__}/x", "the port does not exist"),
    ("/dev/null", "it is not a serial port"), (__file__, "it is not a serial port"),
    ("/", "it is not a serial port"),
    ("nonsense://x", "nonsense"), ("socket://localhost:1", "refused")])
def test_a_port_that_cannot_be_opened_has_a_code_a_reason_and_names_the_port(port: str, why: str) -> None:
    with pytest.raises(KerncastError) as caught:
        SerialLink(port)
    assert code_of(caught) == "E410"
    (problem,) = caught.value.problems
    assert problem.value.startswith(f"{port}: ") and why in problem.value
    assert ("dialout" in problem.remedy) == ("://" in port), "only where the reason is not known"


def test_a_board_at_a_serial_port_answers_like_any_other(
        agent: "HostAgent", serial_board: Callable[["HostAgent"], "SerialBoard"]) -> None:
    board = serial_board(agent)
    client = HilClient(SerialLink(board.port))
    assert client.start().name == "tiny"
    data = bytes(range(256)) * 4
    client.write("X", data)
    assert client.read(0, len(data)) == data
    assert client.train(300) == 2
    with pytest.raises(KerncastError) as caught:
        SerialLink(board.port)  # it is in use
    assert code_of(caught) == "E410"
    client.close()
    board.unplug()
