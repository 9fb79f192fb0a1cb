"""The primitives of the solver give the words of their one written definition, in time."""

import random
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from kerncast.sim import primitives as p

from .module_bench import Module, pack, simulate

#: Clocks of a division, as the header of kc_divide states them.
DIVIDE = 21


@pytest.fixture
def compare(require_tool, tmp_path, ledger):
    """Run a module, compare with the words of the definition, and record them."""
    require_tool("iverilog", "sudo apt-get install -y iverilog")

    def check(module: Module, inputs: Sequence[Sequence[int]], wanted: Sequence[Sequence[int]]) -> None:
        found = simulate(module, tmp_path, inputs)
        widths = list(module.results.values())
        assert len(found) == len(wanted)
        wrong = sum(pack(w, widths) != f for w, f in zip(wanted, found, strict=True))
        ledger.record(backend="rtl:icarus", words=len(wanted) * len(widths), mismatches=wrong,
                      case=module.name)

    return check


def sizes(bits: int, count: int, seed: int) -> list[int]:
    """Words from 0 up of every length below `bits`, the ends and their neighbours among them."""
    chance = random.Random(seed)
    ends = [v for k in range(bits) for v in ((1 << k) - 1, 1 << k, (1 << k) + 1)]
    some = [chance.getrandbits(chance.randint(1, bits)) for _ in range(count)]
    return [min(v, (1 << bits) - 1) for v in [*ends, *some, (1 << bits) - 1]]


def signed(words: Sequence[int]) -> list[int]:
    """Words and their complements."""
    return [v for word in words for v in (word, -word - 1)]


@pytest.mark.parametrize("bits", range(1, 8))
def test_wrap_for_every_word_of_eight_bits(compare, bits):
    inputs = [(v,) for v in range(-128, 128)]
    compare(Module("kc_wrap", {"v": 8}, {"q": 8}, parameters={"V_BITS": 8, "BITS": bits}), inputs,
            [(p.wrap(v, bits),) for (v,) in inputs])


@pytest.mark.parametrize("bits", [16, 24, 32, 63])
def test_wrap_of_long_words(compare, bits):
    inputs = [(v,) for v in signed(sizes(63, 500, bits))]
    compare(Module("kc_wrap", {"v": 64}, {"q": 64}, parameters={"BITS": bits}), inputs,
            [(p.wrap(v, bits),) for (v,) in inputs])


@pytest.mark.parametrize("bits", [8, 64])
def test_magnitude(compare, bits):
    inputs = [(v,) for v in (range(-128, 128) if bits == 8 else signed(sizes(63, 500, 1)))]
    compare(Module("kc_magnitude", {"v": bits}, {"q": bits}, parameters={"V_BITS": bits}), inputs,
            [(p.magnitude(v),) for (v,) in inputs])


@pytest.mark.parametrize("bits", [8, 17, 63])
def test_bit_length(compare, bits):
    inputs = [(v,) for v in (range(256) if bits == 8 else sizes(bits, 500, bits))]
    compare(Module("kc_bit_length", {"v": bits}, {"length": 6}, parameters={"V_BITS": bits}), inputs,
            [(p.bit_length(v),) for (v,) in inputs])


def test_divide_in_its_clocks_for_small_words_ends_and_words_of_every_length(compare):
    chance, long = random.Random(3), sizes(62, 300, 3)
    inputs = list(product(range(-12, 13), range(1, 13)))
    inputs += [(num * sign, max(den, 1)) for sign in (1, -1)
               for num, den in zip(long, chance.sample(long, len(long)), strict=True)]
    inputs += [(sign * (den + near), den) for den in sizes(61, 0, 0) if den > 1
               for near, sign in product((-1, 0, 1), (1, -1))]
    compare(Module("kc_divide", {"num": 63, "den": 62}, {"q": 33, "e": 8}, DIVIDE, prepares=True), inputs,
            [p.divide(num, den) for num, den in inputs])


