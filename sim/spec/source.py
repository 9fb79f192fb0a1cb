"""sim.spec: parsed TOML text with the line of every key.

``tomllib`` parses the values and rejects invalid TOML, but it does not report the line of a key. Therefore a
small scanner, which recognises only strings, brackets and comments, splits a valid text into statements
(headers and ``key = value``). ``tomllib`` also parses the key of each statement.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._files import MAX_SPEC, read_text
from ..errors import fail

KeyPath = tuple[str, ...]

TOKEN = re.compile(r'''
    (?P<string> """(?:\\.|(?!""").)*"""+ | \'\'\'(?:(?!\'\'\').)*\'\'\'+
              | "(?:\\.|[^"\\\n])*" | '[^'\n]*' )
  | (?P<comment> \#[^\n]* )
  | (?P<newline> \n )
  | (?P<open> [\[{] )
  | (?P<close> [\]}] )
  | (?P<equals> = )
  | (?P<space> [ \t\r]+ )
  | (?P<other> . )
''', re.VERBOSE | re.DOTALL)

# A key of this many parts takes tomllib minutes; no key of a spec has more than four.
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){64}""")
# Bits of an integer that Python prints.
_MOST_BITS = 1 << 13
_SYNTAX_PLACE = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True)
class Source:
    """Values of a TOML text and their lines.

    Parameters
    ----------
    name : str
        The path of the file as the user wrote it; empty for values passed from Python.
    values : mapping
        The tables.
    lines : mapping of key path to int
        Line of each table header and each key, counted from 1. ``("setup", "1", "set")`` is the key `set` in
        the second table ``[[setup]]``.
    length : int
        Number of lines.
    """

    name: str
    values: Mapping[str, Any]
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    length: int = 0

    @classmethod
    def parse(cls, text: str, name: str) -> Source:
        """Parse a TOML text; raise E102, with the file and the line, if it is not valid."""
        text = text.replace("\r\n", "\n")
        try:
            if found := _LONG_KEY.search(text):
                line = text.count("\n", 0, found.start()) + 1
                raise ValueError(f"a key has too many parts (at line {line}, column 1)")
            values = tomllib.loads(text)
            _refuse_long_integers(values)
        except (ValueError, RecursionError) as error:  # also for numbers or nesting beyond Python's limits
            place = _SYNTAX_PLACE.search(str(error))
            line = int(place[1]) if place and place[1] else text.rstrip().count("\n") + 1
            shown = text.splitlines()[line - 1].strip() if text.strip() else ""
            raise fail("E102", f"invalid TOML: {_SYNTAX_PLACE.sub('', str(error))}",
                       where=f"{name}:{line}", value=shown, allowed="[table] or key = value",
                       remedy="correct this line; text is quoted, numbers are not") from None
        lines: dict[KeyPath, int] = {}
        for path, line in _statements(text):
            lines.setdefault(path, line)
        return cls(name, values, lines, text.rstrip("\n").count("\n") + 1)

    @classmethod
    def read(cls, path: Path) -> Source:
        """Read and parse a file; raise E101 if it cannot be read, E102 if it is not TOML."""
        try:
            text = read_text(path, MAX_SPEC, "utf-8-sig", piped=True)
        except (OSError, UnicodeDecodeError) as error:
            reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error.strerror
            raise fail("E101", f"cannot read the spec: {reason}", where=str(path),
                       value=path.name, allowed="a TOML file in UTF-8",
                       remedy="check the path, or write a spec with: kerncast init NAME") from None
        return cls.parse(text, str(path))

    def line(self, path: KeyPath) -> int:
        """Return the line of a key.

        If the text does not contain the key, return the line of its table, or else the last line.
        """
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return self.length

    def where(self, path: KeyPath) -> str:
        """Return the place of a key for messages, such as ``ecg.toml:12 [kernel] sigma``.

        Without a file, the place is only ``[kernel] sigma``.
        """
        table = f"[{path[0]}]" if len(path) < 3 else f"[{'.'.join(path[:-1])}]"
        place = " ".join((table, *path[1:][-1:]))
        return f"{self.name}:{self.line(path)} {place}" if self.name else place


def _refuse_long_integers(value: Any) -> None:
    """Raise ValueError for an integer that is too long for Python to print."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError("an integer has too many digits")
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            _refuse_long_integers(item)


def _statements(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Yield the key path and the line of every statement of a valid TOML text.

    The path of a key in an array of tables includes the index of the table, counted from 0.
    """
    tables: list[KeyPath] = [()]  # the table by its name, and with the element's index
    elements: dict[KeyPath, int] = {}
    depth = 0
    start: int | None = None  # where the statement began
    line, counted = 1, 0  # the line at this place of the text
    equals: int | None = None  # its first = outside strings and brackets
    for token in (*TOKEN.finditer(text), None):
        kind = token.lastgroup if token else "newline"
        at = token.start() if token else len(text)
        if kind == "newline" and depth == 0:
            if start is not None:
                line, counted = line + text.count("\n", counted, start), start
                key = _key(text[start:at if equals is None else equals], header=equals is None)
                if equals is None:
                    tables, key = [key], ()
                    if text.startswith("[[", start):
                        elements[tables[0]] = elements.get(tables[0], -1) + 1
                        tables.append((*tables[0], str(elements[tables[0]])))
                yield from ((table + key, line) for table in tables)
            start = equals = None
        elif kind not in ("space", "newline", "comment"):
            start = at if start is None else start
            equals = at if kind == "equals" and equals is None and depth == 0 else equals
            depth += (kind == "open") - (kind == "close")


def _key(text: str, header: bool) -> KeyPath:
    """Return the key path of a header or of the left side of ``=``.

    ``tomllib`` parses the names, so that quotes and escapes are treated in the same way.
    """
    node: Any = tomllib.loads(text if header else f"{text} = 0")
    path: list[str] = []
    while isinstance(node, (dict, list)) and node:
        if isinstance(node, list):
            node = node[0]
        else:
            (name, node), = node.items()
            path.append(name)
    return tuple(path)
