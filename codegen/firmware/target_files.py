"""codegen: read the TOML files of targets, boards and architectures.

All errors in a file are reported together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from ...sim.errors import KerncastError, Problem, fail
from ...sim.spec.problems import abbreviate, code_of, did_you_mean, translated, unknown
from ...sim.spec.source import KeyPath, Source
from ..resources import firmware_files

#: What a rule finds: the key path, what is wrong, the value, what is allowed, what to do.
Finding = tuple[KeyPath, str, Any, str, str]
#: A rule beyond single keys: findings in the values of a file of that name.
Rule = Callable[[Mapping[str, Any], str], Iterator[Finding]]

_Model = TypeVar("_Model", bound=BaseModel)
COMPILERS = ("gcc", "clang", "zig")

_LIMITS = {"exclusiveMinimum": "above", "minimum": "from", "maximum": "to", "multipleOf": "and a multiple of"}
_BRACED = re.compile(r"\{([a-z_]+)\}")


def refused(message: str, value: str, allowed: str, remedy: str) -> PydanticCustomError:
    """Return error E324 for a pydantic validator that finds inconsistent keys."""
    return PydanticCustomError("E324", message, {"value": value, "allowed": allowed, "remedy": remedy})


def names(folder: str, prefix: str = "", suffix: str = ".toml") -> tuple[str, ...]:
    """List the ids of the files in a folder of ``firmware/`` and in the user's folder."""
    return tuple(sorted(name.removeprefix(prefix).removesuffix(suffix) for name in firmware_files(folder)
                        if name.startswith(prefix) and name.endswith(suffix)))


def drivers(folder: str) -> tuple[str, ...]:
    """List the driver names in ``firmware/uart`` or ``firmware/counter``."""
    return names(folder, f"kc_{folder}_", ".c")


def read(kind: type[_Model], folder: str, name: str, rules: Sequence[Rule] = ()) -> _Model:
    """Read a TOML file in a folder of ``firmware/``, and validate it.

    Raises
    ------
    KerncastError
        E102 if the file is not valid TOML; otherwise E103 to E109 and E324 for all errors, in file order.
    """
    file = firmware_files(folder).get(name)
    if file is None:
        raise fail("E324", "the file does not exist", where=f"firmware/{folder}/{name}",
                   allowed="a folder that contains this file",
                   remedy="correct the name, or add the missing file")
    source = Source.parse(file.read_text(encoding="utf-8"), str(file))
    found: dict[KeyPath, Problem] = {}
    model = None
    try:  # as JSON, where strict still reads a list as a tuple
        model = kind.model_validate_json(json.dumps(source.values, default=str), strict=True)
    except ValidationError as error:
        found.update(_problem(kind, detail, source) for detail in error.errors(include_url=False))
    for rule in rules:
        for path, message, value, allowed, remedy in rule(source.values, name.removesuffix(".toml")):
            found.setdefault(path, Problem("E324", message, _place(source, path), abbreviate(value), allowed,
                                           remedy))
    if found or model is None:
        raise KerncastError(found[path] for path in sorted(found, key=source.line))
    return model


def _problem(kind: type[BaseModel], detail: ErrorDetails, source: Source) -> tuple[KeyPath, Problem]:
    """Convert a validation error of pydantic to a problem with an error code."""
    path = _table_path(tuple(map(str, detail["loc"])), source.values)
    code, place = code_of(detail), _place(source, path)
    if code == "E103":
        return path, unknown(path[-1], place, _schema(kind, path[:-1]).get("properties", ()))
    schema = _schema(kind, path) if code != "E324" else {}
    remedy = (f"add {path[-1]}" if code == "E106" else
              did_you_mean(str(detail["input"]), schema.get("enum", ())) or "write one of the values allowed")
    return path, translated(detail, path[-1], place, "" if code == "E324" else _allowed(schema), remedy)


def _table_path(path: KeyPath, values: Any) -> KeyPath:
    """Cut the path of a key before an index into an array of plain values."""
    for at, part in enumerate(path):
        if isinstance(values, list):
            if not all(isinstance(entry, dict) for entry in values):
                return path[:at]
            values = values[int(part)]
        else:
            values = values.get(part) if isinstance(values, dict) else None
    return path


