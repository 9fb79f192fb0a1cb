"""The link's one table: C header, Python and docs come from it and agree."""

import re
import zlib
from pathlib import Path

import pytest
from cobs import cobs
from hypothesis import given
from hypothesis import strategies as st

import kerncast
from kerncast.codegen.firmware.hil_table import fixed_bytes, link_table, offsets, render_docs, render_header
from kerncast.codegen.firmware.targets import board_ids, load_board
from kerncast.hw.hil.protocol import (
    FrameSplitter,
    Reply,
    decode_reply,
    encode_reply,
    encode_request,
    open_frame,
    reply_values,
    seal,
)

ROOT = Path(kerncast.__file__).parent


def test_the_page_of_the_docs_is_what_the_table_gives() -> None:
    page = (ROOT / "docs" / "hil-protocol.md").read_text(encoding="utf-8")
    assert page == render_docs(), "python -m kerncast.codegen.firmware.hil_table > docs/hil-protocol.md"


def test_the_header_defines_every_code_and_offset_of_the_table() -> None:
    defines = dict(re.findall(r"#define (KC_HIL_\w+) (\d+)u", render_header()))
    table = link_table()
    for kind, rows in (("OP", table.opcode), ("ST", table.status), ("REGION", table.region)):
        for row in rows:
            assert int(defines[f"KC_HIL_{kind}_{row.name}"]) == row.code
    for opcode in table.opcode:
        for field, at in offsets(opcode.reply):
            assert int(defines[f"KC_HIL_{opcode.name}_REPLY_{field.name.upper()}_AT"]) == at


def test_no_two_rows_of_the_table_share_a_code_or_a_name() -> None:
    table = link_table()
    for rows in (table.opcode, table.status, table.region):
        assert len({r.code for r in rows}) == len({r.name for r in rows}) == len(rows)


@pytest.mark.parametrize("name", board_ids())
def test_a_board_reports_its_whole_name_in_its_frames(name: str) -> None:
    payload = load_board(name).uart.max_payload or link_table().max_payload
    assert fixed_bytes(link_table().opcode_named("HELLO").reply) + len(name) < payload


def test_only_the_last_field_of_a_payload_is_open_ended() -> None:
    for opcode in link_table().opcode:
        for fields in (opcode.request, opcode.reply):
            assert all(field.size for field in fields[:-1])


@given(st.binary(max_size=600))
def test_a_sealed_frame_opens_to_what_was_sealed(content: bytes) -> None:
    frame = seal(content)
    assert frame[0] == frame[-1] == 0 and 0 not in frame[1:-1]
    assert open_frame(frame[1:-1]) == (content or None)  # a frame without a header is none


@given(st.binary(min_size=1, max_size=80), st.data())
def test_a_frame_with_any_one_byte_changed_does_not_open(content: bytes, data: st.DataObject) -> None:
    encoded = seal(content)[1:-1]
    at = data.draw(st.integers(0, len(encoded) - 1))
    byte = data.draw(st.integers(1, 255).filter(lambda b: b != encoded[at]))
    assert open_frame(encoded[:at] + bytes([byte]) + encoded[at + 1:]) is None


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.data())
def test_the_splitter_finds_every_frame_however_the_stream_is_cut(contents: list[bytes],
                                                                  data: st.DataObject) -> None:
    stream = b"".join(seal(content) for content in contents)
    splitter, found = FrameSplitter(), []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:cut])
        stream = stream[cut:]
    assert found == contents


def test_a_flood_without_delimiter_is_bounded_and_the_next_frame_is_found() -> None:
    splitter = FrameSplitter()
    assert list(splitter.feed(b"\x55" * 1_000_000)) == []
    assert len(splitter._pending) <= splitter.LIMIT
    assert list(splitter.feed(seal(b"next"))) == [None, b"next"]


def test_replies_are_taken_apart_field_by_field() -> None:
    payload = bytes([1, 16]) + (1).to_bytes(2, "little") + (512).to_bytes(2, "little") \
        + (3).to_bytes(2, "little") + (300).to_bytes(4, "little") + b"\1" + bytes(range(32)) + b"uno ecg"
    content = open_frame(encode_reply("HELLO", 515, "OK", payload)[1:-1])
    assert content is not None
    reply = decode_reply(content)
    assert reply == Reply("HELLO", 515, "OK", payload)
    values = reply_values(reply)
    assert (values["capacity"], values["plan_hash"], values["name"]) == (300, bytes(range(32)), "uno ecg")


def test_a_reply_of_the_wrong_length_is_refused() -> None:
    for payload in (b"", b"\0" * 5):
        with pytest.raises(ValueError, match="bytes for"):
            reply_values(Reply("UPDATE", 1, "OK", payload))


def test_a_request_is_laid_out_as_the_page_states() -> None:
    frame = encode_request("WRITE", 0x0201, region=1, offset=0x0A0B, data=b"\x07\x00")
    checked = cobs.decode(frame[1:-1])
    assert checked[:-4] == b"\x02\x01\x02\x01\x0b\x0a\x00\x00\x07\x00"
    assert int.from_bytes(checked[-4:], "little") == zlib.crc32(checked[:-4])
