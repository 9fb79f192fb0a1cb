"""Generated libraries on emulated boards: every word equals the integer model's."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kerncast.codegen.build.toolchains import available
from kerncast.codegen.firmware.image import build_firmware
from kerncast.codegen.firmware.targets import load_board, load_target
from kerncast.codegen.generate import generate
from kerncast.hw.hil.board_backend import BoardBackend, default_emulator, open_board, open_port
from kerncast.hw.hil.emulators import start_emulator
from kerncast.sim.backend import Backend
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import BAD_ARGUMENT
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import Vectors, make_vectors, replay
from kerncast.sim.spec import Spec

if TYPE_CHECKING:
    from ..conftest import Ledger

BOARD = load_board("mps2-an386")
N = 48
KERNELS = {
    "gaussian": {"type": "gaussian", "sigma": 700.0}, "laplacian": {"type": "laplacian", "sigma": 900.0},
    "linear": {"type": "linear"},
    "periodic": {"type": "periodic", "sigma": 0.9, "period": 500.3},
    "polynomial": {"type": "polynomial", "degree": 3, "gamma": 1e-6, "coef0": 1.0},
}

#: Sigma and lambda: what Schur solves, and what look-ahead alone does, with a block of rows on its way.
SOLVERS = {"schur": (700.0, 0.1), "lookahead": (3000.0, 0.02),
           "lookahead_f32": (3000.0, 0.02)}

LIMITS = {"max_deterioration": 1e-3, "truncation": 0.01, "max_age": 40}
#: Reductions of the online learner: their keys, and the word length.
REDUCTIONS: dict[str, tuple[dict[str, object], int]] = {
    "fmklms": ({"reduction": "fmklms", **LIMITS}, 16), "fast_mklms": ({"metric": "fast_mklms", **LIMITS}, 32),
    "newest": ({**LIMITS, "max_deterioration": 0.1, "newest_only": True}, 24),
    "fast_klms": ({"metric": "fast_klms"}, 16), "nt": ({"reduction": "nt"}, 24),
    "mt": ({"reduction": "mt", "max_deterioration": 0.02}, 32),
    "at": ({"reduction": "at", "projection": "fklms", "max_age": 25}, 16),
}
#: Those that have all of the parts between them; the others run in a campaign.
FIRST = ("fmklms", "fast_mklms", "newest")


def spec(case: str, word: int) -> Spec:
    if case == "fklms":
        return Spec(model={"name": "digits", "algorithm": "kernel_lms"},
                    input={"word": "u5f0", "columns": 64}, output={"word": "s2f0"}, kernel={"sigma": 20.0},
                    online={"budget": 11, "eta": 0.3, "rho": 0.01}, numbers={"word": word})
    if case in REDUCTIONS:
        return Spec(model={"name": case, "algorithm": "kernel_lms"}, input={"word": "u6f0", "columns": 2},
                    output={"word": "s8f0", "gain": 0.01}, kernel={"sigma": 12.0}, numbers={"word": word},
                    online={"budget": 9, "eta": 0.3, "rho": 0.3, **REDUCTIONS[case][0]})
    if case in KERNELS:
        return Spec(model={"name": case, "algorithm": "kernel_cg"}, input={"word": "s12f0", "columns": 2},
                    output={"word": "s12f0"}, kernel=KERNELS[case], cg={"n": N, "lam": 0.5, "steps": 4},
                    numbers={"word": word})
    if case in SOLVERS:
        sigma, lam = SOLVERS[case]
        return Spec(model={"name": case, "algorithm": "toeplitz_rls"}, input={"word": "s12f0", "columns": 2},
                    output={"word": "s12f0"}, kernel={"sigma": sigma}, numbers={"word": word},
                    toeplitz={"n": N, "lam": lam, "scheme": "diagonal_mean", "solver": case})
    columns = 1 if case == "uniform" else 2
    return Spec(model={"name": "ecg", "algorithm": "toeplitz_rls"},
                input={"word": "u16f0" if columns == 1 else "s12f0", "columns": columns},
                output={"word": "s12f0"}, kernel={"sigma": 2.0 if columns == 1 else 700.0},
                toeplitz={"n": N, "lam": 0.1, "scheme": case}, numbers={"word": word})


def vectors(case: str, plan: Plan) -> Vectors:
    chance = np.random.default_rng(7)
    if case == "fklms":
        x, y = chance.integers(0, 17, (150, 64)), chance.choice([-1, 1], 150)
        return make_vectors(open_model(plan),
                            [("predict", x[:3], None), ("update", x, y), ("predict", x[:70], None)])
    if case in REDUCTIONS:
        x, y = chance.integers(0, 64, (250, 2)), chance.integers(-128, 128, 250)
        x[125::3] = x[:125:3]  # a third of the later samples was there before
        return make_vectors(open_model(plan),
                            [("predict", x[:3], None), ("update", x, y), ("predict", x[:70], None)])
    y = (1500 * np.sin(np.arange(N) / 5)).astype(np.int64) + chance.integers(-50, 50, N)
    x = np.arange(N)[:, None] if case == "uniform" else chance.integers(-2048, 2048, (N, 2))
    calls = [("predict", x[:2], None), ("train", None if case == "uniform" else x, y), ("predict", x, None)]
    return make_vectors(open_model(plan), calls)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], tuple[Plan, Path]]:
    """Generated folders by case and word length, each generated once."""
    made: dict[tuple[str, int], tuple[Plan, Path]] = {}

    def folder(case: str, word: int) -> tuple[Plan, Path]:
        if (case, word) not in made:
            plan, out = make_plan(spec(case, word)), tmp_path_factory.mktemp(f"{case}{word}")
            generate(plan, out, "cortex-m4")
            made[case, word] = plan, out
        return made[case, word]

    return folder


Folders = Callable[[str, int], tuple[Plan, Path]]


@pytest.fixture(scope="module")
def build_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all images, so that zig builds its runtime once."""
    return tmp_path_factory.mktemp("build")


