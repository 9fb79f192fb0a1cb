"""The host's side of the link against a scripted board and a clock of its own: no test here waits."""

from collections.abc import Callable, Sequence

import pytest

from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.protocol import (
    TABLE,
    Reply,
    decode_reply,
    encode_reply,
    open_frame,
)
from kerncast.hw.hil.requests import Requests
from kerncast.sim.errors import KerncastError

TIMING = TABLE.timing
NAK = encode_reply("NAK", 0, "BAD_CRC")
DAMAGED = b"\0\x05abc\0"

# What the board does with a request: how it answers the n-th frame (from 1) with some sequence number.
Script = Callable[[int, int], Sequence[bytes]]


class ScriptedLink:
    """A board that answers by a script, on a clock that moves only while the host waits."""

    name = "scripted"
    announces = False

    def __init__(self, script: Script) -> None:
        self.now = 0.0
        self.sent: list[float] = []
        self.sequences: list[int] = []
        self._script = script
        self._due: list[bytes] = []

    def write(self, data: bytes) -> None:
        content = open_frame(data.strip(b"\0"))
        assert content is not None
        self.sent.append(self.now)
        self.sequences.append(int.from_bytes(content[1:3], "little"))
        self._due += self._script(len(self.sent), self.sequences[-1])

    def read(self, timeout: float) -> bytes:
        if self._due:
            return self._due.pop(0)
        self.now += timeout
        return b""

    def close(self) -> None:
        """Nothing to close."""


def client_of(script: Script) -> tuple[HilClient, ScriptedLink]:
    link = ScriptedLink(script)
    return HilClient(link, clock=lambda: link.now), link


def code_of(caught: pytest.ExceptionInfo[KerncastError]) -> str:
    return caught.value.problems[0].code


def stack_reply(sequence: int, used: int = 1) -> bytes:
    return encode_reply("STACK", sequence, "OK", used.to_bytes(4, "little") + b"\0\1\0\0")


# ---- patience ----------------------------------------------------------------------------------------------


def test_a_silent_board_gets_a_retry_each_quarter_second_for_5_s() -> None:
    client, link = client_of(lambda n, sequence: [])
    with pytest.raises(KerncastError, match="does not respond") as caught:
        client.stack()
    assert code_of(caught) == "E412"
    assert link.now == pytest.approx(TIMING.timeout_s)
    assert link.sent == pytest.approx([TIMING.retransmit * k for k in range(20)])
    assert set(link.sequences) == {1}


def test_a_lost_request_or_reply_is_made_good_under_the_same_number() -> None:
    client, link = client_of(lambda n, sequence: [stack_reply(sequence)] if n == 3 else [])
    assert client.stack() == (1, 256)
    assert link.sequences == [1, 1, 1]


@pytest.mark.parametrize("bad", [NAK, DAMAGED, b"noise\0", encode_reply("NAK", 0, "TOO_LONG")])
def test_after_a_nak_or_a_damaged_reply_the_request_is_repeated_at_once(bad: bytes) -> None:
    client, link = client_of(lambda n, sequence: [bad] if n < 4 else [stack_reply(sequence)])
    assert client.stack() == (1, 256)
    assert link.sent == [0.0] * 4


def test_a_board_that_only_sends_noise_is_given_up_too() -> None:
    link = ScriptedLink(lambda n, sequence: [])
    link.read = lambda timeout: _noise(link)  # type: ignore[method-assign]
    with pytest.raises(KerncastError) as caught:
        HilClient(link, clock=lambda: link.now).stack()
    assert code_of(caught) == "E412"


def _noise(link: ScriptedLink) -> bytes:
    link.now += 0.01
    return DAMAGED


def test_a_long_operation_may_take_as_long_as_it_needs_once_it_is_accepted() -> None:
    done = 100.0

    def script(n: int, sequence: int) -> list[bytes]:
        if n == 1:
            return [encode_reply("TRAIN", sequence, "WORKING")]
        return [encode_reply("TRAIN", sequence, "OK", b"\2")] if link.now >= done else []

    client, link = client_of(script)
    assert client.train(5) == 2
    assert link.now == pytest.approx(done)
    assert set(link.sequences) == {1}
    assert len(link.sent) == pytest.approx(1 + done / TIMING.poll)


def test_a_long_operation_that_never_ends_is_given_up_at_its_own_deadline() -> None:
    client, link = client_of(lambda n, sequence: [encode_reply("TRAIN", sequence, "WORKING")])
    with pytest.raises(KerncastError) as caught:
        client.train(5)
    assert code_of(caught) == "E412"
    assert link.now == pytest.approx(TIMING.operation)


