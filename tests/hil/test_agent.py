"""The agent on this machine: what a frame may do, and what it may not."""

import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerncast.hw.hil.protocol import OPCODES, REGIONS, TABLE, Reply, encode_request, reply_values, seal

if TYPE_CHECKING:
    from conftest import HostAgent

CAPACITY = 300
SIZES = {"X": CAPACITY * 4, "Y": CAPACITY * 2, "RESULTS": CAPACITY * 2, "STATUSES": CAPACITY}
FIELD_SIZES = (4, 6, 1)
HELLO = encode_request("HELLO", 1)


def ask(agent: "HostAgent", opcode: str, sequence: int, **values: int | bytes) -> Reply:
    return agent.say(encode_request(opcode, sequence, **values))[-1]


def answers(agent: "HostAgent") -> bool:
    """Whether the agent is in step: it answers a greeting, once any open frame is closed."""
    last = agent.say(b"\0" + HELLO)[-1]
    return (last.opcode, last.status, last.sequence) == ("HELLO", "OK", 1)


# ---- frames ------------------------------------------------------------------------------------------------


@given(data=st.binary(max_size=1200))
def test_the_agents_frames_and_checksums_are_those_of_the_libraries(host_agent_library: "HostAgent",
                                                                    data: bytes) -> None:
    assert host_agent_library.crc(data) == zlib.crc32(data)
    checked = data + zlib.crc32(data).to_bytes(4, "little")
    assert host_agent_library.frame(checked) == seal(data)


def test_the_agent_reports_that_it_is_ready_and_its_identity(agent: "HostAgent") -> None:
    (ready,) = agent.start()
    assert (ready.opcode, ready.status, ready.payload) == ("READY", "OK", bytes([TABLE.version]))
    assert reply_values(ask(agent, "HELLO", 1)) == {
        "version": TABLE.version, "word_bits": 16, "abi": 1, "fields": 3, "capacity": CAPACITY,
        "max_payload": TABLE.max_payload, "window": 4, "plan_hash": b"\xa5\1\2\3" + bytes(28),
        "name": "host tiny"}


@pytest.mark.parametrize("payload", [0, 1, 253, 254, 255, 507, 512])
def test_payloads_of_every_length_around_the_limits_of_cobs_arrive(agent: "HostAgent", payload: int) -> None:
    data = bytes(1 + i % 255 for i in range(payload - 5 if payload >= 5 else 0))
    assert ask(agent, "WRITE", 1, region=0, offset=0, data=data).status == "OK"
    assert ask(agent, "READ", 2, region=0, offset=0, count=len(data)).payload == data


def test_a_frame_one_byte_too_long_is_refused_and_the_longest_is_not(agent: "HostAgent") -> None:
    header = bytes([OPCODES["WRITE"], 1, 0, 0, 0, 0, 0, 0])
    (fits,) = agent.say(seal(header + bytes(TABLE.max_payload - 5)))
    (longer,) = agent.say(seal(header + bytes(TABLE.max_payload - 4)))
    assert (fits.status, longer.opcode, longer.status) == ("OK", "NAK", "TOO_LONG")
    assert answers(agent)


def test_a_corrupted_frame_is_refused_whichever_byte_it_is(agent: "HostAgent") -> None:
    frame = encode_request("TRAIN", 7, count=CAPACITY)
    for at in range(1, len(frame) - 1):
        for change in (0x01, 0x80, 0xFF):
            damaged = bytearray(frame)
            damaged[at] ^= change
            replies = agent.say(bytes(damaged))
            assert replies and all(r.opcode == "NAK" for r in replies)
    assert answers(agent)
    assert ask(agent, "READ", 2, region=16, offset=0, count=4).payload == bytes(4)  # never trained


def test_a_truncated_frame_is_refused_wherever_it_ends(agent: "HostAgent") -> None:
    frame = encode_request("TRAIN", 7, count=CAPACITY)
    for end in range(2, len(frame) - 1):
        (reply,) = agent.say(frame[:end] + b"\0")
        assert (reply.opcode, reply.sequence) == ("NAK", 0)
        assert reply.status in ("BAD_FRAME", "BAD_CRC")
    assert answers(agent)


