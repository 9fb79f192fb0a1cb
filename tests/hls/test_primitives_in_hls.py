"""Each primitive of hw/hls/prim.hpp gives the words of its one written definition, in both dialects."""

import random
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.hls import DIALECTS
from kerncast.codegen.resources import read_text
from kerncast.hw.hls.simulation import build
from kerncast.sim import primitives as p
from kerncast.sim import tables

Case = tuple[str, int, list[int], int]
WIDTHS = (8, 64)


def words(bits: int, count: int, chance: random.Random) -> list[int]:
    """Signed words of every size, the ends and their neighbours among them."""
    ends = [v for k in range(bits - 1) for v in ((1 << k) - 1, 1 << k, -(1 << k), -(1 << k) - 1)]
    some = [chance.getrandbits(chance.randint(1, bits)) - (1 << (bits - 1)) for _ in range(count)]
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return [min(max(v, low), high) for v in [*ends, *some, low, high]]


def shifts(chance: random.Random) -> Iterator[Case]:
    for bits in WIDTHS:
        lo, hi = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        for v in words(bits, 200, chance):
            s, rounding = chance.randint(0, min(62, bits - 1)), chance.randint(0, 2)
            yield "shift_round", bits, [v, s, rounding], p.shift_round(v, s, rounding)
            up = max(chance.randint(-62, 62), p.magnitude(v).bit_length() - bits + 1, -62)
            yield "arithmetic_shift", bits, [v, up], p.arithmetic_shift(v, up)
            a, b = sorted((chance.randint(lo, hi), chance.randint(lo, hi)))
            yield "saturate", bits, [v, a, b], p.saturate(v, a, b)
            yield "requantise", bits, [v, up, rounding, a, b], p.requantise(v, up, rounding, a, b)
            yield "magnitude", bits, [v], p.magnitude(v)
            for low in (5, 16):
                yield "wrap", bits, [v, low], p.wrap(v, low)


def products(chance: random.Random) -> Iterator[Case]:
    for bits in (8, 30):  # short words among the long
        for a, b in zip(words(bits, 200, chance), reversed(words(bits, 200, chance)), strict=True):
            s, acc = chance.randint(0, 2 * bits), chance.getrandbits(2 * bits) - (1 << (2 * bits - 1))
            yield "mac", 30, [acc, a, b, s], p.mac(acc, a, b, s)
            total, mask = chance.getrandbits(2 * bits), (1 << bits) - 1
            for name, u, v in (("", a, b), ("_u", a & mask, b & mask)):
                yield f"square_diff{name}", 30, [total, u, v], p.square_diff(total, u, v)
                yield f"abs_diff{name}", 30, [total, u, v], p.abs_diff(total, u, v)


def blocks(chance: random.Random) -> Iterator[Case]:
    for bits in WIDTHS:
        for _ in range(20):
            block = np.array(chance.sample(words(bits, 40, chance), 16), dtype=np.int64)
            first, last, s = chance.randint(0, 8), chance.randint(8, 16), chance.randint(0, bits - 2)
            before = block.tolist()
            used = p.block_scale(block, first, last, s)
            for i, word in enumerate([*block.tolist(), used]):  # one word is asked for, or the largest
                yield "block_scale", bits, [first, last, s, i if i < 16 else -1, *before], int(word)


