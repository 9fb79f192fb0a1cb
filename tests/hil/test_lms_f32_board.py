"""The online learner in float32 on an emulated board with a float unit: every word, and every bit kept."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kerncast.codegen.generate import generate
from kerncast.hw.hil.board_backend import open_board
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

if TYPE_CHECKING:
    from ..conftest import Ledger


@pytest.mark.parametrize(("reduction", "optimise"), [("mklms_f32", "-O2"), ("fklms_f32", "-Os")])
def test_the_board_gives_the_models_bits(reduction: str, optimise: str, tmp_path: Path,
                                         ledger: "Ledger", require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:unicorn", "python -m pip install unicorn")
    plan = make_plan(Spec(
        model={"name": "board", "algorithm": "kernel_lms"}, input={"word": "s12f11", "columns": 2},
        output={"word": "s12f11"}, kernel={"sigma": 0.8}, numbers={"word": 16},
        online={"budget": 8, "eta": 0.3, "rho": 0.02, "reduction": reduction}))
    generate(plan, tmp_path / "c")
    board = open_board(tmp_path / "c", f"emu:mps2-an386:unicorn:auto:{optimise}", plan=plan,
                       build_dir=tmp_path / "build")
    chance, model = np.random.default_rng(0), open_model(plan)
    x, y = chance.integers(-2048, 2048, (60, 2)), chance.integers(-2048, 2048, 60)
    words = 0
    for call in ("update", "predict"):
        arguments = (x, y) if call == "update" else (x[:9],)
        expected, found = getattr(model, call)(*arguments), getattr(board, call)(*arguments)
        for name, values in expected.items():
            assert found[name].tolist() == values.tolist(), (call, name)
            words += values.size
    state = board.state()
    for member, values in model.state().items():
        assert state[member].tolist() == values.tolist(), member
        words += values.size
    board.close()
    ledger.record(backend="emu:mps2-an386", words=words, mismatches=0, case=f"{reduction} {optimise}")
