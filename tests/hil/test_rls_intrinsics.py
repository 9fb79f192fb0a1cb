"""The instructions for normal equations give the values of the portable C, on the emulated core."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from kerncast.benchmarks.cortex_m import SCRIPT, CortexM
from kerncast.codegen.firmware.targets import load_target
from kerncast.codegen.resources import resource

FIXTURE = Path(__file__).parent / "fixtures" / "rls.c"
ROOT = Path(__file__).resolve().parents[2]
MOST = 20


@pytest.fixture(scope="module", params=["-O0", "-O2", "-Os"])
def core(request, tmp_path_factory, require_tool):
    require_tool("arm-none-eabi-gcc", "sudo apt-get install -y gcc-arm-none-eabi")
    folder = tmp_path_factory.mktemp("rls")
    (folder / "core.ld").write_text(SCRIPT)
    (folder / "kc_memory.c").write_text(resource("firmware/support/kc_memory.c").read_text())
    subprocess.run(["arm-none-eabi-gcc", *load_target("cortex-m4").flags["gcc"], request.param, "-std=c99",
                    "-Wall", "-Wextra", "-Wconversion", "-Werror", "-ffreestanding", "-nostdlib", "-I",
                    str(ROOT / "firmware"), str(FIXTURE), str(folder / "kc_memory.c"), "-T",
                    str(folder / "core.ld"), "-Wl,-e,main", "-lgcc", "-o", str(folder / "rls.elf")],
                   check=True)
    return CortexM(folder / "rls.elf")


def write_twice(core, name, words):
    core.write(name, np.concatenate([words, words]).astype(np.int32))


def test_rows_with_dsp_instructions_are_those_of_portable_c(core):
    random, wrong = np.random.default_rng(3), 0
    for n in range(1, MOST + 1):
        for s in (0, 1, 9, 16, 17, 26):
            core.write("phi", random.choice([random.integers(-(1 << 15), 1 << 15, 2 * MOST + 1),
                                             np.full(2 * MOST + 1, -(1 << 15))]).astype(np.int16))
            entries = random.integers(-(1 << 30), 1 << 30, MOST * (MOST + 1) // 2)
            write_twice(core, "rows", entries)
            for at in (0, 1):
                wrong += core.call("rows_differ", at, n, int(random.integers(0, 1 << 31)), s)[0]
            wrong += core.call("dot_differs", n % 3, n)[0]
    assert wrong == 0


def test_columns_with_dsp_instructions_are_those_of_portable_c(core):
    random, wrong = np.random.default_rng(4), 0
    for n in range(1, MOST + 1):
        for i in range(n):
            for high in (0, 1):
                width, bits = (31, int(random.integers(1, 31))) if high else (26, 2)
                entries = random.integers(-(1 << width), 1 << width, MOST * (MOST + 1) // 2)
                write_twice(core, "rows", entries)
                write_twice(core, "b", random.choice([random.integers(-(1 << 29), 1 << 29, MOST),
                                                      random.integers(-2, 3, MOST)]))
                factor = int(random.choice([-1, 1])) << bits
                core.write("inputs", random.integers((1, 0), (n + 1, 4)).astype(np.int32))
                wrong += core.call("column_differs", n, i, factor & 0xFFFFFFFF, high)[0]
    assert wrong == 0


def test_residuals_with_dsp_instructions_are_those_of_portable_c(core):
    random, wrong = np.random.default_rng(5), 0
    for _ in range(300):
        v, error = (int(random.choice([0, -1, 1, -bound, bound - 1, random.integers(-bound, bound)]))
                    for bound in (1 << 30, (1 << 29) - 1))
        fading = int(random.choice([0, 1, (1 << 31) - 1, random.integers(1 << 31)]))
        phi = int(random.choice([-(1 << 15), (1 << 15) - 1, random.integers(-(1 << 15), 1 << 15)]))
        unsigned = [word & 0xFFFFFFFF for word in (v, fading, error, phi)]
        wrong += core.call("residual_differs", *unsigned)[0]
    assert wrong == 0