def quotients(chance: random.Random) -> Iterator[Case]:
    sizes = [v for v in words(63, 300, chance) if 0 < v < 1 << 62]
    for v in sizes:
        yield "bit_length", 0, [v], p.bit_length(v)
        yield "normalisation_shift", 0, [v], p.normalisation_shift(v)
        yield "isqrt_ceil", 0, [v], p.isqrt_ceil(v)
        num, den = chance.choice([v, -v]), max(1, chance.getrandbits(chance.randint(1, 62)) % (1 << 62))
        q, e = p.divide(num, den)
        yield "divide", 0, [num, den], q * 256 + e
        yield "divide_round", 0, [v >> 1, max(1, den >> 1)], p.divide_round(v >> 1, max(1, den >> 1))
        c, s = chance.getrandbits(chance.randint(1, 31)), chance.randint(0, 62)
        a = min(v, (((1 << 63) << s) - 1) // max(c, 1))
        yield "mul_shift", 0, [a, c, s], p.mul_shift(a, c, s)
    yield "divide", 0, [0, 5], 0
    yield "bit_length", 0, [0], 0
    yield "isqrt_ceil", 0, [0], 0


def exponentials(chance: random.Random) -> Iterator[Case]:
    for bits in (5, 6, 7):
        table = tables.exp2_16(bits)
        yield "table", 0, list(table), 0
        ends = [max(0, (k << (20 - bits)) + d) for k in range(0, 16 << bits, 7) for d in (-1, 0, 1)]
        for t in [*ends, (16 << 20) - 1, *(chance.randrange(16 << 20) for _ in range(300))]:
            yield "exp2_16", 0, [t, bits], int(p.exp2_16(t, np.array(table), bits))
    for bits in (5, 6, 8):
        coarse, fine = tables.exp2_coarse(bits), tables.exp2_fine(bits)
        yield "table", 0, list(coarse), 0
        yield "table", 1, list(fine), 0
        for t in [0, 1, (32 << 32) - 1, *(chance.randrange(32 << 32) >> chance.randint(0, 30)
                                          for _ in range(800))]:
            yield "exp2_32", 0, [t, bits], int(p.exp2_32(t, np.array(coarse), np.array(fine), bits))
    table = tables.sine()
    yield "table", 0, list(table), 0
    for t in [0, 1, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, (1 << 32) - 1,
              *(chance.getrandbits(32) for _ in range(800))]:
        yield "abs_sinpi", 0, [t], int(p.abs_sinpi(t, np.array(table)))


def cases() -> list[Case]:
    chance = random.Random(1)
    return [case for part in (shifts, products, blocks, quotients, exponentials) for case in part(chance)]


@pytest.fixture(scope="module")
def wanted() -> list[Case]:
    return cases()


def answers(program: Path, asked: Sequence[Case]) -> list[int]:
    text = "".join(f"{name} {bits} {' '.join(map(str, a))}\n" for name, bits, a, _ in asked)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    assert not done.stderr
    return [int(line) for line in done.stdout.split()]


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_every_primitive_equals_its_definition(dialect, wanted, require_hls, ledger, tmp_path):
    (tmp_path / "prim.hpp").write_text(read_text("hw/hls/prim.hpp"))
    (tmp_path / "dialect.hpp").write_text(read_text(f"hw/hls/{dialect}.hpp"))
    shutil.copy(Path(__file__).parent / "primitives.cpp", tmp_path)
    program = tmp_path / "primitives"
    build(dialect, [tmp_path / "primitives.cpp"], program, flags=("-O0",))
    asked = [case for case in wanted if case[0] != "table"]
    found = answers(program, wanted)
    assert len(found) == len(asked)
    for name in p.PRIMITIVES:
        pairs = [(case, f) for case, f in zip(asked, found, strict=True)
                 if case[0].removesuffix("_u") == name]
        wrong = [f"{case}: {f}" for case, f in pairs if case[3] != f]
        assert pairs, f"{name} was not asked"
        ledger.record(backend=f"hls:{dialect}", words=len(pairs), mismatches=len(wrong), case=name)
        assert not wrong, wrong[:3]


def test_every_primitive_is_implemented_once_in_each_language():
    c = "".join(read_text(f"firmware/rt/{name}") for name in (
        "kc_cast.h", "kc_arith.h", "kc_block.h", "kc_exp2.h", "kc_abs_sinpi.h"))
    hls = re.findall(r"^\w[\w<> ]* (\w+)\([^;]*$", read_text("hw/hls/prim.hpp"), re.MULTILINE)
    for name in p.PRIMITIVES:
        assert hls.count(name) == 1, f"hw/hls/prim.hpp has {hls.count(name)} of {name}"
        assert f" kc_{name}" in c, f"firmware/rt has no kc_{name}"
        # No core takes a root, and kc_divide normalises in its own shifter.
        if name not in ("isqrt_ceil", "normalisation_shift"):
            assert f"module kc_{name}" in read_text(f"hw/rtl/kc_{name}.sv")
    assert set(hls) == set(p.PRIMITIVES)
