"""sim: import optional packages, and find the files that they install.

If a package is missing, the error E501 contains the command that installs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import KerncastError, fail


def in_command() -> bool:
    """Report whether this process is a command of kerncast, or was started by one.

    A command reads no settings of other packages in the working folder, which may be from elsewhere. A
    program that imports kerncast may want its own settings.
    """
    return bool(os.environ.get("PYTHONSAFEPATH"))


def from_package(module: str, package: str, use: Callable[[Any], Any], what: str = "the data need",
                 where: str = "source") -> Any:
    """Import an optional module and return ``use(module)``; raise E501 if missing."""
    from importlib import import_module

    try:
        return use(import_module(module))
    except ImportError:
        raise missing(what, package, f"python -m pip install {package}", where) from None


def package_file(module: str, inside: str) -> Path | None:
    """Return the path of a file in an installed package, or None.

    The package is not imported.
    """
    from importlib.util import find_spec

    found = find_spec(module)
    folders = [] if found is None else found.submodule_search_locations or []
    return next((path for folder in folders if (path := Path(folder, inside)).exists()), None)


def debian_file(package: str, name: str) -> Path | None:
    """Return the path of a file that a Debian package installed, or None."""
    import shutil
    import subprocess

    if shutil.which("dpkg") is None:
        return None
    listing = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False).stdout
    return next((Path(line) for line in listing.splitlines() if line.endswith(f"/{name}")), None)


def missing(what: str, package: str, command: str, where: str) -> KerncastError:
    """Create the error E501, which states that `what` requires `package`.

    `what` ends with a verb, such as "the data need"; `command` installs the package.
    """
    return fail("E501", f"{what} {package}, which is not installed", where=where, value="not installed",
                allowed=package, remedy=command)
