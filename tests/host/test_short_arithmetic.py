"""The 32-bit forms of primitives give the primitives' words, wherever a plan lets them be used."""

from pathlib import Path

import cffi
import numpy as np
import pytest

from kerncast.codegen.build.compilers import host_compiler
from kerncast.sim import primitives as p
from kerncast.sim import tables

ROOT = Path(__file__).resolve().parents[2]
PROTOTYPES = """
    uint32_t square_diff(uint32_t acc, int32_t u, int32_t v);
    int64_t square_diff_d32(int64_t acc, int64_t u, int64_t v);
    uint32_t abs_diff(uint32_t acc, int32_t u, int32_t v);
    uint32_t mul_shift(uint32_t a, uint32_t c, int32_t s);
    uint32_t mul_high(uint32_t a, uint32_t c, int32_t s);
    int64_t mac(int64_t acc, int32_t a, int32_t b, int32_t s);
    uint32_t exp2_16(uint32_t t, const uint32_t *table, int32_t bits);
    int32_t shift_round(int32_t v, int32_t s, int32_t rounding);
    int32_t requantise(int32_t v, int32_t s, int32_t rounding, int32_t lo, int32_t hi);
"""


@pytest.fixture(scope="module")
def c(tmp_path_factory, require_tool):
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    folder = tmp_path_factory.mktemp("short")
    text = '#include "rt/kc_rt.h"\n#include "rt/kc_i32.h"\n'
    for line in PROTOTYPES.strip().splitlines():
        result, _, rest = line.strip().rstrip(";").partition(" ")
        name, _, parameters = rest.rstrip(")").partition("(")
        given = ", ".join(word.split()[-1].lstrip("*") for word in parameters.split(", "))
        form = name if name.endswith("_d32") else f"{name}_i32"
        text += f"{line.strip()}\n{result} {name}({parameters}) {{ return kc_{form}({given}); }}\n"
    (folder / "short.c").write_text(text)
    host_compiler("gcc").build_library([folder / "short.c"], ["-O2", "-I", str(ROOT / "firmware")],
                                       folder / "short.so", folder)
    ffi = cffi.FFI()
    ffi.cdef(PROTOTYPES)
    return ffi, ffi.dlopen(str(folder / "short.so"))


def test_short_forms_give_the_values_of_the_primitives(c, ledger):
    _, short = c
    random, wrong, words = np.random.default_rng(3), 0, 0
    rails = [-(1 << 15), -(1 << 15) + 1, -1, 0, 1, (1 << 15) - 1, (1 << 16) - 1]
    for _ in range(4000):
        u, v = (int(random.choice([*rails, *random.integers(-(1 << 15), 1 << 16, 14)])) for _ in range(2))
        acc, s = int(random.integers(0, 1 << 30)), int(random.integers(0, 31))
        if acc + (u - v) ** 2 < 1 << 32:
            wrong += short.square_diff(acc, u, v) != p.square_diff(acc, u, v)
        wrong += short.square_diff_d32(acc, u << 14, v << 14) != p.square_diff(acc, u << 14, v << 14)
        wrong += short.abs_diff(acc, u, v) != p.abs_diff(acc, u, v)
        wrong += short.mac(acc, u << 14, v << 14, s) != p.mac(acc, u << 14, v << 14, s)
        wide = int(random.integers(-(1 << 30), (1 << 30) + 1)) if random.random() < 0.5 else (2 * u + 1) << 10
        for mode in (p.FLOOR, p.HALF_UP, p.HALF_EVEN):
            wrong += short.shift_round(wide, s, mode) != p.shift_round(wide, s, mode)
            wrong += short.requantise(wide, s, mode, -99, 77) != p.requantise(wide, s, mode, -99, 77)
        factor, shift = int(random.integers(1, 1 << 16)), int(random.integers(0, 63))
        most = min((1 << 32) - 1, ((1 << 32) - 1) >> max(0, 16 - shift), ((1 << (32 + shift)) - 1) // factor)
        a = most if random.random() < 0.2 else int(random.integers(0, most + 1))
        wrong += short.mul_high(a, factor, shift) != p.mul_shift(a, factor, shift)
        b = int(random.integers(0, ((1 << 32) - 1) // factor + 1))
        wrong += short.mul_shift(b, factor, s) != p.mul_shift(b, factor, s)
        words += 12
    assert wrong == 0
    ledger.record(backend="host:gcc:-O2", words=words, mismatches=wrong, case="short")


@pytest.mark.parametrize("bits", [5, 6, 7])
def test_the_short_exponential_is_the_primitive_s(c, ledger, bits):
    ffi, short = c
    table = np.array(tables.exp2_16(bits), dtype=np.int64)
    words = ffi.new("uint32_t[]", [int(word) for word in table])
    exponents = [*range(0, 16 << 20, 4099), *range((16 << 20) - 40, 16 << 20), *range(40)]
    wrong = sum(short.exp2_16(t, words, bits) != p.exp2_16(t, table, bits) for t in exponents)
    assert wrong == 0
    ledger.record(backend="host:gcc:-O2", words=len(exponents), mismatches=wrong, case=f"exp2 {bits}")
