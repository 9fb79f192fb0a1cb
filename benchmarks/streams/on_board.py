"""Run the streams on emulated boards; compare all values with the integer model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...hw.backends import open_backend
from ...sim.model import open_model
from ...sim.plan import Plan
from ...sim.planner import make_plan
from ...sim.replay.vectors import Vectors, make_vectors, replay
from .tasks import Stream, ecg, equaliser, example

SAMPLES, PREDICTED = 1000, 100
BOARDS = ("emu:mps2-an386:unicorn", "emu:mps2-an386:qemu")


class Compared(NamedTuple):
    """Comparison of a stream on a board with the integer model."""

    stream: str
    board: str
    words: int
    mismatches: int


def streams() -> dict[str, Stream]:
    """Return the first samples of both streams by name."""
    count, columns = SAMPLES + PREDICTED, example("ecg_stream").input.columns
    return {"equaliser": equaliser(0, count), "ecg_stream": ecg(columns).part(0, count)}


def vectors(name: str, stream: Stream, samples: int = SAMPLES) -> tuple[Plan, Vectors]:
    """Return a plan and its test vectors: updates, then predictions of later samples."""
    plan = make_plan(example(name), stream.x_raw[:samples], stream.y_raw[:samples])
    return plan, make_vectors(open_model(plan), [("update", stream.x_raw[:samples], stream.y_raw[:samples]),
                                     ("predict", stream.x_raw[samples:], None)])


def compared() -> Iterator[Compared]:
    """Yield the comparison of each stream on each board."""
    for name, stream in streams().items():
        plan, expected = vectors(name, stream)
        for board in BOARDS:
            backend = open_backend(plan, board)
            try:
                found = replay(backend, expected)
            finally:
                backend.close()
            yield Compared(name, board, found.words, found.mismatches)


def section() -> str:
    """Return the section of the page."""
    found = list(compared())
    assert not np.any([one.mismatches for one in found])
    lines = "\n".join(f"| {one.stream} | {one.board} | {one.words:,} | {one.mismatches} |" for one in found)
    return f"""## The same streams on the board

The firmware on the emulated board is trained on {SAMPLES:,} samples of each stream at 16 bits, and then
predicts {PREDICTED} more samples. At the end, the whole state is read back, and every value is compared with
the integer model.

| stream | back end | values | mismatches |
|---|---|--:|--:|
{lines}
"""
