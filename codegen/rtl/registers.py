"""codegen.rtl: read and validate the cores' register map, hw/rtl/registers.toml.

The C headers, SystemRDL, IP-XACT and the documentation of a generated folder are rendered from this table.
"""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..resources import read_text


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RegisterField(_Row):
    """Field of a register: its width is `bits`, and its lowest bit is `low`."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    low: int = Field(ge=0, le=31)
    bits: int = Field(ge=1, le=32)
    meaning: str

    @property
    def high(self) -> int:
        """Return the index of the field's most significant bit."""
        return self.low + self.bits - 1

    @property
    def place(self) -> str:
        """Return the bit range of the field as text, such as ``bits 3:0``."""
        return f"bit {self.low}" if self.bits == 1 else f"bits {self.high}:{self.low}"

    @property
    def mask(self) -> int:
        """Return the mask of the field in its register."""
        return ((1 << self.bits) - 1) << self.low


class Register(_Row):
    """Register, or an array of `count` registers; registers.toml describes `access`."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    offset: int = Field(ge=0, multiple_of=4)
    access: Literal["r", "rw", "w1c", "w1"]
    count: int = Field(default=1, ge=1)
    meaning: str
    fields: tuple[RegisterField, ...] = ()

    @property
    def last(self) -> int:
        """Return the offset of the last register of the array."""
        return self.offset + 4 * (self.count - 1)

    @property
    def whole(self) -> tuple[RegisterField, ...]:
        """Return the fields; a register without fields is one field of 32 bits."""
        return self.fields or (RegisterField(name="value", low=0, bits=32, meaning=self.meaning),)

    @property
    def parts(self) -> tuple[RegisterField, ...]:
        """Return the fields; each bit of a command register is a separate field."""
        if self.access != "w1":
            return self.whole
        return tuple(field if field.bits == 1 else field.model_copy(
            update={"name": f"{field.name}_{bit}", "low": field.low + bit, "bits": 1})
            for field in self.whole for bit in range(field.bits))

    @model_validator(mode="after")
    def _separate(self) -> Register:
        taken = 0
        for field in self.fields:
            if field.high > 31 or taken & field.mask:
                raise ValueError(f"field {field.name} of {self.name} overlaps another one, or "
                                 "exceeds 32 bits")
            taken |= field.mask
        return self


class RegisterMap(_Row):
    """Register map: `map` is its version, `bytes` the size of the address space."""

    map: int = Field(ge=1, le=255)
    bytes: int
    registers: tuple[Register, ...] = Field(alias="register")

    @model_validator(mode="after")
    def _ascending(self) -> RegisterMap:
        free = 0
        for register in self.registers:
            if register.offset < free or register.last >= self.bytes:
                raise ValueError(f"register {register.name} overlaps another one, or lies outside the "
                                 "address space")
            free = register.last + 4
        return self

    def named(self, name: str) -> Register:
        """Return a register by name."""
        return next(register for register in self.registers if register.name == name)


@cache
def register_map() -> RegisterMap:
    """Return the register map that all cores share."""
    return RegisterMap.model_validate(tomllib.loads(read_text("hw/rtl/registers.toml")))
