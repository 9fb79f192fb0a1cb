"""The stream of fitted values on an emulated Cortex-M4: the model's values, and the time of a push."""

import subprocess

import numpy as np
import pytest

import kerncast
from kerncast.benchmarks.cortex_m import SCRIPT, CortexM
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.resources import resource
from kerncast.hw.backends import open_backend
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.vectors import make_vectors, replay
from kerncast.sim.spec import Spec

ARM = ("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
PROGRAM = """#include "flow.h"
static flow_stream_t line;
static flow_out_t f;
int main(void);
int start(void);
int push(int sample);
int value(void);
int start(void) { flow_stream_init(&line); return 0; }
int push(int sample) { return (int)flow_stream_push(&line, (flow_target_t)sample, &f); }
int value(void) { return f; }
int main(void) { return start() + push(0) + value(); }
"""


def plan_of(word=16, lag=12):
    return make_plan(Spec(
        model={"name": "flow", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": "u12f0", "offset": 2048}, kernel={"sigma": 1.5}, numbers={"word": word},
        toeplitz={"n": 64, "lambda": 0.1, "scheme": "uniform", "solver": "banded", "stream_lag": lag}))


def signal(m):
    steps = np.random.default_rng(7).integers(-300, 300, m, endpoint=True)
    return (2048 + np.cumsum(steps)).clip(0, 4095)


def core_of(folder, plan, *flags):
    kerncast.generate(plan, folder)
    (folder / "core.ld").write_text(SCRIPT)
    (folder / "program.c").write_text(PROGRAM)
    (folder / "kc_memory.c").write_text(resource("firmware/support/kc_memory.c").read_text())
    subprocess.run(["arm-none-eabi-gcc", *load_target("cortex-m4").flags["gcc"], "-O2", "-std=c99", "-Wall",
                    "-Wextra", "-Wconversion", "-Werror", "-I.", "-ffreestanding", "-nostdlib", *flags,
                    *(path.name for path in sorted(folder.glob("*.c"))), "-T", "core.ld", "-Wl,-e,main",
                    "-lgcc", "-o", "program.elf"], cwd=folder, check=True)
    return CortexM(folder / "program.elf")


@pytest.mark.covering
@pytest.mark.parametrize("flags", [(), ("-DKC_PORTABLE=1",)], ids=["intrinsics", "portable"])
@pytest.mark.parametrize(("word", "lag"), [(16, 12), (16, 7), (24, 10), (32, 12)])
def test_a_cortex_m4_returns_the_values_of_the_model(word, lag, flags, tmp_path, require_tool, ledger):
    require_tool(*ARM)
    plan = plan_of(word, lag)
    core, expected = core_of(tmp_path, plan, *flags), open_model(plan).stream(signal(150))
    core.call("start")
    found, mask = [], (1 << 31) - 1
    for sample in signal(150).tolist():
        status = core.call("push", sample)[0]
        value = core.call("value")[0]
        found.append((status, (value & mask) - (value & ~mask & 0xffffffff)))
    pairs = list(zip(expected["status"], expected["f"], strict=True))
    wrong = sum(a != b for a, b in zip(found, pairs, strict=True))
    ledger.record(backend="unicorn:cortex-m4:-O2", words=len(found), mismatches=wrong,
                  case=f"stream {word} bits, lag {lag}, {' '.join(flags) or 'intrinsics'}")
    assert wrong == 0


def test_every_push_of_a_full_stream_takes_the_same_instructions(tmp_path, require_tool):
    require_tool(*ARM)
    core = core_of(tmp_path, plan_of())
    core.start_counting()
    core.call("start")
    counts = [core.call("push", sample)[1] for sample in signal(150).tolist()][25:]
    assert max(counts) - min(counts) <= 4  # the wrap of the index, and the rails


@pytest.mark.parametrize("board", ["emu:mps2-an386:unicorn", pytest.param(
    "emu:mps2-an386:qemu", marks=pytest.mark.campaign)])
def test_a_board_streams_records_longer_than_its_buffers(board, ledger, require_tool):
    require_tool({"unicorn": "python:unicorn", "qemu": "qemu-system-arm"}[board.split(":")[-1]], "make tools")
    plan = plan_of()
    backend = open_backend(plan, board)
    try:
        compared = replay(backend, make_vectors(open_model(plan), [("train", None, signal(64))]))
        found, expected = backend.stream(signal(300)), open_model(plan).stream(signal(300))
    finally:
        backend.close()
    ledger.record(backend=board, words=compared.words, mismatches=compared.mismatches, case="stream")
    assert compared.mismatches == 0 and "stream" in backend.tallies
    assert (found["f"] == expected["f"]).all() and (found["status"] == expected["status"]).all()
