"""codegen: read files of the package, the user's firmware files, and templates."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from ..sim.errors import fail

if TYPE_CHECKING:
    from jinja2 import Environment

#: Environment variable with a folder whose files are added to those of ``firmware/``.
OWN_FIRMWARE = "KERNCAST_FIRMWARE"

_ROOT = __package__.rpartition(".")[0]


def resource(path: str) -> Traversable:
    """Return a file or folder of the installed package; `path` uses slashes."""
    return files(_ROOT).joinpath(*path.split("/"))


def read_text(path: str) -> str:
    """Read a text file of the installed package."""
    return resource(path).read_text(encoding="utf-8")


def firmware_files(folder: str) -> dict[str, Traversable]:
    """Return the files of a ``firmware/`` folder and of the user's folder, by name.

    Raises
    ------
    KerncastError
        E324 if the environment variable :data:`OWN_FIRMWARE` does not name a folder, or if a file in this
        folder has the name of a file in the package.
    """
    place = resource(f"firmware/{folder}")
    shipped = {entry.name: entry for entry in place.iterdir()} if place.is_dir() else {}
    given = os.environ.get(OWN_FIRMWARE)
    if not given:
        return shipped
    if not Path(given).is_dir():
        raise fail("E324", "no such folder", where=OWN_FIRMWARE, value=given,
                   allowed="a folder with a subfolder boards, targets, uart or counter",
                   remedy="correct KERNCAST_FIRMWARE")
    inner = Path(given, folder)
    own = {entry.name: entry for entry in inner.iterdir()} if inner.is_dir() else {}
    for name in sorted(shipped.keys() & own.keys()):
        raise fail("E324", "kerncast already contains a file of this name", where=str(own[name]), value=name,
                   allowed="a new name", remedy="rename your file, and change the id inside it")
    return shipped | own


def _template(name: str) -> tuple[str, str, None] | None:
    """Return the text and path of a Jinja template, or None if it is missing."""
    try:
        return read_text(f"templates/{name}"), f"templates/{name}", None
    except (FileNotFoundError, IsADirectoryError):
        return None


@cache
def environment() -> Environment:
    """Return the Jinja environment.

    A template that uses an undefined name raises an error. A line that contains only a block tag is removed.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # what reads boards renders nothing

    return Environment(loader=FunctionLoader(_template), undefined=StrictUndefined, trim_blocks=True,
                       lstrip_blocks=True, keep_trailing_newline=True, autoescape=False)
