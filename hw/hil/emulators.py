"""hw: start emulators of boards, each in a separate process.

The process inherits one end of a socket pair, so that neither a file nor a port number is needed, nor a wait
for the connection. The process ends when the link is closed or the host process ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from ...codegen.build.tools import is_installed
from ...codegen.firmware.targets import Board, Emulator
from ...sim.errors import KerncastError, fail
from .helper import build_helper
from .link import SocketLink

_PR_SET_PDEATHSIG = 1
_GRACE = 2.0  # seconds in which an emulator may end by itself
_WORDS = 600  # characters of its messages that are shown


def _child_setup() -> Callable[[], None] | None:
    """Return a function that makes Linux end a child process when its parent ends.

    Returns None on other systems.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl  # found here: the child of a threaded process should do little
    parent, kill = os.getpid(), int(signal.SIGKILL)

    def die_with_parent() -> None:
        prctl(_PR_SET_PDEATHSIG, kill)
        if os.getppid() != parent:  # it went before we could ask
            os._exit(1)

    return die_with_parent


class EmulatorLink(SocketLink):
    """Link to an emulator process, which ends when the link is closed.

    On Linux, the emulator also ends if the thread that opened the link ends without closing it. Therefore,
    open and use a link in the same thread.

    Parameters
    ----------
    command : sequence of str
        Command that starts the emulator; ``{fd}`` is replaced by the number of the inherited socket.
    name : str
        Name of the link in messages.
    stdio : bool
        Whether the emulator uses the socket as its standard input and output.
    """

    def __init__(self, command: Sequence[str], name: str, *, stdio: bool = False) -> None:
        ours, theirs = socket.socketpair()
        self._messages: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed with the link
        fd = theirs.fileno()
        try:
            # A new session: Ctrl-C reaches only this process, which closes the emulator.
            self.process = subprocess.Popen(
                [part.replace("{fd}", str(fd)) for part in command], pass_fds=[fd],
                stdin=fd if stdio else subprocess.DEVNULL, stdout=fd if stdio else self._messages,
                stderr=self._messages,
                start_new_session=True, preexec_fn=_child_setup())
        except BaseException:
            ours.close()
            self._messages.close()
            raise
        finally:
            theirs.close()
        super().__init__(ours, name, announces=True, last_words=self._words)

    def _words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_GRACE)
        self._messages.seek(0)
        said = self._messages.read().decode(errors="replace").strip()[-_WORDS:]
        return f"the emulator ended with exit code {self.process.returncode}: {said or 'no message'}"

    def close(self) -> None:
        """End the emulator process, and wait for it."""
        super().close()
        if self.process.poll() is None:
            self.process.kill()  # it has no state worth saving
        self.process.wait()
        self._messages.close()


def require_entry(board: Board, emulator: str) -> Emulator:
    """Return the description of an emulator that supports the board.

    The emulator need not be installed. Raises E417 if the board does not support it.
    """
    entry = board.emulators.get(emulator)
    if entry is None:
        raise fail("E417", "this emulator cannot run this board", where="back end",
                   value=f"emu:{board.id}:{emulator}",
                   allowed=", ".join(f"emu:{board.id}:{e}" for e in board.emulators) or "none",
                   remedy="choose one of the allowed values, or another board; `kerncast targets` lists them")
    return entry


def require_emulator(board: Board, emulator: str) -> Emulator:
    """Return the description of an installed emulator that supports the board.

    Raises E417 if the board does not support the emulator, and E512 if it is not installed.
    """
    entry = require_entry(board, emulator)
    if not is_installed(entry.program):
        raise fail("E512", "this emulator is not installed", where="back end",
                   value=f"emu:{board.id}:{emulator}", allowed=" or ".join(board.emulators),
                   remedy=entry.install)
    return entry


def available(board: Board, emulator: str) -> bool:
    """Report whether an emulator that supports the board is installed."""
    try:
        require_emulator(board, emulator)
    except KerncastError:
        return False
    return True


def start_emulator(elf: Path, board: Board, emulator: str) -> EmulatorLink:
    """Start an emulator with a firmware image, and connect to it.

    Raises
    ------
    KerncastError
        The errors of :func:`require_emulator` and :func:`~.helper.build_helper`.
    """
    entry, image = require_emulator(board, emulator), Path(elf).absolute()
    command = _COMMANDS[entry.link](entry, board, str(image))
    if entry.helper is not None:
        helper = str(build_helper(entry, image.parent))
        command = [part.replace("{helper}", helper) for part in command]
    return EmulatorLink(command, f"emu:{board.id}:{emulator}", stdio=entry.link in ("stdio", "helper"))


def _chardev(entry: Emulator, board: Board, image: str) -> list[str]:
    """Return the command for QEMU, with the socket as the emulated serial port."""
    return [entry.program, *entry.args, "-kernel", image,
            "-chardev", "socket,id=link,fd={fd}", "-serial", "chardev:link"]


def _stdio(entry: Emulator, board: Board, image: str) -> list[str]:
    """Return the command for user-mode emulation, with the socket as stdin and stdout."""
    return [entry.program, *entry.args, image]


def _helper(entry: Emulator, board: Board, image: str) -> list[str]:
    """Return the command for a compiled helper program; see :mod:`.helper`."""
    return ["{helper}", *entry.args, image]


def _module(entry: Emulator, board: Board, image: str) -> list[str]:
    """Return the command for a Python module of this package that is an emulator."""
    name, *args = entry.args
    return [sys.executable, "-m", f"{__package__}.{name}", image, "--board", board.id,
            "--socket", "{fd}", *args]


_COMMANDS: dict[str, Callable[[Emulator, Board, str], list[str]]] = {
    "chardev": _chardev, "stdio": _stdio, "module": _module, "helper": _helper}
