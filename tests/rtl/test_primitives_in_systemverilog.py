"""Each SystemVerilog primitive gives the words of its one written definition."""

import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from kerncast.codegen.resources import resource
from kerncast.sim import primitives as p
from kerncast.sim.tables import exp2_16, exp2_coarse, exp2_fine, sine

BENCH = """
module bench;
    localparam COUNT = {count};
    logic clk = 0;
    logic [{total}-1:0] inputs [0:COUNT-1];
    logic [{total}-1:0] now;
    wire [{out}-1:0] q;
    integer i;
    {module} #({parameters}) dut ({clock}{connections}, .{result}(q));
    initial begin
        $readmemh("inputs.hex", inputs);
        for (i = 0; i < COUNT + {latency} - 1; i = i + 1) begin
            now = inputs[i < COUNT ? i : 0];
            #1 clk = 1;
            #1 if (i >= {latency} - 1) $display("%h", q);
            clk = 0;
        end
        $finish;
    end
endmodule
"""


@dataclass
class Module:
    """A primitive with its parameters: ports with their widths, and clocks from input to result."""

    name: str
    ports: dict[str, int]
    out: int
    result: str = "q"
    latency: int = 0
    parameters: dict[str, object] = field(default_factory=dict)

    def text(self, count: int) -> str:
        total, at, wired = sum(self.ports.values()), 0, []
        for port, width in self.ports.items():
            wired.append(f".{port}(now[{at} +: {width}])")
            at += width
        return BENCH.format(
            count=count, total=total, out=self.out, module=self.name, result=self.result,
            parameters=", ".join(f".{k}({v})" for k, v in self.parameters.items()),
            clock=".clk(clk), " if self.latency else "", connections=", ".join(wired),
            latency=max(self.latency, 1))


@pytest.fixture
def run(require_tool, tmp_path):
    """``run(module, inputs)``: the results, unsigned, for inputs by port."""
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    hw = Path(str(resource("hw/rtl")))

    def simulate(module: Module, inputs: Sequence[Sequence[int]]) -> list[int]:
        lines = []
        for row in inputs:
            word, at = 0, 0
            for value, width in zip(row, module.ports.values(), strict=True):
                word |= (value & ((1 << width) - 1)) << at
                at += width
            lines.append(f"{word:x}\n")
        (tmp_path / "inputs.hex").write_text("".join(lines))
        (tmp_path / "bench.sv").write_text(module.text(len(inputs)))
        subprocess.run(["iverilog", "-g2012", "-y", str(hw), "-Y", ".sv", "-s", "bench", "-o", "bench.vvp",
                        "bench.sv"], cwd=tmp_path, check=True)
        done = subprocess.run(["vvp", "bench.vvp"], cwd=tmp_path, check=True, capture_output=True, text=True)
        return [int(line, 16) for line in done.stdout.split()]

    return simulate


@pytest.fixture
def compare(run, ledger):
    """Run a module, compare with the words of the definition, and record them."""

    def check(module: Module, inputs: Sequence[Sequence[int]], wanted: Sequence[int]) -> None:
        found, mask = run(module, inputs), (1 << module.out) - 1
        assert len(found) == len(wanted)
        wrong = [(i, w, f) for i, w, f in zip(inputs, wanted, found, strict=True) if w & mask != f]
        ledger.record(backend="rtl:icarus", words=len(wanted), mismatches=len(wrong), case=module.name)

    return check


def words(bits: int, count: int, seed: int) -> list[int]:
    """Signed words of every size, the ends and their neighbours among them."""
    chance = random.Random(seed)
    ends = [v for k in range(bits) for v in ((1 << k) - 1, 1 << k, -(1 << k), -(1 << k) - 1)]
    some = [chance.getrandbits(chance.randint(1, bits)) - (1 << (bits - 1)) for _ in range(count)]
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return [min(max(v, low), high) for v in ends + some + [low, high]]


def literal(table: Sequence[int], bits: int) -> str:
    """A table as a packed parameter: entry 0 in the lowest bits."""
    return "{" + ", ".join(f"{bits}'d{v}" for v in reversed(table)) + "}"


