"""Every board, compiler and optimisation level: the firmware's words are the integer model's."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kerncast.codegen.build.toolchains import available, compilers
from kerncast.codegen.firmware.image import build_firmware
from kerncast.codegen.firmware.targets import Board, board_ids, load_board, load_target
from kerncast.codegen.generate import generate
from kerncast.hw.hil.board_backend import BoardBackend
from kerncast.hw.hil.emulators import start_emulator
from kerncast.sim.errors import KerncastError, fail
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import Vectors, make_vectors, replay
from kerncast.sim.spec import Spec

if TYPE_CHECKING:
    from ..conftest import Ledger

N = 20
#: Stack that start-up code takes before main, of which the compiler is not asked.
START_UP = 32
BOARDS = [name for name in board_ids() if load_board(name).emulators]
_TOEPLITZ = {"n": N, "lam": 0.1, "scheme": "diagonal_mean"}
#: By name: algorithm, word length, tables; trained on N samples of two columns.
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "refined16": ("toeplitz_rls", 16, {"toeplitz": _TOEPLITZ | {"refine": 2}}),
    "lms32": ("kernel_lms", 32, {"online": {"budget": 6, "eta": 0.3, "rho": 0.01}}),
    "levinson16": ("toeplitz_rls", 16, {"toeplitz": _TOEPLITZ}),
    "levinson32": ("toeplitz_rls", 32, {"toeplitz": _TOEPLITZ}),
    "lookahead16": ("toeplitz_rls", 16, {"toeplitz": _TOEPLITZ | {"solver": "lookahead"}}),
    "lookahead_f32": ("toeplitz_rls", 32, {"toeplitz": _TOEPLITZ | {"solver": "lookahead_f32"}}),
    "lms16": ("kernel_lms", 16, {"online": {"budget": 6, "eta": 0.3, "rho": 0.01}}),
    "rls16": ("online_kernel_rls", 16, {"rls": {"features": 6, "steps": 4, "novelty": 0.5}}),
    "cg16": ("kernel_cg", 16, {"cg": {"n": N, "lam": 0.5, "steps": 4}}),
    "cg32": ("kernel_cg", 32, {"cg": {"n": N, "lam": 0.5, "steps": 4}}),
}
#: In `make test` boards take these in turn, an image each.
FEW = ("refined16", "lms32")
_UNO = frozenset({"refined16", "levinson32", "lookahead16", "lookahead_f32"})
#: By board and level, the cases that the smallest boards lack the room for, in flash or RAM or on the stack.
TOO_LARGE: dict[tuple[str, str], frozenset[str]] = {
    ("arduino-uno", "-O0"): frozenset(CASES),  # its flash holds no case
    ("arduino-uno", "-O2"): _UNO, ("arduino-uno", "-Os"): _UNO,
    ("arduino-mega", "-O0"): frozenset({"refined16", "lookahead16"}),
    ("arduino-mega", "-O2"): frozenset({"lookahead16"}), ("arduino-mega", "-Os"): frozenset({"lookahead16"}),
}
MATRIX = [row for row in product(BOARDS, ("-O0", "-O2", "-Os")) if TOO_LARGE.get(row) != frozenset(CASES)]

Case = tuple[Plan, Vectors, Path]
Cases = Callable[[str], Case]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """Plan, vectors and generated folder of a case, each made once."""
    made: dict[str, Case] = {}

    def case(name: str) -> Case:
        if name not in made:
            algorithm, word, tables = CASES[name]
            plan = make_plan(Spec(model={"name": "t", "algorithm": algorithm}, numbers={"word": word},
                                  input={"word": "s12f0", "columns": 2}, output={"word": "s12f0"},
                                  kernel={"sigma": 700.0}, **tables))
            out = tmp_path_factory.mktemp(name)
            generate(plan, out)
            made[name] = plan, vectors(plan), out
        return made[name]

    return case


def vectors(plan: Plan) -> Vectors:
    chance = np.random.default_rng(11)
    x, y = chance.integers(-2048, 2048, (N, 2)), chance.integers(-2048, 2048, N)
    return make_vectors(open_model(plan),
                        [("train" if plan.trains else "update", x, y), ("predict", x, None)])


def check(board: Board, case: Case, build: Path, ledger: "Ledger", compiler: str, optimise: str) -> None:
    """Build once, and compare every word on each of the board's emulators."""
    plan, expected, out = case
    image = build_firmware(out, plan, board.id, compiler=compiler, optimise=optimise, build_dir=build)
    costs = []
    for emulator in board.emulators:
        backend = BoardBackend(plan, start_emulator(image.elf, board, emulator), counter=board.counter,
                               image=image)
        found = replay(backend, expected)
        costs.append(backend.costs())
        backend.close()
        ledger.record(backend=f"{backend.name}:{image.compiler}:{optimise}", words=found.words,
                      mismatches=found.mismatches, case=out.name)
    assert all(cost == costs[0] for cost in costs), "the emulators count alike"
    if image.deepest_stack and image.stack_bytes:
        assert costs[0]["stack"] <= image.deepest_stack + START_UP


