"""cli: ``kerncast test``: replay a generated folder's vectors on back ends."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT, KerncastError, fail
from .build import GeneratedFolder
from .complete import backends
from .progress import steps
from .shell import JsonFlag, columns, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..lab.compare.bisection import Bisection
    from ..lab.compare.ledger import Row
    from ..sim.plan import Plan
    from ..sim.replay.vectors import Vectors

    Tell = Callable[[str], None]
    Run = Callable[[Plan, Vectors, str, Path, Tell], Row | Bisection]


def test(out: GeneratedFolder,
         on: Annotated[list[str], typer.Option("--on", help="Back end; may be given again.",
                                               autocompletion=backends, show_default=False)],
         predictions: Annotated[int, typer.Option(help="Predictions a call at most; 0 for all.", min=0)] = 0,
         bisect: Annotated[bool, typer.Option(
             "--bisect", help="Build with trace hooks, and name the first word that differs.")] = False,
         waves: Annotated[Path | None, typer.Option(
             help="Folder for waveforms of RTL simulations: a folder a back end, an FST a call.")] = None,
         as_json: JsonFlag = False) -> None:
    """Replay the folder's vectors on back ends and compare every word with the model's.

    Exits with 1 where a word differs. With --bisect the words inside a call are compared too, and the first
    that differs is named: operation, step, signal, and the line of the generated C.

    Examples
    --------
    kerncast test build/ecg --on host
    kerncast test build/ecg --on host:clang:-O0 --on emu:mps2-an386:qemu
    kerncast test build/ecg --on rtl:icarus --on hls:vitis --predictions 8
    kerncast test build/ecg --on rtl:verilator:learner --waves build/waves
    kerncast test build/ecg --on emu:mps2-an386:qemu --bisect
    """
    from ..codegen.generate import load_plan, load_vectors
    from ..sim.replay.vectors import limit_predictions

    plan, _ = load_plan(out)
    vectors = load_vectors(out)
    if vectors is None:
        raise fail("E308", "the folder holds no test vectors", where=str(out),
                   allowed="a folder generated from a spec with [data]",
                   remedy="add [data] to the spec and generate again")
    vectors.check(plan, str(out))
    chosen = limit_predictions(vectors, predictions) if predictions else vectors
    run = _bisect if bisect else partial(_replay, waves=waves)
    rows, failed = _on_each(plan, chosen, on, out, run, as_json)
    mismatches = sum(row.mismatches for row in rows)
    text = columns([("back end", "words", "unequal", "first difference"),
                    *((r.backend, str(r.words), str(r.mismatches), r.first) for r in rows)])
    for row in rows:
        text += _where(row)
    show({"plan": plan.hash, "words": sum(row.words for row in rows), "mismatches": mismatches,
          "backends": [row.as_dict() for row in rows],
          **({"errors": [p.as_dict() for p in failed.problems]} if failed else {})}, as_json, text)
    if failed is not None:
        for problem in () if as_json else failed.problems:
            typer.echo(str(problem), err=True)
        raise typer.Exit(failed.exit_code)
    if mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


def _replay(plan: Plan, vectors: Vectors, name: str, out: Path, tell: Tell, waves: Path | None = None) -> Row:
    from ..lab.compare.ledger import run_backend

    return run_backend(plan, vectors, name, out, waves=waves and waves / name.replace(":", "-"))


def _bisect(plan: Plan, vectors: Vectors, name: str, out: Path, tell: Tell) -> Bisection:
    from ..lab.compare.bisection import bisect_backend

    return bisect_backend(plan, vectors, name, out, tell)


def _where(row: Row | Bisection) -> str:
    """What a bisection found, below the table."""
    from ..lab.compare.bisection import Bisection

    return f"\n\n{row.backend}\n{columns(row.rows())}" if isinstance(row, Bisection) else ""


def _on_each(plan: Plan, vectors: Vectors, names: list[str], out: Path, run: Run,
             as_json: bool) -> tuple[list[Row | Bisection], KerncastError | None]:
    """Rows of the back ends up to the first that failed, and its error; raised where it was the first."""
    rows: list[Row | Bisection] = []
    with steps(as_json) as tell:
        for name in names:
            def told(text: str, name: str = name) -> None:
                tell(f"{plan.name}: {name}: {text}")

            tell(f"{plan.name}: {name}")
            try:
                rows.append(run(plan, vectors, name, out, told))
            except KerncastError as error:
                if not rows:
                    raise
                return rows, error
    return rows, None
