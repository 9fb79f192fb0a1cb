"""hw.hls: find the header files with the integer types of an HLS dialect.

Kerncast does not include these files.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from ...codegen.hls import DIALECTS, Dialect
from ...sim.errors import KerncastError, fail

#: The headers alone are needed: no package that it asks for is loaded.
INSTALL = "python -m pip install --no-deps hls4ml"


def known_dialect(name: str) -> str:
    """Return `name` if it is a known dialect; otherwise raise E420."""
    if name not in DIALECTS:
        raise fail("E420", "this dialect of HLS C++ is not supported", where="back end", value=f"hls:{name}",
                   allowed=", ".join(f"hls:{known}" for known in DIALECTS), remedy="choose one of the "
                                                                                   "allowed values")
    return name


def _missing(dialect: Dialect, where: str, value: str) -> KerncastError:
    return fail("E501", f"the integer headers of {dialect.title} are missing", where=where,
                value=value,
                allowed=f"a folder with {dialect.header}",
                remedy=f"{INSTALL}; or set {dialect.variable} to a folder that contains {dialect.header}")


def header_folder(name: str) -> Path:
    """Return the folder of a dialect's header files.

    The environment variable of the dialect specifies the folder. If it is not set, the folder in the Python
    package hls4ml is used.

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
