"""The agent on this machine, images for the emulators, and a wire to send raw bytes over."""

import os
import pty
import shutil
import subprocess
import threading
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import cffi
import numpy as np
import pytest

from kerncast.codegen.build.compilers import WARNINGS, host_compiler
from kerncast.codegen.firmware.image import (
    AGENT_HEADERS,
    FirmwareImage,
    build_image,
    render_board_files,
    render_port,
    shipped_sources,
)
from kerncast.codegen.firmware.targets import load_board
from kerncast.codegen.generate import generate
from kerncast.hw.hil.client import HilClient
from kerncast.hw.hil.emulators import EmulatorLink, start_emulator
from kerncast.hw.hil.link import Link
from kerncast.hw.hil.protocol import FrameSplitter, Reply, decode_reply, encode_request
from kerncast.sim.model import open_model
from kerncast.sim.plan import Plan
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors
from kerncast.sim.spec import Spec

FIXTURES = Path(__file__).parent / "fixtures"
BOARD = load_board("mps2-an386")
OURS = {Path(path).name for path in AGENT_HEADERS}
TINY_HASH = (b"\xa5\x01\x02\x03" + bytes(28)).hex()
RECORD = 65536


def fixture_text(name: str) -> str:
    return (FIXTURES / name).read_text(encoding="utf-8")


def agent_sources(folder: Path) -> list[str]:
    """The agent with the tiny port, as a program of this machine, in `folder`."""
    texts = {**shipped_sources(BOARD), **render_board_files(BOARD),
             **{name: fixture_text(name) for name in ("tiny_port.c", "host_board.c")}}
    for name, text in texts.items():
        if name in OURS or name.startswith("kc_hil") or not name.startswith("kc_"):
            (folder / name).write_text(text, encoding="utf-8")
    return ["kc_hil_agent.c", "kc_hil_frame.c", "tiny_port.c", "host_board.c"]


class HostAgent:
    """The agent compiled for this machine."""

    def __init__(self, library: Path) -> None:
        ffi = cffi.FFI()
        ffi.cdef("""void host_start(void); void host_take(const uint8_t *bytes, uint32_t count);
                    uint32_t host_output(uint8_t *bytes);
                    uint32_t host_crc(const uint8_t *bytes, uint32_t count);
                    void host_frame(const uint8_t *bytes, uint32_t count);""")
        self._c = ffi.dlopen(str(library))
        self._buffer = ffi.new("uint8_t[]", RECORD)
        self._ffi = ffi

    def start(self) -> list[Reply]:
        """Reset it; what it says first."""
        self._c.host_start()
        return self.replies()

    def say(self, data: bytes) -> list[Reply]:
        """Send bytes; what it answers."""
        self._c.host_take(data, len(data))
        return self.replies()

    def output(self) -> bytes:
        """What it sent, as bytes."""
        return bytes(self._ffi.buffer(self._buffer, self._c.host_output(self._buffer)))

    def replies(self) -> list[Reply]:
        """What it sent, each frame whole and none damaged."""
        contents = list(FrameSplitter().feed(self.output()))
        replies = [decode_reply(c) for c in contents if c is not None]
        assert len(replies) == len(contents) and None not in replies, "the agent sent a damaged frame"
        return [r for r in replies if r is not None]

    def crc(self, data: bytes) -> int:
        return int(self._c.host_crc(data, len(data)))

    def frame(self, data: bytes) -> bytes:
        self._c.host_frame(data, len(data))
        return self.output()


class SerialBoard:
    """The agent on this machine at the far end of a pseudo terminal."""

    def __init__(self, agent: HostAgent) -> None:
        self._master, slave = pty.openpty()
        tty.setraw(slave)
        self.port = os.ttyname(slave)
        self._slave = slave
        self._agent = agent
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                data = os.read(self._master, 4096)
            except OSError:
                return
            if data == b"":
                return
            self._agent._c.host_take(data, len(data))
            os.write(self._master, self._agent.output())

    def unplug(self) -> None:
        """Close the far end."""
        os.close(self._slave)
        self._thread.join()
        os.close(self._master)


@pytest.fixture
def serial_board() -> Callable[[HostAgent], SerialBoard]:
    """``serial_board(agent)``: an agent of this machine at a serial port."""
    return SerialBoard


@pytest.fixture(scope="session")
def host_agent_library(tmp_path_factory: pytest.TempPathFactory) -> HostAgent:
    folder = tmp_path_factory.mktemp("agent")
    sources = [folder / name for name in agent_sources(folder)]
    host_compiler().build_library(sources, ["-O1"], folder / "agent.so", folder / "work")
    return HostAgent(folder / "agent.so")


@pytest.fixture
def agent(host_agent_library: HostAgent) -> HostAgent:
    """A freshly reset agent on this machine that has been greeted under number 0."""
    host_agent_library.start()
    host_agent_library.say(encode_request("HELLO", 0))
    return host_agent_library