def require(board: Board, require_tool: Callable[[str, str], str]) -> None:
    target = load_target(board.target)
    rows = compilers(target)
    if not any(available(name, target) for name in rows):
        row = next(iter(rows.values()))
        require_tool(row.program, row.install)
    for emulator in board.emulators.values():
        require_tool(emulator.program, emulator.install)


@contextmanager
def unless_too_large(board: str, optimise: str, case: str) -> Iterator[None]:
    """A board says that it lacks the room for a case, or for its stack, where that is known alone."""
    try:
        yield
    except KerncastError as error:
        known = case in TOO_LARGE.get((board, optimise), ())
        if error.problems[0].code not in ("E326", "E328") or not known:
            raise


@pytest.mark.parametrize(("row", "code", "known"), [
    (("arduino-uno", "-O2", "levinson32"), "E326", True), (("arduino-uno", "-O2", "lms16"), "E326", False),
    (("arduino-mega", "-O2", "lookahead16"), "E328", True), (("mps2-an386", "-O0", "lms16"), "E328", False),
    (("arduino-uno", "-O2", "levinson32"), "E412", False)])
def test_no_case_is_left_out_but_those_known_to_be_too_large(
        row: tuple[str, str, str], code: str, known: bool) -> None:
    with nullcontext() if known else pytest.raises(KerncastError), unless_too_large(*row):
        raise fail(code, "no room", where=row[0], value="1", allowed="0", remedy="none")


@pytest.mark.parametrize("name", BOARDS)
def test_values_are_compared_on_every_board_at_two_levels_at_least(name: str) -> None:
    levels = [optimise for board, optimise in MATRIX if board == name]
    assert levels[-2:] == ["-O2", "-Os"]
    assert all(TOO_LARGE.get((name, optimise), frozenset()) < set(CASES) for optimise in levels)


@pytest.mark.parametrize("name", BOARDS)
def test_every_board_gives_the_model_s_values(
        name: str, cases: Cases, tmp_path: Path, ledger: "Ledger",
        require_tool: Callable[[str, str], str]) -> None:
    board = load_board(name)
    require(board, require_tool)
    case = FEW[BOARDS.index(name) % len(FEW)]
    check(board, cases(case), tmp_path, ledger, "auto", "-O2")


def test_no_row_too_many_is_written_at_os_on_a_cortex_m55(
        cases: Cases, tmp_path: Path, ledger: "Ledger", require_tool: Callable[[str, str], str]) -> None:
    """gcc 12 took the rows that a loop of Helium had counted down for more than 0, and wrote into `dist`."""
    board = load_board("mps3-an547")
    require(board, require_tool)
    check(board, cases("lms16"), tmp_path, ledger, "gcc", "-Os")


def test_products_of_random_features_have_32_bits_on_avr(
        cases: Cases, tmp_path: Path, ledger: "Ledger", require_tool: Callable[[str, str], str]) -> None:
    """The product of two int16_t is an int, which has 16 bits on AVR."""
    board = load_board("arduino-mega")
    require(board, require_tool)
    check(board, cases("rls16"), tmp_path, ledger, "gcc", "-O2")


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "optimise"), MATRIX)
def test_the_whole_matrix_gives_the_model_s_values(
        name: str, optimise: str, cases: Cases, tmp_path: Path, ledger: "Ledger",
        require_tool: Callable[[str, str], str]) -> None:
    board = load_board(name)
    require(board, require_tool)
    for compiler, row in compilers(load_target(board.target)).items():
        require_tool(row.program, row.install)
        for case in CASES:
            with unless_too_large(name, optimise, case):
                check(board, cases(case), tmp_path / case, ledger, compiler, optimise)
