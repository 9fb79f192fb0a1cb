"""sim.spec: the base class of the tables of a spec, and the fields of their keys."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

#: Texts and limits of keys that several tables have: a format of ADC counts, and a positive number.
WORD: dict[str, str] = {"allowed": "s or u, 1 to 32 bits, f, number of fraction bits; such as u12f0 or "
                                    "s16f15",
                         "remedy": "write the sensor's format: s (signed) or u (unsigned), the word length, "
                                   "the letter f and the number of fraction bits"}
POSITIVE: dict[str, Any] = {"ge": 1e-12, "le": 1e12, "allowed": "a number above 0, 1e-12 to 1e12"}


class SpecTable(BaseModel):
    """Base class of the tables of a spec.

    A table is immutable. It rejects unknown keys, values of the wrong type, and numbers that are not finite.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True,
                              allow_inf_nan=False)


def key(default: Any = ..., *, about: str, allowed: str, remedy: str = "", **limits: Any) -> Any:
    """Return the field of a key with its description, allowed values and remedy."""
    return Field(default, description=about, json_schema_extra={"allowed": allowed, "remedy": remedy},
                 **limits)
