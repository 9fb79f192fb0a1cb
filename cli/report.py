"""cli: ``kerncast report``: write a sweep or a design as an HTML file.

The file can be opened from disk.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._options import JsonFlag
from ._output import Answer, emit
from ._progress import bar

Given = Annotated[Path, typer.Argument(metavar="RUN|SPEC|OUT", show_default=False, help=(
    "The folder of a sweep; for one design a spec, or a folder that kerncast gen wrote."))]
Out = Annotated[Path | None, typer.Option(
    "-o", "--out", metavar="FILE.html", show_default=False,
    help="File to write. Default: report.html in the run's folder, or NAME.html.")]
Results = Annotated[list[Path] | None, typer.Option(
    "--results", metavar="FILE", show_default=False,
    help="Results of back ends: JSON of kerncast test, verify, demo, or sweep --confirm; repeat the option "
         "for more.")]
_ENDINGS = (".html", ".htm")


def report(given: Given, out: Out = None, results: Results = None, as_json: JsonFlag = False) -> None:
    """Write an HTML report of a sweep or of one design.

    You need only a browser to open the report; neither a network nor other files are required. For a sweep,
    it shows the Pareto front, on which you can choose a design. For a design, it shows the plan, the values,
    the error budget, the costs, and the kerncast gen command.

    Examples
    --------
    kerncast report ecg.sweep
    kerncast report ecg.sweep -o ecg.html --results results.json
    kerncast report ecg.toml -o ecg.html
    kerncast report build/ecg
    """
    from ..lab.report import check_plotly, gather_page, write_report

    check_plotly()  # before anything is computed
    if out is not None:
        _check(out)
    with bar(as_json, "report") as progress:
        page = gather_page(given, results or (), progress)
    if out is None:
        out = given / "report.html" if page["kind"] == "sweep" else Path(f"{page['name']}.html")
        _check(out)
    size = write_report(page, out)
    points = page["points"]["count"] if page["kind"] == "sweep" else 1
    emit(Answer({"report": str(out), "bytes": size, "points": points, "designs": len(page["designs"])},
                f"wrote {out}: {points:,} points, {len(page['designs'])} designs in full, "
                f"{size / 1e6:.1f} MB"), as_json)


def _check(out: Path) -> None:
    """Check that the report can be written, before it is computed.

    Raises E254 if the suffix is not that of HTML, and E191 if the file cannot be written.
    """
    from ..sim._output_files import refuse_unwritable
    from ..sim.errors import fail

    if out.suffix.lower() not in _ENDINGS:
        raise fail("E254", "kerncast cannot write a file with this suffix", where="-o", value=out.name,
                   allowed=", ".join(_ENDINGS), remedy="name a file such as report.html")
    refuse_unwritable(out, "-o", "the report")
