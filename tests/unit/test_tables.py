"""The exp2 tables, entry by entry, and the accuracy of the exponential made from them."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from kerncast.sim import tables
from kerncast.sim.formats import Format
from kerncast.sim.jit import COMPILED, jit
from kerncast.sim.planner.words import EXP2_BITS
from kerncast.sim.primitives import Words, exp2_16, exp2_32

END_16, END_32 = 16 << 20, 32 << 32
PRECISE = Context(prec=120)
SHORT, LONG = ([pytest.param(bits, id=size) for size, bits in EXP2_BITS[word].items()] for word in (16, 32))
#: Worst error in lsb, rounding included, by the bits of the index.
WORST_16 = {5: 1.95, 6: 0.76, 7: 0.59}
WORST_32 = {5: 1.0, 6: 0.9, 8: 0.9}


def nearest_power(exponent: Fraction, frac: int) -> int:
    """``2**-exponent`` with `frac` fraction bits, from square roots alone (no exp, no power)."""
    root, product = Decimal(2), Decimal(1)
    bits = exponent.denominator.bit_length() - 1
    for k in range(1, bits + 1):
        root = PRECISE.sqrt(root)  # 2**(2**-k)
        if exponent.numerator >> (bits - k) & 1:
            product = PRECISE.multiply(product, root)
    scaled = PRECISE.divide(Decimal(2**frac), product)
    return floor(Fraction(scaled) + Fraction(1, 2))


@pytest.mark.parametrize("bits", SHORT)
def test_the_16_bit_table_except_1_is_lowered_by_half_the_chord_s_error(bits: int) -> None:
    table, size = tables.exp2_16(bits), 1 << bits
    shift = min((PRECISE.ln(2) / size) ** 2 / 16, Decimal(31) / 2**21)
    assert len(table) == size + 1 and abs(2 * table[size] - table[0]) <= 1
    for i, word in enumerate(table[:size]):
        exact = (1 - shift) * Decimal(nearest_power(Fraction(i, size), 80)) / 2**59
        assert abs(word - exact) <= Decimal("0.5000001")
    assert 2**21 - 2**5 < table[0] < 2**21


@pytest.mark.parametrize("bits", LONG)
def test_each_entry_of_the_32_bit_tables_is_the_nearest_word(bits: int) -> None:
    size = 1 << bits
    coarse = [2 * nearest_power(Fraction(i, size), 32) - 2**32 for i in range(size)]
    assert coarse[0] == 2**32  # one too many for u32f32: it saturates
    for entry, twice in zip(tables.exp2_coarse(bits)[1:], coarse[1:], strict=True):
        assert abs(entry - twice) <= 1  # `twice` is even
    assert tables.exp2_coarse(bits)[0] == 2**32 - 1
    one = 1 << (30 + bits)
    assert tables.exp2_fine(bits) == tuple(
        one - nearest_power(Fraction(j, size * size), 30 + bits) for j in range(size))


@pytest.mark.parametrize("bits", LONG)
def test_the_nearest_word_is_certain_by_integers_alone(bits: int) -> None:
    """``w - 1/2 <= 2**(33 - i/size) - 2**32 < w + 1/2`` to the power of size: no real number is needed."""
    size = 1 << bits
    for i, w in enumerate(tables.exp2_coarse(bits)[1:], start=1):
        power = 2 ** (size * 34 - i)
        assert (2 * (w + 2**32) - 1) ** size <= power < (2 * (w + 2**32) + 1) ** size


def test_a_table_entry_rounds_halves_up_and_saturates() -> None:
    assert tables.entry(Decimal("0.5"), Format(False, 8, 0)) == 1
    assert tables.entry(Decimal("0.25"), Format(False, 8, 0)) == 0
    assert tables.entry(Decimal(512), Format(False, 8, 0)) == 255


def test_log2_e_is_right_to_fifty_digits() -> None:
    assert abs(tables.log2_e() * PRECISE.ln(Decimal(2)) - 1) < Decimal(10) ** -50


def test_the_device_s_ln_2_is_the_nearest_word() -> None:
    assert floor(Fraction(tables.LN2) * 2**32 + Fraction(1, 2)) == 0xB17217F8


@jit
def _sweep_16(t: Words, table: Words, bits: int, out: Words) -> None:
    for i in range(t.shape[0]):
        out[i] = exp2_16(t[i], table, bits)


@jit
def _sweep_32(t: Words, coarse: Words, fine: Words, bits: int, out: Words) -> None:
    for i in range(t.shape[0]):
        out[i] = exp2_32(t[i], coarse, fine, bits)


def words_16(t: Words, bits: int) -> Words:
    out = np.zeros_like(t)
    _sweep_16(t, np.array(tables.exp2_16(bits), dtype=np.int64), bits, out)
    return out


def words_32(t: Words, bits: int) -> Words:
    out = np.zeros_like(t)
    coarse, fine = (np.array(table, dtype=np.int64)
                    for table in (tables.exp2_coarse(bits), tables.exp2_fine(bits)))
    _sweep_32(t, coarse, fine, bits, out)
    return out


def dense_32(bits: int) -> list[Words]:
    """Arguments of exp2_32: all over, and every one around entries of both tables."""
    rng = np.random.default_rng(31)
    around = [0, *(i << 32 for i in range(1, 32)),
              *(int(i) << (32 - bits) for i in rng.integers(1, 32 << bits, 40)),
              *(int(i) << (32 - 2 * bits) for i in rng.integers(0, 32 << (2 * bits), 40))]
    reach = 15_000 if COMPILED else 100
    spread = np.sort(rng.integers(0, END_32, 40 * reach))
    near_one = np.sort(rng.integers(0, 2 << 32, 40 * reach))
    return [spread, near_one, *(np.arange(max(0, c - reach), min(END_32, c + reach)) for c in around)]


@pytest.mark.parametrize("bits", SHORT)
def test_16_bit_exp2_is_within_an_lsb_but_for_the_small_table(bits: int) -> None:
    """All are tried.  Half of the chord's error, 1/64 for an entry and a floor, 1/2 for rounding."""
    t = np.arange(0, END_16, 1 if COMPILED else 997, dtype=np.int64)
    error = words_16(t, bits) - np.exp2(15 - t / 2**20)
    assert np.abs(error).max() < WORST_16[bits]