def test_a_frame_after_noise_without_delimiter_is_not_lost(agent: "HostAgent") -> None:
    nak, hello = agent.say(b"noise" + HELLO)
    assert (nak.opcode, hello.opcode, hello.status) == ("NAK", "HELLO", "OK")


def test_a_flood_is_refused_once_and_the_next_frame_answered(agent: "HostAgent") -> None:
    nak, hello = agent.say(b"\x55" * 1_000_000 + HELLO)
    assert (nak.status, hello.status) == ("TOO_LONG", "OK")


def test_delimiters_alone_are_no_frames(agent: "HostAgent") -> None:
    assert agent.say(bytes(100)) == []


# ---- requests ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opcode", [0, 15, 42, 126, 127, 128, 129, 255])
def test_an_unknown_opcode_is_refused_with_its_sequence(agent: "HostAgent", opcode: int) -> None:
    (reply,) = agent.say(seal(bytes([opcode, 9, 0])))
    assert (reply.status, reply.sequence) == ("UNKNOWN_OPCODE", 9)
    assert answers(agent)


@pytest.mark.parametrize("name", [o.name for o in TABLE.opcode if o.name not in ("READY", "NAK")])
def test_a_payload_of_the_wrong_length_is_refused(agent: "HostAgent", name: str) -> None:
    right = sum(f.size for f in TABLE.opcode_named(name).request)
    wrong = range(right) if name == "WRITE" else [n for n in range(12) if n != right]
    for sequence, length in enumerate(wrong, 1):
        (reply,) = agent.say(seal(bytes([OPCODES[name]]) + sequence.to_bytes(2, "little") + bytes(length)))
        assert reply.status == "BAD_LENGTH"


def region_sizes() -> list[tuple[int, int]]:
    named = [(REGIONS[name], size) for name, size in SIZES.items()]
    return named + [(REGIONS["FIELDS"] + k, size) for k, size in enumerate(FIELD_SIZES)]


@pytest.mark.parametrize(("region", "size"), region_sizes())
def test_reading_ends_where_the_region_ends(agent: "HostAgent", region: int, size: int) -> None:
    piece = min(size, TABLE.max_payload)
    cases = {(size - piece, piece): "OK", (size, 0): "OK", (0, piece): "OK",
             (size - piece + 1, piece): "OUT_OF_RANGE", (size + 1, 0): "OUT_OF_RANGE",
             (size, 1): "OUT_OF_RANGE", (0xFFFFFFFF, 1): "OUT_OF_RANGE", (0xFFFFFFFF, 0xFFFF): "OUT_OF_RANGE",
             (0, TABLE.max_payload + 1): "OUT_OF_RANGE", (0, 0xFFFF): "OUT_OF_RANGE"}
    for sequence, ((offset, count), status) in enumerate(cases.items(), 1):
        reply = ask(agent, "READ", sequence, region=region, offset=offset, count=count)
        assert (reply.status, len(reply.payload)) == (status, count if status == "OK" else 0)


@pytest.mark.parametrize("name", ["X", "Y"])
def test_writing_ends_where_the_buffer_ends(agent: "HostAgent", name: str) -> None:
    size = SIZES[name]
    for sequence, (offset, status) in enumerate([(size - 8, "OK"), (size - 7, "OUT_OF_RANGE"),
                                                 (size, "OUT_OF_RANGE"), (0xFFFFFFFC, "OUT_OF_RANGE")], 1):
        reply = ask(agent, "WRITE", sequence, region=REGIONS[name], offset=offset, data=b"\xEE" * 8)
        assert reply.status == status


def test_only_the_input_buffers_can_be_written(agent: "HostAgent") -> None:
    for sequence, region in enumerate([2, 3, 16, 17, 18], 1):
        assert ask(agent, "WRITE", sequence, region=region, offset=0, data=b"x").status == "READ_ONLY"


def test_a_region_that_does_not_exist_is_refused(agent: "HostAgent") -> None:
    for sequence, region in enumerate([4, 15, 19, 20, 255], 1):
        assert ask(agent, "READ", 2 * sequence, region=region, offset=0, count=1).status == "BAD_REGION"
        reply = ask(agent, "WRITE", 2 * sequence + 1, region=region, offset=0, data=b"x")
        assert reply.status == "BAD_REGION"


