"""cli: ``kerncast hil record`` and ``hil replay``: record a run, and replay it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import EXIT_DIFFERENT, KerncastError, fail
from ._complete import backends
from ._guard import Command
from ._options import BackEnd, Flash, JsonFlag, OldPort, Source
from ._output import Answer, emit, fitted, fitted_problem, table, width
from ._progress import bar

if TYPE_CHECKING:
    from ..lab.compare.recording import Recorder
    from ..sim.plan import Plan
    from ..sim.replay.vectors import Call

Recorded = Annotated[Path, typer.Argument(metavar="FILE", help="A file that kerncast hil record wrote.",
                                          show_default=False)]
Samples = Annotated[Path | None, typer.Option(
    "--data", metavar="FILE", show_default=False,
    help="Your own samples: a CSV file of ADC counts with columns x0, x1, ..., y. Without y, the samples are "
         "only predicted, after training on the test vectors.")]
File = Annotated[Path | None, typer.Option(
    "-o", "--out", metavar="FILE", show_default=False,
    help="File to write. Default: NAME.recording in this folder.")]
Trusted = Annotated[bool, typer.Option(
    "--trusted", help="Use the plan of a recording without its spec. kerncast then generates code from the "
                      "file, so use this only for files that you recorded.")]
On = Annotated[str, typer.Option("--on", metavar="BACKEND", autocompletion=backends,
                                 help="Back end that repeats the recorded calls.")]


def hil_record(source: Source, on: BackEnd = None, port: OldPort = None, flash: Flash = "",
               data: Samples = None, out: File = None, as_json: JsonFlag = False) -> None:
    r"""Run a board and record every value that it returns.

    The board runs the test vectors, or your own samples. The values are not compared here: kerncast hil
    replay compares them on any machine, from the file alone. If the run ends early, for example because a
    cable is pulled or Ctrl-C is pressed, the file contains all values received before.

    Examples
    --------
    kerncast hil record build/ecg --on emu:mps2-an386 -o ecg.recording
    kerncast hil record build/ecg --on board:nucleo-f446re@/dev/ttyACM0
    kerncast hil record build/motor --on board:microbit@/dev/ttyACM0 \
        --flash auto --data night.csv
    """
    from ..hw.backends import open_backend
    from ..lab.compare.origin import origin_of
    from ..lab.compare.recording import Recorder, calls_on_file, check_new, pieces
    from ..lab.workflow import load_inputs

    name = _backend_of(on, port, flash)
    if out:
        check_new(out)
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        where, plan, vectors = load_inputs(source, Path(folder), needed=data is None)
        file = out or Path(f"{plan.name}.recording")
        check_new(file)
        calls = calls_on_file(plan, data, vectors) if data else pieces(
            [(call.name, call.x_raw, call.y_raw) for call in vectors.calls] if vectors else [])
        backend = open_backend(plan, name, source=where, flash=flash)
        try:
            backend.reset()
            recorder = Recorder(file, plan, backend, name, origin_of(where, plan, vectors))
            _run(recorder, calls, plan, as_json)
        finally:
            backend.close()
    _print(recorder, plan, as_json)


def _backend_of(on: str | None, port: str | None, flash: str) -> str:
    """Return the name of the back end, with its port if it is a physical board.

    Raises E194, E420 or E418 if an option is missing or does not apply.
    """
    from ..hw.backends import check_flash, check_name, with_port

    if on is None:
        raise fail("E194", "no back end is named", where="kerncast hil record", value="nothing",
                   allowed="--on emu:ID, --on board:ID@PORT, or another back end that kerncast test --help "
                           "lists",
                   remedy="name a back end; kerncast targets lists the boards")
    name = with_port(on, port)
    check_flash(name, flash)
    check_name(name)
    return name


def _run(recorder: Recorder, calls: list[Call], plan: Plan, as_json: bool) -> None:
    """Run and record the calls; after an error, print the recorded calls."""
    try:
        with recorder, bar(as_json, "recording") as progress:
            for i, call in enumerate(calls):
                recorder.run(call)
                progress(i + 1, len(calls))
            recorder.finish()
    except KeyboardInterrupt:
        typer.echo(_written(recorder), err=True)
        raise
    except KerncastError as error:
        _print(recorder, plan, as_json, error)
        raise typer.Exit(error.exit_code) from None


def _written(recorder: Recorder) -> str:
    if not recorder.calls:
        return "the board returned no result, so no recording was written"
    return (f"wrote {recorder.path}: {recorder.words:,} values "
            f"({recorder.samples:,} samples, {recorder.calls:,} calls)")


def _print(recorder: Recorder, plan: Plan, as_json: bool, error: KerncastError | None = None) -> None:
    values: dict[str, Any] = {
        "recording": str(recorder.path) if recorder.calls else None, "plan": plan.hash,
        "calls": recorder.calls, "samples": recorder.samples, "words": recorder.words,
        "statuses": dict(recorder.statuses)}
    if error is not None:
        problems = error.problems
        values["errors"] = [problem.as_dict() for problem in problems]
        for problem in () if as_json else problems:
            typer.echo(fitted_problem(problem), err=True)
    if not as_json:
        _warn(recorder.statuses)
    after = ("kerncast", "hil", "replay", str(recorder.path)) if recorder.calls else ()
    emit(Answer(values, _written(recorder), after), as_json)


def _warn(statuses: Mapping[str, int]) -> None:
    """Print a warning for each status other than ok, with the number of results."""
    from ..sim.statuses import MEANINGS

    for name, count in statuses.items():
        if name != "ok":
            entry = MEANINGS.get(name)
            meaning = [f": {entry.title}", f"    do: {entry.remedy}"] if entry else [", an unknown status"]
            head, *rest = meaning
            lines = [f"warning: {count} of {sum(statuses.values())} results are {name}{head}", *rest]
            typer.echo("\n".join(fitted(line, width(stderr=True), 4) for line in lines), err=True)


def hil_replay(file: Recorded, on: On = "model", trusted: Trusted = False,
               as_json: JsonFlag = False) -> None:
    """Replay a recording and compare every value.

    You need only the file, neither the board nor the generated folder. The plan is derived again from the
    spec and the samples in the file, so that a forged recording cannot run foreign code. With --on, code is
    generated and run on another back end. This distinguishes an error of the code from an error of the board.
    Exits with 1 if a value differs, and prints the first mismatch.

    Examples
    --------
    kerncast hil replay ecg.recording
    kerncast hil replay ecg.recording --on host
    kerncast hil replay ecg.recording --on emu:mps2-an386 --json
    """
    from ..hw.backends import check_name, open_backend
    from ..lab.compare.recording import load_recording, recompute

    check_name(on)
    recording = load_recording(file, trusted=trusted)
    backend = open_backend(recording.plan, on)
    try:
        result = recompute(recording, backend)
    finally:
        backend.close()
    about = {key: value for key, value in recording.about.items() if value is not None}
    values = {"plan": recording.plan.hash, "recorded": recording.about, "on": backend.name,
              "calls": len(recording.calls), "words": result.words, "mismatches": result.mismatches,
              "first": result.first, "stopped": recording.stopped}
    rows = [("plan", recording.plan.hash), *((key, str(value)) for key, value in about.items()),
            ("calls", f"{len(recording.calls)}"
             + (f", then it stopped: {recording.stopped}" if recording.stopped else ", to the end")),
            ("differs", result.first or "nowhere")]
    emit(Answer(values, f"{table(rows)}\n{result.words:,} values computed again on {backend.name}, "
                f"{result.mismatches:,} mismatches"), as_json)
    if result.mismatches:
        raise typer.Exit(EXIT_DIFFERENT)


#: Every action by its name.
ACTIONS: dict[str, Command] = {"record": hil_record, "replay": hil_replay}
