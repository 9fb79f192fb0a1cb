"""The tiny port on emulated boards: faults on the line, faults of the processor, processes that end."""

import os
import random
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kerncast.codegen.build.toolchains import available
from kerncast.codegen.firmware.image import FirmwareImage, build_image
from kerncast.codegen.firmware.targets import load_board, load_target
from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.emulators import EmulatorLink, start_emulator
from kerncast.hw.hil.link import SocketLink
from kerncast.hw.hil.protocol import TABLE, encode_request, reply_values, seal
from kerncast.sim.errors import EXIT_TOOL_MISSING, KerncastError

if TYPE_CHECKING:
    from conftest import Wire

BOARD = load_board("mps2-an386")
CAPACITY = 300
CRASH, SINK = 0xDEAD, 0xBEEF  # see tiny_port.c


def code_of(caught: pytest.ExceptionInfo[KerncastError]) -> str:
    return caught.value.problems[0].code


# ---- the line ----------------------------------------------------------------------------------------------


def greeted(wire: "Wire", sequence: int) -> bool:
    wire.send(encode_request("HELLO", sequence))
    reply = wire.reply()
    return (reply.opcode, reply.status, reply.sequence) == ("HELLO", "OK", sequence)


def test_after_every_kind_of_bad_frame_the_next_good_one_is_answered(wire: "Wire") -> None:
    good = encode_request("TRAIN", 1, count=CAPACITY)
    corrupted = good[:5] + bytes([good[5] ^ 0x10]) + good[6:]
    bad = {corrupted: "BAD_CRC", good[:6] + b"\0": "BAD_FRAME", b"\0\x02\x07\0": "BAD_FRAME",
           b"\0" + b"\x55" * 5000 + b"\0": "TOO_LONG"}
    for sequence, (frame, status) in enumerate(bad.items(), 1):
        wire.send(frame)
        reply = wire.reply()
        assert (reply.opcode, reply.status, reply.sequence) == ("NAK", status, 0)
        assert greeted(wire, sequence)
    wire.send(seal(bytes([99, 20, 0])))
    assert (wire.reply().status, greeted(wire, 21)) == ("UNKNOWN_OPCODE", True)
    wire.send(b"no delimiter" + encode_request("HELLO", 22))
    assert (wire.reply().status, wire.reply().status) == ("BAD_FRAME", "OK")


def test_a_request_repeated_while_the_board_works_is_carried_out_once(wire: "Wire") -> None:
    frame = encode_request("TRAIN", 1, count=CAPACITY)
    wire.send(frame * 20)
    assert wire.reply().status == "WORKING"
    answers = [wire.reply() for _ in range(20)]
    assert {(a.opcode, a.sequence, a.status, a.payload) for a in answers} == {("TRAIN", 1, "OK", b"\2")}
    wire.send(encode_request("READ", 2, region=16, offset=0, count=4))
    assert reply_values(wire.reply())["data"] == (1).to_bytes(4, "little")


def test_reads_and_writes_outside_the_buffers_are_refused(tiny: HilClient) -> None:
    for opcode, values in (("READ", {"region": 0, "offset": 1199, "count": 2}),
                           ("READ", {"region": 18, "offset": 1, "count": 1}),
                           ("WRITE", {"region": 1, "offset": 0xFFFFFFFF, "data": b"xy"})):
        with pytest.raises(KerncastError, match="OUT_OF_RANGE") as caught:
            tiny.request(opcode, **values)  # type: ignore[arg-type]
        assert code_of(caught) == "E415"