def test_operations_refuse_more_samples_than_there_is_room_for(agent: "HostAgent") -> None:
    for sequence, (name, count, status) in enumerate([
            ("PREDICT", 0, "BAD_COUNT"), ("PREDICT", CAPACITY + 1, "BAD_COUNT"),
            ("PREDICT", 0xFFFFFFFF, "BAD_COUNT"), ("PREDICT", CAPACITY, "OK"),
            ("TRAIN", CAPACITY - 1, "BAD_COUNT"), ("TRAIN", CAPACITY, "OK"),
            ("UPDATE", 1, "NOT_SUPPORTED")], 1):
        assert ask(agent, name, sequence, count=count).status == status


def test_a_long_operation_is_acknowledged_first(agent: "HostAgent") -> None:
    working, done = agent.say(encode_request("TRAIN", 3, count=CAPACITY))
    assert (working.status, working.payload, done.status, done.payload) == ("WORKING", b"", "OK", b"\2")
    assert working.sequence == done.sequence == 3


# ---- sequence numbers --------------------------------------------------------------------------------------


def trainings(agent: "HostAgent", sequence: int) -> int:
    return int.from_bytes(ask(agent, "READ", sequence, region=16, offset=0, count=4).payload, "little")


def test_a_duplicate_is_answered_again_and_not_carried_out_again(agent: "HostAgent") -> None:
    frame = encode_request("TRAIN", 5, count=CAPACITY)
    _, done = agent.say(frame)
    assert agent.say(frame) == [done] and agent.say(frame + frame) == [done, done]
    assert trainings(agent, 6) == 1


def test_a_duplicate_after_a_damaged_frame_is_still_answered_from_memory(agent: "HostAgent") -> None:
    frame = encode_request("TRAIN", 5, count=CAPACITY)
    _, done = agent.say(frame)
    agent.say(b"\0damaged\0")
    assert agent.say(frame) == [done]


def test_an_old_frame_is_not_carried_out(agent: "HostAgent") -> None:
    old = encode_request("TRAIN", 5, count=CAPACITY)
    agent.say(old)
    last = encode_request("READ", 6, region=16, offset=0, count=4)
    (before,) = agent.say(last)
    (stale,) = agent.say(old)
    assert (stale.status, stale.sequence) == ("STALE", 5)
    assert agent.say(last) == [before]  # and what it remembers is untouched
    assert trainings(agent, 7) == 1


def test_another_request_under_the_last_number_is_not_carried_out(agent: "HostAgent") -> None:
    ask(agent, "STACK", 5)
    (reply,) = agent.say(encode_request("TRAIN", 5, count=CAPACITY))
    assert reply.status == "STALE"


def test_numbers_go_round(agent: "HostAgent") -> None:
    ask(agent, "HELLO", 0xFFFD)
    for sequence in (0xFFFE, 0xFFFF, 0, 1):
        assert ask(agent, "STACK", sequence).status == "OK"
    assert ask(agent, "STACK", 0xFFFF).status == "STALE"


def test_a_greeting_opens_a_session_under_any_number(agent: "HostAgent") -> None:
    ask(agent, "STACK", 900)
    assert ask(agent, "HELLO", 3).status == "OK"
    assert ask(agent, "STACK", 4).status == "OK"


# ---- any bytes at all --------------------------------------------------------------------------------------


def requests() -> st.SearchStrategy[bytes]:
    """Frames that are nearly right: known opcodes, any payload."""
    content = st.tuples(st.integers(0, 11), st.integers(0, 3), st.binary(max_size=24))
    return content.map(lambda c: seal(bytes([c[0], c[1], 0]) + c[2]))


@given(pieces=st.lists(st.one_of(requests(), st.binary(max_size=40), st.just(b"\0")), max_size=12))
def test_after_any_bytes_the_next_good_frame_is_answered(host_agent_library: "HostAgent",
                                                         pieces: list[bytes]) -> None:
    host_agent_library.start()
    host_agent_library.say(b"".join(pieces))
    assert answers(host_agent_library)
