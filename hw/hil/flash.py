"""hw: flash a physical board with one of the tools in its TOML file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ...codegen.firmware.image import build_firmware
from ...codegen.firmware.targets import Board, Flasher
from ...sim.errors import fail
from ...sim.plan import Plan
from .board_backend import BoardBackend, open_port

_TIMEOUT = 120.0  # seconds: a programmer may wait for a board that is not connected
_WORDS = 600  # characters of its messages that are shown


def flash_commands(board: Board, elf: Path, port: str = "PORT") -> dict[str, list[str]]:
    """Return the command of each flash tool of the board, by name."""
    return {name: _command(flasher, elf, port) for name, flasher in board.flashers.items()}


def _command(flasher: Flasher, elf: Path, port: str) -> list[str]:
    return [part.replace("{elf}", str(elf)).replace("{port}", port) for part in flasher.command]


def default_flasher(board: Board) -> str:
    """Return the first installed flash tool of a board.

    If none is installed, the first flash tool of the board is returned.
    """
    found = (name for name, flasher in board.flashers.items() if shutil.which(flasher.command[0]))
    return next(found, next(iter(board.flashers), ""))


def require_flasher(board: Board, name: str) -> Flasher:
    """Return the description of an installed flash tool that supports the board.

    Raises
    ------
    KerncastError
        E418 if the tool does not support the board, E514 if it is not installed.
    """
    flasher = board.flashers.get(name)
    if flasher is None:
        raise fail("E418", f"this flash tool does not support {board.id}", where="--flash", value=name,
                   allowed=", ".join(board.flashers) or "none: this board exists in emulation only",
                   remedy="choose one of the allowed values, or flash the image by hand")
    if shutil.which(flasher.command[0]) is None:
        raise fail("E514", "the flash tool is not installed", where="--flash",
                   value=flasher.command[0], allowed=", ".join(board.flashers), remedy=flasher.install)
    return flasher


def flash(board: Board, elf: Path, name: str, port: str) -> list[str]:
    """Flash an image to the board.

    Returns
    -------
    list of str
        The command that was run.

    Raises
    ------
    KerncastError
        The errors of :func:`require_flasher`; E419, with the output of the tool, if the tool fails.
    """
    command = _command(require_flasher(board, name), elf, port)
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=_TIMEOUT, check=False)
        said, failed = done.stderr + done.stdout, done.returncode != 0
    except subprocess.TimeoutExpired:
        said, failed = f"not finished after {_TIMEOUT:g} s", True
    if failed:
        raise fail("E419", "the board could not be flashed", where=board.id,
                   value=f"{' '.join(command)}: {said.strip()[-_WORDS:] or 'no message'}",
                   allowed="a connected board that no other program uses",
                   remedy="read the output of the flash tool, check the cable, or use another flash tool: "
                          f"`kerncast targets {board.id}` lists them")
    return command


def open_loaded(board: Board, port: str, plan: Plan, out_dir: Path, program: str, *, compiler: str = "auto",
                optimise: str = "-O2", build_dir: Path | None = None, traced: bool = False,
                ) -> tuple[BoardBackend, list[str]]:
    """Build the firmware of a generated folder, flash it to a board, and connect.

    Parameters
    ----------
    board : Board
    port : str
    plan : Plan
    out_dir : Path
        The generated folder.
    program : str
        One of the board's flash tools, or ``auto``.
    compiler, optimise, build_dir, traced
        As in :func:`~kerncast.codegen.firmware.image.build_firmware`.

    Returns
    -------
    tuple of (BoardBackend, list of str)
        The back end, and the command that flashed the board.

    Raises
    ------
    KerncastError
        The errors of :func:`flash`, of the build, and of :func:`~.board_backend.open_port`.
    """
    name = default_flasher(board) if program == "auto" else program
    require_flasher(board, name)  # before the time is spent on building
    image = build_firmware(out_dir, plan, board.id, compiler=compiler, optimise=optimise,
                           build_dir=build_dir, traced=traced)
    command = flash(board, image.elf, name, port)
    return open_port(port, plan, board=board, image=image, traced=traced), command
