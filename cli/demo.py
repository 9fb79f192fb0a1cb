"""cli: ``kerncast demo``: run the whole workflow on bundled real data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import EXIT_DIFFERENT
from ._options import JsonFlag
from ._output import print_json, print_text, table
from ._progress import steps

if TYPE_CHECKING:
    from ..lab.compare.ledger import Row
    from ..lab.demo import Demo
    from ..lab.workflow import Outcome


Out = Annotated[Path, typer.Option("-o", "--out", metavar="FOLDER", help="Folder for the results.")]


def demo(out: Out = Path("kerncast-demo"), as_json: JsonFlag = False) -> None:
    """Train two models on an emulated Cortex-M4.

    Toeplitz regularised least squares denoises an ECG, and kernel LMS with fixed memory classifies
    handwritten digits. Both models are trained on the emulated board, not on the host, and every value is
    compared with the integer model. Exits with 1 if a value differs.

    Examples
    --------
    kerncast demo
    kerncast demo -o results
    kerncast demo --json | jq .mismatches
    """
    from ..lab.demo import run_demo

    with steps(as_json) as step:
        result = run_demo(out, step)
    if as_json:
        print_json(result.as_dict())
    else:
        _print(result)
    if result.mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


def _print(result: Demo) -> None:
    for outcome in result.outcomes:
        print_text(f"{_title(outcome)}\n\n{_table(outcome, result.peers[outcome.prepared.plan.name])}\n\n"
                   f"{_caption(outcome)}\n")
    print_text(f"{result.words:,} values compared, {result.mismatches:,} mismatches")
    for problem in result.missing:
        print_text(f"skipped (tool not installed): {problem.value} (to install it: {problem.remedy})")
    print_text("\n".join(["Written:", *(f"  {path}" for path in result.files)]))


def _table(outcome: Outcome, peers: dict[str, float]) -> str:
    """Return a table with one row for each baseline and each back end."""
    measure = "accuracy" if "accuracy" in outcome.errors["float"] else "rms"
    rows: list[tuple[str, ...]] = [("back end", {"rms": "RMS"}.get(measure, measure), "values", "mismatches",
                                    "flash", "RAM", "stack", "learn", "predict")]
    rows += [(name, _figure(measure, value), *[""] * 7) for name, value in peers.items()]
    rows += [("float64 reference", _error(outcome, "float", measure), *[""] * 7)]
    rows += [(_shown(row.backend), _error(outcome, row.backend, measure), *_counts(row), *_costs(row))
             for row in outcome.rows]
    return table(rows)


def _title(outcome: Outcome) -> str:
    plan = outcome.prepared.plan
    sizes = ", ".join(f"{k} = {v}" for k, v in plan.sizes.items())
    return f"{outcome.prepared.data.title}\n{plan.options['kernel']} kernel, {plan.word} bits, {sizes}"


def _caption(outcome: Outcome) -> str:
    compilers = dict.fromkeys(row.costs["compiler"] for row in outcome.rows if row.costs.get("compiler"))
    built = f" (compiled with {', '.join(compilers)}; costs depend on it)" if compilers else ""
    parts = [f"learn, predict: instructions per call on the board{built}"]
    if "alpha_error" in outcome.errors["model"]:
        parts.append(f"alpha differs from float64 by {outcome.errors['model']['alpha_error']:.1e}")
    return "; ".join(parts)


def _shown(backend: str) -> str:
    """Return a readable name for a back end."""
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
