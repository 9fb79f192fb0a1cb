"""cli: ``kerncast explain``: the catalogue of errors."""

from __future__ import annotations

from typing import Annotated

import typer

from .shell import JsonFlag, columns, show


def explain(code: Annotated[str | None, typer.Argument(
                metavar="CODE", help="E and three digits; none lists all.", show_default=False)] = None,
            as_json: JsonFlag = False) -> None:
    """Explain an error code: cause and remedy.

    Examples
    --------
    kerncast explain E203
    kerncast explain            lists every code
    """
    from ..sim.catalogue import CATALOGUE
    from ..sim.errors import fail

    if code is None:
        rows = sorted((key, entry.title) for key, entry in CATALOGUE.items())
        show({"codes": dict(rows)}, as_json, columns(rows))
        return
    entry = CATALOGUE.get(code.upper())
    if entry is None:
        raise fail("E190", "there is no such error code", where="CODE", value=code,
                   allowed=f"{min(CATALOGUE)} to {max(CATALOGUE)}",
                   remedy="copy the code from the beginning of the message")
    show({"code": code.upper(), **entry._asdict()}, as_json,
         f"{code.upper()}: {entry.title}\n\nCause   {entry.cause}\nRemedy  {entry.remedy}")
