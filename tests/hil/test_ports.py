"""Boards that are not Cortex-M: their faults, their counters, and the helpers of their emulators."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kerncast.codegen.firmware.image import build_image
from kerncast.codegen.firmware.targets import load_board
from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.emulators import start_emulator
from kerncast.hw.hil.helper import build_helper
from kerncast.sim.errors import EXIT_TOOL_MISSING, KerncastError

CRASH, SINK = 0xDEAD, 0xBEEF  # see tiny_port.c
NOWHERE = "0x00300000u"  # an address that is free on these boards
Tiny = Callable[[str], HilClient]


@pytest.fixture
def tiny_on(tmp_path: Path, tiny_port: str, require_tool: Callable[[str, str], str]) -> Iterator[Tiny]:
    """``tiny_on(board)``: a client that has greeted the tiny port on that board."""
    clients: list[HilClient] = []

    def start(name: str) -> HilClient:
        board = load_board(name)
        emulator = next(iter(board.emulators))
        require_tool(board.emulators[emulator].program, board.emulators[emulator].install)
        text = tiny_port.replace("CAPACITY 300u", "CAPACITY 30u").replace("0x30000000u", NOWHERE)
        image = build_image({"tiny_port.c": text}, [], [], board, build_dir=tmp_path)
        clients.append(HilClient(start_emulator(image.elf, board, emulator)))
        clients[-1].start()
        return clients[-1]

    yield start
    for client in clients:
        client.close()


@pytest.mark.parametrize(("board", "word"), [("riscv-virt", CRASH), ("riscv-virt", SINK), ("hifive1", SINK)])
def test_a_trap_of_a_risc_v_is_reported(board: str, word: int, tiny_on: Tiny) -> None:
    client = tiny_on(board)
    client.write("X", word.to_bytes(2, "little"))
    with pytest.raises(KerncastError, match="fault") as caught:
        client.predict(1)
    assert caught.value.problems[0].code == "E416"


@pytest.mark.parametrize("board", ["riscv-virt", "mips-linux", "arduino-mega"])
def test_a_count_repeats_and_grows_with_the_work(board: str, tiny_on: Tiny) -> None:
    client = tiny_on(board)
    seen = []
    for count in (3, 3, 6):
        client.predict(count)
        ticks = client.counters()
        assert ticks is not None
        seen.append(ticks[0] - ticks[1])
    assert 0 < seen[0] == seen[1] < seen[2]


def test_a_helper_is_compiled_once(tmp_path: Path, require_tool: Callable[[str, str], str]) -> None:
    require_tool("gcc", "apt-get install gcc")
    entry = load_board("mips-linux").emulators["qemu"]
    program = build_helper(entry, tmp_path)
    before = program.stat()
    assert build_helper(entry, tmp_path) == program
    assert program.stat().st_mtime_ns == before.st_mtime_ns
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kc_qemu_count", "kc_qemu_count.c"]


def test_a_helper_without_its_library_names_what_installs_it(
        tmp_path: Path, require_tool: Callable[[str, str], str]) -> None:
    require_tool("gcc", "apt-get install gcc")
    entry = load_board("mips-linux").emulators["qemu"]
    broken = entry.model_copy(update={"helper_flags": ("-lno_such_library",)})
    with pytest.raises(KerncastError, match="no_such_library") as caught:
        build_helper(broken, tmp_path)
    assert caught.value.problems[0].code == "E512" and caught.value.exit_code == EXIT_TOOL_MISSING
    assert caught.value.problems[0].remedy == entry.install
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_image_ends_simavr_with_a_message(
        tmp_path: Path, require_tool: Callable[[str, str], str]) -> None:
    board = load_board("arduino-uno")
    require_tool("simavr", board.emulators["simavr"].install)
    (tmp_path / "bad.elf").write_bytes(b"this is not an image")
    link = start_emulator(tmp_path / "bad.elf", board, "simavr")
    with pytest.raises(KerncastError, match="emulator ended"):
        HilClient(link).start()
    link.close()
