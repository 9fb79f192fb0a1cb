"""cli: ``kerncast explain``: the catalogue of errors, and what each status of a device means."""

from __future__ import annotations

from typing import Annotated

import typer

from .complete import codes
from .shell import JsonFlag, columns, show


def explain(code: Annotated[str | None, typer.Argument(
                metavar="CODE", help="E203, or a status; none lists all.", autocompletion=codes,
                show_default=False)] = None,
            as_json: JsonFlag = False) -> None:
    """Explain an error code or a status: cause and remedy.

    Examples
    --------
    kerncast explain E203
    kerncast explain not_positive_definite
    kerncast explain            lists every code and status
    """
    from ..sim.catalogue import CATALOGUE
    from ..sim.errors import fail
    from ..sim.statuses import MEANINGS

    if code is None:
        rows = sorted((key, entry.title) for key, entry in CATALOGUE.items())
        statuses = [(name, meaning.title) for name, meaning in MEANINGS.items()]
        show({"codes": dict(rows), "statuses": dict(statuses)}, as_json,
             f"{columns(rows)}\n\n{columns(statuses)}")
        return
    key = code.lower() if code.lower() in MEANINGS else code.upper()
    entry = MEANINGS.get(key) or CATALOGUE.get(key)
    if entry is None:
        raise fail("E190", "there is no such error code", where="CODE", value=code,
                   allowed=f"{min(CATALOGUE)} to {max(CATALOGUE)}, or a status: {', '.join(MEANINGS)}",
                   remedy="copy the code from the beginning of the message")
    show({"code": key, **entry._asdict()}, as_json,
         f"{key}: {entry.title}\n\nCause   {entry.cause}\nRemedy  {entry.remedy}")
