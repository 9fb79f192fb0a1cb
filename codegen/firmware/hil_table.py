"""codegen: read and validate the HIL protocol, firmware/agent/protocol.toml.

The table is rendered as a C header and as a documentation page. Module ``hw.hil.protocol`` encodes and
decodes frames with it.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from ..resources import environment, read_text

#: COBS adds a byte in front and one for each 254; then the delimiter.
_SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i8": 1, "i32": 4, "i64": 8}
CRC_BYTES = 4


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LinkField(_Row):
    """Field of a frame header or payload; protocol.toml describes its `type`."""

    name: str
    type: str = Field(pattern=r"^(u8|u16|u32|u64|i8|i32|i64|u8\[\d+\]|bytes|text)$")
    meaning: str

    @property
    def signed(self) -> bool:
        """Report whether the field is a signed integer (two's complement)."""
        return self.type.startswith("i")

    @property
    def size(self) -> int:
        """Return the size of the field in bytes, or 0 if the size is variable.

        A field of variable size is the last one of its payload.
        """
        if self.type in _SIZES:
            return _SIZES[self.type]
        array = re.fullmatch(r"u8\[(\d+)\]", self.type)
        return int(array[1]) if array else 0


class LinkStatus(_Row):
    """Status of a reply; `resend` means that the host may repeat the request at once."""

    name: str
    code: int = Field(ge=0, le=255)
    meaning: str
    resend: bool = False


class Opcode(_Row):
    """Operation of the board, with the fields of its request and reply.

    If `long` is true, the board first replies WORKING, and sends the result when the operation is complete.
    """

    name: str
    code: int = Field(ge=0, le=127)
    meaning: str
    long: bool = False
    request: tuple[LinkField, ...] = ()
    reply: tuple[LinkField, ...] = ()


class Region(_Row):
    """Memory region of the board that the host can address."""

    name: str
    code: int = Field(ge=0, le=255)
    meaning: str
    writable: bool = False


class Timing(_Row):
    """Timeouts of the host in seconds.

    Parameters
    ----------
    retransmit : float
        Time without a reply after which a request is repeated.
    timeout_s : float
        Time without a valid reply after which a request fails.
    poll : float
        Time without a reply after which a request is repeated, once the board has replied WORKING.
    operation : float
        Maximum time of a long operation, from the reply WORKING.
    startup : float
        Replaces `timeout_s` for an emulator, which may still be starting or waiting for CPU time.
    """

    retransmit: float = Field(gt=0)
    timeout_s: float = Field(gt=0)
    poll: float = Field(gt=0)
    operation: float = Field(gt=0)
    startup: float = Field(gt=0)


class LinkTable(_Row):
    """Definition of the HIL protocol."""

    version: int
    max_payload: int
    timing: Timing
    header: tuple[LinkField, ...]
    reply_header: tuple[LinkField, ...]
    status: tuple[LinkStatus, ...]
    opcode: tuple[Opcode, ...]
    region: tuple[Region, ...]

    def status_named(self, name: str) -> LinkStatus:
        """Return the status called `name`."""
        return next(s for s in self.status if s.name == name)

    def opcode_named(self, name: str) -> Opcode:
        """Return the opcode called `name`."""
        return next(o for o in self.opcode if o.name == name)

    def region_named(self, name: str) -> Region:
        """Return the region called `name`."""
        return next(r for r in self.region if r.name == name)


def fixed_bytes(fields: tuple[LinkField, ...]) -> int:
    """Return the total size of the fields of fixed size in bytes."""
    return sum(f.size for f in fields)


def offsets(fields: tuple[LinkField, ...]) -> list[tuple[LinkField, int]]:
    """Pair each field with its offset in bytes."""
    placed, at = [], 0
    for field in fields:
        placed.append((field, at))
        at += field.size
    return placed


@cache
def link_table() -> LinkTable:
    """Load the protocol definition of this version of kerncast."""
    return LinkTable.model_validate(tomllib.loads(read_text("firmware/agent/protocol.toml")))


def _render(template: str, table: LinkTable) -> str:
    return environment().get_template(template).render(
        t=table, offsets=offsets, fixed_bytes=fixed_bytes, crc_bytes=CRC_BYTES)


def render_header(max_payload: int | None = None) -> str:
    """Render ``kc_hil_protocol.h`` with opcodes, statuses, regions and offsets.

    `max_payload` is the maximum payload of the agent in bytes; by default, that of the protocol definition.
    """
    changed = {} if max_payload is None else {"max_payload": max_payload}
    return _render("firmware/kc_hil_protocol.h.j2", link_table().model_copy(update=changed))


def render_docs() -> str:
    """Render ``docs/hil-protocol.md``."""
    return _render("firmware/hil-protocol.md.j2", link_table())


if __name__ == "__main__":
    print(render_docs(), end="")