def in_turn(cases: Sequence[tuple[object, ...]], levels: Sequence[str]) -> list[Any]:
    """Each case with each level; a third of them, with every case and level, and the rest in a campaign."""
    return [pytest.param(*case, level, marks=() if (i + j) % 3 == 0 else pytest.mark.campaign)
            for i, case in enumerate(cases) for j, level in enumerate(levels)]


@pytest.mark.covering
@pytest.mark.parametrize(("case", "word", "optimise"), in_turn(
    [(case, word) for k, case in enumerate(("uniform", "diagonal_mean", "fklms"))
     for word in ((16, 24, 32) * 2)[k:k + 3]], ["-O0", "-O2", "-Os"]))
def test_every_value_of_both_emulated_boards_equals_the_models(
        folders: Folders, ledger: "Ledger", case: str, word: int, optimise: str, build_dir: Path,
        require_tool: Callable[[str, str], str]) -> None:
    for tool in ("python:unicorn", "qemu-system-arm"):
        require_tool(tool, "make tools")
    plan, out = folders(case, word)
    image = build_firmware(out, plan, optimise=optimise, build_dir=build_dir)
    expected, costs = vectors(case, plan), []
    for emulator in ("unicorn", "qemu"):
        board = BoardBackend(plan, start_emulator(image.elf, image.board, emulator), image=image,
                             counter=image.board.counter)
        found = replay(board, expected)
        costs.append(board.costs())
        board.close()
        ledger.record(backend=f"{board.name}:{optimise}", words=found.words, mismatches=found.mismatches,
                      case=f"{case}{word}")
    assert costs[0] == costs[1]  # instructions and stack too


@pytest.mark.covering
@pytest.mark.parametrize(("case", "word"), [("gaussian", 16), ("gaussian", 24), ("gaussian", 32),
                                            ("laplacian", 16), ("periodic", 16), ("periodic", 32),
                                            ("polynomial", 24), ("linear", 32)])
