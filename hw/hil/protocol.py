"""hw: encode and decode the frames of the HIL protocol.

The file firmware/agent/protocol.toml defines the frames. A frame is the COBS encoding of header, payload and
CRC-32 between zero bytes. Integers are little-endian.
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
    """Received reply with an encoded payload."""

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
    """Decode the fields in `data`; raise ValueError if the length is wrong."""
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
    """Build a frame from a header and payload.

    The function appends the CRC, applies COBS, and adds a zero byte at each end. The leading zero byte ends
    any noise before the frame, so that the noise does not corrupt the frame.
    """
    checked = content + zlib.crc32(content).to_bytes(CRC_BYTES, "little")
    return b"".join((DELIMITER, cobs.encode(checked), DELIMITER))


def encode_request(opcode: str, sequence: int, **values: Value) -> bytes:
    """Encode the frame of a request; `values` are the fields of its payload."""
    header = _pack(TABLE.header, {"opcode": OPCODES[opcode], "sequence": sequence})
    return seal(header + _pack(TABLE.opcode_named(opcode).request, values))


def encode_reply(opcode: str, sequence: int, status: str, payload: bytes = b"") -> bytes:
    """Encode the frame of a reply. Boards emulated in Python and tests use it."""
    return seal(_pack(TABLE.reply_header, {"opcode": OPCODES[opcode] | REPLY_BIT,
                                           "sequence": sequence, "status": STATUSES[status]}) + payload)


def open_frame(encoded: bytes) -> bytes | None:
    """Decode the bytes between two delimiters to header and payload.

    Returns None if the frame is damaged.
    """
    try:
        checked: bytes = cobs.decode(encoded)
    except cobs.DecodeError:
        return None
    content, crc = checked[:-CRC_BYTES], checked[-CRC_BYTES:]
    intact = len(checked) > CRC_BYTES and zlib.crc32(content).to_bytes(CRC_BYTES, "little") == crc
    return content if intact else None


def decode_reply(content: bytes) -> Reply | None:
    """Decode the header of a reply frame; return None if it is not a valid reply."""
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
    """Decode the payload of a reply; raise ValueError if the length is wrong."""
    return _unpack(TABLE.opcode_named(reply.opcode).reply, reply.payload)


class FrameSplitter:
    """Decoder that splits a byte stream into frames.

    Its memory is bounded. After a transmission error, it continues with the next frame.
    """

    #: Nothing the agent sends is longer, COBS included.
    LIMIT = 2 * (TABLE.max_payload + fixed_bytes(TABLE.reply_header) + CRC_BYTES)

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield the header and the payload of each frame that `data` completes.

        A damaged frame yields None.
        """
        *frames, self._pending = (self._pending + data).split(DELIMITER)
        if len(self._pending) > self.LIMIT:
            self._pending = self._pending[:self.LIMIT]  # already damaged: never a frame
        for frame in frames:
            if frame:
                yield open_frame(frame)