def _place(source: Source, path: KeyPath) -> str:
    """Return the position of a key as text.

    An example is ``firmware/boards/x.toml:12 [uart] baud``. In an array of tables, the line number identifies
    the table.
    """
    named = [part for part in path if not part.isdigit()]
    place = named[0] if len(named) == 1 and not isinstance(source.values.get(named[0]), (dict, list)) else (
        f"[{'.'.join(named[:-1]) or named[0]}]" + (f" {named[-1]}" if len(named) > 1 else ""))
    return f"{source.name}:{source.line(path)} {place}"


def _schema(kind: type[BaseModel], path: KeyPath) -> dict[str, Any]:
    """Return the JSON schema of the key at a path; empty if there is none."""
    whole = kind.model_json_schema()

    def resolved(node: dict[str, Any]) -> dict[str, Any]:
        choices = [choice for choice in node.get("anyOf", [node]) if choice.get("type") != "null"]
        reference = choices[0].get("$ref", "").rpartition("/")[2]
        return whole["$defs"][reference] if reference else choices[0]  # type: ignore[no-any-return]

    node = resolved(whole)
    for part in path:
        properties = node.get("properties", {})
        inner = properties.get(part) or node.get("items") or node.get("additionalProperties") or {}
        node = resolved(inner)
    return node


def _allowed(schema: Mapping[str, Any]) -> str:
    """Describe the values that a schema allows."""
    if "enum" in schema:
        return ", ".join(schema["enum"])
    kind = schema.get("type")
    if kind == "integer":
        limits = (f" {word} {schema[key]}" for key, word in _LIMITS.items() if key in schema)
        return "an integer" + "".join(limits)
    if kind == "string":
        return f"text in quotes that matches {schema['pattern']}" if "pattern" in schema else "text in quotes"
    if kind == "array":
        items = schema.get("items", {})
        if "$ref" in items:
            return "a list of tables, each written as [[NAME]]"
        return f"a list of: {_allowed(items)}"
    return "true or false" if kind == "boolean" else "a table with its keys below"


# ---- rules beyond single keys -----------------------------------------------------------------------------


def _at(values: Any, *path: str) -> Any:
    """Return the value at a path in the file; None if there is none."""
    for part in path:
        values = values.get(part) if isinstance(values, dict) else None
    return values


def id_is_the_files(values: Mapping[str, Any], name: str) -> Iterator[Finding]:
    """Require that the id in the file is the name of the file."""
    if isinstance(values.get("id"), str) and values["id"] != name:
        yield ("id",), "the id differs from the name of the file", values["id"], name, (
            f'write id = "{name}", or rename the file')


def flags_are_of_compilers(values: Mapping[str, Any], _name: str) -> Iterator[Finding]:
    """Require that the keys of [flags] are names of known compilers."""
    for compiler in _at(values, "flags") or ():
        if compiler not in COMPILERS:
            yield (("flags", compiler), "no such compiler", compiler, ", ".join(COMPILERS),
                   did_you_mean(compiler, COMPILERS) or "remove it")


def names_what_there_is(values: Mapping[str, Any], _name: str) -> Iterator[Finding]:
    """Require that the target, the drivers and the helpers of a board exist."""
    known = {("target",): names("targets"), ("uart", "kind"): drivers("uart"),
             ("counter", "kind"): (*drivers("counter"), "none")}
    for emulator in _at(values, "emulators") or ():
        known["emulators", emulator, "helper"] = names("emulators", suffix="")
    for path, choices in known.items():
        value = _at(values, *path)
        if isinstance(value, str) and value not in choices:
            what = path[0] if path[-1] == "kind" else path[-1]
            driver = " driver" if path[-1] == "kind" else ""
            yield (path, f"no such {what}{driver}", value, ", ".join(choices),
                   did_you_mean(value, choices) or "choose one of the allowed values, or add its file")


def braces_are_filled(values: Mapping[str, Any], _name: str) -> Iterator[Finding]:
    """Require that braces are closed and placeholders are known in all commands."""
    for table, key, places in (("emulators", "args", ("{helper}", "{fd}")),
                               ("flashers", "command", ("{elf}", "{port}"))):
        for name in _at(values, table) or ():
            words = _at(values, table, name, key)
            for word in words if isinstance(words, list) else ():
                if isinstance(word, str) and not (_balanced(word) and all(
                        f"{{{inner}}}" in places for inner in _BRACED.findall(word))):
                    yield ((table, name, key), "a brace is not closed, or a placeholder is unknown",
                           word, f"{' and '.join(places)}; every brace closed", f"write {places[0]}")


def _balanced(word: str) -> bool:
    depth = 0
    for letter in word:
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return False
    return depth == 0
