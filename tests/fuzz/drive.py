"""Run one parser on counted inputs, from where the last run stopped: ``python -m fuzz.drive NAME``.

Input number i depends on i alone. The state file holds how many inputs are done, so a run that was stopped
goes on; it holds the number of a failing input too.

A failure is any exception but KerncastError, more than 10 s of CPU or 100 s of waiting for one input, or more
than 2 GB of memory.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from kerncast.sim.errors import KerncastError

from .parsers import parsers

SECONDS, WAITING, MEMORY = 10, 100, 2 << 30
#: Inputs between two looks at memory and clock.
EACH = 100


class Hang(Exception):
    """Raised in a parser that takes more than SECONDS."""


def _hang(number: int, frame: FrameType | None) -> None:
    raise Hang


def _watch(seconds: int, waiting: int) -> None:
    """Raise Hang after seconds of CPU, or of waiting; 0 ends the watch. A busy machine is no hang."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(waiting)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder in memory if the machine has one: a parser reads files."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=place) as made:
        tempfile.tempdir = made  # where a parser makes folders of its own
        try:
            yield Path(made)
        finally:
            tempfile.tempdir = None


def drive(name: str, runs: int, state: Path, budget: float = float("inf")) -> dict[str, object]:
    """Give a parser inputs until `runs` are done, or the seconds of `budget` are over; return the state.

    At least a hundred are done; the state is written after every hundred, whole or not at all.
    """
    done = json.loads(state.read_text())["done"] if state.is_file() else 0
    first = done
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.signal(signal.SIGALRM, _hang)
    signal.signal(signal.SIGPROF, _hang)
    warnings.simplefilter("ignore")
    with folder() as work:
        parser, chance, own = parsers()[name], random.Random(), zlib.crc32(name.encode()) << 32
        with suppress(KerncastError):  # unwatched: it imports what a busy machine takes long to load
            parser.call(parser.inputs(random.Random(own)), work)
        gc.freeze()  # the seeds stay
        start, used = time.monotonic(), time.process_time()
        while done < runs and (done == first or time.monotonic() - start < budget):
            for _ in range(min(EACH, runs - done)):
                chance.seed(own + done)
                data = parser.inputs(chance)
                _watch(SECONDS, WAITING)
                try:
                    with suppress(KerncastError):
                        parser.call(data, work)
                except BaseException as error:
                    _watch(0, 0)
                    raise AssertionError(f"{name}: input {done} ends with {error!r}") from error
                _watch(0, 0)
                done += 1
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
            assert grown < MEMORY, f"{name}: {grown:,} bytes after input {done}"
            _keep(state, {"done": done})
    seconds = time.process_time() - used  # what a busy machine does not change
    return {
        "parser": name,
        "done": done,
        "rate": round((done - first) / max(seconds, 1e-9)),
        "grown": grown if done > first else 0,
    }


def _keep(state: Path, values: dict[str, int]) -> None:
    part = state.with_suffix(".part")
    part.write_text(json.dumps(values))
    part.replace(state)


def main() -> None:
    """Run the command line."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("name", help="a parser, or all")
    options.add_argument("--runs", type=int, default=10**7, help="inputs in all, earlier runs included")
    options.add_argument(
        "--seconds", type=float, default=float("inf"), help="stop after this time per parser"
    )
    options.add_argument("--state", type=Path, default=Path(), help="folder of the state files")
    given = options.parse_args()
    given.state.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in parsers() if given.name == "all" else [given.name]:
        # A process of its own, which finds the modules and the seeds loaded.
        child = os.fork()
        if child == 0:
            try:
                found = drive(name, given.runs, given.state / f"{name}.json", given.seconds)
                print(json.dumps(found), flush=True)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        failed |= os.waitpid(child, 0)[1] != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
