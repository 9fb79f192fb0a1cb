"""The delay line on an emulated Cortex-M4: the model's values, and the time of a push."""

import subprocess
from functools import cache

import numpy as np
import pytest

import kerncast
from kerncast.benchmarks.cortex_m import SCRIPT, CortexM
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.resources import resource
from kerncast.sim.data.windows import latest_first
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

SIGNAL = np.cumsum(np.random.default_rng(7).integers(-80, 80, 60, endpoint=True)).clip(-2048, 2047)
PROGRAM = """#include "tapped.h"
static tapped_model_t model;
static tapped_delay_t line;
static tapped_out_t f;
int main(void);
int start(void);
int push(int sample);
int update(int target);
int value(void);
int start(void) { tapped_model_init(&model); tapped_delay_init(&line); return 0; }
int push(int sample) { return (int)tapped_delay_push(&line, (tapped_in_t)sample); }
int update(int target) { return (int)tapped_delay_update(&model, &line, (tapped_target_t)target, &f); }
int value(void) { return f; }
int main(void) { return start() + push(0) + update(0) + value(); }
"""


@cache
def plan_of(delay):
    return make_plan(Spec(
        model={"name": "tapped", "algorithm": "kernel_lms"}, input={"word": "s12f0", "delay": delay},
        output={"word": "s12f0"}, kernel={"sigma": 200.0},
        online={"budget": 9, "eta": 0.3, "reduction": "nt", "quantise": 0.8}))


def core_of(folder, delay):
    kerncast.generate(plan_of(delay), folder)
    (folder / "core.ld").write_text(SCRIPT)
    (folder / "program.c").write_text(PROGRAM)
    (folder / "kc_memory.c").write_text(resource("firmware/support/kc_memory.c").read_text())
    subprocess.run(["arm-none-eabi-gcc", *load_target("cortex-m4").flags["gcc"], "-O2", "-std=c99", "-Wall",
                    "-Wextra", "-Wconversion", "-Werror", "-I.", "-ffreestanding", "-nostdlib",
                    *(path.name for path in sorted(folder.glob("*.c"))), "-T", "core.ld", "-Wl,-e,main",
                    "-lgcc", "-o", "program.elf"], cwd=folder, check=True)
    return CortexM(folder / "program.elf")


@pytest.mark.parametrize("delay", [5, 16])
def test_a_learner_on_a_cortex_m4_learns_from_the_line(delay, tmp_path, require_tool, ledger):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    core, model = core_of(tmp_path, delay), open_model(plan_of(delay))
    core.call("start")
    expected = model.update(latest_first(SIGNAL[:-1], delay), SIGNAL[delay:])["f"].tolist()
    found = []
    for sample in SIGNAL.tolist():
        if core.call("update", sample & 0xffffffff)[0] == 0:
            found.append(int(np.int16(core.call("value")[0] & 0xffff)))
        core.call("push", sample & 0xffffffff)
    wrong = sum(a != b for a, b in zip(found, expected, strict=True))
    ledger.record(backend="unicorn:cortex-m4:-O2", words=len(expected), mismatches=wrong,
                  case=f"delay {delay}")
    assert wrong == 0


def test_a_push_takes_the_same_instructions_for_every_length(tmp_path, require_tool):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    most = []
    for delay in (5, 200):
        (tmp_path / str(delay)).mkdir()
        core = core_of(tmp_path / str(delay), delay)
        core.start_counting()
        core.call("start")
        most.append(max(core.call("push", sample)[1] for sample in range(2 * delay + 1)))
    assert 0 < most[0] == most[1]
