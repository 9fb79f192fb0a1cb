"""sim: optional packages and the files that they bring; E501 names the command that installs one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import KerncastError, fail


def from_package(module: str, package: str, use: Callable[[Any], Any], what: str = "the data need",
                 where: str = "source") -> Any:
    """What `use` takes from an optional module; E501 where `package`, which brings it, is not installed."""
    from importlib import import_module

    try:
        return use(import_module(module))
    except ImportError:
        raise missing(what, package, f"python -m pip install {package}", where) from None


def package_file(module: str, inside: str) -> Path | None:
    """A file that an installed package holds, found without importing it; None where it is not there."""
    from importlib.util import find_spec

    found = find_spec(module)
    folders = [] if found is None else found.submodule_search_locations or []
    return next((path for folder in folders if (path := Path(folder, inside)).exists()), None)


def debian_file(package: str, name: str) -> Path | None:
    """A file of that name where dpkg put it; None where the package, or dpkg, is not installed."""
    import shutil
    import subprocess

    if shutil.which("dpkg") is None:
        return None
    listing = subprocess.run(["dpkg", "-L", package], capture_output=True, text=True, check=False).stdout
    return next((Path(line) for line in listing.splitlines() if line.endswith(f"/{name}")), None)


def missing(what: str, package: str, command: str, where: str) -> KerncastError:
    """E501: `what` comes with `package`, which `command` installs."""
    return fail("E501", f"{what} {package}, which is not installed", where=where, value="not installed",
                allowed=package, remedy=command)