@pytest.mark.parametrize("rounding", [p.FLOOR, p.HALF_UP, p.HALF_EVEN])
@pytest.mark.parametrize("bits", [8, 17, 64])
def test_shift_round(compare, bits, rounding):
    chance = random.Random(bits)
    inputs = [(v, chance.randint(0, min(62, bits + 3))) for v in words(bits, 1500, rounding)]
    module = Module("kc_shift_round", {"v": bits, "s": 6}, bits,
                    parameters={"V_BITS": bits, "ROUNDING": rounding})
    compare(module, inputs, [p.shift_round(v, s, rounding) for v, s in inputs])


def test_align(compare):
    chance = random.Random(1)
    inputs = []
    for v in words(64, 1500, 2):
        s = chance.randint(-62, 62)
        inputs.append((v >> max(-s, 0), s))  # a multiplied word must fit
    compare(Module("kc_arithmetic_shift", {"v": 64, "s": 7}, 64), inputs,
            [p.arithmetic_shift(v, s) for v, s in inputs])


@pytest.mark.parametrize(("low", "high"), [(-32768, 32767), (0, 65535), (-(1 << 31), (1 << 31) - 1), (-5, 9)])
def test_saturate(compare, low, high):
    inputs = [(v,) for v in words(64, 1000, 3)]
    module = Module("kc_saturate", {"v": 64}, 33,
                    parameters={"OUT_BITS": 33, "LO": f"-64'sd{-low}", "HI": f"64'sd{high}"})
    compare(module, inputs, [p.saturate(v, low, high) for (v,) in inputs])


@pytest.mark.parametrize("clocks", [2, 3])
@pytest.mark.parametrize("rounding", [p.FLOOR, p.HALF_UP, p.HALF_EVEN])
def test_narrow_shifts_both_ways_and_saturates(compare, rounding, clocks):
    chance = random.Random(rounding)
    inputs = []
    for v in words(64, 1500, 4):
        s = chance.randint(-20, 62)
        inputs.append((v >> max(-s, 0), s))
    module = Module("kc_requantise", {"v": 64, "s": 7}, 16, latency=clocks,
                    parameters={"ROUNDING": rounding, "CLOCKS": clocks})
    compare(module, inputs, [p.requantise(v, s, rounding, -32768, 32767) for v, s in inputs])


