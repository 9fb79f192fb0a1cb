"""Editors that draw an input from good ones by its structure: texts, trees and bytes."""

from __future__ import annotations

import json
import marshal
import random
from collections.abc import Callable
from typing import Any

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
    [0] * 300,
    *(f"{DEEP}{depth}" for depth in DEPTHS),
]
#: The same, packed: a copy by marshal takes a tenth of the time of copy.deepcopy.
PACKED = [marshal.dumps(value) for value in VALUES]
#: What four bytes of a binary file may be replaced by.
WORDS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE]

#: An edit: its kind, a place, another place, and which token, value or word.
Edit = tuple[int, int, int, int]


def drawn_edits(chance: random.Random) -> list[Edit]:
    """Draw one to five edits."""
    bits = chance.getrandbits
    return [(bits(8) % 6, bits(16), bits(16), bits(8)) for _ in range(1 + bits(8) % 5)]


def texts(seeds: list[str]) -> Callable[[random.Random], bytes]:
    """Texts made of seeds: lines and tokens replaced, repeated, removed, cut."""
    return lambda chance: edited_text(seeds[chance.getrandbits(16) % len(seeds)], seeds, drawn_edits(chance))


def edited_text(text: str, seeds: list[str], edits: list[Edit]) -> bytes:
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


def place(tree: Any, which: int) -> tuple[Any, ...]:
    """Return the path of a node: down from the root, and at each node on or not."""
    path: tuple[Any, ...] = ()
    while isinstance(tree, (dict, list)) and tree and not (path and which % 5 == 0):
        which = (which * 1103515245 + 12345) & 0x7FFFFFFF
        key = list(tree)[(which >> 8) % len(tree)] if isinstance(tree, dict) else (which >> 8) % len(tree)
        path, tree = (*path, key), tree[key]
    return path


def edited_tree(tree: Any, edits: list[Edit]) -> Any:
    """Return a tree, which is changed, with nodes replaced, removed, renamed, repeated or nested."""
    for kind, at, other, which in edits:
        if not isinstance(tree, (dict, list)) or not tree:
            return marshal.loads(PACKED[which % len(PACKED)])
        *path, last = place(tree, at)
        parent = tree
        for key in path:
            parent = parent[key]
        if kind in (0, 1):
            parent[last] = marshal.loads(PACKED[which % len(PACKED)])
        elif kind == 2:
            del parent[last]
        elif kind == 3 and isinstance(parent, dict):
            parent[TOKENS[which % len(TOKENS)]] = parent.pop(last)
        elif kind == 4:  # a value of elsewhere
            found = tree
            try:
                for key in place(tree, other):
                    found = found[key]
                parent[last] = marshal.loads(marshal.dumps(found))
            except (KeyError, IndexError, TypeError):
                parent[last] = marshal.loads(PACKED[which % len(PACKED)])
        else:
            deep = parent[last]
            for _ in range(1 << other % 6):
                deep = [deep]
            parent[last] = deep
    return tree


def as_json(tree: Any) -> str:
    """Return JSON of a tree, deep places written out."""
    text = json.dumps(tree)
    for depth in DEPTHS if DEEP in text else ():
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            text = text.replace(f'"{DEEP}{depth}"', f"{opening * depth}1{closing * depth}", 1)
    return text


def trees(seeds: list[Any]) -> Callable[[random.Random], Any]:
    """Trees made of seeds by their structure."""
    packed = [marshal.dumps(seed) for seed in seeds]  # a copy of each, sooner than by deepcopy
    return lambda chance: edited_tree(
        marshal.loads(packed[chance.getrandbits(16) % len(packed)]), drawn_edits(chance)
    )


def blobs(seeds: list[bytes]) -> Callable[[random.Random], bytes]:
    """Bytes made of seeds: words overwritten, slices repeated, removed, cut."""
    return lambda chance: edited_bytes(seeds[chance.getrandbits(16) % len(seeds)], drawn_edits(chance))


def edited_bytes(seed: bytes, edits: list[Edit]) -> bytes:
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
