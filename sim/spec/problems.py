"""sim.spec: pydantic's findings as problems with a code, a place and a remedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ..errors import Problem
from .source import KeyPath, Source
from .tables import TABLE_OF, TABLES, SpecTable, keys, words
from .wrong_keys import abbreviate, code_of, did_you_mean, message_of


def table_problems(name: str, table: type[SpecTable], values: Any, source: Source) -> dict[KeyPath, Problem]:
    """Return all problems inside one table, by key path."""
    if not isinstance(values, Mapping):
        return {(name,): Problem("E107", f"{name} must be a table", source.where((name,)), abbreviate(values),
                                 f"a line [{name}] with its keys below", "make it a table")}
    try:
        table.model_validate(dict(values), by_alias=True, by_name=False)
    except ValidationError as error:
        found = (_problem(name, table, detail, source) for detail in error.errors(include_url=False))
        return dict(found)
    return {}


def _problem(name: str, table: type[SpecTable], detail: ErrorDetails, source: Source) -> tuple[KeyPath,
                                                                                               Problem]:
    inner = tuple(str(part) for part in detail["loc"])
    path: KeyPath = (name, *inner)
    code, context = code_of(detail), detail.get("ctx", {})
    where, named = source.where(path), path[-1]
    if isinstance(entry := detail["loc"][-1], int):  # one of a list
        where, named = source.where(path[:-1]), f"entry {entry + 1} of {path[-2]}"
    if code == "E103":
        return path, unknown_key(name, inner[0], table, where)
    allowed, remedy = words(table, inner[0])
    value = "" if code == "E106" else abbreviate(detail["input"])
    if code == "E106":
        remedy = "; ".join(text for text in (f"add a line {inner[0]} = ...", remedy) if text)
    return path, Problem(code, message_of(detail, named), where, value, context.get("allowed") or allowed,
                         context.get("remedy") or remedy or "choose one of these")


def unknown_key(name: str, key: str, table: type[SpecTable], where: str) -> Problem:
    """Return the problem of a key that its table does not have, with a suggestion."""
    own = keys(table)
    homes = [other for other, model in TABLES.items() if key in keys(model)]
    others = [algorithm for algorithm, table in TABLE_OF.items() if table in homes]
    if name in TABLE_OF.values() and others:
        elsewhere = f"remove it: {key} is only for algorithm {', '.join(others)}"
    else:
        elsewhere = f"move it to [{homes[0]}]" if homes else f"remove it from [{name}]"
    return Problem("E103", f"unknown key {key}", where, key, ", ".join(own), did_you_mean(key, own)
                   or elsewhere)


def unknown_table(key: str, value: Any, source: Source) -> Problem:
    """Return the problem of an unknown name at the top level of the file."""
    homes = [other for other, model in TABLES.items() if key in keys(model)]
    if not isinstance(value, Mapping) and homes:
        remedy = f"write it below the line [{homes[0]}]"
    else:
        remedy = did_you_mean(key, TABLES) or "remove it"
    where = source.where((key,)).replace(f"[{key}]", key if not isinstance(value, Mapping) else f"[{key}]")
    return Problem("E104", f"unknown {'table' if isinstance(value, Mapping) else 'key outside all tables'}: "
                   f"{key}", where, key, ", ".join(f"[{t}]" for t in TABLES), remedy)
