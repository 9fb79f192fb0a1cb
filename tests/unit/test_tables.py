"""The exp2 tables, entry by entry, and the accuracy of the exponential made from them."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from kerncast.sim import tables
from kerncast.sim.engine import COMPILED, jit
from kerncast.sim.formats import Format
from kerncast.sim.primitives import Words, exp2_16, exp2_32

TABLE = np.array(tables.exp2_16(), dtype=np.int64)
COARSE = np.array(tables.exp2_32(8), dtype=np.int64)
FINE = np.array(tables.exp2_32(16), dtype=np.int64)
END_16, END_32 = 17 << 20, 33 << 32
PRECISE = Context(prec=120)


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


def test_each_entry_of_the_16_bit_table_is_the_nearest_word() -> None:
    expected = [nearest_power(Fraction(i, 128), 16) for i in range(128)] + [2**15]
    assert expected[0] == 2**16  # one too many for u16f16: it saturates
    assert tables.exp2_16() == (2**16 - 1, *expected[1:])


@pytest.mark.parametrize("step_bits", [8, 16])
def test_each_entry_of_the_32_bit_tables_is_the_nearest_word(step_bits: int) -> None:
    assert tables.exp2_32(step_bits) == tuple(
        nearest_power(Fraction(i, 2**step_bits), 31) for i in range(256))


def test_the_nearest_word_is_certain_by_integers_alone() -> None:
    """``w - 1/2 <= 2**(16 - i/128) < w + 1/2`` to the power of 128: no real number is needed."""
    for i, w in enumerate(tables.exp2_16()[1:], start=1):
        power = 2 ** (128 * 17 - i)
        assert (2 * w - 1) ** 128 <= power < (2 * w + 1) ** 128


def test_a_table_entry_rounds_halves_up_and_saturates() -> None:
    assert tables.exp2_entry(Fraction(1), Format(False, 8, 0)) == 1  # 0.5
    assert tables.exp2_entry(Fraction(2), Format(False, 8, 0)) == 0  # 0.25
    assert tables.exp2_entry(Fraction(-9), Format(False, 8, 0)) == 255


def test_log2_e_is_right_to_fifty_digits() -> None:
    assert abs(tables.log2_e() * PRECISE.ln(Decimal(2)) - 1) < Decimal(10) ** -50


def test_the_device_s_ln_2_is_the_nearest_word() -> None:
    assert floor(Fraction(tables.LN2) * 2**32 + Fraction(1, 2)) == 0xB17217F8


@jit
def _sweep_16(t: Words, table: Words, out: Words) -> None:
    for i in range(t.shape[0]):
        out[i] = exp2_16(t[i], table)


@jit
def _sweep_32(t: Words, coarse: Words, fine: Words, out: Words) -> None:
    for i in range(t.shape[0]):
        out[i] = exp2_32(t[i], coarse, fine)


def words_16(t: Words) -> Words:
    out = np.zeros_like(t)
    _sweep_16(t, TABLE, out)
    return out


def words_32(t: Words) -> Words:
    out = np.zeros_like(t)
    _sweep_32(t, COARSE, FINE, out)
    return out


def dense_32() -> list[Words]:
    """Arguments of exp2_32: all over, and every one around entries of both tables."""
    rng = np.random.default_rng(31)
    around = [0, *(int(i) << 16 for i in rng.integers(0, 33 << 16, 40)),
              *(int(i) << 24 for i in rng.integers(1, 33 << 8, 40)), *(i << 32 for i in range(1, 33))]
    reach = 70_000 if COMPILED else 300
    spread = np.sort(rng.integers(0, END_32, 40 * reach))
    near_one = np.sort(rng.integers(0, 2 << 32, 40 * reach))
    return [spread, near_one, *(np.arange(max(0, c - reach), min(END_32, c + reach)) for c in around)]


def test_16_bit_exp2_errs_by_less_than_1_375_lsb_everywhere() -> None:
    """Table 0.25, chord of a convex curve 0.12, floor of the slope 0.5, last rounding 0.5: 1.37 lsb;
    below, entry 0 that saturates 0.5 and the last rounding 0.5: 1 lsb.  All arguments are tried."""
    t = np.arange(0, END_16, 1 if COMPILED else 997, dtype=np.int64)
    error = words_16(t) - np.exp2(15 - t / 2**20)
    assert error.min() >= -1.0 and error.max() < 1.375


def test_32_bit_exp2_errs_by_less_than_2_5_lsb() -> None:
    """Two tables 0.5 each, three floors of 0.5, the tail's z**2 0.13 below, last rounding 0.5."""
    for t in dense_32():
        error = words_32(t) - np.exp2(31 - t / 2**32)
        assert np.abs(error).max() < 2.5


def test_the_kernel_is_exactly_one_at_distance_zero() -> None:
    assert exp2_16(0, TABLE) == 2**15
    assert exp2_32(0, COARSE, FINE) == 2**31


def test_exp2_never_exceeds_one_and_is_never_negative() -> None:
    small = words_16(np.arange(1 << 12, dtype=np.int64))
    assert small.max() == 2**15
    assert words_32(np.arange(1 << 16, dtype=np.int64)).max() == 2**31
    assert words_16(np.array([END_16 - 1])) == 0 and words_32(np.array([END_32 - 1])) == 0


def test_16_bit_exp2_never_rises() -> None:
    t = np.arange(0, END_16, 1 if COMPILED else 997, dtype=np.int64)
    assert np.diff(words_16(t)).max() <= 0


def test_32_bit_exp2_rises_by_one_lsb_at_most_and_only_between_table_entries() -> None:
    """It is not monotone: where the fine entry changes, rounding of the two entries can lift the
    product by one lsb.  Nothing rests on it, for vectors are compared by their exact distances."""
    for t in dense_32():
        step = np.diff(words_32(t))
        assert step.max(initial=0) <= 1
    crossings = np.arange(1, 33 << 16, 1 if COMPILED else 997, dtype=np.int64) << 16
    step = words_32(crossings) - words_32(crossings - 1)
    assert step.max() <= 1
    assert np.count_nonzero(step > 0) < len(step) / 1000


def test_within_one_entry_32_bit_exp2_never_rises() -> None:
    rng = np.random.default_rng(7)
    for start in rng.integers(0, 33 << 16, 60):
        t = (int(start) << 16) + np.arange(0, 1 << 16, 1 if COMPILED else 97, dtype=np.int64)
        assert np.diff(words_32(t)).max() <= 0