def test_late_answers_to_duplicates_of_earlier_requests_are_passed_over() -> None:
    def script(n: int, sequence: int) -> list[bytes]:
        late = [stack_reply(sequence - 1, used=99)] * 3
        return [*late, encode_reply("TRAIN", sequence, "OK", b"\0"), stack_reply(sequence, used=7)]

    client, _ = client_of(script)
    assert client.stack() == (7, 256)


# ---- windows ---------------------------------------------------------------------------------------------


def flight(script: Script, pieces: int = 6, window: int = 3) -> tuple[list[object], ScriptedLink]:
    """The bytes of several READs, piece k wanting k of them, and the link they went over."""
    link = ScriptedLink(script)
    requests = Requests(link, TIMING, lambda: link.now)
    requests.window = window
    fields = [{"region": 0, "offset": k, "count": 1} for k in range(pieces)]
    return [answer["data"] for answer in requests.several("READ", fields)], link


def piece(sequence: int) -> bytes:
    return encode_reply("READ", sequence, "OK", bytes([sequence]))


def test_a_window_is_filled_before_the_first_answer_is_waited_for() -> None:
    seen: list[int] = []

    def script(n: int, sequence: int) -> list[bytes]:
        seen.append(n)
        return [piece(sequence)]

    for window, before in ((1, 1), (3, 3), (99, 6)):
        link = ScriptedLink(script)
        first: list[int] = []
        read = link.read
        link.read = lambda timeout, link=link, read=read, first=first: (  # type: ignore[method-assign,misc]
            first.append(len(link.sent)), read(timeout))[1]
        requests = Requests(link, TIMING, lambda link=link: link.now)  # type: ignore[misc]
        requests.window = window
        requests.several("READ", [{"region": 0, "offset": 0, "count": 1}] * 6)
        assert first[0] == before and len(link.sent) == 6


def test_a_frame_lost_within_a_window_is_resent_at_once_with_a_new_number() -> None:
    for loss in ([], [NAK], [DAMAGED]):
        found, link = flight(lambda n, sequence, loss=loss: loss if n == 2 else [piece(sequence)])  # type: ignore[misc]
        assert link.sequences == [1, 2, 3, 4, 5, 6, 7] and link.now == 0.0
        assert sorted(found) == [bytes([k]) for k in (1, 3, 4, 5, 6, 7)]  # each of the pieces once


def test_a_frame_lost_at_the_end_of_a_window_is_resent_after_0_25_s() -> None:
    found, link = flight(lambda n, sequence: [] if n == 6 else [piece(sequence)])
    assert link.sent[-1] == pytest.approx(TIMING.retransmit) and found[5] == b"\7"


def test_noise_without_a_frame_does_not_stop_the_retry_of_a_request() -> None:
    class NoisyLink(ScriptedLink):
        def read(self, timeout: float) -> bytes:
            data = super().read(min(timeout, 0.01))
            return data or b"U"

    link = NoisyLink(lambda n, sequence: [] if n == 1 else [b"\0" + piece(sequence)])
    requests = Requests(link, TIMING, lambda: link.now)
    (answer,) = requests.several("READ", [{"region": 0, "offset": 0, "count": 1}])
    assert answer["data"] == b"\2"
    assert link.sent == pytest.approx([0.0, TIMING.retransmit])


def test_answers_that_always_come_late_are_taken_all_the_same() -> None:
    owed: list[bytes] = []

    def script(n: int, sequence: int) -> list[bytes]:
        owed.append(piece(sequence))
        return [owed.pop(0)] if n > 3 else []  # each answer comes with a request three later

    found, _ = flight(script)
    assert len(found) == 6


def test_a_repetition_that_came_too_late_is_sent_again() -> None:
    found, link = flight(lambda n, s: [encode_reply("READ", s, "STALE")] if n == 2 else [piece(s)])
    assert len(found) == 6 and link.sequences == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(("answer", "code"), [
    (lambda s: b"", "E412"), (lambda s: encode_reply("READ", s, "OUT_OF_RANGE"), "E415"),
    (lambda s: encode_reply("READ", s, "NO_SESSION"), "E416"),
    (lambda s: encode_reply("READY", 0, "OK", b"\2"), "E416")])
def test_a_window_that_is_not_answered_has_a_code(answer: Callable[[int], bytes], code: str) -> None:
    def script(n: int, sequence: int) -> list[bytes]:
        return [answer(sequence)] if n == 2 else [piece(sequence)] if n == 1 else []

    with pytest.raises(KerncastError) as caught:
        flight(script)
    assert code_of(caught) == code


def test_a_host_that_slept_past_its_deadline_accepts_a_received_answer() -> None:
    link = ScriptedLink(lambda n, sequence: [stack_reply(sequence)])
    times = iter([0.0, 0.0, 60.0, 60.0])

    def read(timeout: float) -> bytes:
        return b"" if timeout else link._due.pop(0)

    link.read = read  # type: ignore[method-assign]
    assert HilClient(link, clock=lambda: next(times)).stack() == (1, 256)


