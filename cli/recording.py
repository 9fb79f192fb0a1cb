"""cli: ``kerncast hil record`` and ``kerncast hil replay``: a run on a board, kept and computed again."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..sim.errors import EXIT_DIFFERENT, KerncastError, fail
from .progress import bar
from .shell import JsonFlag, columns, show

if TYPE_CHECKING:
    from ..lab.compare.recording import Recorder
    from ..sim.plan import Plan
    from ..sim.replay.vectors import Call

Recorded = Annotated[Path, typer.Argument(metavar="FILE", help="A file of kerncast hil record.",
                                          show_default=False)]


def hil_record(source: Annotated[Path, typer.Argument(metavar="SPEC|OUT", show_default=False,
                                                      help="A spec with [data], or a generated folder.")],
               on: Annotated[str, typer.Option("--on", help="Back end, such as board:ID or emu:ID.",
                                               show_default=False)],
               port: Annotated[str, typer.Option("--port", help="Serial port of a real board.",
                                                 show_default=False)] = "",
               flash: Annotated[str, typer.Option("--flash", help="Load the board first, by this program or "
                                                  "`auto`.", show_default=False)] = "",
               data: Annotated[Path | None, typer.Option("--data", show_default=False, help="Samples of your "
                                                         "own: CSV of raw words, columns x0, x1, ..., y; "
                                                         "without y they are predicted, after the vectors' "
                                                         "training.")] = None,
               out: Annotated[Path | None, typer.Option("-o", "--out", show_default=False, help="The file to "
                                                        "write; NAME.recording in this folder.")] = None,
               as_json: JsonFlag = False) -> None:
    """Run the vectors, or samples of your own, on a board, and keep every word that it answers.

    Nothing is compared here; `kerncast hil replay` does that on any machine, from the file alone. Where the
    run ends early, by a pulled cable or by Ctrl-C, the file holds what was answered until then.

    Examples
    --------
    kerncast hil record build/ecg --on emu:mps2-an386 -o ecg.recording
    kerncast hil record build/ecg --on board:nucleo-f446re --port /dev/ttyACM0
    kerncast hil record build/motor --on board:microbit --port /dev/ttyACM0 --flash auto --data night.csv
    """
    from ..hw.backends import open_backend
    from ..lab.compare.recording import Recorder, calls_on_file, check_new, pieces
    from .hil import material

    name = _target(on, port, flash)
    if out:
        check_new(out)
    with tempfile.TemporaryDirectory(prefix="kerncast-") as folder:
        where, plan, vectors = material(source, Path(folder), needed=data is None)
        file = out or Path(f"{plan.name}.recording")
        check_new(file)
        calls = calls_on_file(plan, data, vectors) if data else pieces(
            [(call.name, call.x_raw, call.y_raw) for call in vectors.calls] if vectors else [])
        backend = open_backend(plan, name, source=where, flash=flash)
        try:
            backend.reset()
            recorder = Recorder(file, plan, backend, name)
            _run(recorder, calls, plan, as_json)
        finally:
            backend.close()
    _tell(recorder, plan, as_json)


def _target(on: str, port: str, flash: str) -> str:
    """The name of the back end, with its port; E420 and E418 where an option does not belong to it."""
    from ..hw.backends import at_port, check_name

    name = at_port(on, [port] if port else [])
    if port and not name.endswith(f"@{port}"):
        raise fail("E420", "a port belongs to a real board", where="--port", value=f"--on {on}",
                   allowed="--on board:BOARD", remedy="leave --port out, or name the board")
    if flash and not name.startswith("board:"):
        raise fail("E418", "a real board is loaded, and nothing else", where="--flash", value=f"--on {on}",
                   allowed="--on board:BOARD --port PORT", remedy="leave --flash out, or name the board")
    check_name(name)
    return name


def _run(recorder: Recorder, calls: list[Call], plan: Plan, as_json: bool) -> None:
    """Do and keep the calls; where that fails, say what was kept."""
    try:
        with recorder, bar(as_json, "recording") as progress:
            for i, call in enumerate(calls):
                recorder.run(call)
                progress(i + 1, len(calls))
            recorder.finish()
    except KeyboardInterrupt:
        typer.echo(_kept(recorder), err=True)
        raise
    except KerncastError as error:
        _tell(recorder, plan, as_json, error)
        raise typer.Exit(error.exit_code) from None


def _kept(recorder: Recorder) -> str:
    if not recorder.calls:
        return "nothing was answered, so no file is left"
    return (f"{recorder.path}: kept are {recorder.words} words of {recorder.samples} samples, "
            f"calls: {recorder.calls}")


def _tell(recorder: Recorder, plan: Plan, as_json: bool, error: KerncastError | None = None) -> None:
    values: dict[str, Any] = {
        "recording": str(recorder.path) if recorder.calls else None, "plan": plan.hash,
        "calls": recorder.calls, "samples": recorder.samples, "words": recorder.words,
        "statuses": dict(recorder.statuses)}
    if error is not None:
        values["errors"] = [problem.as_dict() for problem in error.problems]
        if not as_json:
            typer.echo(str(error), err=True)
    if not as_json:
        _warn(recorder.statuses)
    again = f"\nkerncast hil replay {recorder.path}" if recorder.calls else ""
    show(values, as_json, _kept(recorder) + again)


def _warn(statuses: Mapping[str, int]) -> None:
    """On stderr: how many answers had a status other than ok, and what to do."""
    from ..sim.statuses import MEANINGS

    for name, count in statuses.items():
        if name != "ok":
            entry = MEANINGS.get(name)
            said = f": {entry.title}\n    do: {entry.remedy}" if entry else ", which means nothing"
            typer.echo(f"warning: {count} of {sum(statuses.values())} answers are {name}{said}", err=True)


def hil_replay(file: Recorded,
               on: Annotated[str, typer.Option("--on", help="Back end that computes it again.")] = "model",
               as_json: JsonFlag = False) -> None:
    """Compute a recording again, bit for bit, and name the first word that differs.

    The file is enough: neither the board nor the generated folder is needed. With --on the code is generated
    and run on another back end, which tells a fault of the code from a fault of the board. Exits with 1 where
    a word differs.

    Examples
    --------
    kerncast hil replay ecg.recording
    kerncast hil replay ecg.recording --on host
    kerncast hil replay ecg.recording --on emu:mps2-an386 --json
    """
    from ..hw.backends import check_name, open_backend
    from ..lab.compare.recording import load_recording, recompute

    check_name(on)
    recording = load_recording(file)
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
    show(values, as_json, f"{columns(rows)}\n{result.words} words computed again on {backend.name}, "
         f"{result.mismatches} differ")
    if result.mismatches:
        raise typer.Exit(EXIT_DIFFERENT)
