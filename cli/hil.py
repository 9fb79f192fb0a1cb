"""cli: ``kerncast hil``: boards, real and emulated, and what they answer."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import EXIT_DIFFERENT, fail
from .complete import board_names
from .recording import hil_record, hil_replay
from .shell import Command, JsonFlag, columns, load_spec, show, show_with

if TYPE_CHECKING:
    from ..codegen.firmware.targets import Board
    from ..hw.hil.board_backend import BoardBackend
    from ..sim.plan import Plan
    from ..sim.replay.vectors import Vectors


def hil_list(as_json: JsonFlag = False) -> None:
    """List the boards with their emulators and loaders, and the serial ports of this machine.

    Examples
    --------
    kerncast hil list
    """
    from serial.tools.list_ports import comports

    from ..codegen.firmware.targets import all_boards
    from ..hw.hil.emulators import available

    boards, wrong = all_boards()
    emulators = [{e: available(b, e) for e in b.emulators} for b in boards]
    rows = [{"id": b.id, "title": b.title, "real": b.real, "emulators": found, "flash": list(b.flashers)}
            for b, found in zip(boards, emulators, strict=True)]
    ports = [{"port": p.device, "title": p.description} for p in sorted(comports())]
    text = columns([("board", "emulators", "loaded by"), *(
        (b.id, ", ".join(e if here else f"{e} (missing)" for e, here in found.items()) or "-",
         ", ".join(b.flashers) or "-") for b, found in zip(boards, emulators, strict=True))])
    plugged = columns([(p["port"], p["title"]) for p in ports]) if ports else "no serial port on this machine"
    show_with(wrong, {"boards": rows, "ports": ports}, as_json, f"{text}\n\n{plugged}")


def hil_run(source: Annotated[Path, typer.Argument(metavar="SPEC|OUT", show_default=False,
                                                   help="A spec with [data], or a generated folder.")],
            board: Annotated[str | None, typer.Option("--board", autocompletion=board_names, help="Board, as "
                                                      "`kerncast hil list` names it; one at a port tells it "
                                                      "itself, at 115200 baud.", show_default=False)] = None,
            port: Annotated[str | None, typer.Option("--port", help="Serial port of a real board; else "
                                                     "emulated.", show_default=False)] = None,
            flash: Annotated[str, typer.Option("--flash", help="Load the board first, by this program or "
                                               "`auto`.", show_default=False)] = "",
            emulator: Annotated[str, typer.Option(help="Emulator; the first that is installed.",
                                                  show_default=False)] = "",
            compiler: Annotated[str, typer.Option(help="auto, gcc, clang or zig.")] = "auto",
            optimise: Annotated[str, typer.Option("-O", "--optimise", help="-O0 to -O3, or -Os.")] = "-O2",
            as_json: JsonFlag = False) -> None:
    """Replay the vectors on a board, compare every word with the model's, and say what it takes.

    A real board, named by its port, must run the image of `kerncast build`, or be loaded with --flash.
    Exits with 1 where a word differs.

    Examples
    --------
    kerncast hil run ecg.toml --board microbit
    kerncast hil run build/ecg --port /dev/ttyACM0
    kerncast hil run build/ecg --board nucleo-f446re --port /dev/ttyACM0 --flash auto
    """
    from ..lab.compare.ledger import replay_on

    chosen = _chosen(board, port, flash)
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        out, plan, vectors = material(source, Path(folder))
        assert vectors is not None
        backend, command = _open(chosen, out, plan, port, flash, emulator, compiler, optimise)
        try:
            row = replay_on(backend, vectors)
        finally:
            backend.close()
    ran = row.backend if port is None else f"{backend.board} at {port}"
    show({"plan": plan.hash, "board": backend.board, **row.as_dict(), "flashed": command}, as_json,
         (f"loaded by {shlex.join(command)}\n" if command else "")
         + f"{ran}: {row.words} words compared, {row.mismatches} differ {row.first}\n"
         + _told(row.costs))
    if row.mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


def _chosen(board: str | None, port: str | None, flash: str) -> Board | None:
    """The board that is named; None where the one at the port is to tell it.

    E421 for a port without a name, as of a variable that is not set; E418 for a board that is to be loaded,
    without its port or name; E417 where nothing is named; E322.
    """
    from ..codegen.firmware.targets import load_board

    if board is None and port is None:
        raise fail("E417", "no board is named", where="--board",
                   allowed="--board BOARD to emulate it, or --port PORT for a real one",
                   remedy="name one that `kerncast hil list` shows")
    if port == "":
        raise fail("E421", "the port of this board is not named", where="--port", value='""',
                   allowed="a serial port, such as /dev/ttyACM0",
                   remedy="kerncast hil list shows the ports of this machine; leave --port out to emulate")
    if flash and port is None:
        raise fail("E418", "a board is loaded at its port", where="--flash", value=flash,
                   allowed="--flash together with --port",
                   remedy="name the port, such as --port /dev/ttyACM0")
    if flash and board is None:
        raise fail("E418", "what loads a board depends on its kind", where="--flash", value=flash,
                   allowed="--flash together with --board",
                   remedy="name the board too; kerncast hil list shows those there are")
    return None if board is None else load_board(board)


def _told(costs: dict[str, Any]) -> str:
    """What is known of the costs, the counts under their unit; None where a counter overran."""
    rows = {key: value for key, value in costs.items() if key not in ("unit", "counts")}
    rows |= {f"{costs['unit']}, {call}": "overran" if count is None else count
             for call, count in costs["counts"].items()}
    return columns((key, f"{value:,}" if isinstance(value, int) else str(value))
                   for key, value in rows.items() if value is not None)


def material(source: Path, folder: Path, needed: bool = True) -> tuple[Path, Plan, Vectors | None]:
    """A generated folder with its plan and vectors; generated in `folder` where a spec is given.

    E308 where there are no vectors and they are `needed`; E309 and E211 where they are not the plan's.
    """
    from ..codegen.generate import generate, load_plan, load_vectors
    from ..lab.workflow import plan_and_vectors

    out = folder / "out" if source.is_file() else source
    if source.is_file():
        plan, vectors = plan_and_vectors(load_spec(source), source.parent)
        generate(plan, out, vectors=vectors)
    else:
        plan, vectors = load_plan(source)[0], load_vectors(source)
        if vectors is not None:
            vectors.check(plan, str(source))
    if vectors is None and needed:
        raise fail("E308", "there are no test vectors", where=str(source), allowed="a spec with [data]",
                   remedy="add [data] to the spec and generate again")
    return out, plan, vectors


def _open(board: Board | None, out: Path, plan: Plan, port: str | None, flash: str, emulator: str,
          compiler: str, optimise: str) -> tuple[BoardBackend, list[str]]:
    """The board as a back end, and the command that loaded it."""
    from ..hw.hil import flash as loader
    from ..hw.hil.board_backend import open_board, open_port

    if port is not None and not flash:
        return open_port(port, plan, board=board), []
    assert board is not None, "without a port, and to be loaded, it is named"
    if port is None:
        where = ":".join(["emu", board.id, *([emulator] if emulator else [])])
        return open_board(out, where, plan=plan, compiler=compiler, optimise=optimise), []
    return loader.open_loaded(board, port, plan, out, flash, compiler=compiler, optimise=optimise)


#: Every action by its name.
ACTIONS: dict[str, Command] = {"list": hil_list, "run": hil_run, "record": hil_record, "replay": hil_replay}