@pytest.mark.parametrize("clocks", [2, 3])
@pytest.mark.parametrize("shift", [0, 1, 17, 31, 32, 33, 45, 62])
def test_mul_shift(compare, shift, clocks):
    chance = random.Random(shift)
    inputs = []
    for _ in range(800):
        c = chance.getrandbits(chance.randint(1, 31))
        most = min((1 << 63) - 1, (((1 << 63) << shift) - 1) // max(c, 1))
        some = chance.randint(0, most) >> chance.randint(0, 60)
        inputs.append((most if chance.random() < 0.05 else some, c))
    module = Module("kc_mul_shift", {"a": 63, "c": 31}, 63, latency=clocks,
                    parameters={"A_BITS": 63, "SHIFT": shift, "CLOCKS": clocks})
    compare(module, inputs, [p.mul_shift(a, c, shift) for a, c in inputs])


def test_isqrt_ceil(compare):
    chance = random.Random(7)
    squares = [max(0, x * x + d) for x in (chance.getrandbits(chance.randint(1, 31)) for _ in range(700))
               for d in (-1, 0, 1)]
    inputs = [(v,) for v in (*range(70), *squares, (1 << 62) - 1, 1 << 61)]
    compare(Module("kc_isqrt_ceil", {"v": 62}, 32, "root", 32), inputs, [p.isqrt_ceil(v) for (v,) in inputs])


@pytest.mark.parametrize("bits", [5, 6, 7])
def test_exp2_16(compare, bits):
    chance = random.Random(bits)
    ends = [max(0, (k << (20 - bits)) + d) for k in range(16 << bits) for d in (-1, 0, 1)]
    inputs = [(t,) for t in ends + [chance.randrange(16 << 20) for _ in range(4000)]]
    table = exp2_16(bits)
    module = Module("kc_exp2_16", {"t": 24}, 16, "k", 6, {"BITS": bits, "TABLE": literal(table, 22)})
    array = np.array(table)
    compare(module, inputs, [int(p.exp2_16(t, array, bits)) for (t,) in inputs])


@pytest.mark.parametrize("bits", [5, 6, 8])
def test_exp2_32(compare, bits):
    chance = random.Random(bits)
    ends = [max(0, (k << (32 - bits)) + d) for k in range(32 << bits) for d in (-1, 0)]
    between = [(chance.randrange(32 << (2 * bits)) << (32 - 2 * bits)) - 1 for _ in range(2000)]
    some = [chance.randrange(32 << 32) for _ in range(4000)]
    inputs = [(max(t, 0),) for t in ends + between + some]
    coarse, fine = exp2_coarse(bits), exp2_fine(bits)
    module = Module("kc_exp2_32", {"t": 37}, 32, "k", 7,
                    {"BITS": bits, "COARSE": literal(coarse, 32), "FINE": literal(fine, 30)})
    arrays = np.array(coarse), np.array(fine)
    compare(module, inputs, [int(p.exp2_32(t, *arrays, bits)) for (t,) in inputs])


def sums(inputs, add):
    """Running sums of (valid, first, a, b): what the accumulator shows; unknown before the first term."""
    acc, shown = None, []
    for valid, first, a, b in inputs:
        if valid:
            acc = add(0 if first else acc, a, b)
        shown.append(acc)
    return shown


@pytest.mark.parametrize("shift", [0, 6])
def test_mac_starts_anew_and_keeps_still(compare, shift):
    chance = random.Random(shift)
    a, b = words(32, 600, 7), words(33, 600, 8)
    inputs = [(int(chance.random() < 0.8 or i == 0), int(chance.random() < 0.1 or i == 0), u, v)
              for i, (u, v) in enumerate(zip(a, b, strict=False))]
    module = Module("kc_mac", {"valid": 1, "first": 1, "a": 32, "b": 33}, 64, "acc", 2,
                    {"A_BITS": 32, "B_BITS": 33, "SHIFT": shift})
    compare(module, inputs, sums(inputs, lambda acc, u, v: acc + ((u * v) >> shift)))


@pytest.mark.parametrize(("signed", "bits", "out"), [(1, 16, 32), (0, 16, 32), (1, 32, 63), (0, 32, 63)])
def test_square_diff_starts_anew_and_keeps_still(compare, signed, bits, out):
    chance = random.Random(bits)
    offset = 0 if signed else 1 << (bits - 1)
    u, v = ([w + offset for w in words(bits, 600, seed)] for seed in (9, 10))
    inputs = [(int(chance.random() < 0.8 or i == 0), int(chance.random() < 0.3 or i == 0), a, b)
              for i, (a, b) in enumerate(zip(u, chance.sample(v, len(v)), strict=True))]
    module = Module("kc_square_diff", {"valid": 1, "first": 1, "u": bits, "v": bits}, out, "acc", 3,
                    {"X_BITS": bits, "X_SIGNED": signed, "ACC_BITS": out})
    compare(module, inputs, sums(inputs, lambda acc, a, b: acc + (a - b) ** 2))


@pytest.mark.parametrize(("signed", "bits", "out"), [(1, 16, 32), (0, 16, 32), (1, 32, 63), (0, 32, 31)])
def test_abs_diff_starts_anew_and_keeps_still(compare, signed, bits, out):
    chance = random.Random(bits + out)
    offset = 0 if signed else 1 << (bits - 1)
    u, v = ([w + offset for w in words(bits, 600, seed)] for seed in (11, 12))
    inputs = [(int(chance.random() < 0.8 or i == 0), int(chance.random() < 0.3 or i == 0), a, b)
              for i, (a, b) in enumerate(zip(u, chance.sample(v, len(v)), strict=True))]
    module = Module("kc_abs_diff", {"valid": 1, "first": 1, "u": bits, "v": bits}, out, "acc", 2,
                    {"X_BITS": bits, "X_SIGNED": signed, "ACC_BITS": out})
    compare(module, inputs, sums(inputs, lambda acc, a, b: p.abs_diff(acc, a, b)))


def test_sine(compare):
    chance = random.Random(13)
    edges = [(i << 23) + near for i in range(513) for near in (-1, 0, 1)]
    inputs = [(t % (1 << 32),) for t in edges + [chance.getrandbits(32) for _ in range(4000)]]
    table = np.array(sine(), dtype=np.int64)
    module = Module("kc_abs_sinpi", {"t": 32}, 32, "s", 6, {"TABLE": literal(sine(), 32)})
    compare(module, inputs, [p.abs_sinpi(t, table) for (t,) in inputs])
