"""sim.spec: codes and messages for pydantic's findings, with the values as the user wrote them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from typing import Any

from pydantic_core import ErrorDetails

_SHOWN = 60

# pydantic's error types; all others (int_type, string_type, ...) are wrong types.
_CODES = {"missing": "E106", "extra_forbidden": "E103", "literal_error": "E109",
          **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal",
                           "multiple_of", "finite_number", "string_too_short",
                           "string_pattern_mismatch"), "E108")}
_MESSAGES = {"E106": "is missing", "E107": "has the wrong type", "E108": "is out of range",
             "E109": "is not one of the choices"}


def abbreviate(value: Any) -> str:
    """Return a value as the user wrote it, abbreviated."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):  # dates and the like
        text = str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN - 3] + "..."


def code_of(detail: ErrorDetails) -> str:
    """Return the code of a finding of pydantic; kerncast's own errors carry theirs."""
    kind = detail["type"]
    return kind if kind.startswith("E") else _CODES.get(kind, "E107")


def message_of(detail: ErrorDetails, name: str) -> str:
    """Return what is wrong with the key `name`, in one sentence."""
    if detail["type"].startswith("E"):
        return detail["msg"]
    code = code_of(detail)
    return f"unknown key {name}" if code == "E103" else f"{name} {_MESSAGES[code]}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``did you mean ...?`` if a known word is similar, else ""."""
    match = difflib.get_close_matches(word.lower(), list(known), n=1)
    return f"did you mean {match[0]}?" if match else ""