# ---- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "code"), [
    (lambda s: encode_reply("STACK", s, "BAD_LENGTH"), "E415"),
    (lambda s: encode_reply("STACK", s, "STALE"), "E415"),
    (lambda s: encode_reply("STACK", s, "OK", b"\0"), "E414"),
    (lambda s: encode_reply("READY", 0, "OK", b"\1"), "E416"),
    (lambda s: encode_reply("STACK", s, "NO_SESSION"), "E416"),
    (lambda s: encode_reply("NAK", 0, "FAULT"), "E416")])
def test_an_error_reply_has_a_code(answer: Callable[[int], bytes], code: str) -> None:
    client, link = client_of(lambda n, sequence: [answer(sequence)])
    with pytest.raises(KerncastError) as caught:
        client.stack()
    assert code_of(caught) == code
    assert link.sent == [0.0]


def hello(sequence: int, version: int = TABLE.version, abi: int = 1, plan: bytes = bytes(32),
          payload: int = 512, capacity: int = 1, window: int = 1, name: bytes = b"host ecg") -> bytes:
    fixed = bytes([version, 16]) + abi.to_bytes(2, "little") + payload.to_bytes(2, "little") + bytes(2)
    return encode_reply("HELLO", sequence, "OK", fixed + capacity.to_bytes(4, "little") + bytes([window])
                        + plan + name)


def test_another_plan_is_refused_with_both_hashes() -> None:
    client, _ = client_of(lambda n, sequence: [hello(sequence, plan=b"\xab" * 32)])
    with pytest.raises(KerncastError) as caught:
        client.start("cd" * 32)
    assert code_of(caught) == "E413"
    assert "ab" * 32 in str(caught.value) and "cd" * 32 in str(caught.value)


def test_firmware_of_another_board_is_refused_with_both_names() -> None:
    client, _ = client_of(lambda n, sequence: [hello(sequence, name=b"microbit ecg")])
    assert client.start(board="microbit").name == "ecg"
    with pytest.raises(KerncastError, match="microbit") as caught:
        client.start(board="arduino-uno")
    assert code_of(caught) == "E422" and caught.value.problems[0].allowed == "arduino-uno"


def test_another_abi_or_protocol_or_senseless_buffers_are_refused() -> None:
    for answer in (lambda s: hello(s, abi=9), lambda s: hello(s, version=TABLE.version + 1),
                   lambda s: hello(s, capacity=0), lambda s: hello(s, payload=5),
                   lambda s: hello(s, payload=513), lambda s: hello(s, window=0)):
        client, _ = client_of(lambda n, sequence, answer=answer: [answer(sequence)])  # type: ignore[misc]
        with pytest.raises(KerncastError) as caught:
            client.start(abi=1)
        assert code_of(caught) == "E414"


def test_a_board_that_starts_during_the_greeting_is_waited_for() -> None:
    ready = encode_reply("READY", 0, "OK", b"\1")
    client, _ = client_of(lambda n, sequence: [ready, hello(sequence)])
    assert client.start().name == "ecg"


def test_a_board_that_should_announce_itself_and_does_not_is_given_up() -> None:
    link = ScriptedLink(lambda n, sequence: [])
    link.announces = True
    with pytest.raises(KerncastError) as caught:
        HilClient(link, clock=lambda: link.now).start()
    assert code_of(caught) == "E412" and link.now == pytest.approx(TIMING.startup)


def test_a_count_that_overran_is_not_shown() -> None:
    for ticks, unit, shown in ((b"\xff" * 8, 1, None), (bytes(8), 0, None), (bytes(8), 1, (0, 0))):
        payload = ticks + bytes(8) + bytes([unit])
        client, _ = client_of(lambda n, s, p=payload: [encode_reply("COUNTERS", s, "OK", p)])  # type: ignore[misc]
        assert client.counters() == shown


def test_sequence_numbers_go_round() -> None:
    client, link = client_of(lambda n, sequence: [stack_reply(sequence)])
    client._requests._sequence = 0xFFFE
    for _ in range(3):
        client.stack()
    assert link.sequences == [0xFFFF, 0, 1]


def test_a_reply_without_the_reply_bit_or_with_an_unknown_status_is_none() -> None:
    assert decode_reply(b"\x08\0\0\0") is None and decode_reply(b"\x88\0\0\xee") is None
    assert decode_reply(b"\x88") is None and decode_reply(b"") is None
    assert decode_reply(b"\x88\1\0\0") == Reply("STACK", 1, "OK", b"")
