"""sim.spec: the base class of all tables of a spec, and keys with their texts."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class SpecTable(BaseModel):
    """Table of the spec: frozen, strict types, no unknown keys, finite numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True,
                              allow_inf_nan=False)


def key(default: Any = ..., *, about: str, allowed: str, remedy: str = "", **limits: Any) -> Any:
    """Return a field with its texts: description, allowed values and remedy."""
    return Field(default, description=about, json_schema_extra={"allowed": allowed, "remedy": remedy},
                 **limits)
