"""A board saves the bytes that the model saves, and goes on from a state of either."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kerncast.codegen.firmware.image import fits_saved_states
from kerncast.codegen.firmware.targets import load_board
from kerncast.codegen.generate import generate
from kerncast.hw.hil.board_backend import open_board
from kerncast.hw.hil.client import HilClient
from kerncast.sim.backend import Comparison
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

if TYPE_CHECKING:
    from ..conftest import Ledger


def learner(budget: int) -> Plan:
    return make_plan(Spec(model={"name": "stream", "algorithm": "kernel_lms"},
                          input={"word": "s12f0", "columns": 2}, output={"word": "s12f0"},
                          kernel={"sigma": 700.0}, online={"budget": budget, "eta": 0.3}))


def test_a_board_and_the_model_go_on_from_each_others_states(
        tmp_path: Path, ledger: "Ledger", emulator: str) -> None:
    plan = learner(9)
    generate(plan, tmp_path / "out")
    chance = np.random.default_rng(11)
    x, y = chance.integers(-2048, 2048, (60, 2)), chance.integers(-2048, 2048, 60)
    board = open_board(tmp_path / "out", f"emu:mps2-an386:{emulator}", plan=plan)
    try:
        model, result = open_model(plan), Comparison()
        model.update(x[:20], y[:20])
        board.restore(model.save())
        result.add("update", model.update(x[20:40], y[20:40]), board.update(x[20:40], y[20:40]))
        image = board.save()
        assert image == model.save()
        again = open_model(plan)
        again.restore(image)
        result.add("update", again.update(x[40:], y[40:]), board.update(x[40:], y[40:]))
        result.add("state", again.state(), board.state())
        assert again.save() == board.save()
        before = board.state()
        for code, wrong in (("E444", image[:60] + b"\xAA" + image[61:]), ("E443", image[:-1]),
                            ("E442", image[:20] + bytes(12) + image[32:]), ("E440", bytes(len(image)))):
            with pytest.raises(KerncastError, match=code):
                board.restore(wrong)
            assert all((words == before[name]).all() for name, words in board.state().items())
    finally:
        board.close()
    ledger.record(backend=f"emu:mps2-an386:{emulator}:restored", words=result.words + len(image),
                  mismatches=result.mismatches, case="stream")


def test_a_board_without_room_for_saved_states_reports_it(tiny: HilClient) -> None:
    for call in (tiny.save, tiny.restore, lambda: tiny.read_slot("SLOT_A", 4)):
        with pytest.raises(KerncastError, match="E447"):
            call()


def test_a_state_cannot_be_restored_where_the_ram_holds_the_model_alone(
        tmp_path: Path, require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:unicorn", "python -m pip install unicorn")
    plan = learner(400)
    assert not fits_saved_states(plan, load_board("microbit"))
    generate(plan, tmp_path / "out")
    board = open_board(tmp_path / "out", "emu:microbit:unicorn", plan=plan)
    with pytest.raises(KerncastError, match="E447"):
        board.restore(open_model(plan).save())
    board.close()


def test_two_states_lie_beside_the_model_where_the_ram_holds_them() -> None:
    assert fits_saved_states(learner(100), load_board("mps2-an386"))
    assert not fits_saved_states(learner(600), load_board("microbit"))
