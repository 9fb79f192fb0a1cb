"""hw: encode and decode the frames of the HIL link.

The file firmware/agent/protocol.toml defines the frames.

A frame is COBS(header, payload, CRC-32) between zero bytes; integers are little-endian.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cobs import cobs

from ...codegen.firmware.hil_table import CRC_BYTES, LinkField, fixed_bytes, link_table

TABLE = link_table()
VERSION = TABLE.version
REPLY_BIT = 0x80
SEQUENCES = 1 << 16
DELIMITER = b"\0"

#: name -> code and back, straight from the table.
OPCODES = {o.name: o.code for o in TABLE.opcode}
OPCODE_NAMES = {o.code: o.name for o in TABLE.opcode}
STATUSES = {s.name: s.code for s in TABLE.status}
STATUS_NAMES = {s.code: s.name for s in TABLE.status}
REGIONS = {r.name: r.code for r in TABLE.region}
RESEND = frozenset(s.name for s in TABLE.status if s.resend)
LONG = frozenset(o.name for o in TABLE.opcode if o.long)

Value = int | bytes | str
Values = Mapping[str, Value]


@dataclass(frozen=True)
class Reply:
    """Received reply whose payload is not decoded yet."""

    opcode: str
    sequence: int
    status: str
    payload: bytes


def _pack(fields: tuple[LinkField, ...], values: Values) -> bytes:
    out = b""
    for field in fields:
        value = values[field.name]
        if isinstance(value, int):
            out += value.to_bytes(field.size, "little", signed=field.signed)
        else:
            out += value.encode() if isinstance(value, str) else value
    return out


def _unpack(fields: tuple[LinkField, ...], data: bytes) -> dict[str, Value]:
    """Unpack the fields of `data`; raise ValueError for a wrong length."""
    values: dict[str, Value] = {}
    at = 0
    open_ended = any(f.size == 0 for f in fields)
    if len(data) < fixed_bytes(fields) or (not open_ended and len(data) > fixed_bytes(fields)):
        raise ValueError(f"{len(data)} bytes for {[f.name for f in fields]}")
    for field in fields:
        piece = data[at:at + field.size] if field.size else data[at:]
        at += len(piece)
        if field.type == "text":
            values[field.name] = piece.decode("ascii", "replace")
        elif field.type.startswith("u8[") or field.type == "bytes":
            values[field.name] = piece
        else:
            values[field.name] = int.from_bytes(piece, "little", signed=field.signed)
    return values


def seal(content: bytes) -> bytes:
    """Build a frame of header and payload: checksum, COBS, and a zero at both ends.

    The leading zero terminates any preceding noise, so that the noise does not damage the frame.
    """
    checked = content + zlib.crc32(content).to_bytes(CRC_BYTES, "little")
    return b"".join((DELIMITER, cobs.encode(checked), DELIMITER))


def encode_request(opcode: str, sequence: int, **values: Value) -> bytes:
    """Encode the frame of a request; the table defines its fields."""
    header = _pack(TABLE.header, {"opcode": OPCODES[opcode], "sequence": sequence})
    return seal(header + _pack(TABLE.opcode_named(opcode).request, values))


def encode_reply(opcode: str, sequence: int, status: str, payload: bytes = b"") -> bytes:
    """Encode the frame of a reply, for boards written in Python and for tests."""
    return seal(_pack(TABLE.reply_header, {"opcode": OPCODES[opcode] | REPLY_BIT,
                                           "sequence": sequence, "status": STATUSES[status]}) + payload)


def open_frame(encoded: bytes) -> bytes | None:
    """Decode header and payload between two delimiters; return None if damaged."""
    try:
        checked: bytes = cobs.decode(encoded)
    except cobs.DecodeError:
        return None
    content, crc = checked[:-CRC_BYTES], checked[-CRC_BYTES:]
    intact = len(checked) > CRC_BYTES and zlib.crc32(content).to_bytes(CRC_BYTES, "little") == crc
    return content if intact else None


def decode_reply(content: bytes) -> Reply | None:
    """Decode a reply frame; return None if it does not belong to this protocol."""
    size = fixed_bytes(TABLE.reply_header)
    if len(content) < size:
        return None
    header = _unpack(TABLE.reply_header, content[:size])
    code, status, sequence = header["opcode"], header["status"], header["sequence"]
    assert isinstance(code, int) and isinstance(status, int) and isinstance(sequence, int)
    if not code & REPLY_BIT or status not in STATUS_NAMES:
        return None
    # An opcode that we do not know comes back from the agent as it was sent.
    name = OPCODE_NAMES.get(code & ~REPLY_BIT, f"opcode {code & ~REPLY_BIT}")
    return Reply(name, sequence, STATUS_NAMES[status], content[size:])


def reply_values(reply: Reply) -> dict[str, Value]:
    """Return the fields of a reply's payload; raise ValueError for a wrong length."""
    return _unpack(TABLE.opcode_named(reply.opcode).reply, reply.payload)


class FrameSplitter:
    """Splitter of a byte stream into frames at the delimiters.

    The memory is bounded, and it recovers from any transmission error.
    """

    #: Nothing the agent sends is longer, COBS included.
    LIMIT = 2 * (TABLE.max_payload + fixed_bytes(TABLE.reply_header) + CRC_BYTES)

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Return header and payload of each completed frame; None for a damaged one."""
        *frames, self._pending = (self._pending + data).split(DELIMITER)
        if len(self._pending) > self.LIMIT:
            self._pending = self._pending[:self.LIMIT]  # already damaged: never a frame
        for frame in frames:
            if frame:
                yield open_frame(frame)