@pytest.mark.parametrize("bits", LONG)
def test_32_bit_exp2_is_within_an_lsb(bits: int) -> None:
    for t in dense_32(bits):
        error = words_32(t, bits) - np.exp2(np.longdouble(31) - t / np.longdouble(2**32))
        assert np.abs(error).max() < WORST_32[bits]


@pytest.mark.parametrize(("short", "long"), [(EXP2_BITS[16][size], EXP2_BITS[32][size])
                                             for size in EXP2_BITS[16]])
def test_exp2_is_one_at_zero_and_nowhere_more_and_ends_at_half_an_lsb(short: int, long: int) -> None:
    small = words_16(np.arange(1 << 12, dtype=np.int64), short)
    large = words_32(np.arange(1 << 16, dtype=np.int64), long)
    assert small[0] == small.max() == 2**15
    assert large[0] == large.max() == 2**31
    assert words_16(np.array([END_16 - 1]), short) <= 1 and words_32(np.array([END_32 - 1]), long) <= 1


@pytest.mark.parametrize("bits", SHORT)
def test_16_bit_exp2_never_rises(bits: int) -> None:
    t = np.arange(0, END_16, 1 if COMPILED else 997, dtype=np.int64)
    assert np.diff(words_16(t, bits)).max() <= 0


@pytest.mark.parametrize("bits", LONG)
def test_32_bit_exp2_never_rises(bits: int) -> None:
    """Between two entries of the tables it is a falling line; all crossings are tried, some between."""
    crossings = np.arange(1, 32 << (2 * bits), 1 if COMPILED else 997, dtype=np.int64) << (32 - 2 * bits)
    assert (words_32(crossings, bits) - words_32(crossings - 1, bits)).max() <= 0
    for t in dense_32(bits):
        assert np.diff(words_32(t, bits)).max(initial=0) <= 0


@pytest.mark.parametrize("bits", LONG)
def test_32_bit_value_keeps_its_leading_1_to_the_end_of_the_octave(bits: int) -> None:
    """The C adds it at the end, so the entries below it must never fall to less than 0."""
    last = 2**32 - 1 - np.arange(1000, dtype=np.int64)
    assert words_32(last, bits).min() >= 2**30


@pytest.mark.parametrize("bits", [5, 8])
def test_no_intermediate_of_exp2_32_outgrows_its_word(bits: int) -> None:
    """``step``, ``tail`` and ``fall`` stay below 2**30, so that no product reaches 2**62."""
    size = 1 << bits
    most_tail = (((1 << (32 - 2 * bits)) - 1) << (bits - 2)) * 0xB17217F8 >> 32
    assert max(tables.exp2_fine(bits)) + most_tail < 2**30
    assert max(tables.exp2_coarse(bits)) < 2**32 and size * 8 <= 3 * 1024
