"""cli: ``kerncast doctor``: report missing tools and how to install them."""

from __future__ import annotations

import shlex
import shutil
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Annotated, NamedTuple

import typer

from ..sim.errors import EXIT_TOOL_MISSING, fail, for_this_python
from ._complete import tool_groups
from ._options import JsonFlag, separated
from ._output import Answer, command_lines, emit, table
from ._tools import GROUPS, PACKAGES, PROGRAMS

_PIP = "python -m pip install"
_APT = "sudo apt-get install -y --no-install-recommends"


class Tool(NamedTuple):
    """Package or program; `found` is its version or path, or empty if it is missing."""

    group: str
    name: str
    package: str
    purpose: str
    found: str
    python: bool


def look(groups: list[str]) -> list[Tool]:
    """Look for the tools in the given groups.

    No tool is run, except g++ to find header files.
    """
    from ..hw.rtl.simulators import header_file

    tools = [Tool(group, package, package, purpose, _version(package, module), True)
             for group in groups for package, module, purpose in PACKAGES.get(group, ())]
    tools += [Tool(group, program, package, purpose,
                   header_file(program) if program.endswith(".h") else shutil.which(program) or "", False)
              for group in groups for program, package, purpose in PROGRAMS.get(group, ())]
    known = {tool.name for tool in tools}
    return tools + [tool for group in groups for tool in _of_boards(group) if tool.name not in known]


def _of_boards(group: str) -> list[Tool]:
    """Return the compilers, emulators and flash tools of all targets and boards."""
    from ..codegen.firmware.targets import all_boards, all_targets, load_arch

    boards = all_boards()[0]
    arches = [load_arch(name) for name in sorted({target.arch for target in all_targets()[0]})]
    users: dict[tuple[str, str], list[str]] = {}  # by program, and the command that installs it
    if group == "compilers":
        rows = [(row.program, row.install, a.title) for a in arches for row in a.compilers().values()]
    elif group == "emulators":
        rows = [(row.program, row.install, b.id) for b in boards for row in b.emulators.values()]
    elif group == "loaders":
        rows = [(row.command[0], row.install, b.id) for b in boards for row in b.flashers.values()]
    else:
        rows = []
    for program, install, user in rows:
        if not program.startswith("python:"):  # a package: in its own group
            users.setdefault((program, install), []).append(user)
    return [Tool(group, program, install.removeprefix(_PIP).removeprefix(_APT).strip(), ", ".join(who),
                 shutil.which(program) or "", install.startswith(_PIP))
            for (program, install), who in users.items()]


def _version(package: str, module: str) -> str:
    try:
        if find_spec(module) is None:
            return ""
        return version(package)
    except PackageNotFoundError:  # importable, but not installed as a package
        return "unknown version"
    except ImportError:  # the parent of a dotted module is missing
        return ""


def commands(tools: list[Tool]) -> list[str]:
    """Return the commands that install missing tools.

    The first command installs the Python packages, the second one the Debian packages.
    """
    found: list[str] = []
    for python, command in ((True, _PIP), (False, _APT)):
        missing = (t.package for t in tools if not t.found and t.python is python)
        packages = sorted({name for package in missing for name in package.split()})
        found += [for_this_python(f"{command} {' '.join(packages)}")] if packages else []
    return found


def doctor(group: Annotated[list[str] | None, typer.Option(
               "--group", metavar="NAME", show_default=False, autocompletion=tool_groups,
               help="Check this group only; repeat the option, or separate values by commas.")] = None,
           every: Annotated[bool, typer.Option(
               "--all", help="List the installed tools too.")] = False,
           strict: Annotated[bool, typer.Option("--strict",
                                                help="Exit with code 3 if a tool is missing.")] = False,
           as_json: JsonFlag = False) -> None:
    """Show which tools are missing, and the command that adds them.

    Examples
    --------
    kerncast doctor
    kerncast doctor --all
    kerncast doctor --group emu,emulators --strict
    """
    groups = separated(group)
    for name in groups:
        if name not in GROUPS:
            raise fail("E193", "no such group of tools", where="--group", value=name,
                       allowed=", ".join(GROUPS), remedy="choose one of the allowed values")
    tools = look(groups or list(GROUPS))
    missing = [t for t in tools if not t.found]
    emit(Answer({"tools": [t._asdict() for t in tools], "missing": len(missing), "commands": commands(tools)},
                _text(tools, missing, every)), as_json)
    if strict and missing:
        raise typer.Exit(EXIT_TOOL_MISSING)


def _text(tools: list[Tool], missing: list[Tool], every: bool) -> str:
    """Return a table of the missing tools or of all tools, and the install commands."""
    shown = tools if every else missing
    parts = [table([("group", "tool", "found", "needed for"),
                    *((t.group, t.name, t.found or "MISSING", t.purpose) for t in shown)])] if shown else []
    parts.append(f"{len(tools) - len(missing)} of {len(tools)} tools are installed"
                 + ("" if every or len(missing) == len(tools) else "; --all lists them"))
    if not missing:
        return "\n\n".join([*parts, "nothing missing"])
    names = ", ".join(dict.fromkeys(t.name for t in missing))
    words = shlex.split(" && ".join(commands(tools)))
    return "\n\n".join([*parts, f"{len(missing)} missing: {names}\nto add them all:\n{command_lines(words)}"])
