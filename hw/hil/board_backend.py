"""hw: back end that runs on a physical or emulated board."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...codegen.build.toolchains import COMPILERS
from ...codegen.firmware.hil_table import Timing
from ...codegen.firmware.image import FirmwareImage, build_firmware
from ...codegen.firmware.targets import Board, Counter, load_board
from ...codegen.generate import load_plan
from ...sim.backend import Outputs, Raw, answer_width, answered, calls_of, fitted_answer, refused_update
from ...sim.data import raw
from ...sim.errors import KerncastError, fail
from ...sim.plan import ABI, C_BYTES, Plan, wire_dtype
from ...sim.replay.saved_state import RestoreStatus, image_bytes, restore_error, slots_with
from ...sim.replay.trace import Trace
from ...sim.statuses import DeviceStatus
from .client import SLOTS, HilClient
from .emulators import available, require_emulator, start_emulator
from .link import Link, SerialLink
from .protocol import REGIONS
from .requests import differs

#: Ticks per second that no board reaches; a counter that claims more is not believed.
_FASTEST = 10**10
#: Names of agents that run as an application of a system (codegen/firmware/application.py): they count time.
APPLICATIONS = ("zephyr", "arduino")
_CLOCK = Counter(kind="clock", unit="nanoseconds")


@dataclass
class Tally:
    """Accumulated cost of one kind of operation; `units` is None if unknown."""

    samples: int = 0
    units: int | None = 0

    def add(self, samples: int, units: int | None) -> None:
        """Add the cost of an operation on `samples` samples.

        If `units` is None, the total becomes unknown.
        """
        self.samples += samples
        self.units = None if units is None or self.units is None else self.units + units

    @property
    def each(self) -> int | None:
        """Return the cost per sample in units, rounded up, or None if unknown."""
        return None if self.units is None or not self.samples else -(-self.units // self.samples)


class BoardBackend:
    """Back end that runs the firmware of a plan over a link.

    Parameters
    ----------
    plan : Plan
    link : Link
        The connection to the board. It is closed with the back end, or if the board is rejected.
    counter : Counter, optional
        The board's counter. If it is omitted, costs are not measured.
    image : FirmwareImage, optional
        The firmware image, for its costs. Omit it if the board was flashed by another program.
    timing : Timing, optional
        Timeouts of the protocol.
    traced : bool
        Whether the firmware must have trace hooks.
    board : str, optional
        ID of the board for which the firmware must have been built. The attribute `board` is the ID that the
        board reports.

    Attributes
    ----------
    on_batch : callable
        Callback to report progress. After each batch, it receives the name of the call, the number of samples
        processed, and the total number of samples.

    Raises
    ------
    KerncastError
        E411 to E416 of :class:`.client.HilClient`; E422 if the firmware was built for another board, E434 if
        it has no trace hooks.
    """

    def __init__(self, plan: Plan, link: Link, *, counter: Counter | None = None,
                 image: FirmwareImage | None = None, timing: Timing | None = None,
                 traced: bool = False, board: str | None = None) -> None:
        self.plan = plan
        self.calls = calls_of(plan) | ({"trace"} if traced else set())
        self.name = link.name
        self.image = image
        self.client = HilClient(link, timing)
        self.counter = counter
        self.on_batch: Callable[[str, int, int], None] = lambda call, done, total: None
        self.tallies = {name: Tally() for name in ("train", "fitted", "stream", "update", "predict")}
        try:
            identity = self.client.start(plan.hash, ABI, board)
            self.board, self._capacity = identity.board, identity.capacity
            self.reset()
            if traced:
                self.trace(0)
        except BaseException:
            link.close()
            raise

    # ----------------------------------------------------------------------------- back end

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train on a set of samples; see :class:`~kerncast.sim.backend.Backend`."""
        return {"status": np.array([self._train(x_raw, y_raw)], dtype=np.int64)}

    def _train(self, x_raw: Raw | None, y_raw: Raw) -> int:
        given = raw.whole_set(self.plan, x_raw, y_raw) if self.plan.trains else None
        if given is None:
            return DeviceStatus.BAD_ARGUMENT
        x_raw, y_raw = given
        if x_raw is not None:
            self._write("X", "x_raw", x_raw)
        self._write("Y", "y_raw", y_raw)
        started = time.monotonic()
        status = self.client.train(len(y_raw))
        self._count("train", 1, started)
        return status

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn from samples in order; see :class:`~kerncast.sim.backend.Backend`."""
        if not self.plan.learns:
            return refused_update(y_raw)
        return self._batches("update", self.client.update, *raw.samples(self.plan, x_raw, y_raw))

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for the given inputs; see :class:`~kerncast.sim.backend.Backend`."""
        return self._batches("predict", self.client.predict, raw.inputs(self.plan, x_raw), None)

    def state(self) -> Outputs:
        """Return the model structure; see :class:`~kerncast.sim.backend.Backend`."""
        return {f.name: _words(self.client.read_field(k, f.bytes), f.ctype)
                for k, f in enumerate(self.plan.memory)}

    def workspace(self) -> Outputs:
        """Return all members of the trainer structure, or nothing if there is no trainer."""
        whole, found, at = b"", {}, 0
        if self.plan.trains:
            whole = self.client.read_field(len(self.plan.memory), self.plan.trainer_bytes)
        for member in self.plan.workspace:
            found[member.name] = _words(whole[at:at + member.bytes], member.ctype)
            at += member.bytes
        return found

    def fitted(self) -> Outputs:
        """Return the fitted values; see :class:`~kerncast.sim.backend.FittedBackend`."""
        n, word, started = self.plan.sizes["n"], self.plan.word_type, time.monotonic()
        status = self.client.fitted(n)
        self._count("fitted", 1, started)
        results = self.client.read(REGIONS["RESULTS"], n * self.plan.outputs * C_BYTES[word])
        return fitted_answer(self.plan, status, _words(results, word))

    def stream(self, y_raw: Raw) -> Outputs:
        """Return the values of a new stream.

        See :class:`~kerncast.sim.backend.StreamBackend`. Each request begins a stream, so that a batch
        repeats the last 2 L samples of the batch before.
        """
        y, again = raw.targets(self.plan, y_raw), self.plan.stream_taps - 1
        status, f = np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
        at, word = 0, self.plan.word_type
        while at < len(y):
            first = max(0, at - again)
            batch = y[first: first + self._capacity]
            self._write("Y", "y_raw", batch)
            started = time.monotonic()
            self.client.stream(len(batch))
            self._count("stream", len(batch), started)
            read = _words(self.client.read(REGIONS["RESULTS"], len(batch) * C_BYTES[word]), word)
            end = first + len(batch)
            f[at:end] = read[at - first:]
            status[at:end] = _words(self.client.read(REGIONS["STATUSES"], len(batch)), "int8_t")[at - first:]
            at = end
        return {"status": status, "f": f}

    def save(self) -> bytes:
        """Save the state; see :class:`~kerncast.sim.backend.Backend`.

        Raises E447 if the firmware has no space for saved states.
        """
        status, slot = self.client.save()
        image = self.client.read_slot(SLOTS[slot], image_bytes(self.plan))
        if status != RestoreStatus.OK:
            raise restore_error(self.plan, image, status, f"back end {self.name}")
        return image

    def restore(self, image: bytes) -> None:
        """Restore a state; see :class:`~kerncast.sim.backend.Backend`.

        Raises E447 if the firmware has no space for saved states.
        """
        where = f"back end {self.name}"
        contents = slots_with(self.plan, image, where)
        kept = [self.client.read_slot(name, len(contents[0])) for name in SLOTS]
        self._fill(contents)
        status = self.client.restore()
        if status != RestoreStatus.OK:
            self._fill(kept)
            raise restore_error(self.plan, image, status, where)

    def _fill(self, contents: Sequence[bytes]) -> None:
        for name, content in zip(SLOTS, contents, strict=True):
            self.client.write(name, content)

    def reset(self) -> None:
        """Reset the model and the costs; see :class:`~kerncast.sim.backend.Backend`."""
        self.client.reset()
        self.tallies = {name: Tally() for name in self.tallies}

    def trace(self, limit: int) -> Trace:
        """Return the trace; see :class:`~kerncast.sim.replay.trace.TracedBackend`."""
        return self.client.trace(limit)

    def close(self) -> None:
        """Close the connection; see :class:`~kerncast.sim.backend.Backend`."""
        self.client.close()

    def _batches(self, name: str, operation: Callable[[int], int], x_raw: Raw, y_raw: Raw | None) -> Outputs:
        width = answer_width(self.plan)
        rows = np.zeros((len(x_raw), width), dtype=np.int64)
        status = np.zeros(len(x_raw), dtype=np.int64)
        word = self.plan.word_type
        for at in range(0, len(x_raw), self._capacity):
            batch = slice(at, at + self._capacity)
            count = len(x_raw[batch])
            self._write("X", "x_raw", x_raw[batch])
            if y_raw is not None:
                self._write("Y", "y_raw", y_raw[batch])
            started = time.monotonic()
            operation(count)
            self._count(name, count, started)
            rows[batch] = _words(self.client.read(REGIONS["RESULTS"], count * width * C_BYTES[word]),
                                 word).reshape(count, width)
            status[batch] = _words(self.client.read(REGIONS["STATUSES"], count), "int8_t")
            self.on_batch(name, at + count, len(x_raw))
        return answered(self.plan, status, rows)

    def _write(self, region: str, signal: str, words: Raw) -> None:
        """Write values to a buffer of the board, in the integer type of `signal`."""
        self.client.write(region, raw.little_endian(self.plan, signal, words).tobytes())

    # -------------------------------------------------------------------------------- costs

    def _count(self, name: str, samples: int, started: float) -> None:
        """Add the measured cost of an operation.

        A count that is impossible in the elapsed time raises E414.
        """
        ticks = self.client.counters() if self.counter is not None else None
        units = None
        most = int((time.monotonic() - started + 1) * _FASTEST)
        if ticks is not None and ticks[0] > most:
            raise differs("counter of operations", ticks[0], f"0 to {most} ticks", self.client.link.name)
        if ticks is not None and self.counter is not None:
            units = self.counter.units(ticks[0]) - self.counter.units(ticks[1])
        self.tallies[name].add(samples, units)

    def costs(self) -> dict[str, object]:
        """Return the costs of the firmware.

        Returns
        -------
        dict
            ``compiler``: its name, version and optimisation level; ``flash`` and ``ram``: bytes of the whole
            image without the stack; ``library``: flash of the generated library alone in bytes. These four
            are None if the image is unknown. ``model``: bytes of the model structure; ``stack``: maximum
            stack used since reset in bytes, None if the operating system provides the stack; ``unit``: unit
            of the counts, such as ``instructions``, or None; ``counts``: for each operation, the mean count
            per sample or training.
        """
        image, (used, total) = self.image, self.client.stack()
        if image is not None and total > image.board.memory.ram_bytes:
            raise differs("size of the stack", total, f"up to {image.board.memory.ram_bytes} bytes, the RAM",
                          self.client.link.name)
        if 0 < total < used:
            raise differs("stack used", used, f"0 to {total} bytes", self.client.link.name)
        return {
            "compiler": f"{image.compiler} {image.version} {image.optimise}" if image else None,
            "flash": image.flash_bytes if image else None,
            "ram": image.ram_bytes if image else None,
            "library": image.library_bytes if image else None,
            "model": self.plan.state_bytes,
            "stack": used if total else None,
            "unit": self.counter.unit if self.counter else None,
            "counts": {name: t.each for name, t in self.tallies.items() if t.samples and self.counter},
        }


