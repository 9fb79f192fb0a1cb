"""Links that break, and ports that cannot be opened."""

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.link import SerialLink, SocketLink
from kerncast.hw.hil.protocol import encode_reply
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


@pytest.mark.parametrize("port", ["/dev/there-is-no-such-port", "nonsense://x", "/dev/null"])
def test_a_port_that_cannot_be_opened_has_a_code_and_names_the_port(port: str) -> None:
    with pytest.raises(KerncastError) as caught:
        SerialLink(port)
    assert code_of(caught) == "E410"
    assert port in str(caught.value)


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
