"""cli: hidden aliases of older commands, ``kerncast hil run`` and ``hil list``."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import EXIT_DIFFERENT, fail
from ._complete import board_names
from ._guard import emit_with
from ._options import Compiler, Flash, JsonFlag, Source, level
from ._output import Answer, emit, table
from .targets import serial_ports

if TYPE_CHECKING:
    from ..hw.backends import BoardAt
    from ..hw.hil.board_backend import BoardBackend
    from ..sim.plan import Plan

Board = Annotated[str | None, typer.Option("--board", metavar="ID", autocompletion=board_names,
                                           help="Board; it is emulated unless --port is given.",
                                           show_default=False)]
Port = Annotated[str | None, typer.Option("--port", metavar="PORT", help="Serial port of a physical board.",
                                          show_default=False)]
Emulator = Annotated[str, typer.Option(metavar="NAME", help="Default: the first emulator that is installed.",
                                       show_default=False)]
Level = Annotated[str, typer.Option("-O", "--optimise", metavar="LEVEL", help="-O0 to -O3, or -Os.")]


def hil_list(as_json: JsonFlag = False) -> None:
    """List boards and serial ports; use kerncast targets --ports.

    Examples
    --------
    kerncast hil list
    """
    from ..codegen.firmware.targets import all_boards
    from ..hw.hil.emulators import available

    boards, wrong = all_boards()
    emulators = [{e: available(b, e) for e in b.emulators} for b in boards]
    rows = [{"id": b.id, "title": b.title, "real": b.real, "emulators": found, "flash": list(b.flashers)}
            for b, found in zip(boards, emulators, strict=True)]
    ports = serial_ports()
    text = table([("board", "emulators", "flash tools"), *(
        (b.id, ", ".join(e if here else f"{e} (missing)" for e, here in found.items()) or "-",
         ", ".join(b.flashers) or "-") for b, found in zip(boards, emulators, strict=True))])
    plugged = table([(p["port"], p["title"]) for p in ports]) if ports else "no serial port on this machine"
    emit_with(wrong, Answer({"boards": rows, "ports": ports}, f"{text}\n\n{plugged}"), as_json)


def hil_run(source: Source, board: Board = None, port: Port = None, flash: Flash = "",
            emulator: Emulator = "", compiler: Compiler = "auto", optimise: Level = "-O2",
            as_json: JsonFlag = False) -> None:
    """Replay the vectors on a board; use kerncast test --on board:ID@PORT.

    Exits with 1 if a value differs.

    Examples
    --------
    kerncast hil run ecg.toml --board microbit
    kerncast hil run build/ecg --board nucleo-f446re --port /dev/ttyACM0
    """
    from ..lab.compare.ledger import replay_on
    from ..lab.workflow import load_inputs

    if port is not None and emulator:
        raise fail("E194", "--emulator cannot be combined with --port", where="--emulator", value=emulator,
                   allowed="--port, or --emulator", remedy="omit one of the two")
    chosen = _board_of(board, port, flash)
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        out, plan, vectors = load_inputs(source, Path(folder))
        assert vectors is not None
        backend, command = _open(chosen, out, plan, flash, emulator, compiler, optimise)
        try:
            row = replay_on(backend, vectors)
        finally:
            backend.close()
    ran = row.backend if port is None else f"{backend.board} at {port}"
    text = (f"loaded by {shlex.join(command)}\n" if command else "") \
        + f"{ran}: {row.words:,} values compared, {row.mismatches:,} mismatches {row.first}\n" \
        + _costs(row.costs)
    emit(Answer({"plan": plan.hash, "board": backend.board, **row.as_dict(), "flashed": command}, text),
         as_json)
    if row.mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


def _board_of(board: str | None, port: str | None, flash: str) -> BoardAt:
    """Return the board of --board and --port.

    The port is empty if the board is to be emulated. Raises E417, E418, E421 or E322.
    """
    from ..codegen.firmware.targets import load_board
    from ..hw.backends import BoardAt, check_flash, resolve_board

    if board is None and port is None:
        raise fail("E417", "no board is given", where="--board",
                   allowed="--board ID for an emulated board, or --port PORT for a physical one",
                   remedy="name a board; kerncast targets lists the boards")
    if port is None:
        check_flash(f"emu:{board}", flash)
        return BoardAt(load_board(str(board)), "")
    return resolve_board(f"{board or ''}@{port}", flash)


def _costs(costs: dict[str, Any]) -> str:
    """Return the known costs as a table.

    If the counter overflowed, the text is ``overran``.
    """
    rows = {key: value for key, value in costs.items() if key not in ("unit", "counts")}
    rows |= {f"{costs['unit']}, {call}": "overran" if count is None else count
             for call, count in costs["counts"].items()}
    return table((key, f"{value:,}" if isinstance(value, int) else str(value))
                 for key, value in rows.items() if value is not None)


def _open(chosen: BoardAt, out: Path, plan: Plan, flash: str, emulator: str, compiler: str,
          optimise: str) -> tuple[BoardBackend, list[str]]:
    """Open a board as a back end; return it with the command that flashed the board."""
    from ..hw.hil import flash as loader
    from ..hw.hil.board_backend import open_board, open_port

    board, port = chosen
    if port and not flash:
        return open_port(port, plan, board=board), []
    assert board is not None, "an emulated board, or a board to flash, has no ID"
    if not port:
        where = ":".join(["emu", board.id, *([emulator] if emulator else [])])
        return open_board(out, where, plan=plan, compiler=compiler, optimise=level(optimise)), []
    return loader.open_loaded(board, port, plan, out, flash, compiler=compiler, optimise=level(optimise))
