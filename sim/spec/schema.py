"""sim.spec: the JSON Schema of a spec, for completion and checks in an editor.

The schema is generated from the tables that validate a spec, and describes each table and key. Of the rules
on combinations of keys (:mod:`.rules`), it contains only two: each algorithm requires its table, and each
kernel requires its keys.
"""

from __future__ import annotations

from typing import Any

from ..choices import KERNEL_KEYS
from .fields import SpecTable
from .keys import REQUIRED, TABLE_OF, TABLES

#: [output] has the word of its ADC counts, or classes.
_TARGET = {"properties": {"output": {"anyOf": [{"required": ["word"]}, {"required": ["classes"]}]}}}
_DIALECT = "http://json-schema.org/draft-07/schema#"


def spec_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of a spec.

    Returns
    -------
    dict
        The schema, in which each key has a description, allowed values and a remedy as text.
    """
    return {
        "$schema": _DIALECT, "title": "kerncast spec", "type": "object",
        "properties": {name: _table(table) for name, table in TABLES.items()},
        "required": list(REQUIRED), "additionalProperties": False,
        "allOf": [_TARGET, *map(_algorithm, TABLE_OF), *map(_kernel, KERNEL_KEYS)]}


def _table(table: type[SpecTable]) -> dict[str, Any]:
    """Return the schema of a table: its summary, its keys and its required keys."""
    made = table.model_json_schema(by_alias=True)
    return {"type": "object", "description": (table.__doc__ or "").splitlines()[0].replace("``", ""),
            "properties": {key: _key(value) for key, value in made["properties"].items()},
            **({"required": made["required"]} if "required" in made else {}), "additionalProperties": False}


def _key(made: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a key, converted from the schema of pydantic.

    Null is removed, because TOML does not have it. The allowed values and the remedy become part of the
    description, because editors show only the description.
    """
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
    """Return the rule that a spec has the table of its algorithm and of no other."""
    others = {table: False for table in TABLE_OF.values() if table != TABLE_OF[algorithm]}
    return {"if": _when("model", "algorithm", algorithm),
            "then": {"required": [TABLE_OF[algorithm]], "properties": others}}


def _kernel(kind: str) -> dict[str, Any]:
    """Return the rule that a kernel has exactly the keys of its type.

    The default type is gaussian.
    """
    keys = KERNEL_KEYS[kind]
    others = {key: False for names in KERNEL_KEYS.values() for key in names if key not in keys}
    when = _when("kernel", "type", kind)
    if kind == "gaussian":
        when = {"properties": {"kernel": {"properties": {"type": {"const": kind}}}}, "required": ["kernel"]}
    return {"if": when, "then": {"properties": {"kernel": {"required": list(keys), "properties": others}}}}
