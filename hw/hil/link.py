"""hw: byte streams to a board, over a socket or a serial port.

After the connection is lost, reading and writing raise E411 at once.
"""

from __future__ import annotations

import errno
import select
import socket
from collections.abc import Callable
from typing import Protocol

from ...sim.errors import KerncastError, fail

CHUNK = 65536
_WRITE_TIMEOUT = 5.0  # seconds: a port that takes nothing is as good as lost


class Link(Protocol):
    """Byte stream to a board.

    Attributes
    ----------
    name : str
        Name of the link in messages.
    announces : bool
        Whether the board starts when the link is opened. If so, the host waits for READY before it sends.
    """

    name: str
    announces: bool

    def write(self, data: bytes) -> None:
        """Send all of `data`; raise E411 if the connection is closed."""

    def read(self, timeout: float) -> bytes:
        """Return the received bytes; wait at most `timeout` seconds for the first one.

        Raises E411 if the connection is closed.
        """

    def close(self) -> None:
        """Close the serial port or end the process. A second call has no effect."""


def lost(name: str, why: str = "") -> KerncastError:
    """Return error E411: the connection was lost."""
    return fail("E411", "the link to the board was lost", where=name, value=why,
                allowed="a board that stays connected until the link is closed",
                remedy="check the cable or the emulator's output, then start again")


class SocketLink:
    """Link over a connected stream socket.

    Parameters
    ----------
    sock : socket.socket
    name : str
    announces : bool
        As in :class:`Link`.
    last_words : callable, optional
        Called when the connection is lost. Returns a description of the cause for the error message.
    """

    def __init__(self, sock: socket.socket, name: str, *, announces: bool = False,
                 last_words: Callable[[], str] | None = None) -> None:
        self.name = name
        self.announces = announces
        self._sock = sock
        self._last_words = last_words
        sock.setblocking(True)

    def _lost(self) -> KerncastError:
        return lost(self.name, self._last_words() if self._last_words else "")

    def write(self, data: bytes) -> None:
        """Send all of `data`; see :class:`Link`."""
        try:
            self._sock.sendall(data)
        except OSError:
            raise self._lost() from None

    def read(self, timeout: float) -> bytes:
        """Read the bytes received; see :class:`Link`."""
        try:
            if not select.select([self._sock], [], [], max(timeout, 0.0))[0]:
                return b""
            data = self._sock.recv(CHUNK)
        except (OSError, ValueError):
            raise self._lost() from None
        if not data:
            raise self._lost()
        return data

    def close(self) -> None:
        """Close the socket; see :class:`Link`."""
        self._sock.close()


_ABSENT = ("the port does not exist", "connect the board, or name a port of `kerncast targets --ports`")
_NO_PORT = ("it is not a serial port", "name a port of `kerncast targets --ports`")
#: Why a port cannot be opened, by the system's number: in words, and what to do.
_REFUSALS: dict[object, tuple[str, str]] = {
    errno.ENOENT: _ABSENT,
    errno.ENOTDIR: _ABSENT,
    errno.EISDIR: _NO_PORT,
    errno.ENOTTY: _NO_PORT,
    errno.EACCES: ("you do not have permission to use it", "join the group dialout and log in again"),
    errno.EAGAIN: ("another program uses it", "close the other program"),
    errno.EBUSY: ("another program uses it", "close the other program"),
}
_ANYTHING = "close the other program, join the group dialout, or name a port of `kerncast targets --ports`"


def _unopened(port: str, error: Exception) -> KerncastError:
    """Return error E410 with the reason why a serial port could not be opened."""
    number = getattr(error, "errno", None) or next(iter(getattr(error.__context__, "args", ())), None)
    why, remedy = _REFUSALS.get(number, (str(error), _ANYTHING))
    return fail("E410", "the serial port cannot be opened", where="port", value=f"{port}: {why}",
                allowed="an existing serial port that no other program uses and that you have permission to "
                        "open", remedy=remedy)


class SerialLink:
    """Link over a serial port, with pyserial.

    Parameters
    ----------
    port : str
        Name of the port, such as ``/dev/ttyACM0``, or any URL that pyserial accepts.
    baud : int

    Raises
    ------
    KerncastError
        E410 if the port does not exist or is in use, or if you do not have permission to open it.
    """

    announces = False

    def __init__(self, port: str, baud: int = 115200) -> None:
        import serial  # here, so that emulated boards do not load it

        self.name = port
        self._errors = (serial.SerialException, OSError)
        try:
            self._port = serial.serial_for_url(port, baudrate=baud, timeout=0, write_timeout=_WRITE_TIMEOUT,
                                               exclusive=True)
        except (*self._errors, ValueError) as error:
            raise _unopened(port, error) from None

    def write(self, data: bytes) -> None:
        """Send all of `data`; see :class:`Link`."""
        try:
            self._port.write(data)  # not flushed: a device that takes nothing would keep us for ever
        except self._errors as error:
            raise lost(self.name, str(error)) from None

    def read(self, timeout: float) -> bytes:
        """Read the bytes received; see :class:`Link`."""
        try:
            self._port.timeout = max(timeout, 0.0)
            first: bytes = self._port.read(1)
            return first + self._port.read(self._port.in_waiting) if first else b""
        except self._errors as error:
            raise lost(self.name, str(error)) from None

    def close(self) -> None:
        """Close the serial port; see :class:`Link`."""
        self._port.close()