def test_data_longer_than_a_frame_go_out_and_come_back_in_pieces(tiny: HilClient) -> None:
    data = random.Random(1).randbytes(CAPACITY * 4)
    assert len(data) > 2 * TABLE.max_payload
    tiny.write("X", data)
    assert tiny.read(0, len(data)) == data
    assert tiny.predict(CAPACITY) == CAPACITY // 2
    words = [int.from_bytes(data[at:at + 2], "little") for at in range(0, len(data), 2)]
    sums = [(u + v) & 0xFFFF for u, v in zip(words[::2], words[1::2], strict=True)]
    assert tiny.read(2, CAPACITY * 2) == b"".join(s.to_bytes(2, "little") for s in sums)
    assert tiny.read(3, CAPACITY) == b"\0\1" * (CAPACITY // 2)
    assert tiny.read_field(1, 6) == b"\xff\xff\2\0\xfd\xff" and tiny.read_field(2, 1) == b"\7"


def test_firmware_of_another_plan_is_refused_with_both_hashes(tiny_link: EmulatorLink) -> None:
    with pytest.raises(KerncastError) as caught:
        HilClient(tiny_link).start("11" * 32)
    assert code_of(caught) == "E413"
    assert "11" * 32 in str(caught.value) and "a5010203" in str(caught.value)


# ---- the processor -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [CRASH, SINK], ids=["store-to-nowhere", "stack-used-up"])
def test_a_fault_of_the_processor_is_reported_at_once(tiny: HilClient, word: int) -> None:
    tiny.write("X", word.to_bytes(2, "little"))
    with pytest.raises(KerncastError, match="fault") as caught:
        tiny.predict(1)
    assert code_of(caught) in ("E411", "E416")  # Unicorn ends with a fault, QEMU lets the firmware tell


def test_the_stack_mark_lies_within_the_stack_and_never_falls(tiny: HilClient) -> None:
    used, total = tiny.stack()
    tiny.train(CAPACITY)
    later, _ = tiny.stack()
    assert total == BOARD.memory.stack_bytes
    assert 0 < used <= later < total


def image_with(compiler: str, optimise: str, folder: Path) -> FirmwareImage:
    text = (Path(__file__).parent / "fixtures" / "tiny_port.c").read_text(encoding="utf-8")
    return build_image({"tiny_port.c": text}, [], [], BOARD, compiler=compiler, optimise=optimise,
                       build_dir=folder)


@pytest.mark.parametrize(("compiler", "optimise"), [("gcc", "-O0"), ("gcc", "-Os"), ("clang", "-O2")])
def test_both_emulators_count_the_same_instructions(
        compiler: str, optimise: str, tmp_path: Path, require_tool: Callable[[str, str], str]) -> None:
    for tool in ("python:unicorn", "qemu-system-arm"):
        require_tool(tool, "make tools")
    if not available(compiler, load_target(BOARD.target)):
        tools = {"gcc": "arm-none-eabi-gcc", "clang": "clang", "zig": "python:ziglang"}
        require_tool(tools[compiler], "make tools")
    image = image_with(compiler, optimise, tmp_path)
    counts = {}
    for emulator in ("unicorn", "qemu"):
        client = HilClient(start_emulator(image.elf, BOARD, emulator))
        client.start()
        seen = []
        for operation, count in ((client.predict, 1), (client.predict, 299), (client.train, CAPACITY)):
            operation(count)
            ticks = client.counters()
            assert ticks is not None
            seen.append(BOARD.counter.units(ticks[0]) - BOARD.counter.units(ticks[1]))
        client.close()
        counts[emulator] = seen
    assert counts["unicorn"] == counts["qemu"]
    assert 0 < counts["qemu"][0] < counts["qemu"][1] < counts["qemu"][2]


# ---- the process -------------------------------------------------------------------------------------------


def test_an_emulator_ends_with_its_link(tiny_link: EmulatorLink) -> None:
    tiny_link.close()
    assert tiny_link.process.returncode is not None
    tiny_link.close()


def test_an_emulator_that_is_killed_is_reported_at_once(tiny: HilClient, tiny_link: EmulatorLink) -> None:
    tiny_link.process.kill()
    with pytest.raises(KerncastError, match="emulator ended") as caught:
        tiny.train(CAPACITY)
    assert code_of(caught) == "E411"


def test_an_invalid_image_is_reported_with_the_emulator_s_message(tmp_path: Path, emulator: str) -> None:
    (tmp_path / "bad.elf").write_bytes(b"this is not an image")
    link = start_emulator(tmp_path / "bad.elf", BOARD, emulator)
    with pytest.raises(KerncastError, match="emulator ended") as caught:
        HilClient(link).start()
    assert code_of(caught) == "E411"
    link.close()


@pytest.fixture
def orphan(tiny_image: FirmwareImage, emulator: str) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A process that has opened a link to an emulator and waits, with the emulator's process id."""
    program = ("import sys; from pathlib import Path;"
               "from kerncast.codegen.firmware.targets import load_board;"
               "from kerncast.hw.hil.emulators import start_emulator;"
               "l = start_emulator(Path(sys.argv[1]), load_board('mps2-an386'), sys.argv[2]);"
               "l.read(30); print(l.process.pid, flush=True)\n"
               "while True: l.read(1)")  # not for ever: a signal just before a system call does not end it
    with subprocess.Popen([sys.executable, "-c", program, str(tiny_image.elf), emulator], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        yield parent, int(parent.stdout.readline())
        parent.kill()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="Linux tells when a process ends")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_emulator_outlives_the_process_that_started_it(orphan: tuple["subprocess.Popen[str]", int],
                                                          how: signal.Signals) -> None:
    parent, child = orphan
    watch = os.pidfd_open(child)
    parent.send_signal(how)
    assert select.select([watch], [], [], 30.0)[0], "the emulator is still there"
    os.close(watch)


def test_unicorn_can_be_started_by_hand_with_a_socket_in_the_file_system(
        tiny_image: FirmwareImage, tmp_path: Path, require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:unicorn", "python -m pip install unicorn")
    path = str(tmp_path / "uart")
    command = [sys.executable, "-m", "kerncast.hw.hil.unicorn_board", str(tiny_image.elf), "--socket", path]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and path in process.stdout.readline()
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(path)
            client = HilClient(SocketLink(sock, path, announces=True))
            assert client.start().name == "tiny"
            client.close()
        assert process.wait() == 0


def test_a_missing_emulator_is_named_with_the_command_that_installs_it(
        tiny_image: FirmwareImage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for emulator, command in (("qemu", "qemu-system-arm"), ("unicorn", "pip install")):
        with pytest.raises(KerncastError) as caught:
            start_emulator(tiny_image.elf, BOARD, emulator)
        assert code_of(caught) == "E512" and caught.value.exit_code == EXIT_TOOL_MISSING
        assert command in caught.value.problems[0].remedy


def test_an_emulator_that_the_board_has_not_is_refused(tiny_image: FirmwareImage) -> None:
    with pytest.raises(KerncastError, match="emu:mps2-an386:unicorn") as caught:
        start_emulator(tiny_image.elf, BOARD, "renode")
    assert code_of(caught) == "E417"
