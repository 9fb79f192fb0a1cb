"""sim.spec: change values in the text of a spec without losing its comments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .source import TOKEN, KeyPath, Source
from .text import toml

#: New values by table and key; None comments the key out, and a table out if its key is empty.
Changes = Mapping[tuple[str, str], Any]


def edited(text: str, changes: Changes) -> str:
    """Return the text of a spec with changed values.

    The line and the comment of an existing key are preserved. A new key replaces its commented example if
    there is one; otherwise it is added after the last key of its table. A new table is added at the end.

    Parameters
    ----------
    text : str
        TOML text in which each table begins with a line ``[table]``.
    changes : mapping of (table, key) to value
        New values; None comments the key out. The key "" stands for the whole table, and its value must be
        None.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").rstrip("\n").split("\n")
    for (table, key), value in changes.items():
        found = Source.parse("\n".join(lines), "").lines
        if not key:
            lines = _without_table(lines, table, found)
        elif (table, key) in found:
            lines = _replaced(lines, found[table, key] - 1, key, value)
        elif value is not None:
            lines = _added(lines, table, key, value, found)
    return newline.join([*lines, ""])


def _entry(key: str, value: Any) -> str:
    return f"{key} = {toml(value)}"


def _replaced(lines: list[str], at: int, key: str, value: Any) -> list[str]:
    """Replace the value of the key at line `at`; if the value is None, comment it out."""
    rest = "\n".join(lines[at:])
    depth, seen, end = 0, False, len(rest)
    for token in TOKEN.finditer(rest):
        kind = token.lastgroup
        if depth == 0 and seen and kind in ("comment", "newline"):
            end = token.start()
            break
        seen |= kind == "equals"
        depth += (kind == "open") - (kind == "close")
    old, tail = rest[:end], rest[end:]
    if value is None:
        new = "\n".join(f"# {line}" for line in old.rstrip(" ").split("\n"))
    else:
        new = _entry(key, value)
    pad = max(len(old.split("\n")[-1]), len(new) + 1) if tail.startswith("#") else 0
    return [*lines[:at], *f"{new:{pad}}{tail}".split("\n")]


def _added(lines: list[str], table: str, key: str, value: Any, found: Mapping[KeyPath, int]) -> list[str]:
    """Add a key to its table; create the table if it is missing."""
    if (table,) not in found:
        return [*lines, "", f"[{table}]", _entry(key, value)]
    start = found[(table,)]
    later = [line for path, line in found.items() if line > start and path[0] != table]
    end = min(later) - 1 if later else len(lines)
    example = re.compile(rf"#\s*{re.escape(key)}\s*=[^#]*(?P<comment>#.*)?$")
    for i in range(start, end):
        if match := example.match(lines[i]):
            new, comment = _entry(key, value), match["comment"]
            new = f"{new:{match.start('comment') - 1}} {comment}" if comment else new
            return [*lines[:i], new, *lines[i + 1:]]
    last = end
    while last > start and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    return [*lines[:last], _entry(key, value), *lines[last:]]


def _without_table(lines: list[str], table: str, found: Mapping[KeyPath, int]) -> list[str]:
    """Comment a table out."""
    if (table,) not in found:
        return lines
    start = found[(table,)] - 1
    later = [line for path, line in found.items() if line - 1 > start and path[0] != table]
    end = min(later) - 1 if later else len(lines)
    return [*lines[:start],
            *(f"# {line}" if line.strip() and not line.lstrip().startswith("#") else line
              for line in lines[start:end]), *lines[end:]]
