"""Rows of Levinson's recursion give the words of their definitions, by ARMv7E-M's products and without."""

import subprocess
from pathlib import Path

import cffi
import numpy as np
import pytest

from kerncast.benchmarks.cortex_m import SCRIPT, CortexM
from kerncast.codegen.build.compilers import host_compiler
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.resources import resource

FIXTURE = Path(__file__).parent / "fixtures" / "rows.c"
ROOT = Path(__file__).resolve().parents[2]
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-I", str(ROOT / "firmware"))
TIMES = 1000


@pytest.mark.parametrize("level", ["-O2", "-Os", *(pytest.param(level, marks=pytest.mark.campaign)
                                                   for level in ("-O0", "-O1", "-O3"))])
@pytest.mark.parametrize("portable", [0, 1])
def test_rows_on_a_cortex_m4_are_those_of_the_definitions(tmp_path, require_tool, ledger, level, portable):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    (tmp_path / "core.ld").write_text(SCRIPT)
    (tmp_path / "kc_memory.c").write_text(resource("firmware/support/kc_memory.c").read_text())
    subprocess.run(["arm-none-eabi-gcc", *load_target("cortex-m4").flags["gcc"], level, *FLAGS,
                    f"-DKC_PORTABLE={portable}", "-ffreestanding", "-nostdlib", str(FIXTURE),
                    str(tmp_path / "kc_memory.c"), "-T", str(tmp_path / "core.ld"), "-Wl,-e,main", "-lgcc",
                    "-o", str(tmp_path / "rows.elf")], check=True)
    core = CortexM(tmp_path / "rows.elf")
    wrong = core.call("rows_self_test", TIMES)[0]
    assert wrong == 0
    assert core.read("kc_lean", np.int32, 1)[0] > TIMES // 2
    ledger.record(backend=f"unicorn:cortex-m4:{level}", words=int(core.read("kc_compared", np.int32, 1)[0]),
                  mismatches=wrong, case="rows portable" if portable else "rows dsp")


def test_rows_on_the_host_are_those_of_the_definitions(tmp_path, require_tool, ledger):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    host_compiler("gcc").build_library([FIXTURE], ["-O2", *FLAGS], tmp_path / "rows.so", tmp_path)
    ffi = cffi.FFI()
    ffi.cdef("int32_t rows_self_test(int32_t times); extern int32_t kc_compared;")
    rows = ffi.dlopen(str(tmp_path / "rows.so"))
    wrong = rows.rows_self_test(20 * TIMES)
    assert wrong == 0
    ledger.record(backend="host:gcc:-O2", words=int(rows.kc_compared), mismatches=wrong, case="rows")
