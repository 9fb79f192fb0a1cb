"""Hypothesis strategies that edit good input by its structure: texts, trees, tables and bytes."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st

#: What a number, a name or a text may be replaced by.
TOKENS = [
    "",
    "0",
    "-1",
    "1e999",
    "-0.0",
    "nan",
    "inf",
    "1_0",
    "\u0661",
    "0x10",
    "9" * 400,
    "1e-400",
    "9223372036854775808",
    "true",
    '"',
    "'",
    '"""',
    "[",
    "]",
    "{",
    "}",
    "[[",
    "=",
    ",",
    ":",
    "#",
    "\\",
    "\0",
    "\x1b[31m",
    "\u202e",
    "\ufeff",
    "\ud800",
    "../../x",
    "/dev/zero",
    "/etc/passwd",
    "*/",
    "</script>",
    "a.b.c",
    "é",
    "x" * 5000,
    "[" * 3000,
    "s16f15",
    "u1f0",
    "s64f0",
    "1979-05-27",
    "0" * 300,
]
#: Depths of nested lists and objects that a tree in Python could not hold, and the text that marks them.
DEPTHS, DEEP = (300, 900, 980, 1500, 5000), "deep: "
#: What a value of a tree may be replaced by.
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    -(2**63) - 1,
    2**70,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    "\0",
    "../../x",
    "*/ int x; /*",
    "9" * 400,
    [],
    [[]],
    [[1, 2], [3]],
    [None],
    {},
    {"": {}},
    {"a": {"b": [1]}},
    [0] * 3000,
    *(f"{DEEP}{depth}" for depth in DEPTHS),
]
#: What four bytes of a binary file may be replaced by.
WORDS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE]

_SMALL = st.integers(0, 1 << 16)
_EDITS = st.lists(st.tuples(st.integers(0, 5), _SMALL, _SMALL, st.integers(0, 255)), min_size=1, max_size=5)


def texts(seeds: list[str]) -> st.SearchStrategy[bytes]:
    """Texts made of seeds: lines and tokens replaced, repeated, removed, cut."""
    return st.builds(lambda at, edits: edited_text(seeds[at % len(seeds)], seeds, edits), _SMALL, _EDITS)


def edited_text(text: str, seeds: list[str], edits: list[tuple[int, int, int, int]]) -> bytes:
    for kind, at, other, which in edits:
        lines = text.split("\n")
        row = at % len(lines)
        token = TOKENS[which % len(TOKENS)]
        if kind == 0:  # a value
            name, equals, _ = lines[row].partition("=")
            lines[row] = f"{name}{equals}{token}" if equals else token
        elif kind == 1:  # a part of a line
            parts = lines[row].replace(",", " , ").split(" ")
            parts[other % len(parts)] = token
            lines[row] = "".join(parts)
        elif kind == 2:
            lines.insert(other % (len(lines) + 1), lines[row])
        elif kind == 3:
            del lines[row]
        elif kind == 4:
            lines[row] = (
                lines[row][: other % (len(lines[row]) + 1)]
                + token
                + lines[row][other % (len(lines[row]) + 1) :]
            )
        else:  # half of another
            more = seeds[other % len(seeds)].split("\n")
            lines = lines[:row] + more[which % len(more) :]
        text = "\n".join(lines)
    return (
        text.encode("utf-8", "surrogateescape" if which % 2 else "surrogatepass")
        if _encodable(text, which)
        else text.encode("utf-8", "replace")
    )


def _encodable(text: str, which: int) -> bool:
    try:
        text.encode("utf-8", "surrogateescape" if which % 2 else "surrogatepass")
        return True
    except UnicodeEncodeError:
        return False


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of a few hundred nodes of a tree."""
    found = [path] if path else []
    items = (
        tree.items() if isinstance(tree, dict) else enumerate(tree[:20]) if isinstance(tree, list) else ()
    )
    for key, value in items:
        found += places(value, (*path, key))
    return found


def edited_tree(tree: Any, edits: list[tuple[int, int, int, int]]) -> Any:
    """Return a copy of a tree with nodes replaced, removed, renamed, repeated or nested."""
    tree = copy.deepcopy(tree)
    for kind, at, other, which in edits:
        nodes = places(tree)
        if not nodes:
            return copy.deepcopy(VALUES[which % len(VALUES)])
        *path, last = nodes[at % len(nodes)]
        parent = tree
        for key in path:
            parent = parent[key]
        value = copy.deepcopy(VALUES[which % len(VALUES)])
        if kind in (0, 1):
            parent[last] = value
        elif kind == 2:
            del parent[last]
        elif kind == 3 and isinstance(parent, dict):
            parent[TOKENS[which % len(TOKENS)]] = parent.pop(last)
        elif kind == 4:  # a value of elsewhere
            *route, end = nodes[other % len(nodes)]
            found = tree
            try:
                for key in (*route, end):
                    found = found[key]
                parent[last] = copy.deepcopy(found)
            except (KeyError, IndexError, TypeError):
                parent[last] = value
        else:
            deep = parent[last]
            for _ in range(1 << other % 6):
                deep = [deep]
            parent[last] = deep
    return tree


def as_json(tree: Any) -> str:
    """Return JSON of a tree, deep places written out."""
    text = json.dumps(tree)
    for depth in DEPTHS:
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            text = text.replace(f'"{DEEP}{depth}"', f"{opening * depth}1{closing * depth}", 1)
    return text


def trees(seeds: list[Any]) -> st.SearchStrategy[Any]:
    """Trees made of seeds by their structure."""
    return st.builds(lambda at, edits: edited_tree(seeds[at % len(seeds)], edits), _SMALL, _EDITS)


def blobs(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Bytes made of seeds: words overwritten, slices repeated, removed, cut."""
    return st.builds(lambda at, edits: edited_bytes(seeds[at % len(seeds)], edits), _SMALL, _EDITS)


def edited_bytes(seed: bytes, edits: list[tuple[int, int, int, int]]) -> bytes:
    data = bytearray(seed)
    for kind, at, other, which in edits:
        place = at % (len(data) + 1)
        word = WORDS[which % len(WORDS)]
        if kind == 0 and data:
            data[place % len(data)] = which
        elif kind == 1:
            data[place : place + 4] = word.to_bytes(4, "little" if other % 2 else "big")
        elif kind == 2:
            data[place : place + 2] = (word & 0xFFFF).to_bytes(2, "little")
        elif kind == 3:
            data[place:place] = data[place : place + other % 64]
        elif kind == 4:
            del data[place : place + 1 + other % 64]
        else:
            del data[place:]
    return bytes(data)
