"""Targets and boards as data: what is refused in them, what their counters show, how they are loaded."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

import kerncast
from kerncast.cli.main import app
from kerncast.codegen.build.toolchains import choose_toolchain
from kerncast.codegen.firmware import targets
from kerncast.codegen.firmware.boards import render_boards
from kerncast.codegen.firmware.image import build_image, render_board_files, shipped_sources
from kerncast.codegen.firmware.targets import Board, Counter, Flasher, board_ids, load_board
from kerncast.hw.hil import flash
from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.emulators import require_emulator, start_emulator
from kerncast.hw.hil.unicorn_devices import Clock, SystemSpace
from kerncast.sim.errors import EXIT_BAD_INPUT, EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.plan import Plan

if TYPE_CHECKING:
    from conftest import HostAgent, SerialBoard

ROOT = Path(kerncast.__file__).resolve().parent
MICROBIT = load_board("microbit")


def code_of(caught: pytest.ExceptionInfo[KerncastError]) -> str:
    return caught.value.problems[0].code


# ---- the files ---------------------------------------------------------------------------------------------


def test_the_page_on_boards_says_what_their_files_say() -> None:
    page = (ROOT / "docs" / "boards.md").read_text(encoding="utf-8")
    assert page == render_boards(), "python -m kerncast.codegen.firmware.boards > docs/boards.md"


@pytest.mark.parametrize("name", board_ids())
def test_an_image_is_made_of_one_driver_each(name: str) -> None:
    board = load_board(name)
    names = [*shipped_sources(board), *render_board_files(board)]
    assert len(names) == len(set(names))
    assert sum(n.startswith("kc_uart_") for n in names) == 1
    assert sum(n.startswith("kc_counter_") for n in names) == (board.counter.kind != "none")


def test_a_compiler_that_does_not_know_the_core_is_refused() -> None:
    target = targets.load_target("cortex-m0")
    gcc_only = target.model_copy(update={"flags": {"gcc": target.flags["gcc"]}})
    with pytest.raises(KerncastError, match="cortex-m0") as caught:
        choose_toolchain("zig", gcc_only)
    assert (code_of(caught), caught.value.problems[0].allowed) == ("E327", "gcc")


def test_what_16_kilobytes_do_not_hold_is_refused_with_the_bytes(tmp_path: Path, tiny_port: str) -> None:
    large = tiny_port.replace("#define CAPACITY 300u", "#define CAPACITY 3000u")
    with pytest.raises(KerncastError, match="16384 of RAM") as caught:
        build_image({"tiny_port.c": large}, [], [], MICROBIT, build_dir=tmp_path)
    assert code_of(caught) == "E326"


def test_data_of_an_avr_that_reach_into_its_stack_are_refused(
        tmp_path: Path, tiny_port: str, require_tool: Callable[[str, str], str]) -> None:
    """The stack had an address of its own, and the linker laid it upon them."""
    require_tool("avr-gcc", "sudo apt-get install -y gcc-avr")
    into = tiny_port.replace("#define CAPACITY 300u", "#define CAPACITY 110u")
    with pytest.raises(KerncastError, match="is not within region `RAM'") as caught:
        build_image({"tiny_port.c": into}, [], [], targets.load_board("arduino-uno"), build_dir=tmp_path)
    assert code_of(caught) == "E326"


def test_a_missing_emulator_is_named_with_the_command_that_installs_it(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(KerncastError, match="apt-get install") as caught:
        require_emulator(load_board("mps3-an547"), "qemu")
    assert (code_of(caught), caught.value.exit_code) == ("E512", EXIT_TOOL_MISSING)
    with pytest.raises(KerncastError) as caught:
        require_emulator(load_board("mps3-an547"), "unicorn")
    assert code_of(caught) == "E417"


# ---- counters ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", board_ids())
def test_a_count_is_exact_wherever_in_a_tick_it_starts(name: str) -> None:
    counter = load_board(name).counter
    counts = [*range(3000), *range(1 << 30, (1 << 30) + 50)]
    assert [counter.units(counter.reading(count)) for count in counts] == counts
    if counter.ticks > counter.per_units:  # a counter that is half a tick ahead shows one more now and then
        ahead = [(2 * n * counter.ticks + counter.per_units) // (2 * counter.per_units) for n in counts]
        assert [counter.units(ticks) for ticks in ahead] == counts


def test_a_board_itself_counts_cycles() -> None:
    emulated = load_board("nucleo-f446re").counter
    itself = emulated.hardware
    assert itself is not None and emulated.unit == "instructions"
    assert (itself.unit, itself.units(7)) == ("cycles", 7)
    minstret = Counter(kind="minstret").hardware
    assert minstret is not None and minstret.unit == "instructions"


def test_what_an_emulator_alone_counts_is_not_counted_at_a_port() -> None:
    """An nRF51 has no SysTick: its register is read as 0, and so would every count be."""
    counters = {name: load_board(name).counter for name in board_ids()}
    emulated = {name for name, counter in counters.items() if counter.hardware is None}
    assert {"microbit", "arduino-uno"} <= emulated and "nucleo-f446re" not in emulated
    assert emulated >= {name for name, counter in counters.items() if counter.kind in ("simavr", "file")}
    assert Counter().hardware is None


def test_systick_rounds_are_delivered_one_by_one_while_interrupts_are_off() -> None:
    clock = Clock(Counter(kind="systick"))
    system = SystemSpace(clock)
    system.write(0x10, 7)
    clock.count = 2 * (1 << 24) + 5
    value, rounds = system.read(0x18), 0
    clock.count += 100  # what it takes to collect them
    while system.read(0xD04) & (1 << 26):
        system.write(0xD04, 1 << 25)
        rounds += 1
        assert system.read(0x18) == value
    assert (rounds << 24) + (-value & 0xFFFFFF) == 2 * (1 << 24) + 5


def test_a_count_longer_than_systicks_24_bits_is_whole(
        tmp_path: Path, tiny_port: str, require_tool: Callable[[str, str], str]) -> None:
    require_tool("qemu-system-arm", "make tools")
    counts = []
    for loops in (2000, 20000):
        text = f"#define SPIN {loops}u\n{tiny_port}"
        image = build_image({"tiny_port.c": text}, [], [], MICROBIT, build_dir=tmp_path / str(loops))
        client = HilClient(start_emulator(image.elf, MICROBIT, "qemu"))
        client.start()
        client.train(300)
        ticks = client.counters()
        client.close()
        assert ticks is not None
        counts.append(MICROBIT.counter.units(ticks[0]))
    assert counts[1] > 1 << 24 and abs(counts[1] - 10 * counts[0]) < 1000


# ---- faults ------------------------------------------------------------------------------------------------


def cortex_m() -> list[object]:
    """Cortex-M boards: in `make test` that without any guard, and one with a stack limit."""
    names = [n for n in board_ids() if targets.load_target(load_board(n).target).arch == "cortex_m"]
    few = ("microbit", "mps2-an505")
    return [n if n in few else pytest.param(n, marks=pytest.mark.campaign) for n in names]


@pytest.mark.parametrize("name", cortex_m())
def test_a_used_up_stack_is_reported_on_every_cortex_m(
        name: str, tmp_path: Path, tiny_port: str, require_tool: Callable[[str, str], str]) -> None:
    require_tool("qemu-system-arm", "make tools")
    board = load_board(name)
    image = build_image({"tiny_port.c": tiny_port}, [], [], board, build_dir=tmp_path)
    client = HilClient(start_emulator(image.elf, board, "qemu"))
    client.start()
    client.write("X", (0xBEEF).to_bytes(2, "little"))  # see tiny_port.c
    with pytest.raises(KerncastError, match="fault") as caught:
        client.predict(1)
    client.close()
    assert code_of(caught) == "E416"


# ---- loading -----------------------------------------------------------------------------------------------


def loaded_by(*command: str) -> Board:
    return MICROBIT.model_copy(update={"flashers": {"x": Flasher(command=command, install="make it")}})


def test_a_board_is_loaded_by_the_command_of_its_file(tmp_path: Path) -> None:
    note = str(tmp_path / "done")
    board = loaded_by(sys.executable, "-c", f"open({note!r}, 'w').write('{{elf}} {{port}}')")
    assert flash.default_flasher(board) == "x"
    assert flash.flash(board, Path("a.elf"), "x", "COM3")[0] == sys.executable
    assert (tmp_path / "done").read_text(encoding="utf-8") == "a.elf COM3"


@pytest.mark.parametrize(("name", "program", "words"), [
    ("nucleo-f446re", "openocd", ["-f", "board/st_nucleo_f4.cfg", "-c", "program {ELF} verify reset exit"]),
    ("arduino-uno", "avrdude", ["-p", "atmega328p", "-c", "arduino", "-P", "COM3", "-b", "115200", "-D", "-U",
                                "flash:w:ELF:e"])])
def test_a_board_is_loaded_with_its_image_and_opened(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, program: str, words: list[str]) -> None:
    (tmp_path / program).write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {tmp_path}/told\n")
    (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    elf = tmp_path / "firmware.elf"
    monkeypatch.setattr(flash, "build_firmware", lambda *_, **__: SimpleNamespace(elf=elf))
    monkeypatch.setattr(flash, "open_port", lambda port, plan, **_: f"opened {port}")
    opened, command = flash.open_loaded(load_board(name), "COM3", None, tmp_path, "auto")  # type: ignore[arg-type]
    assert opened == "opened COM3"
    assert command[0] == program
    assert command[1:] == (tmp_path / "told").read_text().splitlines() == [
        word.replace("ELF", str(elf)) for word in words]


def test_a_board_that_cannot_be_loaded_states_the_reason() -> None:
    for board, name, code, said in (
            (load_board("mps2-an386"), "openocd", "E418", "openocd"),
            (loaded_by("no-such-loader"), "x", "E514", "make it"),
            (loaded_by(sys.executable, "-c", "raise SystemExit('no probe')"), "x", "E419", "no probe")):
        with pytest.raises(KerncastError, match=said) as caught:
            flash.flash(board, Path("a.elf"), name, "COM3")
        assert code_of(caught) == code


# ---- the commands ------------------------------------------------------------------------------------------


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="kerncast")
    assert "Traceback" not in result.output
    return result.exit_code, result.stdout


def test_targets_and_boards_are_listed_with_install_commands() -> None:
    listed = json.loads(run("targets", "--json")[1])
    assert {"microbit", "mps2-an386"} <= {b["id"] for b in listed["boards"]}
    shown = json.loads(run("targets", "microbit", "--json")[1])
    assert shown["emulators"]["qemu"]["install"].startswith("sudo apt-get")
    assert json.loads(run("targets", "cortex-m0", "--json")[1])["boards"] == ["microbit"]
    assert "nrf51" in run("targets", "microbit")[1] and "arm-none-eabi-gcc" in run("targets", "cortex-m0")[1]
    assert {b["id"] for b in json.loads(run("hil", "list", "--json")[1])["boards"]} == set(board_ids())
    assert "microbit" in run("hil", "list")[1]


def test_hil_run_compares_every_value_of_a_board_at_a_port(
        folder: tuple[Plan, Path], traced_agent: Callable[[Plan, Path], "HostAgent"],
        serial_board: Callable[["HostAgent"], "SerialBoard"]) -> None:
    board = serial_board(traced_agent(*folder))
    code, out = run("hil", "run", folder[1], "--board", "microbit", "--port", board.port, "--json")
    board.unplug()
    answer = json.loads(out)
    assert (code, answer["mismatches"], answer["flashed"]) == (0, 0, []) and answer["words"] > 8


@pytest.mark.parametrize(("name", "unit"), [
    ("nucleo-f446re", "cycles"), ("microbit", None), ("of-my-own", None)])
def test_a_board_at_a_port_identifies_itself(
        folder: tuple[Plan, Path], traced_agent: Callable[..., "HostAgent"],
        serial_board: Callable[["HostAgent"], "SerialBoard"], name: str, unit: str | None) -> None:
    board = serial_board(traced_agent(*folder, name))
    code, out = run("hil", "run", folder[1], "--port", board.port, "--json")
    _, text = run("hil", "run", folder[1], "--port", board.port)
    board.unplug()
    answer = json.loads(out)
    assert (code, answer["mismatches"], answer["board"], answer["costs"]["unit"]) == (0, 0, name, unit)
    assert set(answer["costs"]["counts"]) == ({"update", "predict"} if unit else set())
    assert f"{name} at {board.port}: {answer['values']} values" in text and "None" not in text


def test_hil_run_refuses_what_it_cannot_do(folder: tuple[Plan, Path]) -> None:
    for arguments, code in ((("--board", "arduino"), "E322"),
                            (("--board", "microbit", "--flash", "pyocd"), "E418"),
                            ((), "E417"), (("--port", ""), "E421"),
                            (("--port", "COM9", "--flash", "auto"), "E418"),
                            (("--board", "microbit", "--port", ""), "E421"),
                            (("--board", "microbit", "--port", "", "--flash", "auto"), "E421"),
                            (("--board", "microbit", "--emulator", "renode"), "E417"),
                            (("--board", "microbit", "--compiler", "tcc"), "E325"),
                            (("--board", "mps2-an386", "--port", "COM9", "--flash", "auto"), "E418"),
                            (("--board", "microbit", "--port", "/dev/there-is-none"), "E410")):
        status, out = run("hil", "run", folder[1], *arguments, "--json")
        assert (status, json.loads(out)["errors"][0]["code"]) == (EXIT_BAD_INPUT, code)
