"""sim.spec: convert errors of pydantic to problems with code, place and remedy."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ..errors import Problem
from .fields import SpecTable
from .keys import TABLE_OF, TABLES, keys, words
from .source import KeyPath, Source

_SHOWN = 60

# pydantic's error types; those of wrong types (int_type, string_type, ...) are the rest.
_CODES = {"missing": "E106", "extra_forbidden": "E103", "literal_error": "E109",
          **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal",
                           "multiple_of", "finite_number", "string_too_short",
                           "string_pattern_mismatch"), "E108")}
_MESSAGES = {"E106": "is missing", "E107": "has the wrong type", "E108": "is out of range",
             "E109": "is not one of the choices"}


def abbreviate(value: Any) -> str:
    """Return the text of a value for a message; abbreviate long text."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):  # dates, for example
        text = str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN - 3] + "..."


def code_of(detail: ErrorDetails) -> str:
    """Return the error code for a pydantic error, whose type may itself be a code."""
    kind = detail["type"]
    return kind if kind.startswith("E") else _CODES.get(kind, "E107")


def message_of(detail: ErrorDetails, name: str) -> str:
    """Return the message for a pydantic error of the key `name`."""
    if detail["type"].startswith("E"):
        return detail["msg"]
    code = code_of(detail)
    return f"unknown key {name}" if code == "E103" else f"{name} {_MESSAGES[code]}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean ...?`` if a known word is similar, else an empty text."""
    match = difflib.get_close_matches(word.lower(), list(known), n=1)
    return f"did you mean {match[0]}?" if match else ""


def translated(detail: ErrorDetails, named: str, where: str, allowed: str, remedy: str) -> Problem:
    """Convert a pydantic error to a problem.

    If the error comes from one of kerncast's validators, its own allowed values and remedy replace `allowed`
    and `remedy`.
    """
    code, context = code_of(detail), detail.get("ctx", {})
    value = "" if code == "E106" else context.get("value") or abbreviate(detail["input"])
    return Problem(code, message_of(detail, named), where, value, context.get("allowed") or allowed,
                   context.get("remedy") or remedy)


def unknown(key: str, where: str, known: Iterable[str], remedy: str = "remove it") -> Problem:
    """Create the problem of an unknown key (E103)."""
    choices = list(known)
    return Problem("E103", f"unknown key {key}", where, key, ", ".join(choices),
                   did_you_mean(key, choices) or remedy)


def table_problems(name: str, table: type[SpecTable], values: Any, source: Source) -> dict[KeyPath, Problem]:
    """Validate one table; return its problems by the paths of their keys."""
    if not isinstance(values, Mapping):
        return {(name,): Problem("E107", f"{name} must be a table", source.where((name,)), abbreviate(values),
                                 f"a line [{name}], and its keys below it",
                                 f"write the keys below a line [{name}]")}
    try:
        table.model_validate(dict(values), by_alias=True, by_name=False)
    except ValidationError as error:
        found = (_problem(name, table, detail, source) for detail in error.errors(include_url=False))
        return dict(found)
    return {}


def _problem(name: str, table: type[SpecTable], detail: ErrorDetails,
             source: Source) -> tuple[KeyPath, Problem]:
    inner = tuple(str(part) for part in detail["loc"])
    path: KeyPath = (name, *inner)
    code, where, named = code_of(detail), source.where(path), path[-1]
    if isinstance(entry := detail["loc"][-1], int):  # one of a list
        where, named = source.where(path[:-1]), f"entry {entry + 1} of {path[-2]}"
    if code == "E103":
        return path, unknown_key(name, inner[0], table, where)
    allowed, remedy = words(table, inner[0])
    if code == "E106":
        remedy = "; ".join(text for text in (f"add a line {inner[0]} = ...", remedy) if text)
    return path, translated(detail, named, where, allowed, remedy or "choose one of the allowed values")


def unknown_key(name: str, key: str, table: type[SpecTable], where: str) -> Problem:
    """Create the problem of an unknown key in a table, with a suggestion as remedy."""
    own = keys(table)
    homes = [other for other, model in TABLES.items() if key in keys(model)]
    others = [algorithm for algorithm, table in TABLE_OF.items() if table in homes]
    if name in TABLE_OF.values() and others:
        elsewhere = f"remove {key}, which is only for algorithm {', '.join(others)}"
    else:
        elsewhere = f"move it to [{homes[0]}]" if homes else f"remove it from [{name}]"
    return unknown(key, where, own, elsewhere)


def unknown_table(key: str, value: Any, source: Source) -> Problem:
    """Create the problem of an unknown table, or of a key outside all tables."""
    homes = [other for other, model in TABLES.items() if key in keys(model)]
    if not isinstance(value, Mapping) and homes:
        remedy = f"write it below the line [{homes[0]}]"
    else:
        remedy = did_you_mean(key, TABLES) or "remove it"
    where = source.where((key,)).replace(f"[{key}]", key if not isinstance(value, Mapping) else f"[{key}]")
    return Problem("E104", f"unknown {'table' if isinstance(value, Mapping) else 'key outside all tables'}: "
                   f"{key}", where, key, ", ".join(f"[{t}]" for t in TABLES), remedy)
