"""lab: measure flash, RAM, stack and operation counts of a library on a target.

Flash, RAM and stack are taken from the output of the compiler and the linker. An emulator runs the calls of
the test vectors and counts operations. Each result is compared with the integer model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

from ...codegen.firmware.image import FirmwareImage, build_firmware
from ...codegen.firmware.targets import Board, all_boards, load_target
from ...hw.hil.board_backend import BoardBackend, Tally, default_emulator
from ...hw.hil.emulators import available, start_emulator
from ...sim.backend import Comparison
from ...sim.errors import fail
from ...sim.plan import Plan
from ...sim.replay.vectors import Call, Vectors
from ...sim.spec.keys import CALLS

#: Samples at the end of each call of the vectors that are counted one by one.
COUNTED = 100


@dataclass(frozen=True)
class Count:
    """Mean and maximum cost of a call."""

    mean: int
    worst: int


@dataclass(frozen=True)
class Costs:
    """Costs of a library on a target at an optimisation level.

    Parameters
    ----------
    target, board, compiler, version, optimise : str
    flash : dict of str to int
        Flash in bytes. ``predict``, ``learn`` and ``all`` are the footprints in three programs:
        one that only predicts, one that also trains or updates, and one that calls every function; ``image``
        is the whole test firmware.
    ram : dict of str to int
        RAM in bytes of the ``model`` structure, of the ``trainer`` structure if there is one, and of
        ``static`` variables of the library.
    stack : dict of str to int, or None
        Maximum stack of each call in bytes; None if the compiler does not report stack frames.
    unit : str, or None
        Unit of the counts; None if nothing was counted.
    counts : dict of str to Count
        Mean and maximum count of each call over the last :data:`COUNTED` samples.
    functions : dict of str to int
        Flash of each function in the program that calls every function, in bytes.
    """

    target: str
    board: str
    compiler: str
    version: str
    optimise: str
    flash: dict[str, int]
    ram: dict[str, int]
    stack: dict[str, int] | None
    unit: str | None = None
    counts: dict[str, Count] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the costs as a dictionary for ``--json``."""
        return asdict(self)

    def microseconds(self, mhz: float) -> dict[str, int]:
        """Return the maximum time of each call, rounded up, at a clock frequency in MHz.

        One count is taken as one clock cycle.
        """
        return {call: ceil(count.worst / mhz) for call, count in self.counts.items()}

    @property
    def deepest(self) -> int | None:
        """Return the maximum stack over training, updates and predictions in bytes."""
        return None if self.stack is None else max(
            size for call, size in self.stack.items() if call in ("train", "update", "predict"))


def board_of(target: str) -> Board:
    """Return a board with a target.

    Boards with an installed emulator are preferred, then boards that exist only in emulation.

    Raises
    ------
    KerncastError
        E323 if the target is unknown, E324 if no board has it.
    """
    load_target(target)
    boards = [board for board in all_boards()[0] if board.target == target]
    if not boards:
        raise fail("E324", "no board has this target, so kerncast cannot build an image for it",
                   where="target", value=target,
                   allowed="a target with a board; `kerncast targets` lists them",
                   remedy="add a board file to firmware/boards")
    return min(boards, key=lambda board: (not available(board, default_emulator(board)), board.real))


def built_costs(plan: Plan, image: FirmwareImage) -> Costs:
    """Return the costs that are known without running an image: flash, RAM and stack."""
    learn = CALLS[plan.algorithm]
    everything = image.library(*image.calls)
    init = [call for call in ("init",) if call in image.calls]
    flash = {"predict": image.library(*init, "predict").flash,
             "learn": image.library(*init, *learn).flash,
             "all": everything.flash, "image": image.flash_bytes}
    trainer = {"trainer": plan.trainer_bytes} if plan.trainer_bytes else {}
    return Costs(image.board.target, image.board.id, image.compiler, image.version, image.optimise, flash,
                 {"model": plan.state_bytes, **trainer, "static": everything.ram}, image.worst_stack,
                 functions=everything.functions)


def measured_costs(plan: Plan, folder: Path, target: str, optimise: str = "-O2", *, compiler: str = "auto",
                   vectors: Vectors | None = None, build_dir: Path | None = None) -> Costs:
    """Build a generated folder for a target, and measure its costs.

    Operations are counted only if an emulator of the target is installed.

    Parameters
    ----------
    plan : Plan
    folder : Path
        The folder generated from the plan.
    target, optimise, compiler : str
        Target id, optimisation level, and name of the compiler.
    vectors : Vectors, optional
        The calls to count. If they are omitted, nothing is counted.
    build_dir : Path, optional

    Raises
    ------
    KerncastError
        The errors of the build and of the run; E335 if a value differs from the value of the integer model.
    """
    board = board_of(target)
    image = build_firmware(folder, plan, board.id, compiler=compiler, optimise=optimise, build_dir=build_dir)
    costs = built_costs(plan, image)
    emulator = default_emulator(board)
    if vectors is None or board.counter.emulated is None or not available(board, emulator):
        return costs
    with closing(BoardBackend(plan, start_emulator(image.elf, board, emulator), counter=board.counter,
                              image=image)) as backend:
        counts = _counted(backend, vectors)
    return Costs(**{**vars(costs), "unit": board.counter.unit, "counts": counts})


def _counted(backend: BoardBackend, vectors: Vectors) -> dict[str, Count]:
    """Run the vectors, and return the cost of each call.

    Calls with an overflow of the counter are omitted.
    """
    found: dict[str, list[int | None]] = {}
    result = Comparison()
    backend.reset()
    for call in vectors.calls:
        for part in _parts(call):
            result.add(call.name, part.expected, part.run(backend))
            tally, backend.tallies[call.name] = backend.tallies[call.name], Tally()
            if call.name == "train" or tally.samples == 1:
                found.setdefault(call.name, []).append(tally.units)
    if result.mismatches:
        raise fail("E335", "a value differs from the value of the integer model", where=backend.name,
                   value=result.first, allowed="the value of the integer model",
                   remedy="find the place with: kerncast test OUT --on BACKEND --bisect")
    exact = {name: [n for n in units if n is not None][-COUNTED:] for name, units in found.items()
             if None not in units}
    return {name: Count(-(-sum(units) // len(units)), max(units)) for name, units in exact.items() if units}


def _parts(call: Call) -> Iterator[Call]:
    """Split a call into one large call, followed by calls of a single sample.

    Training calls are not split.
    """
    if call.name == "train":
        yield call
        return
    assert call.x_raw is not None
    samples = len(call.x_raw)
    first = max(0, samples - COUNTED)
    for part in (*([slice(0, first)] if first else []), *(slice(i, i + 1) for i in range(first, samples))):
        yield Call(call.name, call.x_raw[part], None if call.y_raw is None else call.y_raw[part],
                   {name: words[part] for name, words in call.expected.items()})
