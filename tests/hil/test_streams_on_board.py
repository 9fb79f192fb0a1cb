"""The two streams of the examples on the emulated board: every word equals the integer model's."""

import pytest

from kerncast.benchmarks.streams.on_board import BOARDS, streams, vectors
from kerncast.hw.backends import open_backend
from kerncast.sim.vectors import replay

SAMPLES = 300


@pytest.mark.parametrize("name", ["equaliser", "ecg_stream"])
def test_a_stream_gives_the_same_words_on_the_emulated_board(name, ledger, require_tool):
    for tool in ("python:unicorn", "qemu-system-arm"):
        require_tool(tool, "make tools")
    plan, expected = vectors(name, streams()[name].part(0, SAMPLES + 20), SAMPLES)
    for board in BOARDS:
        backend = open_backend(plan, board)
        found = replay(backend, expected)
        backend.close()
        ledger.record(backend=board, words=found.words, mismatches=found.mismatches, case=name)
