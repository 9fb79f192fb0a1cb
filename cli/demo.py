"""cli: ``kerncast demo``: the main job on bundled real data, end to end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import EXIT_DIFFERENT
from .progress import steps
from .shell import JsonFlag, emit

if TYPE_CHECKING:
    from rich.table import Table

    from ..lab.compare.ledger import Row
    from ..lab.demo import Demo
    from ..lab.workflow import Outcome


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

    # A pipe has no width of its own; a table cut off there would lose figures.
    console = Console() if sys.stdout.isatty() else Console(width=100)
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

    measure = "accuracy" if "accuracy" in outcome.errors["float"] else "rms"
    table = Table(title=f"\n{_title(outcome)}", box=box.SIMPLE, padding=(0, 1, 0, 0), title_justify="left",
                  title_style="", caption=_caption(outcome), caption_justify="left", caption_style="dim")
    table.add_column("back end", no_wrap=True)
    for heading in (measure, "words", "unequal", "flash", "RAM", "stack", "learn", "predict"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, value in peers.items():
        table.add_row(name, _figure(measure, value), *[""] * 7)
    table.add_row("float64 reference", _error(outcome, "float", measure), *[""] * 7)
    for row in outcome.rows:
        table.add_row(_shown(row.backend), _error(outcome, row.backend, measure), *_counts(row), *_costs(row))
    return table


def _title(outcome: Outcome) -> str:
    plan = outcome.prepared.plan
    sizes = ", ".join(f"{k} = {v}" for k, v in plan.sizes.items())
    return f"{outcome.prepared.data.title}\n{plan.options['kernel']} kernel, {plan.word} bits, {sizes}"


def _caption(outcome: Outcome) -> str:
    parts = ["learn, predict: instructions a call on the board"]
    if "alpha_error" in outcome.errors["model"]:
        parts.append(f"alpha differs from float64 by {outcome.errors['model']['alpha_error']:.1e}")
    return "; ".join(parts)


def _shown(backend: str) -> str:
    """The name for people: what runs the words, rather than how to ask for it."""
    kind, *rest = backend.split(":")
    names = {"model": "integer model", "host": f"host C, {' '.join(rest)}", "emu": f"board in {rest[-1:]}",
             "rtl": f"RTL in {rest[-1:]}"}
    return names.get(kind, backend).translate(str.maketrans("", "", "[]'"))


def _figure(measure: str, value: float) -> str:
    return f"{100 * value:.1f} %" if measure == "accuracy" else f"{value:.3f}"


def _error(outcome: Outcome, name: str, measure: str) -> str:
    errors = outcome.errors.get(name, {})
    return _figure(measure, errors[measure]) if measure in errors else ""


def _counts(row: Row) -> tuple[str, str]:
    return (str(row.words), str(row.mismatches)) if row.words else ("", "")


def _costs(row: Row) -> tuple[str, ...]:
    costs: dict[str, Any] = row.costs
    if not costs:
        return ("",) * 5
    calls = costs["counts"]
    learn, predict = calls.get("train", calls.get("update")), calls.get("predict")
    return (*(f"{costs[k]:,}" for k in ("flash", "ram", "stack")),
            *("" if count is None else f"{count:,}" for count in (learn, predict)))
