"""cli: ``kerncast schema``: print the JSON Schema of a spec, for editors."""

from __future__ import annotations

from ._options import JsonFlag
from ._output import print_json


def schema(as_json: JsonFlag = False) -> None:
    """Print the JSON Schema of a spec, for editors.

    Save it next to your specs, and refer to it in the first line of each spec with #:schema. An editor that
    supports TOML then completes keys, shows their descriptions, and marks errors. The output is always JSON,
    with or without --json.

    Examples
    --------
    kerncast schema > kerncast.schema.json
    """
    from ..sim.spec.schema import spec_schema

    print_json(spec_schema())
