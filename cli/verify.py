"""cli: ``kerncast verify``: derive a generated folder again on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT
from ._complete import backends
from ._options import JsonFlag, separated
from ._output import Answer, emit, table
from ._progress import steps

if TYPE_CHECKING:
    from ..lab.compare.verification import Verification

Bundle = Annotated[Path, typer.Argument(
    metavar="OUT|BUNDLE", show_default=False, help="A folder that kerncast gen wrote, or a bundle of such a "
                                                   "folder.")]
On = Annotated[list[str] | None, typer.Option(
    "--on", metavar="BACKEND", autocompletion=backends, show_default="host",
    help="Back end to replay the vectors on; repeat the option, or separate values by commas.")]
Flips = Annotated[int, typer.Option(
    metavar="COUNT", min=0, help="Number of damaged saved states and of damaged frames to try, per kind of "
                                 "damage.")]
Out = Annotated[Path | None, typer.Option(
    "-o", "--out", metavar="FILE.zip", show_default=False,
    help="If the verification succeeds, write the folder as a bundle that another machine can verify.")]


def verify(given: Bundle, on: On = None, flips: Flips = 1000, out: Out = None, as_json: JsonFlag = False,
           ) -> None:
    """Derive a generated folder again and compare every byte.

    The plan, the results of the integer model and the code are computed again from the spec and the samples.
    If nothing differs, the vectors are replayed on each back end. Back ends are built from the derived files;
    code from a bundle is never compiled or run. Finally, bits are flipped in saved states and in frames of
    the HIL protocol, and every change must be detected. Exits with 1 if anything differs.

    Examples
    --------
    kerncast verify build/ecg
    kerncast verify build/ecg --on host:clang:-O0,emu:mps2-an386 -o ecg.zip
    kerncast verify ecg.zip --json
    """
    from ..hw.backends import check_name
    from ..lab.compare.verification import verify as run

    names = separated(on) or ["host"]
    for name in names:
        check_name(name)
    with steps(as_json) as step:
        found = run(given, names, flips, step, out)
    written = {} if out is None or found.mismatches else {"out": str(out)}
    text = _text(found) + (f"\nwrote {out}" if written else "")
    emit(Answer({**found.as_dict(), **written}, text), as_json)
    if found.mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


def _text(found: Verification) -> str:
    rows = [("derived again", "compared", "mismatches", "first difference"),
            *((check.name, f"{check.compared:,} {check.unit}", f"{check.mismatches:,}", check.first)
              for check in found.checks),
            *((row.backend, f"{row.words:,} values", f"{row.mismatches:,}", row.first) for row in found.rows)]
    damaged = [("damaged", "how", "times", "noticed", "harmless", "missed"),
               *((d.what, d.kind, f"{d.injected:,}", f"{d.noticed / d.injected:.2%}", f"{d.harmless:,}",
                  f"{d.missed:,}") for d in found.damage)]
    other = [("made with", "there", "here"), *((name, there, found.here.get(name, ""))
             for name, there in found.there.items() if there != found.here.get(name))]
    tables = [table(rows), *([table(damaged)] if len(damaged) > 1 else []),
              *([table(other)] if len(other) > 1 else [])]
    verdict = f"plan {found.plan}: {found.words:,} values compared, {found.mismatches:,} mismatches"
    trusted = ("TRUSTED: every byte and value equals what kerncast derives here from the spec and the samples"
               if found.trusted else
               f"NOT TRUSTED: {_first_difference(found)}; none of its code was compiled or run")
    return "\n\n".join([trusted, *tables, verdict])


def _first_difference(found: Verification) -> str:
    """Return the name of the first check or back end with a mismatch."""
    for check in found.checks:
        if check.mismatches:
            return (f"{check.name}: {check.mismatches:,} of {check.compared:,} {check.unit} differ, "
                    f"first in {check.first}")
    row = next((row for row in found.rows if row.mismatches), None)
    return f"{row.backend} differs at {row.first}" if row else "a damaged state or frame was accepted"
