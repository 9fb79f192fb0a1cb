"""lab: record each call of a board together with its result.

A recording can be replayed without the board. It is a text file with one JSON object per line: first a header
with the plan and its origin, then one line per call, as in ``vectors.json``, and finally the state of the
model, or the reason why the run stopped. Each line is written as soon as its call has returned. Therefore,
the file contains every result, even if the run is interrupted.

A recording may come from another machine and may be forged. Its plan is derived again from its spec and
samples, and only the derived plan is used.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from ...sim._files import read_bytes
from ...sim._json import parse_json
from ...sim._output_files import partial_path, refuse_unwritable
from ...sim.backend import STATUSES, Backend, Comparison, Outputs
from ...sim.data import raw
from ...sim.data.csv_lines import csv_lines
from ...sim.data.words_csv import read_words
from ...sim.diagnostics.simulate import grid
from ...sim.errors import KerncastError, Problem, fail
from ...sim.formats import Format
from ...sim.plan import Plan, other_version
from ...sim.replay.vectors import Call, Vectors, arrays, usual_calls
from .origin import Origin

VERSION = 3
#: Samples of a call at most: what a pulled cable can cost.
PIECE = 64
_INTERRUPTED = "interrupted"
_OURS = "a file that kerncast hil record wrote"


def pieces(calls: Sequence[tuple[str, Any, Any]]) -> list[Call]:
    """Split calls (name, x_raw, y_raw) into calls of at most `PIECE` samples.

    Training calls are not split.
    """
    found = []
    for name, x, y in calls:
        size = len(x) if name != "train" else 1
        for at in range(0, size, PIECE):
            part = slice(at, at + PIECE) if name != "train" else slice(None)
            found.append(Call(name, None if x is None else x[part], None if y is None else y[part], {}))
    return found


def calls_on_file(plan: Plan, path: Path, vectors: Vectors | None = None) -> list[Call]:
    """Return the calls for a board from a CSV file of ADC counts.

    If the file has a column y, the model learns from the samples; otherwise it predicts.

    Parameters
    ----------
    plan : Plan
    path : Path
        The file. Its first line names the columns ``x0``, ``x1``, ... and ``y``, in any order. For a uniform
        grid, only ``y`` is needed to train.
    vectors : Vectors, optional
        Test vectors. If the file has no column y, their training and updates precede the predictions.

    Raises
    ------
    KerncastError
        E241 to E246 if the file is invalid, E247 if it contains fewer samples than training needs.
    """
    inputs = {f"x{column}": plan.signals["x_raw"].format for column in range(plan.sizes["D"])}
    target: dict[str, Format] = {"y": plan.signals["y_raw"].format}
    learns = "y" in [name.strip() for name in next(csv_lines(path), (1, []))[1]]
    uniform = learns and plan.uniform
    problems: list[Problem] = []
    words = read_words(path, target if uniform else inputs | target if learns else inputs, problems)
    least = plan.sizes["n"] if learns and plan.trains else 1
    if not problems and len(words) < least:
        problems.append(Problem("E247", "the file contains too few samples", str(path), f"{len(words)} rows",
                                f"{least} rows or more", "record more samples"))
    if problems:
        raise KerncastError(problems[:10])
    if not learns:
        taught = [(call.name, call.x_raw, call.y_raw) for call in vectors.calls if call.name != "predict"] \
            if vectors else []
        return pieces([*taught, ("predict", words, None)])
    if not plan.trains:
        return pieces([("update", words[:, :-1], words[:, -1])])
    x = None if uniform else words[:least, :-1]
    return pieces(usual_calls(plan, x, words[:least, -1], grid(plan) if uniform else words[:, :-1]))


def check_new(path: Path) -> None:
    """Check that a new file can be created, before a recording that may take hours.

    Raises E192 if the file exists, and E191 if it cannot be written.
    """
    if os.path.lexists(path):
        raise fail("E192", "the file exists already", where="-o", value=path,
                   allowed="a new file", remedy="choose another name, or remove the file")
    refuse_unwritable(path, "-o", "the recording")


class Recorder:
    """Recorder that runs calls on a back end and writes each result immediately.

    The recorder is a context manager. On exit, it writes the reason why the run ended to the last line, and
    renames the file to its final name. A file without calls is removed.

    Parameters
    ----------
    path : Path
        A new file; see :func:`check_new`.
    plan : Plan
    backend : Backend
        An open back end. The recorder does not close it.
    target : str
        Name with which the back end was opened.
    origin : Origin, optional
        Inputs from which the plan was derived. If it is omitted, a reader of the file cannot check the plan.

    Attributes
    ----------
    statuses : Counter
        Number of results with each status, by its name.
    """

    def __init__(self, path: Path, plan: Plan, backend: Backend, target: str,
                 origin: Origin | None = None) -> None:
        check_new(path)
        self.path, self.calls, self.samples, self.words = path, 0, 0, 0
        self.statuses: Counter[str] = Counter()
        self._backend = backend
        image = getattr(backend, "image", None)
        head = {"recording": VERSION, "target": target, "backend": backend.name,
                "board": getattr(backend, "board", None),
                "compiler": f"{image.compiler} {image.version} {image.optimise}" if image else None,
                "firmware": hashlib.sha256(image.elf.read_bytes()).hexdigest() if image else None,
                "origin": origin.as_dict() if origin else None, "plan": json.loads(plan.to_json())}
        self._part = partial_path(path)  # if power fails, it stays, and can be replayed by this name
        self._file = self._part.open("wb", buffering=0)
        try:
            self._put(head)
        except BaseException:
            self._file.close()
            self._part.unlink()
            raise

    def _put(self, line: dict[str, Any]) -> None:
        """Write one line to the file without buffering."""
        data = json.dumps(line).encode() + b"\n"
        before = self._file.tell()
        if self._file.write(data) != len(data):
            self._file.truncate(before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def run(self, call: Call) -> Outputs:
        """Run a call, write the call and its result, and return the result."""
        answer = call.run(self._backend)
        self._put(Call(call.name, call.x_raw, call.y_raw, answer).as_dict("answered"))
        self.calls += 1
        self.samples += len(answer["status"])
        self.statuses.update(STATUSES.get(int(code), f"status {code}") for code in answer["status"])
        self.words += sum(words.size for words in answer.values())
        return answer

    def finish(self) -> None:
        """Write the state of the model after the last call."""
        state = self._backend.state() if "state" in self._backend.calls else {}
        self._put({"state": {name: words.tolist() for name, words in state.items()}})
        self.words += sum(words.size for words in state.values())

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        with contextlib.suppress(OSError):  # report the original error
            if isinstance(error, KerncastError):
                self._put({"stopped": error.problems[0].as_dict()})
            elif error is not None:
                why = "" if isinstance(error, KeyboardInterrupt) else type(error).__name__
                self._put({"stopped": {"code": _INTERRUPTED, "message": why}})
        self._file.close()
        if self.calls:
            self._part.replace(self.path)
        else:
            self._part.unlink(missing_ok=True)


@dataclass(frozen=True)
class Recording:
    """Contents of a file that :class:`Recorder` wrote.

    Parameters
    ----------
    plan : Plan
    about : dict
        ``target``, ``backend``, ``board``, ``compiler`` and ``firmware`` (SHA-256 of the image). A value is
        None if it is unknown.
    calls : tuple of Call
        The calls; ``expected`` contains the recorded results.
    state : dict or None
        State of the model after the last call; None if the run stopped before.
    stopped : str
        The reason why the run stopped; empty if it was completed.
    """

    plan: Plan
    about: dict[str, Any]
    calls: tuple[Call, ...]
    state: Outputs | None
    stopped: str


def load_recording(path: Path, *, trusted: bool = False) -> Recording:
    """Read a recording.

    An incomplete last line, for example after a power failure, is ignored.

    Parameters
    ----------
    path : Path
    trusted : bool
        Whether to use the plan of a recording from which it cannot be derived again. Code is generated from
        this plan. Therefore, set it only for your own recordings.

    Raises
    ------
    KerncastError
        E191 if the file cannot be read, E212 if it is not a recording, E213 if another version wrote it, E214
        if its plan cannot be derived.
    """
    if path.is_dir() or not path.exists():
        raise fail("E191", f"the recording {'is a folder' if path.is_dir() else 'does not exist'}",
                   where="FILE",
                   value=str(path), allowed=_OURS, remedy="check the path")
    *lines, cut = read_bytes(path).split(b"\n")
    try:
        whole = [parse_json(line) for line in lines]
        if not whole:
            raise ValueError("the file has no complete line")
        head = whole.pop(0)
        if head["recording"] != VERSION:
            raise other_version("recording", str(path), head["recording"], VERSION, "record it again")
        written = Plan.from_json(json.dumps(head.pop("plan")), f"{path}:1")
        plan = _plan_of(head.pop("origin"), written, trusted)
        last = {} if not whole or "call" in whole[-1] else whole.pop()
        calls = tuple(Call.from_dict(line, "answered") for line in whole)
        if not calls:
            raise ValueError("the recording contains no call")
        state = arrays(last["state"]) if "state" in last else None
        stopped = "" if state is not None else _reason(last, bool(cut))
    except (KerncastError, KeyError, IndexError, TypeError, ValueError, AttributeError,
            OverflowError) as error:
        if isinstance(error, KerncastError) and error.problems[0].code in ("E213", "E214"):
            raise
        value = error.problems[0].message if isinstance(error, KerncastError) else repr(error)
        raise fail("E212", "this is not a recording", where=str(path), value=value,
                   allowed=_OURS, remedy="name another file, or record it again") from None
    for line, call in enumerate(calls, start=2):
        _check_words(plan, call, line)
    return Recording(plan, {key: value for key, value in head.items() if key != "recording"}, calls, state,
                     stopped)


def _plan_of(origin: Any, written: Plan, trusted: bool) -> Plan:
    """Derive the plan of a recording from its origin.

    Raises E214 if the plan cannot be derived, or if it differs from the recorded one.
    """
    if origin is None:
        if trusted:
            return written
        raise fail("E214", "the recording does not contain the spec and samples of its plan", where="line 1",
                   value="no spec", allowed="a recording of a generated folder with its spec",
                   remedy="record it from such a folder, or pass --trusted if you made the file yourself")
    derived = Origin.from_dict(origin).plan()
    if derived.hash != written.hash:
        raise fail("E214", "the plan of the recording cannot be derived from its spec", where="line 1",
                   value=written.hash, allowed=derived.hash,
                   remedy="use an unchanged copy, or record it again")
    return derived


def _check_words(plan: Plan, call: Call, line: int) -> None:
    """Raise E212 if a call contains values that are invalid for the plan."""
    try:
        if call.x_raw is not None:
            raw.inputs(plan, call.x_raw)
        if call.y_raw is not None:
            raw.targets(plan, call.y_raw)
    except KerncastError as error:
        problem = error.problems[0]
        raise fail("E212", f"the recording was changed: {problem.message}",
                   where=f"line {line}, {problem.where}", value=problem.value, allowed=problem.allowed,
                   remedy="record again, or use an unchanged copy") from None


def _reason(last: dict[str, Any], cut: bool) -> str:
    stopped = last.get("stopped")
    if stopped is None:
        return "the file is truncated" if cut else "the recording program was interrupted"
    return ": ".join(part for part in (stopped["code"], stopped["message"]) if part)


def recompute(recording: Recording, backend: Backend) -> Comparison:
    """Repeat the calls of a recording on another back end, and compare every value.

    The back end is usually the integer model.
    """
    result, done = Comparison(), {"update": 0, "predict": 0}
    backend.reset()
    for i, call in enumerate(recording.calls):
        if call.name == "train":
            result.add(f"call {i} (train):", call.run(backend), call.expected)
            continue
        first, count = done[call.name], len(call.expected["status"])
        done[call.name] += count
        result.add(f"call {i} ({call.name}, samples {first} to {first + count - 1}):", call.run(backend),
                   call.expected, first)
    if recording.state:
        result.add("state", backend.state(), recording.state)
    return result
