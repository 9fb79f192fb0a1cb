"""The first word that differs, found on emulated boards and on a board at a serial port."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kerncast.codegen.firmware.image import build_firmware
from kerncast.codegen.generate import generate
from kerncast.hw.hil.board_backend import BoardBackend
from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.emulators import start_emulator
from kerncast.hw.hil.protocol import encode_request, reply_values
from kerncast.lab.compare.bisection import bisect_backend
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.trace import Event, Trace
from kerncast.sim.replay.vectors import Vectors, make_vectors
from kerncast.sim.spec import Spec

if TYPE_CHECKING:
    from conftest import HostAgent, SerialBoard

Folder = tuple[Plan, Vectors, Path]

LMS = Spec(model={"name": "lms", "algorithm": "kernel_lms"}, input={"word": "u5f0", "columns": 3},
           output={"word": "s8f0"}, kernel={"sigma": 9.0}, online={"budget": 6, "eta": 0.3, "rho": 0.01},
           numbers={"word": 16})


#: Small trainers, one for each solver, and a fault: what stands there, what it becomes, what must be named.
TRAINERS = {
    "refine": ({"toeplitz": {"refine": 2}},
               "t_refine.c", "t->alpha[i] - word : t->alpha[i] + word",
               "t->alpha[i] - word : t->alpha[i] + word - (i == 7)", "apply_correction", "alpha"),
    "schur": ({"toeplitz": {"solver": "schur"}},
              "t_schur.c", "right * T_SCHUR_ONE + xi * left, ",
              "right * T_SCHUR_ONE - xi * left, ", "update_generators", "q"),
    "lookahead": ({"toeplitz": {"solver": "lookahead"}},
                  "rt/kc_lookahead_correct.h",
                  "kc_lookahead_dot_reversed(k->g, i, &k->b[k->n], i + 1, k->shift)",
                  "kc_lookahead_dot_reversed(k->g, i, &k->b[k->n], i, k->shift)", "apply_inverse", "c"),
    "cg": ({"cg": {"n": 12, "lambda": 0.2, "steps": 6}},
           "t_cg.c", "kc_divide(t->rr, old, &e)", "kc_divide(old, t->rr, &e)", "p_from_wide", "p"),
}


@pytest.fixture(params=sorted(TRAINERS))
def trainer(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Folder, str]:
    """A small trainer, its vectors and its generated folder; which one it is."""
    solver, chance = str(request.param), np.random.default_rng(3)
    tables: dict[str, Any] = dict(TRAINERS[solver][0])
    if "toeplitz" in tables:
        tables["toeplitz"] = {"n": 12, "lambda": 0.05, "scheme": "diagonal_mean", **tables["toeplitz"]}
    plan = make_plan(Spec(
        model={"name": "t", "algorithm": "kernel_cg" if solver == "cg" else "toeplitz_rls"},
        input={"word": "u8f0"}, output={"word": "s8f0"}, kernel={"sigma": 30.0}, **tables))
    x, y = 20 * np.arange(12)[:, np.newaxis], chance.integers(-128, 128, 12)
    vectors = make_vectors(open_model(plan), [("train", x, y), ("predict", x[:3], None)])
    generate(plan, tmp_path / "out", vectors=vectors)
    return (plan, vectors, tmp_path / "out"), solver


@pytest.fixture
def learner(tmp_path: Path) -> Folder:
    """A small learner, its vectors and its generated folder."""
    plan, chance = make_plan(LMS), np.random.default_rng(3)
    x, y = chance.integers(0, 32, (140, 3)), chance.integers(-128, 128, 140)
    calls = [("update", x[:40], y[:40]), ("predict", x[:9], None), ("update", x[40:], y[40:])]
    vectors = make_vectors(open_model(plan), calls)
    generate(plan, tmp_path / "out", vectors=vectors)
    return plan, vectors, tmp_path / "out"


def plant(folder: Path, file: str, line: str, fault: str) -> None:
    """Put a fault into generated C."""
    text = (folder / file).read_text(encoding="utf-8")
    assert text.count(line) == 1
    (folder / file).write_text(text.replace(line, fault), encoding="utf-8")


# ---- the link ----
def test_an_event_crosses_the_link_whole(agent: "HostAgent") -> None:
    agent.say(encode_request("HELLO", 1))
    (told,) = agent.say(encode_request("TRACE", 2, limit=1))
    assert reply_values(told) == {"count": 7, "hash": 0x89ABCDEF, "step": -2, "index": 3, "word": -4,
                                  "place": "predict f"}
    (told,) = agent.say(encode_request("TRACE", 3, limit=2))
    assert reply_values(told)["place"] == ""


def test_the_client_gives_the_event_or_none(tiny: HilClient) -> None:
    assert tiny.trace(1) == Trace(7, 0x89ABCDEF, Event("predict", "f", -2, 3, -4))
    assert tiny.trace(2) == Trace(7, 0x89ABCDEF, None)


# ---- emulated boards ----
def test_boards_without_a_fault_differ_nowhere(learner: Folder, emulator: str, ledger) -> None:
    plan, vectors, folder = learner
    found = bisect_backend(plan, vectors, f"emu:mps2-an386:{emulator}", folder)
    assert found.divergence is None
    assert found.words > 5000
    assert found.rows() == [("differs", "nowhere")]
    ledger.record(backend=f"{found.backend}:trace", words=found.words, mismatches=found.mismatches,
                  case="lms")


def test_a_wrong_rounding_is_named_on_an_emulated_board(learner: Folder, emulator: str) -> None:
    plan, vectors, folder = learner
    plant(folder, "lms_lms.c", "LMS_PROJECT_SHIFT, LMS_ROUNDING", "LMS_PROJECT_SHIFT, KC_FLOOR")
    found = bisect_backend(plan, vectors, f"emu:mps2-an386:{emulator}", folder)
    assert found.divergence is not None
    model, board = found.divergence.model, found.divergence.device
    assert model is not None and board is not None
    assert (model.operation, model.signal) == (board.operation, board.signal) == ("project", "alpha")
    assert board.word == model.word - 1
    assert (board.step, board.index) == (model.step, model.index)
    name, _, line = found.hook.partition(":")
    hook = (folder / name).read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert hook.strip() == "KC_TRACE(project, alpha, 0, i + j, m->alpha[i + j]);"


def assert_fault_is_named(trainer: tuple[Folder, str], backend: str) -> None:
    (plan, vectors, folder), solver = trainer
    _, file, line, fault, operation, signal = TRAINERS[solver]
    plant(folder, file, line, fault)
    found = bisect_backend(plan, vectors, backend, folder)
    assert found.divergence is not None and found.divergence.name == "train"
    assert (found.divergence.event.operation, found.divergence.event.signal) == (operation, signal)
    assert found.divergence.equal > 20
    hooked, _, number = found.hook.partition(":")
    hook = (folder / hooked).read_text(encoding="utf-8").splitlines()[int(number) - 1]
    assert f"({operation}, {signal}, " in hook


@pytest.mark.parametrize("emulator", ["unicorn"], indirect=True)
def test_a_wrong_operation_of_every_solver_is_named_on_an_emulated_board(
        trainer: tuple[Folder, str], emulator: str) -> None:
    assert_fault_is_named(trainer, f"emu:mps2-an386:{emulator}")


@pytest.mark.campaign
def test_bisection_names_nothing_on_an_emulator_but_a_planted_fault(
        trainer: tuple[Folder, str], emulator: str, ledger) -> None:
    (plan, vectors, folder), solver = trainer
    found = bisect_backend(plan, vectors, f"emu:mps2-an386:{emulator}", folder)
    assert found.rows() == [("differs", "nowhere")] and found.words > 300
    ledger.record(backend=f"{found.backend}:trace", words=found.words, mismatches=0, case=solver)
    assert_fault_is_named(trainer, f"emu:mps2-an386:{emulator}")


def test_firmware_without_hooks_is_refused_with_a_remedy(learner: Folder, emulator: str) -> None:
    plan, _, folder = learner
    image = build_firmware(folder, plan)
    with pytest.raises(KerncastError) as caught:
        BoardBackend(plan, start_emulator(image.elf, image.board, emulator), traced=True)
    assert caught.value.problems[0].code == "E434"
    assert "--trace" in caught.value.problems[0].remedy


def test_hooks_make_an_image_of_their_own(learner: Folder) -> None:
    plan, _, folder = learner
    plain, traced = build_firmware(folder, plan), build_firmware(folder, plan, traced=True)
    assert plain.elf.parent != traced.elf.parent
    assert b"decayed_alpha" in traced.elf.read_bytes()
    assert b"decayed_alpha" not in plain.elf.read_bytes()
    assert plain.library_bytes < traced.library_bytes


# ---- a board at a serial port ----
def test_a_wrong_index_is_named_on_a_board_at_a_serial_port(
        learner: Folder, traced_agent: Callable[[Plan, Path], "HostAgent"],
        serial_board: Callable[["HostAgent"], "SerialBoard"]) -> None:
    plan, vectors, folder = learner
    plant(folder, "lms_lms.c",
          "    for (j = 0; j < count; j++) {\n        if (m->age_order[j] < m->age_order",
          "    for (j = 1; j < count; j++) {\n        if (m->age_order[j] < m->age_order")
    board = serial_board(traced_agent(plan, folder))
    found = bisect_backend(plan, vectors, f"board:{board.port}", folder)
    board.unplug()
    assert found.divergence is not None
    model, device = found.divergence.model, found.divergence.device
    assert model is not None and device is not None
    assert (model.operation, model.signal, model.index) == ("find_nearest", "distance", 0)
    assert (device.operation, device.index) != (model.operation, 0)
