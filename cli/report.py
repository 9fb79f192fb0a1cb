"""cli: ``kerncast report``: a sweep, or one design, as an HTML file that opens from disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .progress import bar
from .shell import JsonFlag, show

Given = Annotated[Path, typer.Argument(metavar="RUN", show_default=False, help=(
    "The folder of a sweep; or a spec, or a folder made by kerncast gen, for one design."))]
Out = Annotated[Path | None, typer.Option(
    "-o", "--out", metavar="FILE.html", show_default=False,
    help="Without it report.html in the run's folder, or NAME.html.")]
Results = Annotated[list[Path] | None, typer.Option(
    "--results", metavar="FILE", show_default=False,
    help="JSON of kerncast test, verify, demo, or sweep --confirm: what back ends answered; may be given "
         "again.")]


def report(given: Given, out: Out = None, results: Results = None, as_json: JsonFlag = False) -> None:
    """Write one HTML file with the pictures and tables of a sweep, or of one design.

    It needs nothing but a browser: no network, no other file. Of a sweep it shows the Pareto front, on which
    a design is chosen; of the chosen design its plan, words, error budget and costs, and its kerncast gen.

    Examples
    --------
    kerncast report ecg.sweep
    kerncast report ecg.sweep -o ecg.html --results results.json
    kerncast report ecg.toml -o ecg.html
    kerncast report build/ecg
    """
    from ..lab.output_paths import refuse_unwritable
    from ..lab.report import check_plotly, gathered, write_report

    check_plotly()  # before anything is computed
    if out is not None:
        refuse_unwritable(out, "-o", "the report")
    with bar(as_json, "report") as progress:
        page = gathered(given, results or (), progress)
    if out is None:
        out = given / "report.html" if page["kind"] == "sweep" else Path(f"{page['name']}.html")
        refuse_unwritable(out, "-o", "the report")
    size = write_report(page, out)
    points = page["points"]["count"] if page["kind"] == "sweep" else 1
    show({"report": str(out), "bytes": size, "points": points, "designs": len(page["designs"])}, as_json,
         f"{out}: {points:,} points, {len(page['designs'])} designs in full, {size / 1e6:.1f} MB")
