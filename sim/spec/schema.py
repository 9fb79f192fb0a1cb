"""sim: the spec as JSON Schema, for editors that complete keys and mark mistakes while one types.

It is made from the tables that read a spec, and says what a table and its keys may be; what must hold between
keys (:mod:`.rules`) it says of the tables of an algorithm and the keys of a kernel only.
"""

from __future__ import annotations

from typing import Any

from ..choices import KERNEL_KEYS
from .tables import REQUIRED, TABLE_OF, TABLES, SpecTable

_DIALECT = "http://json-schema.org/draft-07/schema#"


def spec_schema() -> dict[str, Any]:
    """A spec as JSON Schema, draft 7.

    Returns
    -------
    dict
        Each key with its description, allowed values and remedy in words.
    """
    return {
        "$schema": _DIALECT, "title": "kerncast spec", "type": "object",
        "properties": {name: _table(table) for name, table in TABLES.items()},
        "required": list(REQUIRED), "additionalProperties": False,
        "allOf": [*map(_algorithm, TABLE_OF), *map(_kernel, KERNEL_KEYS)]}


def _table(table: type[SpecTable]) -> dict[str, Any]:
    """A table: its first line, its keys, and those that it needs."""
    made = table.model_json_schema(by_alias=True)
    return {"type": "object", "description": (table.__doc__ or "").splitlines()[0].replace("``", ""),
            "properties": {key: _key(value) for key, value in made["properties"].items()},
            **({"required": made["required"]} if "required" in made else {}), "additionalProperties": False}


def _key(made: dict[str, Any]) -> dict[str, Any]:
    """A key: TOML has no null, and an editor shows the description alone."""
    ours = ("allowed", "remedy", "title", "anyOf")
    found = {name: value for name, value in made.items() if name not in ours}
    choices = [choice for choice in made.get("anyOf", ()) if choice != {"type": "null"}]
    found |= choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {}
    if found.get("default", 0) is None:
        del found["default"]
    words = [made.get("description", ""), f"Allowed: {made['allowed']}" if made.get("allowed") else "",
             made.get("remedy", "")]
    return found | {"description": "\n\n".join(filter(None, words))}


def _when(table: str, key: str, value: str) -> dict[str, Any]:
    return {"properties": {table: {"properties": {key: {"const": value}}, "required": [key]}},
            "required": [table]}


def _algorithm(algorithm: str) -> dict[str, Any]:
    """An algorithm needs its own table, and has no other's."""
    others = {table: False for table in TABLE_OF.values() if table != TABLE_OF[algorithm]}
    return {"if": _when("model", "algorithm", algorithm),
            "then": {"required": [TABLE_OF[algorithm]], "properties": others}}


def _kernel(kind: str) -> dict[str, Any]:
    """A kernel needs the keys of its type, and has no other's; without a type it is gaussian."""
    keys = KERNEL_KEYS[kind]
    others = {key: False for names in KERNEL_KEYS.values() for key in names if key not in keys}
    when = _when("kernel", "type", kind)
    if kind == "gaussian":
        when = {"properties": {"kernel": {"properties": {"type": {"const": kind}}}}, "required": ["kernel"]}
    return {"if": when, "then": {"properties": {"kernel": {"required": list(keys), "properties": others}}}}
