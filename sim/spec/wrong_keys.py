"""sim: what pydantic finds wrong in any table, as codes and words; values as their writer knows them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

from pydantic_core import ErrorDetails

_SHOWN = 60

# pydantic's error types; those of wrong types (int_type, string_type, ...) are the rest.
_CODES = {"missing": "E106", "extra_forbidden": "E103", "literal_error": "E109",
          **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal",
                           "multiple_of", "finite_number", "string_too_short",
                           "string_pattern_mismatch"), "E108")}
_MESSAGES = {"E106": "is missing", "E107": "has the wrong type", "E108": "is out of range",
             "E109": "is not one of the choices"}


def shown(value: Any) -> str:
    """A value as its writer would know it again, shortened."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):  # dates and the like
        text = str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN - 3] + "..."


def code_of(detail: ErrorDetails) -> str:
    """The code of what pydantic found; an error of ours is of its code's type already."""
    kind = detail["type"]
    return kind if kind.startswith("E") else _CODES.get(kind, "E107")


def message_of(detail: ErrorDetails, name: str) -> str:
    """What is wrong with the key `name`, in one sentence."""
    if detail["type"].startswith("E"):
        return detail["msg"]
    code = code_of(detail)
    return f"unknown key {name}" if code == "E103" else f"{name} {_MESSAGES[code]}"


def near(word: str, known: Iterable[str]) -> str:
    """``did you mean ...?`` where a known word is near."""
    match = difflib.get_close_matches(word.lower(), list(known), n=1)
    return f"did you mean {match[0]}?" if match else ""
