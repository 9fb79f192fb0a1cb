"""cli: ``kerncast explain``: explain an error code or a device status."""

from __future__ import annotations

from typing import Annotated

import typer

from ._complete import codes
from ._options import JsonFlag
from ._output import Answer, emit, table


def explain(code: Annotated[str | None, typer.Argument(
                metavar="CODE", help="An error code such as E203, or a status; without an argument, all "
                                     "codes are listed.",
                autocompletion=codes, show_default=False)] = None,
            as_json: JsonFlag = False) -> None:
    """Explain an error code or a status, with cause and remedy.

    Examples
    --------
    kerncast explain E203
    kerncast explain not_positive_definite
    kerncast explain            list every code and status
    """
    from ..sim.catalogue import CATALOGUE
    from ..sim.errors import fail
    from ..sim.statuses import MEANINGS

    if code is None:
        rows = sorted((key, entry.title) for key, entry in CATALOGUE.items())
        statuses = [(name, meaning.title) for name, meaning in MEANINGS.items()]
        emit(Answer({"codes": dict(rows), "statuses": dict(statuses)},
                    f"{table(rows)}\n\n{table(statuses)}"), as_json)
        return
    key = code.lower() if code.lower() in MEANINGS else code.upper()
    entry = MEANINGS.get(key) or CATALOGUE.get(key)
    if entry is None:
        raise fail("E190", "no such error code", where="CODE", value=code,
                   allowed=f"{min(CATALOGUE)} to {max(CATALOGUE)}, or a status: {', '.join(MEANINGS)}",
                   remedy="copy the code from the beginning of the message")
    emit(Answer({"code": key, **entry._asdict()},
                f"{key}: {entry.title}\n\n"
                + table([("Cause", entry.cause), ("Remedy", entry.remedy)])), as_json)
