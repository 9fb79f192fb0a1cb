"""cli: define the arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ._complete import backends, board_names, generated, specs, target_names

#: The parameter that every command has, under the name `as_json`.
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
#: The argument of every command that reads a spec.
SpecPath = Annotated[Path, typer.Argument(metavar="SPEC", help="A spec, such as kerncast.toml.",
                                          autocompletion=specs, show_default=False)]
#: The argument of every command that reads a generated folder.
GeneratedFolder = Annotated[Path, typer.Argument(metavar="OUT", help="A folder that kerncast gen wrote.",
                                                 autocompletion=generated, show_default=False)]
#: The argument of every command that runs either.
Source = Annotated[Path, typer.Argument(metavar="SPEC|OUT", show_default=False,
                                        help="A spec with [data], or a folder that kerncast gen wrote.")]

#: The back ends of every command that replays vectors.
BackEnds = Annotated[list[str] | None, typer.Option(
    "--on", metavar="BACKEND", autocompletion=backends, show_default=False,
    help="Back end: model, host, emu:ID, board:ID@PORT, rtl:icarus ...; repeat the option, or separate "
         "values by commas.")]
#: One back end.
BackEnd = Annotated[str | None, typer.Option(
    "--on", metavar="BACKEND", autocompletion=backends, show_default=False,
    help="Back end, such as emu:ID or board:ID@PORT.")]
#: The program that loads a real board.
Flash = Annotated[str, typer.Option(
    "--flash", metavar="PROGRAM", show_default=False,
    help="Flash the image to the physical board first, with this program; `auto` chooses one.")]
#: The serial port of a real board, as it was named before board:ID@PORT.
OldPort = Annotated[str | None, typer.Option("--port", hidden=True)]
#: The board to build for.
BoardId = Annotated[str, typer.Option("--board", metavar="ID", autocompletion=board_names,
                                      help="Board to build for; kerncast targets lists them.")]
#: Targets to measure.
Targets = Annotated[list[str] | None, typer.Option(
    "--target", metavar="ID", show_default=False, autocompletion=target_names,
    help="Target, or `all`; repeat the option, or separate values by commas. Default: the targets of the "
         "spec and of its [budget].")]
#: Optimisation levels to measure.
Levels = Annotated[list[str] | None, typer.Option(
    "-O", "--optimise", metavar="LEVEL", show_default=False,
    help="-O0 to -O3, or -Os; repeat the option, or separate values by commas. Default: -O2, -Os and the "
         "level in [budget].")]
#: The same as it was named before.
OldLevels = Annotated[list[str] | None, typer.Option("--levels", hidden=True)]
#: The compiler of an image.
Compiler = Annotated[str, typer.Option("--compiler", metavar="NAME", help="Compiler: auto, gcc, clang or "
                                                                          "zig.")]


def separated(given: Iterable[str] | None) -> list[str]:
    """Return the values of an option that may be repeated or separated by commas."""
    return [word.strip() for text in given or () for word in text.split(",") if word.strip()]


def level(text: str) -> str:
    """Return an optimisation level in full, such as ``-Os``.

    The option ``-Os`` on the command line passes only ``s``.
    """
    return text if text.startswith("-") else f"-O{text}"
