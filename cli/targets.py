"""cli: ``kerncast targets``: list targets, boards and serial ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import fail
from ._complete import target_or_board
from ._guard import emit_with
from ._options import JsonFlag
from ._output import Answer, command_lines, emit, table

if TYPE_CHECKING:
    from ..codegen.firmware.targets import Board
    from ..sim.spec.target import Target


def targets(name: Annotated[str | None, typer.Argument(
                metavar="ID", show_default=False, autocompletion=target_or_board,
                help="Show this target or board in full.")] = None,
            ports: Annotated[bool, typer.Option(
                "--ports", help="List the serial ports of this machine instead.")] = False,
            as_json: JsonFlag = False) -> None:
    """List targets, boards and serial ports, or show one in full.

    A target is the CPU core and the memory for which code is generated. A board has a target, and runs the
    code. It is connected to a serial port, emulated, or both. As a back end, a physical board is written as
    board:ID@PORT, and an emulated one as emu:ID.

    Examples
    --------
    kerncast targets
    kerncast targets cortex-m4
    kerncast targets microbit --json
    kerncast targets --ports
    """
    if ports:
        found = serial_ports()
        text = table([(port["port"], port["title"]) for port in found]) if found else \
            "no serial port on this machine"
        emit(Answer({"ports": found}, text), as_json)
    elif name is not None:
        _show_one(name, as_json)
    else:
        _list(as_json)


def serial_ports() -> list[dict[str, str]]:
    """Return the serial ports of this machine and their descriptions."""
    from serial.tools.list_ports import comports

    return [{"port": p.device, "title": "" if p.description == "n/a" else p.description}
            for p in sorted(comports())]


def _show_one(name: str, as_json: bool) -> None:
    """Print all data of a target or a board; raise E323 if the id is unknown."""
    from ..codegen.firmware.targets import board_ids, load_board, load_target, target_ids

    if name not in (*board_ids(), *target_ids()):
        raise fail("E323", "no such target or board", where="ID", value=name,
                   allowed=", ".join((*target_ids(), *board_ids())),
                   remedy="choose one of the allowed values, or add a file for it")
    values = _board(load_board(name)) if name in board_ids() else _target(load_target(name))
    emit(Answer(values, _in_full(values)), as_json)


def _list(as_json: bool) -> None:
    """Print all targets and boards, then the errors of invalid files."""
    from ..codegen.firmware.targets import all_boards, all_targets

    cores, wrong = all_targets()
    boards, wrong_too = all_boards()
    values = {"targets": [{"id": t.id, "title": t.title, "ram_bytes": t.ram_bytes,
                           "flash_bytes": t.flash_bytes, "fpu": t.fpu, "intrinsics": t.intrinsics}
                          for t in cores],
              "boards": [{"id": b.id, "title": b.title, "target": b.target, "real": b.real,
                          "emulators": list(b.emulators)} for b in boards]}
    text = table([("target", "CPU core", "RAM", "flash", "FPU", "intrinsics"),
                  *((t.id, t.title, f"{t.ram_bytes:,}", f"{t.flash_bytes:,}", "yes" if t.fpu else "no",
                     t.intrinsics) for t in cores)]) + "\n\n" \
        + table([("board", "title", "target", "emulators", "flash tools"),
                 *((b.id, b.title, b.target, ", ".join(b.emulators) or "-", ", ".join(b.flashers) or "-")
                   for b in boards)])
    emit_with([*wrong, *wrong_too], Answer(values, text), as_json)


def _target(target: Target) -> dict[str, Any]:
    """Return all data of a target, with its compilers and boards."""
    from ..codegen.build.toolchains import available, compilers
    from ..codegen.firmware.targets import all_boards

    return {**target.model_dump(mode="json"),
            "compilers": {name: {"program": row.program, "flags": list(target.flags[name]),
                                 "installed": available(name, target), "install": row.install}
                          for name, row in compilers(target).items()},
            "boards": [board.id for board in all_boards()[0] if board.target == target.id]}


def _board(board: Board) -> dict[str, Any]:
    """Return all data of a board, with its installed emulators and flash tools."""
    from shutil import which

    from ..hw.hil.emulators import available

    values = board.model_dump(mode="json")
    for name, row in values["emulators"].items():
        row["installed"] = available(board, name)
    for row in values["flashers"].values():
        row["installed"] = which(row["command"][0]) is not None
    return values


def _in_full(values: dict[str, Any]) -> str:
    """Return the data of a target or a board as lines.

    Each tool is shown with its command and, if it is missing, with the command that installs it.
    """
    rows, tools = [], []
    for key, value in values.items():
        if key in ("compilers", "emulators", "flashers"):
            tools += [_tool(f"{_KINDS[key]} {name}", row) for name, row in value.items()]
        elif key == "setup":
            rows += [("setup", f"{step['address']:#010x}: {step['why']}") for step in value]
        elif isinstance(value, dict) and key != "flags":
            rows += [(f"{key} {k}", _number(k, fact)) for k, fact in value.items() if fact is not None]
        elif key != "flags":
            rows.append((key, ", ".join(value) if isinstance(value, list) else str(value)))
    return "\n".join([table(rows), *tools])


_KINDS = {"compilers": "compiler", "emulators": "emulator", "flashers": "flash tool"}


def _tool(label: str, row: dict[str, Any]) -> str:
    """Return the command of a tool, and its install command if it is missing."""
    given = row.get("flags", row.get("args", ()))
    words = row.get("command") or [row["program"].removeprefix("python:"), *given]
    return command_lines(words, f"{label}: ") + (
        "" if row["installed"] else "\n" + command_lines(row["install"].split(), "  missing, install: "))


def _number(name: str, fact: object) -> str:
    return f"{fact:#010x}" if name in ("base", "flash_origin", "ram_origin") else str(fact)
