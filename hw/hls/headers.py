"""hw.hls: find the headers of a dialect's integer types; kerncast ships none."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from ...codegen.hls import DIALECTS, Dialect
from ...sim.errors import KerncastError, fail

#: The headers alone are needed: no package that it asks for is loaded.
INSTALL = "python -m pip install --no-deps hls4ml"


def known_dialect(name: str) -> str:
    """Return a dialect by name; raise E420 for an unknown one."""
    if name not in DIALECTS:
        raise fail("E420", "this dialect of HLS C++ is not supported", where="back end", value=f"hls:{name}",
                   allowed=", ".join(f"hls:{known}" for known in DIALECTS), remedy="choose one of the "
                                                                                   "allowed values")
    return name


def _missing(dialect: Dialect, where: str, value: str) -> KerncastError:
    return fail("E501", f"the integer headers of {dialect.title} are missing", where=where,
                value=value,
                allowed=f"a folder with {dialect.header}",
                remedy=f"{INSTALL}; or name a folder that has {dialect.header} in {dialect.variable}")


def header_folder(name: str) -> Path:
    """Find the include folder of a dialect.

    The folder is named by the dialect's environment variable, or is part of the package hls4ml.

    Parameters
    ----------
    name : str
        A name from :data:`..codegen.hls.DIALECTS`.

    Returns
    -------
    Path

    Raises
    ------
    KerncastError
        E501 if the headers are not found.
    """
    dialect = DIALECTS[name]
    chosen = os.environ.get(dialect.variable)
    if chosen:
        folder = Path(chosen).expanduser()
        if not (folder / dialect.header).is_file():
            raise _missing(dialect, dialect.variable, chosen)
        return folder.absolute()
    found = importlib.util.find_spec("hls4ml")
    for place in [] if found is None else found.submodule_search_locations or []:
        folder = Path(place, *dialect.packaged.split("/"))
        if (folder / dialect.header).is_file():
            return folder.absolute()
    raise _missing(dialect, "back end", f"hls:{name}")
