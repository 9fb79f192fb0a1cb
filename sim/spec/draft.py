"""sim.spec: the values of a spec during its validation."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ..errors import Problem
from ..formats import Format
from .keys import TABLES, keys
from .problems import abbreviate
from .source import KeyPath, Source

Found = Iterator[tuple[KeyPath, Problem]]


class Draft:
    """Values of a spec that are valid so far, with a method that creates problems."""

    def __init__(self, source: Source, wrong: Collection[KeyPath]) -> None:
        self.source = source
        self.wrong = wrong

    def has(self, table: str) -> bool:
        """Return whether the spec contains the table, even if the table is not valid."""
        return table in self.source.values

    def given(self, table: str, key: str) -> bool:
        """Return whether the spec contains the key, even if its value is not valid."""
        values = self.source.values.get(table)
        return isinstance(values, dict) and key in values

    def get(self, table: str, key: str) -> Any:
        """Return the value of a key, or its default.

        The result is None if the value is not valid, or if it is missing and has no default.
        """
        values = self.source.values.get(table, {})
        # An invalid entry within a value (of formats, say) does not invalidate the others.
        if not isinstance(values, dict) or any(path[:2] == (table, key) for path in self.wrong
                                               if len(path) == 2):
            return None
        if key in values:
            return values[key]
        field = TABLES[table].model_fields[keys(TABLES[table])[key]]
        return None if field.is_required() else field.default

    def word(self, table: str) -> Format | None:
        """Return the format of the ADC counts of [input] or [output]."""
        text = self.get(table, "word")
        return None if text is None else Format.parse(text)

    def problem(self, code: str, message: str, *path: str, allowed: str, remedy: str,
                value: Any = None) -> tuple[KeyPath, Problem]:
        """Create a problem at a key or table; it contains the value found there."""
        found = self.get(*path[:2]) if value is None and len(path) > 1 else value
        plain = isinstance(found, str) and len(path) < 2
        text = "" if found is None else str(found) if plain else abbreviate(found)
        return path, Problem(code, message, self.source.where(path), text, allowed, remedy)
