"""The HIL agent as a program of a package: `kerncast test` compares the board over its console.

The Arduino sketch runs on a simulated Mega. Zephyr's program runs on stand-ins for the documented functions.
"""

import contextlib
import json
import os
import pty
import subprocess
import sys
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kerncast.codegen.generate import generate
from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.link import SerialLink
from kerncast.sim.model import open_model
from kerncast.sim.replay.vectors import replay

from .conftest import Case
from .test_packages import APT, ARDUINO, HERE, WARNINGS, ran

#: USART 0 of a simulated Mega is standard input and output, a byte in 100 microseconds.
MEGA = """
#include <poll.h>
#include <unistd.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

static void on_output(struct avr_irq_t *irq, uint32_t value, void *context)
{
    const uint8_t byte = (uint8_t)value;
    (void)irq, (void)context;
    if (write(1, &byte, 1) != 1) {
        _exit(0);
    }
}

int main(int count, char **arguments)
{
    const uint32_t quiet = 0;
    static elf_firmware_t firmware;
    avr_t *avr = avr_make_mcu_by_name("atmega2560");
    avr_cycle_count_t next = 0;
    struct pollfd line = { 0, POLLIN, 0 };
    int state = cpu_Running;

    if (count != 2 || avr == NULL || avr_init(avr) != 0 || elf_read_firmware(arguments[1], &firmware) != 0) {
        return 1;
    }
    avr->log = LOG_NONE;
    firmware.frequency = 16000000;
    avr_load_firmware(avr, &firmware);
    (void)avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), (void *)&quiet);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_output, NULL);
    while (state != cpu_Done && state != cpu_Crashed) {
        uint8_t byte;

        state = avr_run(avr);
        if (avr->cycle < next) {
            continue;
        }
        next = avr->cycle + 1600;
        if (poll(&line, 1, 0) > 0) {
            if (read(0, &byte, 1) != 1) {
                return 0;
            }
            avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), byte);
        }
    }
    return 1;
}
"""


@contextlib.contextmanager
def serial_port(*command: str | Path) -> Iterator[str]:
    """The name of a port, with a program behind it."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    program = subprocess.Popen([*map(str, command)], stdin=master, stdout=master)
    try:
        yield os.ttyname(slave)
    finally:
        program.kill()
        program.wait()
        os.close(slave)
        os.close(master)


def compare(folder: Path, port: str) -> dict:
    """The one row of `kerncast test` over a port."""
    said = ran(sys.executable, "-m", "kerncast", "test", folder, "--on", f"board:{port}", "--json",
               cwd=folder)
    (row,) = json.loads(said)["backends"]
    return row


def check(row: dict, case: Case) -> None:
    """Every value is equal, and the time of each call was counted."""
    assert (row["mismatches"], row["words"]) == (0, replay(open_model(case.plan), case.vectors).words)
    assert row["costs"]["unit"] == "nanoseconds"
    assert set(row["costs"]["counts"]) >= {"train" if case.plan.trains else "update", "predict"}
    assert all(count > 0 for count in row["costs"]["counts"].values())


@pytest.fixture(scope="module")
def sketches(cases, tmp_path_factory, require_tool):
    """``sketches(case)``: the generated folder, and the image of its agent for a Mega."""
    builder = require_tool("arduino-builder", f"{APT} arduino-builder arduino-core-avr")
    root = tmp_path_factory.mktemp("sketches")

    def build(name: str) -> tuple[Path, Path]:
        libraries, folders = root / name, [root / f"{name}-{part}" for part in ("build", "cache")]
        for folder in (libraries, *folders):
            folder.mkdir()
        generate(cases(name).plan, libraries / name, "atmega2560", vectors=cases(name).vectors,
                 packages=("arduino",))
        ran(builder, "-compile", "-hardware", "/usr/share/arduino-builder",
            "-hardware", f"{ARDUINO}/hardware", "-tools", "/usr/bin", "-libraries", libraries,
            "-fqbn", "arduino:avr:mega:cpu=atmega2560", "-build-path", folders[0],
            "-build-cache", folders[1], "-prefs", "compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__",
            libraries / name / "examples/hil_agent/hil_agent.ino", cwd=root)
        return libraries / name, folders[0] / "hil_agent.ino.elf"

    return build


@pytest.mark.parametrize("name", ["grid16", "lms16"])
def test_kerncast_test_compares_every_value_of_the_sketch_on_a_mega(
        cases, sketches, require_tool, ledger, tmp_path, name):
    require_tool("simavr", f"{APT} simavr libsimavr-dev libelf-dev")
    folder, image = sketches(name)
    (tmp_path / "mega.c").write_text(MEGA)
    ran("gcc", "-O2", "mega.c", "-o", "mega", "-lsimavr", "-lelf", cwd=tmp_path)
    with serial_port(tmp_path / "mega", image) as port:
        row = compare(folder, port)
    check(row, cases(name))
    ledger.record(backend="package:hil_agent:simavr:mega", words=row["words"], case=name)


@pytest.fixture
def zephyr(cases, require_tool, tmp_path) -> Callable[..., tuple[Path, Path]]:
    """``zephyr(case, *flags)``: the generated folder, and the agent's program on the stand-ins."""
    require_tool("cmake", f"{APT} cmake")

    def build(name: str, *flags: str) -> tuple[Path, Path]:
        folder = tmp_path / name
        generate(cases(name).plan, folder, vectors=cases(name).vectors, packages=("zephyr",))
        c_flags = " ".join([WARNINGS, *flags])
        ran("cmake", "-S", folder / "zephyr/samples/hil_agent", "-B", "build",
            f"-DZephyr_DIR={HERE / 'zephyr'}", f"-DCMAKE_C_FLAGS={c_flags}", cwd=tmp_path)
        ran("cmake", "--build", "build", cwd=tmp_path)
        return folder, tmp_path / "build" / "zephyr.elf"

    return build


@pytest.mark.parametrize("name", ["grid16", "lms16"])
def test_kerncast_test_compares_every_value_of_the_zephyr_program(cases, zephyr, ledger, name):
    folder, program = zephyr(name, "-DKC_STANDIN_HZ=1000000000u")  # ticks shorter than the shortest call
    with serial_port(program) as port:
        row = compare(folder, port)
    check(row, cases(name))
    ledger.record(backend="package:hil_agent:zephyr", words=row["words"], case=name)


def test_zephyr_s_milliseconds_count_if_its_cycle_counter_may_have_wrapped(zephyr):
    """At 50 GHz it wraps in 86 ms."""
    _, program = zephyr("grid16", "-DKC_STANDIN_HZ=50000000000ull")
    with serial_port(program) as port:
        client = HilClient(SerialLink(port))
        client.start()
        client.train(client.identity.capacity)
        ticks = client.request("COUNTERS")["ticks"]
        client.close()
    assert ticks % 1_000_000 == 0
