"""codegen: targets and boards, read from firmware/targets/*.toml and firmware/boards/*.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..sim.errors import fail
from ..sim.target import Target
from .resources import resource


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Memory(_Data):
    """Where the linker puts code, data and the stack (bytes)."""

    flash_origin: int = Field(ge=0)
    flash_bytes: int = Field(gt=0)
    ram_origin: int = Field(ge=0)
    ram_bytes: int = Field(gt=0)
    stack_bytes: int = Field(gt=0, multiple_of=8)
    guard_log2: int = Field(ge=5, le=31)

    @model_validator(mode="after")
    def _guard_is_free(self) -> Memory:
        start = self.ram_origin - (1 << self.guard_log2)
        if start < 0 or start % (1 << self.guard_log2):
            raise ValueError("ram_origin must be a multiple of 2^guard_log2")
        if start < self.flash_origin + self.flash_bytes and self.flash_origin < self.ram_origin:
            raise ValueError("the guard below the RAM must leave out the flash")
        return self


class Uart(_Data):
    """The serial port that the agent listens on."""

    base: int
    irq: int = Field(ge=0)
    clock_hz: int = Field(gt=0)
    baud: int = Field(gt=0)

    @property
    def divider(self) -> int:
        """Clocks a bit; the hardware wants at least 16."""
        return max(self.clock_hz // self.baud, 16)


class Counter(_Data):
    """The counter that measures operations: `ticks` of it are `per_units` of `unit`."""

    base: int
    unit: Literal["instructions", "cycles"]
    ticks: int = Field(gt=0)
    per_units: int = Field(gt=0)

    def units(self, ticks: int) -> int:
        """Exact count behind a reading, where a tick is no longer than a unit (rounded up)."""
        return -(-ticks * self.per_units // self.ticks)

    def reading(self, units: int) -> int:
        """What the counter shows after `units`; :meth:`units` undoes it."""
        return units * self.ticks // self.per_units


class Emulator(_Data):
    """A program that runs the board's image, and the command that installs it.

    `program` is its command, or ``python:MODULE`` where it is driven from Python.
    """

    program: str
    args: tuple[str, ...]
    install: str


class Board(_Data):
    """A board, real or emulated."""

    id: str
    title: str
    target: str
    support: str
    memory: Memory
    uart: Uart
    counter: Counter
    emulators: dict[str, Emulator] = Field(default_factory=dict)


_Model = TypeVar("_Model", Target, Board)


def _names(folder: str) -> tuple[str, ...]:
    entries = (p.name for p in resource(f"firmware/{folder}").iterdir())
    return tuple(sorted(n.removesuffix(".toml") for n in entries if n.endswith(".toml")))


def _load(kind: type[_Model], folder: str, name: str, code: str) -> _Model:
    what = kind.__name__.lower()
    if name not in _names(folder):
        raise fail(code, f"there is no such {what}", where=what, value=name,
                   allowed=", ".join(_names(folder)),
                   remedy=f"choose one of these, or add firmware/{folder}/{name}.toml")
    where = f"firmware/{folder}/{name}.toml"
    try:
        return kind.model_validate(tomllib.loads(resource(where).read_text(encoding="utf-8")))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise fail("E324", f"the file of this {what} cannot be read", where=where, value=error,
                   allowed="the keys of the files beside it", remedy="correct the file") from None


def target_ids() -> tuple[str, ...]:
    """Every target there is."""
    return _names("targets")


def board_ids() -> tuple[str, ...]:
    """Every board there is."""
    return _names("boards")


@cache
def load_target(name: str) -> Target:
    """The target `name`; E323 where there is none, E324 where its file is wrong."""
    return _load(Target, "targets", name, "E323")


@cache
def load_board(name: str) -> Board:
    """The board `name`; E322 where there is none, E324 where its file is wrong."""
    return _load(Board, "boards", name, "E322")
