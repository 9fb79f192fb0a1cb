"""The two streams of the examples on the emulated board: every word equals the integer model's."""

import pytest

from kerncast.benchmarks.streams.on_board import BOARDS, streams, vectors
from kerncast.hw.backends import open_backend
from kerncast.sim.replay.vectors import replay

SAMPLES = 200
NEEDS = {"unicorn": "python:unicorn", "qemu": "qemu-system-arm"}


@pytest.mark.parametrize("name", ["equaliser", "ecg_stream"])
@pytest.mark.parametrize("board", [
    board if board.endswith("unicorn") else pytest.param(board, marks=pytest.mark.campaign)
    for board in BOARDS])
def test_a_stream_gives_the_same_values_on_the_emulated_board(board, name, ledger, require_tool):
    require_tool(NEEDS[board.split(":")[-1]], "make tools")
    plan, expected = vectors(name, streams()[name].part(0, SAMPLES + 20), SAMPLES)
    backend = open_backend(plan, board)
    try:
        found = replay(backend, expected)
    finally:
        backend.close()
    ledger.record(backend=board, words=found.words, mismatches=found.mismatches, case=name)