def _words(data: bytes, ctype: str) -> Raw:
    return np.frombuffer(data, dtype=wire_dtype(ctype)).astype(np.int64)


def default_emulator(board: Board) -> str:
    """Return the first installed emulator of a board.

    If none is installed, the first emulator of the board is returned.
    """
    return next((e for e in board.emulators if available(board, e)), next(iter(board.emulators), ""))


def emulated(where: str, compiler: str = "auto", optimise: str = "-O2") -> tuple[Board, str, str, str]:
    """Parse a name such as ``emu:mps2-an386:qemu:clang:-Os``.

    Returns the board, the emulator, the compiler and the optimisation level.

    Raises
    ------
    KerncastError
        E417 if the name is not that of an emulated board, E322 if the board is unknown.
    """
    kind, name, *choices = where.split(":") if ":" in where else (where, "")
    if kind != "emu" or not name:
        raise fail("E417", "this name does not select an emulated board", where="back end", value=where,
                   allowed="emu:BOARD or emu:BOARD:EMULATOR",
                   remedy="run `kerncast targets` for the list of boards")
    board = load_board(name)
    emulator = default_emulator(board)
    for choice in choices:
        if choice.startswith("-"):
            optimise = choice
        elif choice in COMPILERS:
            compiler = choice
        else:
            emulator = choice
    return board, emulator, compiler, optimise


