"""cli: ``kerncast schema``: what a spec may hold, as JSON Schema for editors."""

from __future__ import annotations

from .shell import JsonFlag, emit


def schema(as_json: JsonFlag = False) -> None:
    """Print what a spec may hold as JSON Schema, for editors that know TOML.

    Written into a file beside the specs, and named in the first line of a spec by #:schema, it makes such an
    editor complete keys, show what they mean, and mark mistakes.

    Examples
    --------
    kerncast schema > kerncast.schema.json
    """
    from ..sim.spec.schema import spec_schema

    emit(spec_schema())