@pytest.mark.parametrize(("num_bits", "zeros", "den_bits"), [(59, 4, 50), (40, 20, 55), (20, 0, 20)])
def test_divide_of_shorter_words_counts_the_zeros_left_out(compare, num_bits, zeros, den_bits):
    nums = signed(sizes(num_bits - 1, 300, 9))
    dens = random.Random(10).choices([den for den in sizes(den_bits, 300, 11) if den], k=len(nums))
    nums = [num if num != -1 << (num_bits - 1) else 0 for num in nums]
    module = Module("kc_divide", {"num": num_bits, "den": den_bits}, {"q": 33, "e": 8}, DIVIDE,
                    {"NUM_BITS": num_bits, "NUM_ZEROS": zeros, "DEN_BITS": den_bits}, prepares=True)
    compare(module, list(zip(nums, dens, strict=True)),
            [p.divide(num << zeros, den) for num, den in zip(nums, dens, strict=True)])


@pytest.mark.parametrize(("num_bits", "den_bits"), [(4, 4), (40, 12), (61, 61)])
def test_divide_round_in_its_clocks(compare, num_bits, den_bits):
    if num_bits == 4:
        inputs = list(product(range(16), range(1, 16)))
    else:
        nums = sizes(num_bits, 100, 4)
        dens = random.Random(5).choices([den for den in sizes(den_bits, 100, 6) if den], k=len(nums))
        inputs = list(zip(nums, dens, strict=True))
    module = Module("kc_divide_round", {"num": num_bits, "den": den_bits}, {"q": num_bits}, num_bits + 4,
                    {"NUM_BITS": num_bits, "DEN_BITS": den_bits})
    compare(module, inputs, [(p.divide_round(num, den),) for num, den in inputs])


@pytest.mark.parametrize("bits", [8, 32])
def test_block_scale_shifts_every_word_and_keeps_the_largest_magnitude(compare, bits):
    words = range(-128, 128) if bits == 8 else signed(sizes(bits - 1, 300, 7))
    chance, inputs, wanted, used = random.Random(8), [], [], 0
    for i, word in enumerate(words):
        first, s = int(i == 0 or chance.random() < 0.05), chance.choice([0, 1, 2, bits - 1, bits, 62])
        block = np.array([word])
        size = p.block_scale(block, 0, 1, s)
        used = size if first else max(used, size)
        inputs.append((1, first, word, s))
        wanted.append((int(block[0]), used))
    module = Module("kc_block_scale", {"valid": 1, "first": 1, "word": bits, "s": 6},
                    {"q": bits, "used": bits}, parameters={"WIDTH": bits}, one_clock=True)
    compare(module, inputs, wanted)


@pytest.mark.parametrize("pieces", [2, 4])
def test_a_product_of_pieces_is_exact_while_the_next_one_is_computed(require_tool, tmp_path, ledger, pieces):
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    chance, rows, wanted = random.Random(pieces), list[list[int]](), dict[int, tuple[int, int]]()
    module = Module("kc_mul_pieces", {"load": 1, "half": 1, "rounds": 1, "a": 16 * pieces, "c": 32},
                    {"q": 16 * pieces + 33}, parameters={"PIECES": pieces}, one_clock=True)
    for c in sizes(32, 600, pieces):
        half, rounds = chance.random() < 0.4, chance.random() < 0.5
        count = pieces // 2 if half else pieces
        top = 1 << (16 * count - 1)
        a = chance.choice([-top, top - 1, -1, 0, chance.randrange(-top, top), chance.randrange(-top, top)])
        wanted[len(rows) + count + 2] = a * c + (rounds << 30), 16 * (pieces - count)
        rows.append([1, half, rounds, a, c])
        rows += [[0, 0, 0, chance.getrandbits(16 * pieces), chance.getrandbits(32)]] * (
            count - 1 + chance.choice([0, 0, 3]))
    begin, rest = [[1, *[0] * 4], *[[0] * 5] * 12], [[0] * 5] * (pieces + 3)
    found, bits = simulate(module, tmp_path, [*begin, *rows, *rest], len(begin)), 16 * pieces + 33
    wrong = sum((found[at] >> low) != (value & ((1 << (bits - low)) - 1))
                for at, (value, low) in wanted.items())
    ledger.record(backend="rtl:icarus", words=len(wanted), mismatches=wrong, case=module.name)
    assert wrong == 0