def open_board(out_dir: Path | str, where: str = "emu:mps2-an386", *, plan: Plan | None = None,
               compiler: str = "auto", optimise: str = "-O2", build_dir: Path | str | None = None,
               timing: Timing | None = None, traced: bool = False) -> BoardBackend:
    """Build the firmware of a generated folder, and connect to its emulator.

    Parameters
    ----------
    out_dir : path
        The generated folder.
    where : str
        ``emu:BOARD``. An emulator, a compiler and an optimisation level may follow in any order, each after a
        colon, such as ``emu:mps2-an386:qemu:clang:-Os``.
    plan : Plan, optional
        The plan of the folder. It is loaded from the folder if it is omitted.
    compiler, optimise, build_dir, traced
        As in :func:`~kerncast.codegen.firmware.image.build_firmware`.
    timing : Timing, optional
        Timeouts of the protocol.

    Raises
    ------
    KerncastError
        E417 if `where` is not an emulated board, and the errors of the build and of the connection.
    """
    board, emulator, compiler, optimise = emulated(where, compiler, optimise)
    require_emulator(board, emulator)  # before the time is spent on building
    plan = plan or load_plan(out_dir)[0]
    image = build_firmware(out_dir, plan, board.id, compiler=compiler, optimise=optimise, build_dir=build_dir,
                           traced=traced)
    link = start_emulator(image.elf, board, emulator)
    return BoardBackend(plan, link, counter=board.counter.emulated, image=image, timing=timing,
                        traced=traced, board=board.id)


def open_port(port: str, plan: Plan, *, board: Board | None = None, timing: Timing | None = None,
              traced: bool = False, image: FirmwareImage | None = None) -> BoardBackend:
    """Connect to a physical board that runs the firmware of `plan`.

    If `board` is omitted, its ID is read from the firmware.

    Raises
    ------
    KerncastError
        E410 if the serial port cannot be opened, and the errors of :class:`BoardBackend`.
    """
    link = SerialLink(port, board.uart.baud if board else 115200)
    opened = BoardBackend(plan, link, image=image, timing=timing, traced=traced,
                          board=board.id if board else None)
    if opened.board in APPLICATIONS:
        opened.counter = _CLOCK
        return opened
    with contextlib.suppress(KerncastError):  # a board whose file is not here answers, and is not counted
        opened.counter = (board or load_board(opened.board)).counter.hardware
    return opened
