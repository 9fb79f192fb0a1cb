"""cli: ``kerncast targets``: the cores that code is generated for, and the boards that run it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import fail
from .complete import target_or_board
from .shell import JsonFlag, columns, show, show_with

if TYPE_CHECKING:
    from ..codegen.firmware.targets import Board
    from ..sim.spec.target import Target


def targets(name: Annotated[str | None, typer.Argument(metavar="ID", show_default=False,
                                                       autocompletion=target_or_board,
                                                       help="Show one target or board in full.")] = None,
            as_json: JsonFlag = False) -> None:
    """List the targets and the boards, or show one in full with the tools that it needs.

    Examples
    --------
    kerncast targets
    kerncast targets cortex-m4
    kerncast targets microbit --json
    """
    from ..codegen.firmware.targets import (
        all_boards,
        all_targets,
        board_ids,
        load_board,
        load_target,
        target_ids,
    )

    if name is not None:
        if name not in (*board_ids(), *target_ids()):
            raise fail("E323", "there is no such target or board", where="ID", value=name,
                       allowed=", ".join((*target_ids(), *board_ids())),
                       remedy="choose one of these, or add its file")
        values = _board(load_board(name)) if name in board_ids() else _target(load_target(name))
        show(values, as_json, _in_full(values))
        return
    cores, wrong = all_targets()
    boards, wrong_too = all_boards()
    values = {"targets": [{"id": t.id, "title": t.title, "ram_bytes": t.ram_bytes,
                           "flash_bytes": t.flash_bytes, "fpu": t.fpu, "intrinsics": t.intrinsics}
                          for t in cores],
              "boards": [{"id": b.id, "title": b.title, "target": b.target, "real": b.real,
                          "emulators": list(b.emulators)} for b in boards]}
    show_with([*wrong, *wrong_too], values, as_json,
              columns([("target", "core", "RAM", "flash", "FPU", "intrinsics"),
                       *((t.id, t.title, f"{t.ram_bytes:,}", f"{t.flash_bytes:,}", "yes" if t.fpu else "no",
                          t.intrinsics) for t in cores)]) + "\n\n"
              + columns([("board", "title", "target", "emulators", "loaded by"),
                         *((b.id, b.title, b.target, ", ".join(b.emulators) or "-",
                            ", ".join(b.flashers) or "-") for b in boards)]))


def _target(target: Target) -> dict[str, Any]:
    """All of a target, with its compilers and boards."""
    from ..codegen.build.toolchains import available, compilers
    from ..codegen.firmware.targets import all_boards

    return {**target.model_dump(mode="json"),
            "compilers": {name: {"program": row.program, "flags": list(target.flags[name]),
                                 "installed": available(name, target), "install": row.install}
                          for name, row in compilers(target).items()},
            "boards": [board.id for board in all_boards()[0] if board.target == target.id]}


def _board(board: Board) -> dict[str, Any]:
    """All of a board, with what is installed of its emulators and loaders."""
    from shutil import which

    from ..hw.hil.emulators import available

    values = board.model_dump(mode="json")
    for name, row in values["emulators"].items():
        row["installed"] = available(board, name)
    for row in values["flashers"].values():
        row["installed"] = which(row["command"][0]) is not None
    return values


def _in_full(values: dict[str, Any]) -> str:
    """Facts line by line; of a tool its command, or the command that installs it."""
    lines = []
    for key, value in values.items():
        if key in ("compilers", "emulators", "flashers"):
            lines += [(f"{key.removesuffix('s')} {name}", _tool(row)) for name, row in value.items()]
        elif key == "setup":
            lines += [("setup", f"{step['address']:#010x}: {step['why']}") for step in value]
        elif isinstance(value, dict) and key != "flags":
            lines += [(f"{key} {k}", _number(k, fact)) for k, fact in value.items() if fact is not None]
        elif key != "flags":
            lines.append((key, ", ".join(value) if isinstance(value, list) else str(value)))
    return columns(lines)


def _tool(row: dict[str, Any]) -> str:
    given = row.get("flags", row.get("args", ()))
    words = row.get("command") or [row["program"].removeprefix("python:"), *given]
    return shlex.join(words) + ("" if row["installed"] else f"   (missing: {row['install']})")


def _number(name: str, fact: object) -> str:
    return f"{fact:#010x}" if name in ("base", "flash_origin", "ram_origin") else str(fact)
