"""codegen: make file-static names unique for a unity build.

A unity build compiles the C files of several models as one file, in which each name must be unique. In the
templates, file-static functions, constants, types and macros have short names, unique only within one file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LINE = 110
_DEFINED = (
    re.compile(r"^static [^;={]*?\b(\w+)\(", re.MULTILINE),             # functions
    re.compile(r"^static [^;=(){}]*?\b(\w+)(?:\[[^]\n]*\])*(?: =|;)", re.MULTILINE),  # constants
    re.compile(r"^} (\w+);", re.MULTILINE),                             # types: structures
    re.compile(r"^typedef \w[\w ]* (\w+);", re.MULTILINE),             # and names of others
    re.compile(r"^#define (\w+)", re.MULTILINE),
)
#: Comments, strings, members and the operation that a trace names are left alone.
_TOKEN = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|(?:->|\.)\s*\w+|KC_TRACE(?:_ALL)?\(\w+|\w+', re.DOTALL)


def own_names(text: str, prefix: str) -> list[str]:
    """List the file-static names of a C file that lack the model's prefix."""
    names = {name: None for pattern in _DEFINED for name in pattern.findall(text)}
    return [name for name in names if not name.lower().startswith((f"{prefix}_", "kc_"))]


def localise(files: dict[str, str], prefix: str) -> dict[str, str]:
    """Add the names of model and file to all file-static names in a model's C files.

    Parameters
    ----------
    files : dict of str to str
        Texts by file name.
    prefix : str
        The name of the model.
    """
    used = set(re.findall(r"\w+", "\n".join(files.values())))
    return {name: _renamed(text, _fresh(own_names(text, prefix), name.removesuffix(".c"), used))
            if name.endswith(".c") else text for name, text in files.items()}


def _fresh(names: Iterable[str], stem: str, used: set[str]) -> dict[str, str]:
    """Map names to prefixed names that do not occur anywhere else in the model."""
    found = {}
    for name in names:
        new = f"{stem}_{name}" if name != name.upper() else f"{stem.upper()}_{name}"
        found[name] = f"{new}_static" if new in used else new
    return found


def _renamed(text: str, names: dict[str, str]) -> str:
    if not names:
        return text
    changed = _TOKEN.sub(lambda token: names.get(token[0], token[0]), text)
    return "\n".join(_wrapped(line) for line in changed.split("\n"))


def _wrapped(line: str) -> str:
    """Break a long line of code. A line with a trace hook is not broken."""
    if len(line) <= LINE or line.startswith(("#", "/*", " *")) or "KC_TRACE" in line:
        return line
    margin = " " * (len(line) - len(line.lstrip()) + 4)
    code = line.split("/*")[0]
    cuts = [m.end() for m in re.finditer(r", | (?=(?:[-+*?:&|<>=!]|&&|\|\|)+ )", code) if m.end() <= LINE]
    if not cuts or cuts[-1] <= len(margin):
        return line
    return line[:cuts[-1]].rstrip() + "\n" + _wrapped(margin + line[cuts[-1]:])
