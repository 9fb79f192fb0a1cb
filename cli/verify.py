"""cli: ``kerncast verify``: every byte and word of a generated folder, derived anew on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT
from .complete import backends
from .progress import steps
from .shell import JsonFlag, columns, show

if TYPE_CHECKING:
    from ..lab.compare.verification import Verification


def verify(given: Annotated[Path, typer.Argument(metavar="BUNDLE", show_default=False,
                                                 help="A folder made by kerncast gen, or a bundle of one.")],
           on: Annotated[list[str] | None, typer.Option(
               "--on", help="A back end to replay the vectors on; may be repeated.", autocompletion=backends,
               show_default="host")] = None,
           flips: Annotated[int, typer.Option(
               min=0, help="Damaged saved states and frames of each kind.")] = 1000,
           out: Annotated[Path | None, typer.Option(
               "-o", "--out", metavar="FILE.zip", show_default=False,
               help="Where all is well: a bundle of the folder, for another machine to verify.")] = None,
           as_json: JsonFlag = False) -> None:
    """Derive a generated folder anew from its spec and samples, and compare every byte and word.

    The plan is made again, the integer model runs again, the code is generated again; the vectors are
    replayed on each back end, which is built from the derived files and only if
    nothing differs: nothing of a bundle is ever compiled or run. Then bits are flipped in saved states and
    in frames of the link, which must all be noticed.

    Examples
    --------
    kerncast verify build/ecg
    kerncast verify build/ecg --on host:clang:-O0 --on emu:mps2-an386 -o ecg.zip
    kerncast verify ecg.zip --json
    """
    from ..hw.backends import check_name
    from ..lab.compare.verification import verify as run

    names = on or ["host"]
    for name in names:
        check_name(name)
    with steps(as_json) as tell:
        found = run(given, names, flips, tell, out)
    written = {} if out is None or found.mismatches else {"out": str(out)}
    show({**found.as_dict(), **written}, as_json, _text(found) + (f"\n{out} written" if written else ""))
    if found.mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


def _text(found: Verification) -> str:
    rows = [("derived anew", "compared", "unequal", "first difference"),
            *((check.name, f"{check.compared:,} {check.unit}", f"{check.mismatches:,}", check.first)
              for check in found.checks),
            *((row.backend, f"{row.words:,} words", f"{row.mismatches:,}", row.first) for row in found.rows)]
    damaged = [("damaged", "how", "times", "noticed", "harmless", "missed"),
               *((d.what, d.kind, f"{d.injected:,}", f"{d.noticed / d.injected:.2%}", f"{d.harmless:,}",
                  f"{d.missed:,}") for d in found.damage)]
    other = [("made with", "there", "here"), *((name, there, found.here.get(name, ""))
             for name, there in found.there.items() if there != found.here.get(name))]
    tables = [columns(rows), *([columns(damaged)] if len(damaged) > 1 else []),
              *([columns(other)] if len(other) > 1 else [])]
    verdict = f"plan {found.plan}: {found.words:,} words, " + (
        f"{found.mismatches:,} MISMATCHES" if found.mismatches else "nothing differs")
    trusted = ("TRUSTED: every byte and value is what kerncast derives here from the spec and the samples"
               if found.trusted else
               f"NOT TRUSTED: {_first_difference(found)}; nothing of it was compiled or run")
    return "\n\n".join([trusted, *tables, verdict])


def _first_difference(found: Verification) -> str:
    """Name the first check or back end that differs."""
    for check in found.checks:
        if check.mismatches:
            return (f"{check.name}: {check.mismatches:,} of {check.compared:,} {check.unit} differ, "
                    f"first in {check.first}")
    row = next((row for row in found.rows if row.mismatches), None)
    return f"{row.backend} differs at {row.first}" if row else "damage was not noticed"
