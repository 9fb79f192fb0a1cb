"""cli: ``kerncast demo``: the main job on bundled real data, end to end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import EXIT_DIFFERENT
from .progress import steps
from .shell import JsonFlag, emit

if TYPE_CHECKING:
    from rich.table import Table

    from ..lab.demo import Demo
    from ..lab.example import Outcome
    from ..lab.ledger import Row


def demo(out: Annotated[Path, typer.Option("-o", "--out", help="Where the results go."),
                        ] = Path("kerncast-demo"), as_json: JsonFlag = False) -> None:
    """Train two kernel machines on an emulated Cortex-M4 and compare every word with the model.

    An ECG is denoised by Toeplitz regularised least squares, and handwritten digits are told apart by
    kernel LMS in fixed memory; each is trained on the board, not on the host.

    Examples
    --------
    kerncast demo
    kerncast demo -o results
    kerncast demo --json | jq .mismatches
    """
    from ..lab.demo import run_demo

    with steps(as_json) as tell:
        result = run_demo(out, tell)
    if as_json:
        emit(result.as_dict())
    else:
        _print(result)
    if result.mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


def _print(result: Demo) -> None:
    from rich.console import Console

    console = Console()
    for outcome in result.outcomes:
        console.print(_table(outcome, result.peers[outcome.prepared.plan.name]))
    console.print(f"\n{result.words} words compared, {result.mismatches} unequal.")
    for problem in result.missing:
        console.print(f"Not run, for want of a tool: {problem.value} (to add it: {problem.remedy})",
                      markup=False)
    console.print("Written:")
    for path in result.files:
        console.print(f"  {path}", markup=False, highlight=False)


def _table(outcome: Outcome, peers: dict[str, float]) -> Table:
    from rich import box
    from rich.table import Table

    plan = outcome.prepared.plan
    measure = "accuracy" if "accuracy" in outcome.errors["float"] else "rms error"
    sizes = ", ".join(f"{k} = {v}" for k, v in plan.sizes.items())
    table = Table(title=f"\n{outcome.prepared.data.title}\n{plan.word} bits, {sizes}", box=box.SIMPLE,
                  title_justify="left")
    table.add_column("back end")
    for heading in (measure, "alpha error", "words", "unequal", "flash", "RAM", "stack", "instructions"):
        table.add_column(heading, justify="right")
    for name, value in peers.items():
        table.add_row(name, _figure(measure, value), *[""] * 7)
    table.add_row("float64 reference", *_errors(outcome, "float", measure), *[""] * 6)
    for row in outcome.rows:
        table.add_row(row.backend, *_errors(outcome, row.backend, measure), *_counts(row), *_costs(row))
    return table


def _figure(measure: str, value: float) -> str:
    return f"{100 * value:.1f} %" if measure == "accuracy" else f"{value:.3f}"


def _errors(outcome: Outcome, name: str, measure: str) -> tuple[str, str]:
    errors = outcome.errors.get(name, {})
    key = "accuracy" if measure == "accuracy" else "rms"
    alpha = f"{errors['alpha_error']:.1e}" if "alpha_error" in errors else ""
    return (_figure(measure, errors[key]) if key in errors else ""), alpha


def _counts(row: Row) -> tuple[str, str]:
    return (str(row.words), str(row.mismatches)) if row.words else ("", "")


def _costs(row: Row) -> tuple[str, str, str, str]:
    costs: dict[str, Any] = row.costs
    if not costs:
        return "", "", "", ""
    counts = "  ".join(f"{call} {count:,}" for call, count in costs["instructions"].items()
                       if count is not None)
    return f"{costs['flash']:,}", f"{costs['ram']:,}", f"{costs['stack']:,}", counts
