"""codegen: the link's one table (firmware/agent/protocol.toml), read and checked.

Here it becomes the C header and the page of the docs; ``hw.hil.protocol`` makes the encoder and
decoder of it.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from ..resources import environment, read_text

#: COBS adds a byte in front and one for each 254; then the delimiter.
_SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i32": 4, "i64": 8}
CRC_BYTES = 4


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LinkField(_Row):
    """One field of a header or payload; `type` as explained in the table."""

    name: str
    type: str = Field(pattern=r"^(u8|u16|u32|u64|i32|i64|u8\[\d+\]|bytes|text)$")
    meaning: str

    @property
    def signed(self) -> bool:
        """Whether it is a number in two's complement."""
        return self.type.startswith("i")

    @property
    def size(self) -> int:
        """Bytes, 0 for a field that takes the rest of the payload."""
        if self.type in _SIZES:
            return _SIZES[self.type]
        array = re.fullmatch(r"u8\[(\d+)\]", self.type)
        return int(array[1]) if array else 0


class LinkStatus(_Row):
    """A status of the link; `resend` says that the host may send the request again at once."""

    name: str
    code: int = Field(ge=0, le=255)
    meaning: str
    resend: bool = False


class Opcode(_Row):
    """A request and its reply; a `long` one is acknowledged with WORKING before it is done."""

    name: str
    code: int = Field(ge=0, le=127)
    meaning: str
    long: bool = False
    request: tuple[LinkField, ...] = ()
    reply: tuple[LinkField, ...] = ()


class Region(_Row):
    """A piece of the board's memory that the host may name."""

    name: str
    code: int = Field(ge=0, le=255)
    meaning: str
    writable: bool = False


class Timing(_Row):
    """Seconds that the host waits.

    Parameters
    ----------
    retransmit : float
        Silence after which a request is sent again.
    timeout_s : float
        Time after which a request to a board without any valid answer fails.
    poll : float
        The same as `retransmit`, once the board has said that it is working.
    operation : float
        Time for a long operation, once the board has said that it is working.
    startup : float
        The same for an emulator, which may be starting, or waiting for a processor to run on.
    """

    retransmit: float = Field(gt=0)
    timeout_s: float = Field(gt=0)
    poll: float = Field(gt=0)
    operation: float = Field(gt=0)
    startup: float = Field(gt=0)


class LinkTable(_Row):
    """The whole table."""

    version: int
    max_payload: int
    timing: Timing
    header: tuple[LinkField, ...]
    reply_header: tuple[LinkField, ...]
    status: tuple[LinkStatus, ...]
    opcode: tuple[Opcode, ...]
    region: tuple[Region, ...]

    def status_named(self, name: str) -> LinkStatus:
        """The status called `name`."""
        return next(s for s in self.status if s.name == name)

    def opcode_named(self, name: str) -> Opcode:
        """The opcode called `name`."""
        return next(o for o in self.opcode if o.name == name)

    def region_named(self, name: str) -> Region:
        """The region called `name`."""
        return next(r for r in self.region if r.name == name)


def fixed_bytes(fields: tuple[LinkField, ...]) -> int:
    """Bytes of all fields of fixed size."""
    return sum(f.size for f in fields)


def offsets(fields: tuple[LinkField, ...]) -> list[tuple[LinkField, int]]:
    """Each field with its offset; the one that takes the rest comes last."""
    placed, at = [], 0
    for field in fields:
        placed.append((field, at))
        at += field.size
    return placed


@cache
def link_table() -> LinkTable:
    """The table as shipped."""
    return LinkTable.model_validate(tomllib.loads(read_text("firmware/agent/protocol.toml")))


def _render(template: str) -> str:
    return environment().get_template(template).render(
        t=link_table(), offsets=offsets, fixed_bytes=fixed_bytes, crc_bytes=CRC_BYTES)


def render_header() -> str:
    """``kc_hil_protocol.h``: opcodes, statuses, regions and offsets for the agent."""
    return _render("firmware/kc_hil_protocol.h.j2")


def render_docs() -> str:
    """``docs/hil-protocol.md``."""
    return _render("firmware/hil-protocol.md.j2")


if __name__ == "__main__":
    print(render_docs(), end="")
