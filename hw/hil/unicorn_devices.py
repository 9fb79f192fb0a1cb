"""hw: models of UARTs and counters for boards in Unicorn."""

from __future__ import annotations

import socket
from typing import NamedTuple, Protocol

from ...codegen.firmware.targets import Counter

CHUNK = 4096


class Device(Protocol):
    """Memory-mapped peripheral; registers are addressed by their offset."""

    def read(self, offset: int) -> int:
        """Return the value of a register."""

    def write(self, offset: int, value: int) -> None:
        """Write a value to a register."""


class _Registers(NamedTuple):
    """Registers of a UART, as offsets: receive data, transmit data, and flags.

    For each flag register, `flags` contains the bits that are set if a received byte is available, and the
    bits that are always set.
    """

    rx: int
    tx: int
    flags: dict[int, tuple[int, int]]


_UARTS = {
    "cmsdk": _Registers(rx=0, tx=0, flags={4: (2, 0)}),
    "nrf51": _Registers(rx=0x518, tx=0x51C, flags={0x108: (1, 0), 0x11C: (0, 1)}),
    "stm32": _Registers(rx=4, tx=4, flags={0: (0x20, 0x80)}),
}


class Uart:
    """Model of a UART that is connected to a socket.

    It sends whole frames, and receives from the socket only in :meth:`wait`.
    """

    def __init__(self, kind: str, sock: socket.socket) -> None:
        self._registers = _UARTS[kind]
        self._sock = sock
        self._in = bytearray()
        self._out = bytearray()

    def read(self, offset: int) -> int:
        """Read a register; see :class:`Device`."""
        if offset == self._registers.rx:
            return self._in.pop(0) if self._in else 0
        waiting, always = self._registers.flags.get(offset, (0, 0))
        return always | (waiting if self._in else 0)

    def write(self, offset: int, value: int) -> None:
        """Write a register; see :class:`Device`."""
        if offset != self._registers.tx:
            return
        self._out.append(value & 0xFF)
        if value == 0 and len(self._out) > 1:  # a delimiter that ends a frame, not one that opens it
            self.flush()

    def flush(self) -> None:
        """Send the bytes that have been written."""
        self._sock.sendall(self._out)
        self._out.clear()

    def wait(self) -> bool:
        """Wait until a byte can be read; return False if the connection is closed."""
        self.flush()
        if not self._in:
            self._in += self._sock.recv(CHUNK)
        return bool(self._in)


class Clock:
    """Number of executed instructions, and the counter derived from it."""

    def __init__(self, counter: Counter) -> None:
        self.count = 0
        self._counter = counter
        self._start = 0

    def start(self) -> None:
        """Start the counter."""
        self._start = self.count

    def ticks(self) -> int:
        """Return the counter ticks since :meth:`start`."""
        return self._counter.reading(self.count - self._start)


class CmsdkTimer:
    """Model of the CMSDK timer, a 32-bit down counter."""

    TOP = 0xFFFFFFFF
    CONTROL, VALUE, INTERRUPT = 0, 4, 12

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def read(self, offset: int) -> int:
        """Read a register; see :class:`Device`."""
        if offset == self.VALUE:
            return self.TOP - (self._clock.ticks() & self.TOP)
        return int(self._clock.ticks() > self.TOP) if offset == self.INTERRUPT else 0

    def write(self, offset: int, value: int) -> None:
        """Write a register; see :class:`Device`."""
        if offset == self.CONTROL and value & 1:
            self._clock.start()


class SystemSpace:
    """Model of the Cortex-M system space with SysTick, a 24-bit down counter.

    All other registers return the last value written. The model does not execute exceptions. Instead, each
    wrap-around of SysTick is reported as a pending exception, which the firmware clears.
    """

    BITS = 24
    CONTROL, VALUE, ICSR = 0x010, 0x018, 0xD04
    PENDING, CLEAR = 1 << 26, 1 << 25

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[int, int] = {}
        self._ticks: int | None = None
        self._handed_out = 0

    def read(self, offset: int) -> int:
        """Read a register; see :class:`Device`."""
        if offset == self.VALUE:
            if self._ticks is None:  # the first reading holds: rounds are handed out after it
                self._ticks = self._clock.ticks()
            return -self._ticks & ((1 << self.BITS) - 1)
        if offset == self.ICSR:
            return self.PENDING if self._handed_out < (self._ticks or 0) >> self.BITS else 0
        return self._kept.get(offset, 0)

    def write(self, offset: int, value: int) -> None:
        """Write a register; see :class:`Device`."""
        self._kept[offset] = value
        if offset == self.CONTROL and value & 1:
            self._clock.start()
            self._ticks, self._handed_out = None, 0
        elif offset == self.ICSR and value & self.CLEAR:
            self._handed_out += 1
