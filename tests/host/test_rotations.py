"""Rotations in C give the values of the integer model, whose root is the primitive's."""

from pathlib import Path

import cffi
import numpy as np
import pytest

from kerncast.codegen.build.compilers import host_compiler
from kerncast.sim import primitives as p
from kerncast.sim.model.online.linear import fit, rotation

ROOT = Path(__file__).resolve().parents[2]
PROTOTYPES = """
    uint32_t root(int64_t v);
    int32_t fit(int64_t v);
    uint32_t rotation(int32_t a, int32_t b, int32_t *both);
"""
SOURCE = """
#include "rt/kc_rotate.h"
uint32_t root(int64_t v);
int32_t fit(int64_t v);
uint32_t rotation(int32_t a, int32_t b, int32_t *both);
uint32_t root(int64_t v) { return kc_isqrt_ceil_32(v); }
int32_t fit(int64_t v) { return kc_rotate_fit(v); }
uint32_t rotation(int32_t a, int32_t b, int32_t *both)
{
    const kc_rotation_t r = kc_rotation(a, b);

    both[0] = r.cosine;
    both[1] = r.sine;
    return r.root;
}
"""


@pytest.fixture(scope="module", params=["gcc", "clang"])
def c(request, tmp_path_factory, require_tool):
    require_tool(request.param, f"sudo apt-get install -y {request.param}")
    folder = tmp_path_factory.mktemp("rotations")
    (folder / "rotations.c").write_text(SOURCE)
    flags = ["-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-I", str(ROOT / "firmware")]
    host_compiler(request.param).build_library([folder / "rotations.c"], flags, folder / "r.so", folder)
    ffi = cffi.FFI()
    ffi.cdef(PROTOTYPES)
    return ffi, ffi.dlopen(str(folder / "r.so")), f"host:{request.param}:-O2"


def drawn(random: np.random.Generator, bits: int, count: int) -> list[int]:
    """Values below ``2**bits`` of every length."""
    lengths = random.integers(1, bits + 1, count)
    return [int(random.integers(0, 1 << 62)) >> (62 - length) for length in lengths]


def test_the_root_by_divisions_is_the_root_bit_by_bit(c, ledger):
    _, compiled, backend = c
    random = np.random.default_rng(0)
    squares = [(r * r + more) for r in drawn(random, 31, 3000) for more in (-1, 0, 1, 2 * r)]
    values = [*range(4096), *drawn(random, 62, 6000), *squares, (1 << 62) - 1]
    values = [v for v in values if 0 <= v < 1 << 62]
    wrong = [v for v in values if compiled.root(v) != p.isqrt_ceil(v)]
    assert wrong == []
    ledger.record(backend=backend, words=len(values), mismatches=0, case="root")


def test_a_rotation_is_that_of_the_model_and_never_lengthens(c, ledger):
    ffi, compiled, backend = c
    random, both = np.random.default_rng(1), ffi.new("int32_t[2]")
    rails = [(1, 0), (1, 1), ((1 << 31) - 1, -(1 << 31)), ((1 << 31) - 1, (1 << 31) - 1), (1, -(1 << 31))]
    pairs = zip(drawn(random, 31, 6000), drawn(random, 31, 6000), random.choice([-1, 1], 6000), strict=True)
    for a, b in [*rails, *((max(a, 1), b * int(sign)) for a, b, sign in pairs)]:
        found = (compiled.rotation(a, b, both), both[0], both[1])
        assert found == rotation(a, b), (a, b)
        assert found[1] ** 2 + found[2] ** 2 <= 1 << 60 or a * a + b * b >= 1 << 62  # no state of the plan
    ledger.record(backend=backend, words=18000, mismatches=0, case="rotation")


def test_a_rotated_word_is_rounded_half_up(c):
    _, compiled, _ = c
    edges = [v + d for v in (0, 1 << 29, -(1 << 29), 1 << 60, 1 << 61, -(1 << 61), 1 << 62, -(1 << 62))
             for d in (-1, 0, 1) if abs(v + d) <= 1 << 62]
    assert [compiled.fit(v) for v in edges] == [fit(v) for v in edges]
