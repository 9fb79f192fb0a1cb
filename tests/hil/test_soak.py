"""A board behind a bad line: every word equals the model's, or the call fails with a code.

One frame in a hundred, in either direction, has a bit flipped, is lost, comes twice, is cut short, comes
after noise, or finds the emulator killed.  What happens to the k-th frame of a direction depends on the
seed, the direction and k alone, so that a run can be repeated.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kerncast.codegen.firmware.image import FirmwareImage, build_firmware
from kerncast.codegen.firmware.targets import load_board
from kerncast.codegen.generate import generate
from kerncast.hw.hil.board_backend import BoardBackend
from kerncast.hw.hil.emulators import EmulatorLink, start_emulator
from kerncast.hw.hil.protocol import DELIMITER, TABLE
from kerncast.sim.backend import Backend, Comparison, Outputs
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

if TYPE_CHECKING:
    from ..conftest import Ledger

RATE = 0.01
KINDS = ("flip", "drop", "twice", "cut", "noise", "kill")
#: Sooner than on a board: a repetition that comes too early must do no harm either.
TIMING = TABLE.timing.model_copy(update={"retransmit": 0.05, "poll": 0.05})
#: Where the frames go: each program that emulates.
BOARDS = ("mps2-an386:qemu", "mps2-an386:unicorn", "riscv-virt:qemu", "mips-linux:qemu",
          "hexagon-linux:qemu", "arduino-mega:simavr")
FRAMES, CAMPAIGN_FRAMES = 2_000, 100_000
N = 20
#: More instructions, or clocks, than any call takes.
MOST_UNITS = 10**8
#: What is asked, and how often: every command of the link is among what these send.
CALLS = ("learn", "learn", "learn", "predict", "predict", "state", "save", "restore", "costs", "reset")
#: By name: the tables of a spec with two inputs.
CASES: dict[str, dict[str, Any]] = {
    "stream": {"algorithm": "kernel_lms", "online": {"budget": 9, "eta": 0.3}},
    "trainer": {"algorithm": "toeplitz_rls", "toeplitz": {"n": N, "lam": 0.1, "scheme": "diagonal_mean"}},
}
#: Every emulator takes the learner; a trainer adds its own command on one.
SOAKS = (*(("stream", where) for where in BOARDS), ("trainer", "mps2-an386:unicorn"))


class BadLine:
    """A link to an emulator that does to frames what a bad line does."""

    announces = True

    def __init__(self, link: EmulatorLink, chances: dict[str, random.Random], faults: "Counter[str]") -> None:
        self.name = link.name
        self.frames = 0
        self._link = link
        self._chances = chances
        self._faults = faults
        self._pending = b""

    def _spoil(self, frame: bytes, direction: str) -> bytes:
        """What arrives of a frame."""
        self.frames += 1
        chance = self._chances[direction]
        kind = chance.choice(KINDS) if chance.random() < RATE else ""
        at = chance.randrange(len(frame))
        self._faults[kind] += 1
        if kind == "kill":
            self._link.process.kill()
        flipped = frame[:at] + bytes([frame[at] ^ (1 << chance.randrange(8))]) + frame[at + 1:]
        return {"flip": flipped, "drop": b"", "twice": frame + frame, "cut": frame[:at],
                "noise": chance.randbytes(1 + at) + frame}.get(kind, frame)

    def write(self, data: bytes) -> None:
        self._link.write(self._spoil(data, "out"))

    def read(self, timeout: float) -> bytes:
        until = time.monotonic() + timeout
        while data := self._link.read(until - time.monotonic()):
            *frames, self._pending = (self._pending + data).split(DELIMITER)
            come = b"".join(self._spoil(DELIMITER + f + DELIMITER, "in") for f in frames if f)
            if come:
                return come
        return b""

    def close(self) -> None:
        self._link.close()


class Soak:
    """A board behind a bad line and the model beside it, both asked the same."""

    def __init__(self, plan: Plan, image: FirmwareImage, emulator: str, seed: int) -> None:
        self.frames = 0
        self.faults: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.words = Comparison()
        self._plan, self._image, self._emulator = plan, image, emulator
        self._chances = {way: random.Random(f"{seed} {way}") for way in ("out", "in")}
        self._rng = np.random.default_rng(seed)
        self._saved = open_model(plan).save()
        self._line: BadLine | None = None

    def run(self, frames: int) -> None:
        """Ask until so many frames have passed; a killed board starts again from what it last saved."""
        while self.frames + self._passed() < frames:
            try:
                board, model = self._both()
                while self.frames + self._passed() < frames:
                    self._ask(board, model)
            except KerncastError as error:
                self.refused[error.problems[0].code] += 1
                self._end()
        self._end()

    def _passed(self) -> int:
        return self._line.frames if self._line else 0

    def _end(self) -> None:
        self.frames += self._passed()
        if self._line:
            self._line.close()
        self._line = None

    def _both(self) -> tuple[BoardBackend, Backend]:
        link = start_emulator(self._image.elf, self._image.board, self._emulator)
        self._line = BadLine(link, self._chances, self.faults)
        board = BoardBackend(self._plan, self._line, timing=TIMING, counter=self._image.board.counter)
        model = open_model(self._plan)
        for each in (board, model):
            each.restore(self._saved)
        return board, model

    def _ask(self, board: BoardBackend, model: Backend) -> None:
        """One call of each; the model is asked only when the board has answered."""
        self.asked[call := str(self._rng.choice(CALLS))] += 1
        count = N if call == "learn" and self._plan.trains else int(self._rng.integers(1, 4))
        x, y = self._rng.integers(-2048, 2048, (count, 2)), self._rng.integers(-2048, 2048, count)
        if call == "costs":
            self._check(board.costs())
            return
        calls: dict[str, Callable[[Backend], Outputs]] = {
            "learn": lambda each: each.train(x, y) if self._plan.trains else each.update(x, y),
            "predict": lambda each: each.predict(x), "state": lambda each: each.state(),
            "save": lambda each: {"image": np.frombuffer(each.save(), dtype=np.uint8).astype(np.int64)},
            "restore": lambda each: each.restore(self._saved) or {}, "reset": lambda each: each.reset() or {}}
        found = calls[call](board)
        self.words.add(call, calls[call](model), found)
        if call == "save":
            self._saved = found["image"].astype(np.uint8).tobytes()

    def _check(self, costs: dict[str, object]) -> None:
        """No count, and no stack, is beyond what there is; what was lost on the way is said to be."""
        stack, counts = costs["stack"], costs["counts"]
        assert stack is None or 0 < stack <= self._image.board.memory.stack_bytes
        assert all(each is None or 0 < each < MOST_UNITS for each in counts.values())


Cases = Callable[[str], tuple[Plan, Path]]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """Plan and generated folder of a case, each made once."""

    @cache
    def case(name: str) -> tuple[Plan, Path]:
        tables = dict(CASES[name])
        plan = make_plan(Spec(model={"name": name, "algorithm": tables.pop("algorithm")},
                              input={"word": "s12f0", "columns": 2}, output={"word": "s12f0"},
                              kernel={"sigma": 700.0}, **tables))
        out = tmp_path_factory.mktemp(name)
        generate(plan, out)
        return plan, out

    return case


def soak(cases: Cases, case: str, where: str, frames: int, ledger: "Ledger",
         require_tool: Callable[[str, str], str]) -> Soak:
    board, emulator = where.split(":")
    entry = load_board(board).emulators[emulator]
    require_tool(entry.program, entry.install)
    plan, out = cases(case)
    run = Soak(plan, build_firmware(out, plan, board), emulator, seed=6)
    run.run(frames)
    print(f"{case} on {where}: {run.frames} frames, faults {dict(run.faults)}, refused {dict(run.refused)}, "
          f"asked {dict(run.asked)}")
    assert run.words.first == ""
    assert set(run.asked) == set(CALLS)
    # The only answer that is no answer is that the emulator is gone.
    assert set(run.refused) <= {"E411"} and run.refused["E411"] <= run.faults["kill"]
    ledger.record(backend=f"emu:{where}:bad-line", words=run.words.words, mismatches=run.words.mismatches,
                  case=case)
    return run


@pytest.mark.parametrize(("case", "where"), SOAKS)
def test_over_a_bad_line_every_call_is_answered_right_or_fails_with_a_code(
        cases: Cases, case: str, where: str, ledger: "Ledger",
        require_tool: Callable[[str, str], str]) -> None:
    run = soak(cases, case, where, FRAMES, ledger, require_tool)
    assert sum(run.faults[kind] for kind in KINDS) >= 3


@pytest.mark.campaign
@pytest.mark.parametrize(("case", "where"), SOAKS)
def test_over_a_bad_line_a_hundred_thousand_frames_do_no_harm(
        cases: Cases, case: str, where: str, ledger: "Ledger",
        require_tool: Callable[[str, str], str]) -> None:
    run = soak(cases, case, where, CAMPAIGN_FRAMES, ledger, require_tool)
    assert all(run.faults[kind] > 100 for kind in KINDS)
