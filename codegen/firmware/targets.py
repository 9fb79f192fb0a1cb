"""codegen: load targets, boards and architectures from firmware/*.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources.abc import Traversable
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ...sim.errors import KerncastError, Problem, fail
from ...sim.spec.target import Target
from ..resources import OWN_FIRMWARE, firmware_files
from .target_files import (
    Rule,
    braces_are_filled,
    flags_are_of_compilers,
    id_is_the_files,
    names,
    names_what_there_is,
    read,
    refused,
)

_NAME = r"^[a-z0-9_]+$"


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Memory(_Data):
    """Memory regions for the linker, in bytes.

    Parameters
    ----------
    flash_origin, flash_bytes, ram_origin, ram_bytes : int
    stack_bytes : int
        Size of the stack at the bottom of the RAM; 0 if the operating system provides the stack.
    guard_log2 : int, optional
        Base-2 logarithm of the size of a guard region below the RAM. The CPU core denies access to it, so
        that a stack overflow causes a fault.
    batch_bytes : int
        Maximum size of each sample buffer of the agent.
    """

    flash_origin: int = Field(ge=0)
    flash_bytes: int = Field(gt=0)
    ram_origin: int = Field(ge=0)
    ram_bytes: int = Field(gt=0)
    stack_bytes: int = Field(ge=0, multiple_of=8)
    guard_log2: int | None = Field(default=None, ge=5, le=31)
    batch_bytes: int = Field(default=4096, gt=0)

    @model_validator(mode="after")
    def _fits(self) -> Memory:
        flash_end, ram_end = self.flash_origin + self.flash_bytes, self.ram_origin + self.ram_bytes
        given = f"flash {self.flash_origin:#x} to {flash_end:#x}, RAM {self.ram_origin:#x} to {ram_end:#x}"
        if self.flash_origin < ram_end and self.ram_origin < flash_end:
            raise refused("flash and RAM overlap", given, "two address ranges that do not overlap",
                          "correct flash_origin, flash_bytes, ram_origin or ram_bytes")
        if self.stack_bytes >= self.ram_bytes:
            raise refused("the stack uses all of the RAM", f"stack_bytes = {self.stack_bytes}",
                          f"below ram_bytes = {self.ram_bytes}", "lower stack_bytes, or correct ram_bytes")
        if self.guard_log2 is None:
            return self
        start = self.ram_origin - (1 << self.guard_log2)
        if start < 0 or start % (1 << self.guard_log2):
            raise refused("ram_origin must be a multiple of 2^guard_log2",
                          f"ram_origin = {self.ram_origin:#x}, guard_log2 = {self.guard_log2}",
                          f"a multiple of {1 << self.guard_log2:#x} above 0", "lower guard_log2")
        if start < flash_end and self.flash_origin < self.ram_origin:
            raise refused("the guard below the RAM overlaps the flash",
                          f"guard from {start:#x}; {given}", f"a guard that begins at {flash_end:#x} or "
                                                             f"above",
                          "lower guard_log2")
        return self


class Uart(_Data):
    """UART of the agent; `kind` is the name of its driver in firmware/uart/."""

    kind: str = Field(pattern=_NAME)
    base: int = 0
    irq: int = Field(default=0, ge=0)
    clock_hz: int = Field(gt=0)
    baud: int = Field(gt=0)
    max_payload: int | None = Field(default=None, ge=64)
    "Largest number of bytes per frame, if the board's RAM is too small for the default."
    window: int = Field(default=1, ge=1, le=255)
    "Maximum number of pending requests; more than one requires a receive FIFO that stores bytes while the "
    "agent is busy."

    @property
    def clocks_a_bit(self) -> int:
        """Return the divider from the UART's clock to its baud rate, rounded to nearest."""
        return (self.clock_hz + self.baud // 2) // self.baud


class Counter(_Data):
    """Counter that measures the cost of a call on the board.

    `kind` is the name of its driver in firmware/counter/, or ``none``.

    In the emulators of the board, `ticks` ticks of the counter correspond to `per_units` units. Property
    :attr:`hardware` describes the counter of the real board; it is None if `on_board` is false. A reading
    converts exactly if one unit is one tick, or at least two ticks, because an emulator may start the counter
    at any point within a tick.
    """

    kind: str = Field(default="none", pattern=_NAME)
    base: int = 0
    unit: Literal["instructions", "cycles", "packets", "nanoseconds"] = "instructions"
    ticks: int = Field(default=1, gt=0)
    per_units: int = Field(default=1, gt=0)
    on_board: bool = True

    @model_validator(mode="after")
    def _readings_are_exact(self) -> Counter:
        if self.ticks != self.per_units and self.ticks < 2 * self.per_units:
            raise refused("a unit must be exactly one tick, or at least two ticks",
                          f"ticks = {self.ticks}, per_units = {self.per_units}",
                          "ticks equal to per_units, or at least twice as large", "choose a faster counter")
        return self

    def units(self, ticks: int) -> int:
        """Convert a counter reading to units, rounded to nearest."""
        return (2 * ticks * self.per_units + self.ticks) // (2 * self.ticks)

    def reading(self, units: int) -> int:
        """Convert units to a counter reading, the inverse of :meth:`units`."""
        return units * self.ticks // self.per_units

    @property
    def emulated(self) -> Counter | None:
        """Return the counter of the board's emulators; None if there is none."""
        return None if self.kind == "none" else self

    @property
    def hardware(self) -> Counter | None:
        """Return the counter of the real board; None if there is none.

        It counts CPU cycles, except for minstret of RISC-V, which counts instructions.
        """
        if self.emulated is None or not self.on_board:
            return None
        unit: Literal["instructions", "cycles"] = "instructions" if self.kind == "minstret" else "cycles"
        return self.model_copy(update={"unit": unit, "ticks": 1, "per_units": 1})


class RegisterWrite(_Data):
    """Write to a register before the UART is started.

    The operation is ``register = register & ~clear | set``.
    """

    address: int
    clear: int = 0
    set: int = 0
    why: str


class Emulator(_Data):
    """Emulator that runs the board's image.

    Parameters
    ----------
    program : str
        Its command, or ``python:MODULE`` for an emulator that is driven from Python.
    link : {"chardev", "stdio", "module", "helper"}
        How the emulator connects to the socket of the host: ``chardev`` with QEMU's option ``-chardev``,
        ``stdio`` through standard input and output, ``module`` through the Python module that `args` names
        first, ``helper`` through the compiled helper program.
    args : tuple of str
        Arguments of the command; ``{helper}`` is replaced by the path of the compiled helper.
    helper : str, optional
        A C file in ``firmware/emulators/``. It is compiled for the host into the folder of the image.
    helper_flags : tuple of str
        Compiler flags for the helper, such as ``-lsimavr``.
    install : str
        The command that installs the emulator.
    """

    program: str
    link: Literal["chardev", "stdio", "module", "helper"]
    args: tuple[str, ...] = ()
    helper: str | None = None
    helper_flags: tuple[str, ...] = ()
    install: str


class Flasher(_Data):
    """Program that loads an image into the flash memory of a board.

    In `command`, ``{elf}`` and ``{port}`` are replaced by the image and the serial port.
    """

    command: tuple[str, ...]
    install: str


class Board(_Data):
    """Physical or emulated board; `emulators` are in order of preference."""

    id: str
    title: str
    target: str
    real: bool = False
    memory: Memory
    uart: Uart
    counter: Counter = Counter()
    setup: tuple[RegisterWrite, ...] = ()
    emulators: dict[str, Emulator] = Field(default_factory=dict)
    flashers: dict[str, Flasher] = Field(default_factory=dict)


class Compiler(_Data):
    """Compiler settings of an architecture.

    Parameters
    ----------
    program : str
        Command of the compiler, or ``python:MODULE``.
    compile, link : tuple of str
        Flags for every target of the architecture. Each target adds its own flags.
    linker : str, optional
        Name of another compiler that links, with its own flags, because this one cannot.
    libraries : tuple of str
        The compiler's runtime library (such as 64-bit division), if it must be linked explicitly.
    install : str
        The command that installs the compiler.
    """

    program: str
    compile: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    linker: str | None = None
    libraries: tuple[str, ...] = ()
    install: str


class Arch(_Data):
    """Settings that all targets of an architecture share.

    Parameters
    ----------
    title : str
    shared : tuple of str
        Folders of ``firmware/`` with sources for several architectures.
    linker_script : str, optional
        Template of the linker script; None if the default script of the linker is used.
    gcc, clang, zig : Compiler, optional
        Settings of each compiler that supports the architecture.
    """

    title: str
    shared: tuple[str, ...] = ()
    linker_script: str | None = None
    gcc: Compiler | None = None
    clang: Compiler | None = None
    zig: Compiler | None = None

    def compilers(self) -> dict[str, Compiler]:
        """List the compilers that support the architecture, in order of preference."""
        found = {"gcc": self.gcc, "zig": self.zig, "clang": self.clang}
        return {name: compiler for name, compiler in found.items() if compiler is not None}


_Model = TypeVar("_Model", Target, Board, Arch)


def _load(kind: type[_Model], folder: str, name: str, code: str, *rules: Rule) -> _Model:
    what = kind.__name__.lower()
    if name not in names(folder):
        raise fail(code, f"no such {what}", where=what, value=name, allowed=", ".join(names(folder)),
                   remedy=f"choose one of the allowed values, or add {folder}/{name}.toml to the folder that "
                          f"{OWN_FIRMWARE} names")
    return read(kind, folder, f"{name}.toml", (id_is_the_files, *rules))


def target_ids() -> tuple[str, ...]:
    """List the ids of all targets."""
    return names("targets")


def board_ids() -> tuple[str, ...]:
    """List the ids of all boards."""
    return names("boards")


@cache
def load_target(name: str) -> Target:
    """Load the target `name`.

    Raises E323 if the name is unknown, and E1xx or E324 if its file is invalid.
    """
    return _load(Target, "targets", name, "E323", flags_are_of_compilers)


@cache
def load_board(name: str) -> Board:
    """Load the board `name`.

    Raises E322 if the name is unknown, and E1xx or E324 if its file is invalid.
    """
    return _load(Board, "boards", name, "E322", names_what_there_is, braces_are_filled)


def all_targets() -> tuple[list[Target], list[Problem]]:
    """Load all targets; return the valid ones, and the problems of the others."""
    return _all(load_target, target_ids())


def all_boards() -> tuple[list[Board], list[Problem]]:
    """Load all boards; return the valid ones, and the problems of the others."""
    return _all(load_board, board_ids())


def _all(load: Callable[[str], _Model], ids: Iterable[str]) -> tuple[list[_Model], list[Problem]]:
    good: list[_Model] = []
    problems: list[Problem] = []
    for name in ids:
        try:
            good.append(load(name))
        except KerncastError as error:
            problems += error.problems
    return good, problems


def driver_files(board: Board) -> list[Traversable]:
    """List the C files of the UART driver and the counter driver of a board."""
    kinds = {"uart": board.uart.kind, "counter": board.counter.kind}
    return [firmware_files(folder)[f"kc_{folder}_{kind}.c"]
            for folder, kind in kinds.items() if kind != "none"]


@cache
def load_arch(name: str) -> Arch:
    """Load the architecture `name`.

    Raises E1xx or E324 if its file is missing or invalid.
    """
    return read(Arch, name, "arch.toml")