def test_every_kernel_gives_the_model_s_values_on_an_emulated_board(
        folders: Folders, ledger: "Ledger", case: str, word: int, build_dir: Path,
        require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:unicorn", "python -m pip install unicorn")
    plan, out = folders(case, word)
    board = open_board(out, "emu:mps2-an386:unicorn", plan=plan, build_dir=build_dir)
    found = replay(board, vectors(case, plan))
    board.close()
    assert found.first == ""
    ledger.record(backend=board.name, words=found.words, mismatches=found.mismatches, case=f"{case}{word}")


@pytest.mark.parametrize(("case", "word", "optimise"), in_turn(
    [("schur", 16), ("lookahead", 16), ("lookahead_f32", 32)], ["-O0", "-O1", "-O2", "-O3", "-Os"]))
def test_every_solver_gives_the_model_s_values_with_the_boards_float_unit(
        folders: Folders, ledger: "Ledger", case: str, word: int, optimise: str, build_dir: Path,
        require_tool: Callable[[str, str], str]) -> None:
    """The solvers of the other kinds, the float unit among them."""
    require_tool("python:unicorn", "python -m pip install unicorn")
    plan, out = folders(case, word)
    board = open_board(out, f"emu:mps2-an386:unicorn:auto:{optimise}", plan=plan, build_dir=build_dir)
    found = replay(board, vectors(case, plan))
    state = board.state()
    board.close()
    assert found.first == "" and state["trained"][0] == 1
    ledger.record(backend=f"{board.name}:{optimise}", words=found.words, mismatches=found.mismatches,
                  case=f"{case}{word}")


@pytest.mark.parametrize("case", [case if case in FIRST else pytest.param(case, marks=pytest.mark.campaign)
                                  for case in REDUCTIONS])
def test_every_reduction_learns_the_model_s_values_on_the_emulated_board(
        folders: Folders, ledger: "Ledger", case: str, build_dir: Path,
        require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:unicorn", "python -m pip install unicorn")
    plan, out = folders(case, REDUCTIONS[case][1])
    board = open_board(out, "emu:mps2-an386:unicorn:auto:-O2", plan=plan, build_dir=build_dir)
    found = replay(board, vectors(case, plan))
    board.close()
    assert found.first == ""
    ledger.record(backend=f"{board.name}:-O2", words=found.words, mismatches=found.mismatches, case=case)


@pytest.mark.covering
@pytest.mark.parametrize("compiler", ["clang", "zig"])
@pytest.mark.parametrize("case", ["uniform", "fklms"])
def test_every_compiler_gives_the_same_values(
        folders: Folders, ledger: "Ledger", case: str, compiler: str, build_dir: Path,
        require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:unicorn", "python -m pip install unicorn")
    if not available(compiler, load_target(BOARD.target)):
        require_tool({"zig": "python:ziglang"}.get(compiler, compiler), "make tools")
    plan, out = folders(case, 32)
    board = open_board(out, f"emu:mps2-an386:unicorn:{compiler}:-Os", plan=plan, build_dir=build_dir)
    found = replay(board, vectors(case, plan))
    board.close()
    assert board.image is not None and (board.image.compiler, board.image.optimise) == (compiler, "-Os")
    ledger.record(backend=f"{board.name}:{compiler}", words=found.words, mismatches=found.mismatches,
                  case=f"{case}32")


def test_costs_are_counted_by_operation(folders: Folders, emulator: str) -> None:
    plan, out = folders("fklms", 16)
    board = open_board(out, f"emu:mps2-an386:{emulator}", plan=plan)
    assert isinstance(board, Backend)
    assert board.costs()["counts"] == {}
    replay(board, vectors("fklms", plan))
    costs = board.costs()
    board.close()
    counts = costs["counts"]
    assert isinstance(counts, dict) and set(counts) == {"update", "predict"}
    assert 0 < counts["predict"] < counts["update"]
    assert costs["model"] == plan.state_bytes and costs["unit"] == "instructions"
    assert isinstance(costs["stack"], int) and 0 < costs["stack"] < 2048
    for name in ("flash", "ram", "library"):
        assert isinstance(costs[name], int) and costs[name] > 0


def test_a_board_with_another_plan_is_refused_and_its_process_ended(folders: Folders, emulator: str) -> None:
    plan, out = folders("uniform", 16)
    other, _ = folders("uniform", 32)
    link = start_emulator(build_firmware(out, plan).elf, BOARD, emulator)
    with pytest.raises(KerncastError) as caught:
        BoardBackend(other, link)
    assert caught.value.problems[0].code == "E413"
    assert plan.hash in str(caught.value) and other.hash in str(caught.value)
    assert link.process.returncode is not None


def test_calls_that_the_algorithm_has_not_are_answered_as_the_models(folders: Folders, emulator: str) -> None:
    plan, out = folders("uniform", 16)
    board = open_board(out, f"emu:mps2-an386:{emulator}", plan=plan)
    y = np.zeros(N + 1, dtype=np.int64)
    assert board.train(None, y)["status"].tolist() == [BAD_ARGUMENT]
    assert board.update(y[:, None], y)["status"].tolist() == [BAD_ARGUMENT] * (N + 1)
    assert board.predict(y[:0, None])["f"].shape == (0,)
    board.close()


def test_values_that_do_not_fit_their_type_are_refused_and_not_sent(folders: Folders, emulator: str) -> None:
    plan, out = folders("uniform", 16)
    board = open_board(out, f"emu:mps2-an386:{emulator}", plan=plan)
    with pytest.raises(KerncastError) as caught:
        board.predict(np.array([[65536]]))
    assert caught.value.problems[0].code == "E246"
    board.close()


@pytest.mark.parametrize(("where", "code"), [
    ("emu:", "E417"), ("usb", "E417"), ("host:x", "E417"), ("emu:arduino", "E322"),
    ("emu:mps2-an386:renode", "E417"), ("emu:mps2-an386:-O9", "E325")])
def test_an_unknown_back_end_is_refused(folders: Folders, where: str, code: str) -> None:
    plan, out = folders("uniform", 16)
    with pytest.raises(KerncastError) as caught:
        open_board(out, where, plan=plan)
    assert caught.value.problems[0].code == code


def test_a_missing_port_is_refused(folders: Folders) -> None:
    with pytest.raises(KerncastError) as caught:
        open_port("/dev/there-is-no-such-port", folders("uniform", 16)[0])
    assert caught.value.problems[0].code == "E410"


def test_without_unicorn_the_board_falls_back_to_qemu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert default_emulator(BOARD) == "qemu"
    monkeypatch.undo()
