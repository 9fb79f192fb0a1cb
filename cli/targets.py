"""cli: ``kerncast targets``: what code can be generated for."""

from __future__ import annotations

from typing import Annotated

import typer

from .shell import JsonFlag, columns, show


def targets(name: Annotated[str | None, typer.Argument(metavar="ID", help="Show one target in full.",
                                                       show_default=False)] = None,
            as_json: JsonFlag = False) -> None:
    """List the targets, or show one in full.

    Examples
    --------
    kerncast targets
    kerncast targets cortex-m4 --json
    """
    from ..codegen.targets import load_target, target_ids

    if name is not None:
        values = load_target(name).model_dump(mode="json")
        show(values, as_json, columns((key, str(value)) for key, value in values.items()))
        return
    known = [load_target(target) for target in target_ids()]
    show({"targets": [{"id": t.id, "title": t.title, "ram_bytes": t.ram_bytes, "flash_bytes": t.flash_bytes}
                      for t in known]}, as_json,
         columns([("id", "title", "RAM", "flash"),
                  *((t.id, t.title, f"{t.ram_bytes:,}", f"{t.flash_bytes:,}") for t in known)]))
