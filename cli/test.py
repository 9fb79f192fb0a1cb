"""cli: ``kerncast test``: replay the vectors of a spec or folder on back ends."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..sim.errors import EXIT_DIFFERENT, KerncastError, fail
from ._guard import report
from ._options import BackEnds, Flash, JsonFlag, Source, separated
from ._output import Answer, emit, table
from ._progress import steps, tenths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..lab.compare.bisection import Bisection
    from ..lab.compare.ledger import Row
    from ..sim.plan import Plan
    from ..sim.replay.vectors import Vectors

    Report = Callable[[str], None]
    Run = Callable[[Plan, Vectors, str, Path, Report], Row | Bisection]

Predictions = Annotated[int, typer.Option(
    metavar="COUNT", help="Maximum number of predictions per call; 0 for all.", min=0)]
Bisect = Annotated[bool, typer.Option(
    "--bisect", help="Build with trace hooks, and print the first value that differs.")]
Waves = Annotated[Path | None, typer.Option(
    metavar="FOLDER", show_default=False,
    help="Write waveforms of RTL simulations: one folder per back end, one FST file per call.")]


def test(source: Source, on: BackEnds = None, predictions: Predictions = 0, bisect: Bisect = False,
         flash: Flash = "", waves: Waves = None, as_json: JsonFlag = False) -> None:
    """Replay the vectors on back ends and compare every value.

    The values are compared with those of the integer model. Exits with 1 if a value differs. With --bisect,
    intermediate values are compared, too, and the first mismatch is located by operation, step, signal, and
    line of the generated C. A physical board must run the image of kerncast build, or be flashed with
    --flash.

    Examples
    --------
    kerncast test build/ecg --on host
    kerncast test ecg.toml --on emu:microbit
    kerncast test build/ecg --on host:clang:-O0,emu:mps2-an386:qemu
    kerncast test build/ecg --on board:nucleo-f446re@/dev/ttyACM0 --flash auto
    kerncast test build/ecg --on rtl:icarus --on hls:vitis --predictions 8
    kerncast test build/ecg --on rtl:verilator:learner --waves build/waves
    kerncast test build/ecg --on emu:mps2-an386:qemu --bisect
    """
    from ..lab.workflow import load_inputs
    from ..sim.replay.vectors import limit_predictions

    names = _names(separated(on), flash, bisect)
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        out, plan, vectors = load_inputs(source, Path(folder))
        assert vectors is not None
        chosen = limit_predictions(vectors, predictions) if predictions else vectors
        run = _bisect if bisect else partial(_replay, waves=waves, flash=flash)
        rows, failed = _on_each(plan, chosen, names, out, run, as_json)
    mismatches = sum(row.mismatches for row in rows)
    values = {"plan": plan.hash, "words": sum(row.words for row in rows), "mismatches": mismatches,
              "backends": [row.as_dict() for row in rows],
              **({"errors": [p.as_dict() for p in failed.problems]} if failed else {})}
    emit(Answer(values, _text(rows), () if failed or bisect else _next(source, rows)), as_json)
    if failed is not None:
        if not as_json:
            report(failed.problems)
        raise typer.Exit(failed.exit_code)
    if mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


def _names(names: list[str], flash: str, bisect: bool) -> list[str]:
    """Return the names of the back ends.

    Raises E194 if there is none, and E418 if --flash does not apply to any of them.
    """
    from ..hw.backends import NAMES, check_flash

    if not names:
        raise fail("E194", "no back end is named", where="kerncast test", value="nothing",
                   allowed="--on " + ", --on ".join(NAMES), remedy="name a back end, such as --on host")
    if flash and bisect:
        raise fail("E194", "--flash cannot be combined with --bisect", where="--flash", value=flash,
                   allowed="--flash, or --bisect",
                   remedy="flash an image built with kerncast build --trace, then run with --bisect and "
                          "without --flash")
    real = [name for name in names if name.startswith("board:")]
    check_flash((real or names)[0], flash)
    return names


def _text(rows: Sequence[Row | Bisection]) -> str:
    """Return a table of all back ends.

    The results of a bisection and the costs measured on physical boards follow the table.
    """
    parts = [table([("back end", "values", "mismatches", "first difference"),
                    *((r.backend, str(r.words), str(r.mismatches), r.first) for r in rows)])]
    parts += [text for row in rows if (text := _where(row) or _costs(row))]
    return "\n\n".join(parts)


def _next(source: Path, rows: Sequence[Row | Bisection]) -> tuple[str, ...]:
    """Return the next command: find the first mismatch, or measure the costs."""
    wrong = [row.backend for row in rows if row.mismatches]
    if wrong and wrong[0].partition(":")[0] in ("host", "wasm", "emu"):
        return ("kerncast", "test", str(source), "--on", wrong[0], "--bisect")
    return () if wrong or source.is_file() else ("kerncast", "cost", str(source))


def _replay(plan: Plan, vectors: Vectors, name: str, out: Path, progress: Report, waves: Path | None = None,
            flash: str = "") -> Row:
    from ..hw.backends import open_backend
    from ..hw.hil.board_backend import BoardBackend
    from ..lab.compare.ledger import replay_on

    backend = open_backend(plan, name, source=out, state=vectors.state,
                           waves=waves and waves / name.replace(":", "-"),
                           flash=flash if name.startswith("board:") else "")
    if isinstance(backend, BoardBackend):
        backend.on_batch = _on_batch(progress)
    try:
        return replay_on(backend, vectors)
    finally:
        backend.close()


def _on_batch(progress: Report) -> Callable[[str, int, int], None]:
    """Return a callback that prints each tenth of a call, except its end."""
    percent = tenths()

    def report(call: str, done: int, total: int) -> None:
        reached = percent(done, total)
        if reached and done < total:
            progress(f"{call}, {reached} % of {total:,} samples")

    return report


def _bisect(plan: Plan, vectors: Vectors, name: str, out: Path, progress: Report) -> Bisection:
    from ..lab.compare.bisection import bisect_backend

    return bisect_backend(plan, vectors, name, out, progress)


def _where(row: Row | Bisection) -> str:
    """Return the result of a bisection as a table; empty for other results."""
    from ..lab.compare.bisection import Bisection

    return f"{row.backend}\n{table(row.rows())}" if isinstance(row, Bisection) else ""


def _costs(row: Row | Bisection) -> str:
    """Return the costs measured on a physical board as a table.

    The text is empty for other back ends.
    """
    from ..lab.compare.ledger import Row

    if not isinstance(row, Row) or row.backend.startswith("emu:") or not row.costs.get("counts"):
        return ""
    rows = [(f"{row.costs['unit']}, {call}", "overran" if count is None else f"{count:,}")
            for call, count in row.costs["counts"].items()]
    return f"{row.backend}\n{table(rows)}"


def _on_each(plan: Plan, vectors: Vectors, names: list[str], out: Path, run: Run,
             as_json: bool) -> tuple[list[Row | Bisection], KerncastError | None]:
    """Run the back ends; return the rows up to the first error, and this error.

    If the first back end fails, its error is raised.
    """
    rows: list[Row | Bisection] = []
    with steps(as_json) as step:
        for name in names:
            def progress(text: str, name: str = name) -> None:
                step(f"{plan.name}: {name}: {text}")

            step(f"{plan.name}: {name}")
            try:
                rows.append(run(plan, vectors, name, out, progress))
            except KerncastError as error:
                if not rows:
                    raise
                return rows, error
    return rows, None