@pytest.fixture
def traced_agent(tmp_path: Path) -> Callable[..., HostAgent]:
    """``traced_agent(plan, folder)``: the agent on this machine, as a microbit, with a library's hooks."""
    def build(plan: Plan, folder: Path, board: str = "microbit") -> HostAgent:
        work = Path(shutil.copytree(folder, tmp_path / "traced"))
        texts = {**shipped_sources(BOARD), **render_board_files(BOARD), "port.c": render_port(plan),
                 "host_board.c": fixture_text("host_board.c")}
        for name, text in texts.items():
            if name in OURS or name.startswith("kc_hil") or not name.startswith("kc_"):
                (work / name).write_text(text, encoding="utf-8")
        flags = ["-O1", "-DKC_TRACE_ON", f'-DBOARD_NAME="{board}"']
        host_compiler().build_library(sorted(work.glob("*.c")), flags, work / "agent.so", tmp_path / "work")
        agent = HostAgent(work / "agent.so")
        agent.start()
        return agent

    return build


@pytest.fixture
def fuzzer(tmp_path: Path) -> Callable[..., Path]:
    """``fuzzer(compiler, *flags)``: the agent under any input, fixtures/fuzz_agent.c, as a program."""
    def build(*command: str) -> Path:
        sources = [name for name in agent_sources(tmp_path) if name != "host_board.c"] + ["fuzz_agent.c"]
        (tmp_path / "fuzz_agent.c").write_text(fixture_text("fuzz_agent.c"), encoding="utf-8")
        flags = ["-std=c99", *WARNINGS, "-g", "-fno-sanitize-recover=all", "-DSPIN=1u", "-DHARMLESS"]
        done = subprocess.run([*command, *flags, *sources, "-o", "fuzz"], cwd=tmp_path, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, f"{done.stderr}\nfor libFuzzer: apt-get install libclang-rt-14-dev"
        return tmp_path / "fuzz"

    return build


@pytest.fixture(scope="session")
def tiny_image(tmp_path_factory: pytest.TempPathFactory) -> FirmwareImage:
    """The tiny port for the emulated board."""
    return build_image({"tiny_port.c": fixture_text("tiny_port.c")}, [], [], BOARD,
                       build_dir=tmp_path_factory.mktemp("tiny"))


def require_emulator(name: str, require_tool: Callable[[str, str], str]) -> None:
    tool = "python:unicorn" if name == "unicorn" else "qemu-system-arm"
    require_tool(tool, BOARD.emulators[name].install)


@pytest.fixture(params=["unicorn", "qemu"])
def emulator(request: pytest.FixtureRequest, require_tool: Callable[[str, str], str]) -> str:
    """Each emulator in turn."""
    require_emulator(request.param, require_tool)
    return str(request.param)


@pytest.fixture
def tiny_link(tiny_image: FirmwareImage, emulator: str) -> Iterator[EmulatorLink]:
    """A link to the tiny port on an emulated board that has just been started."""
    link = start_emulator(tiny_image.elf, BOARD, emulator)
    yield link
    link.close()


@pytest.fixture
def tiny(tiny_link: EmulatorLink) -> HilClient:
    """A client that has greeted the tiny port."""
    client = HilClient(tiny_link)
    client.start()
    return client


class Wire:
    """Raw bytes to a board, and its replies one by one."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._splitter = FrameSplitter()
        self._waiting: list[Reply] = []

    def send(self, data: bytes) -> None:
        self._link.write(data)

    def reply(self) -> Reply:
        """The next reply; the test fails where none comes in half a minute."""
        while not self._waiting:
            data = self._link.read(30.0)
            assert data, "the board is silent"
            for content in self._splitter.feed(data):
                assert content is not None, "the board sent a damaged frame"
                reply = decode_reply(content)
                assert reply is not None
                self._waiting.append(reply)
        return self._waiting.pop(0)


@pytest.fixture
def wire(tiny_link: EmulatorLink) -> Wire:
    """Raw bytes to the tiny port, which has said that it is ready, and was greeted under number 0."""
    wire = Wire(tiny_link)
    assert wire.reply().opcode == "READY"
    wire.send(encode_request("HELLO", 0))
    assert wire.reply().opcode == "HELLO"
    return wire


@pytest.fixture(scope="session")
def tiny_port() -> str:
    """Text of the tiny port."""
    return fixture_text("tiny_port.c")


@pytest.fixture
def folder(tmp_path: Path) -> tuple[Plan, Path]:
    """A learner of four vectors, generated with vectors of test."""
    plan = make_plan(Spec(model={"name": "t", "algorithm": "kernel_lms"}, numbers={"word": 16},
                          input={"word": "s8f0"}, output={"word": "s8f0"}, kernel={"sigma": 40.0},
                          online={"budget": 4, "eta": 0.3}))
    x = np.array([[3], [50], [-9], [3]])
    calls = [("update", x, x[:, 0]), ("predict", x, None)]
    generate(plan, tmp_path / "out", vectors=make_vectors(open_model(plan), calls))
    return plan, tmp_path / "out"
