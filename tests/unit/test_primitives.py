"""Every primitive against exact Python integers and fractions, written from its docstring alone.

Exhaustive where words are short, by hypothesis at 16, 32 and 64 bits with the rails.
"""

from __future__ import annotations

import ast
import inspect
from fractions import Fraction
from itertools import product
from math import floor, isqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kerncast.sim import primitives as p

MODES = (p.FLOOR, p.HALF_UP, p.HALF_EVEN)
INT64 = (-(2**63), 2**63 - 1)


def words(bits: int, signed: bool = True) -> st.SearchStrategy[int]:
    """Words of `bits` bits; the rails and their neighbours often."""
    lo, hi = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    edges = sorted({w for w in (lo, lo + 1, hi - 1, hi, -1, 0, 1, hi // 2, hi // 2 + 1) if lo <= w <= hi})
    return st.one_of(st.integers(lo, hi), st.sampled_from(edges))


def rounded(value: Fraction, mode: int) -> int:
    """The oracle of all rounding."""
    if mode == p.FLOOR:
        return floor(value)
    if mode == p.HALF_UP:
        return floor(value + Fraction(1, 2))
    return round(value)  # Python rounds halves to even


def clipped(value: int, lo: int, hi: int) -> int:
    return sorted((lo, value, hi))[1]


def test_the_closed_list_names_exactly_the_functions_of_the_module() -> None:
    tree = ast.parse(inspect.getsource(p))
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert sorted(defined) == sorted(p.PRIMITIVES) and len(defined) == len(set(defined))


def test_every_primitive_has_its_written_definition() -> None:
    for name in p.PRIMITIVES:
        assert (getattr(p, name).__doc__ or "").strip(), name


@pytest.mark.parametrize("mode", MODES)
def test_shift_round_is_exact_for_all_short_words(mode: int) -> None:
    for v, s in product(range(-513, 514), range(12)):
        assert p.shift_round(v, s, mode) == rounded(Fraction(v, 2**s), mode), (v, s)


@given(st.sampled_from((16, 32, 63)).flatmap(words), st.integers(0, 62), st.sampled_from(MODES))
def test_shift_round_is_exact_for_long_words(v: int, s: int, mode: int) -> None:
    assert p.shift_round(v, s, mode) == rounded(Fraction(v, 2**s), mode)


@given(words(64), st.integers(0, 62), st.sampled_from(MODES))
def test_shift_round_is_exact_up_to_the_rails_of_int64(v: int, s: int, mode: int) -> None:
    assert p.shift_round(v, s, mode) == rounded(Fraction(v, 2**s), mode)


@given(st.integers(-(2**40), 2**40), st.integers(1, 30), st.sampled_from(MODES))
def test_ties_fall_as_the_mode_says(whole: int, s: int, mode: int) -> None:
    tie = (2 * whole + 1) << (s - 1)
    expected = {p.FLOOR: whole, p.HALF_UP: whole + 1, p.HALF_EVEN: whole + (whole & 1)}[mode]
    assert p.shift_round(tie, s, mode) == expected


@pytest.mark.parametrize("s", [-1, 63, 64])
def test_shift_round_asserts_its_shift(s: int) -> None:
    with pytest.raises(AssertionError):
        p.shift_round(1, s, p.FLOOR)


@pytest.mark.parametrize("s", [-63, 63])
def test_align_asserts_its_shift(s: int) -> None:
    with pytest.raises(AssertionError):
        p.arithmetic_shift(1, s)


@given(words(64), st.integers(0, 62))
def test_align_to_the_right_is_the_floor(v: int, s: int) -> None:
    assert p.arithmetic_shift(v, s) == v // 2**s


@given(st.integers(0, 62).flatmap(lambda s: st.tuples(st.just(s), words(64 - s))))
def test_align_to_the_left_multiplies_exactly(case: tuple[int, int]) -> None:
    s, v = case
    assert p.arithmetic_shift(v, -s) == v * 2**s


def test_saturate_gives_the_nearest_word_of_the_range_exhaustively() -> None:
    for v, lo, hi in product(range(-20, 21), range(-9, 3, 3), range(3, 9, 2)):
        assert p.saturate(v, lo, hi) == clipped(v, lo, hi)


@given(words(64), words(64), words(64))
def test_saturate_gives_the_nearest_word_of_long_ranges(v: int, a: int, b: int) -> None:
    assert p.saturate(v, min(a, b), max(a, b)) == clipped(v, min(a, b), max(a, b))


@pytest.mark.parametrize("bits", range(1, 9))
def test_wrap_is_the_two_s_complement_word_exhaustively(bits: int) -> None:
    for v in range(-1024, 1025):
        assert p.wrap(v, bits) == (v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


@given(words(64), st.integers(1, 63))
def test_wrap_is_the_two_s_complement_word_of_long_words(v: int, bits: int) -> None:
    assert p.wrap(v, bits) == (v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


@pytest.mark.parametrize("mode", MODES)
def test_narrow_to_eight_bits_is_exact_for_all_sixteen_bit_words(mode: int) -> None:
    for s in (-2, -1, 0, 1, 4, 8):
        for v in range(-(2**15), 2**15, 7 if s % 4 else 1):
            want = clipped(rounded(Fraction(v) / Fraction(2) ** s, mode), -128, 127)
            assert p.requantise(v, s, mode, -128, 127) == want, (v, s)


@given(st.sampled_from((16, 32)), words(48), st.integers(-14, 62), st.sampled_from(MODES))
def test_narrow_rounds_once_and_saturates_at_the_rails(bits: int, v: int, s: int, mode: int) -> None:
    lo, hi = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    assert p.requantise(v, s, mode, lo, hi) == clipped(rounded(Fraction(v) / Fraction(2) ** s, mode), lo, hi)


def test_mac_is_exact_for_all_eight_bit_factors() -> None:
    for a, b in product(range(-128, 128, 3), range(-128, 128)):
        for s in (0, 3, 7):
            assert p.mac(1000, a, b, s) == 1000 + a * b // 2**s


@given(words(62), words(32), words(32), st.integers(0, 62))
def test_mac_is_exact_for_long_words(acc: int, a: int, b: int, s: int) -> None:
    assert p.mac(acc, a, b, s) == acc + a * b // 2**s


@given(words(61), words(32), words(32))
def test_square_diff_adds_the_exact_square(acc: int, u: int, v: int) -> None:
    u, v = u // 2, v // 2  # a difference of 31-bit words: its square is below 2**62
    assert p.square_diff(acc, u, v) == acc + (u - v) ** 2


@given(words(63, signed=False), words(31, signed=False), st.integers(0, 62))
def test_mul_shift_is_the_floor_of_the_94_bit_product(a: int, c: int, s: int) -> None:
    exact = a * c >> s
    if exact < 2**63:
        assert p.mul_shift(a, c, s) == exact


@given(st.integers(0, 62).flatmap(lambda s: st.tuples(
    st.just(s), st.integers(1, 2**31 - 1), st.integers(0, 2**63 - 1))))
def test_mul_shift_is_exact_right_up_to_the_largest_result(case: tuple[int, int, int]) -> None:
    s, c, offset = case
    a = min(2**63 - 1, ((2**63 << s) - 1) // c)  # the largest factor whose result is below 2**63
    for factor in (a, max(a - offset, 0)):
        assert p.mul_shift(factor, c, s) == factor * c >> s


@given(words(64))
def test_magnitude_is_as_long_in_bits_as_the_word(v: int) -> None:
    assert p.magnitude(v) == (v if v >= 0 else -v - 1)


def test_bit_length_is_exact_around_every_power_of_two() -> None:
    for e in range(63):
        for v in (2**e - 1, 2**e, 2**e + 1):
            if v < 2**63:
                assert p.bit_length(v) == v.bit_length()
    assert p.bit_length(2**63 - 1) == 63


@given(st.integers(1, 61).flatmap(lambda e: st.integers(2 ** (e - 1), 2**e - 1)))
def test_normalise_brings_every_word_to_the_top(v: int) -> None:
    assert 2**61 <= v * 2 ** p.normalisation_shift(v) < 2**62


SIZES = st.integers(0, 61).flatmap(lambda e: st.integers(2**e, 2 ** (e + 1) - 1))


@given(SIZES, SIZES, st.booleans())
def test_divide_is_the_quotient_of_its_definition_and_close_to_the_true_one(
        size: int, den: int, negative: bool) -> None:
    num = -size if negative else size
    q, e = p.divide(num, den)
    assert 2**30 <= abs(q) <= 2**31
    true = Fraction(num, den)
    found = Fraction(q) * Fraction(2) ** (e - 31)
    assert abs(found - true) <= abs(true) * Fraction(3, 2**30)  # 2**-30 of den, 2**-30 of q, and the floor
    # The definition, in fractions: the numerator over the leading 31 bits of the denominator.
    shift = den.bit_length() - 31
    leading = Fraction(den >> shift if shift >= 0 else den << -shift) * Fraction(2) ** shift
    assert q == floor(Fraction(num) / leading * Fraction(2) ** (31 - e))


@given(SIZES)
def test_divide_gives_a_zero_without_an_exponent_for_a_zero(den: int) -> None:
    assert p.divide(0, den) == (0, 0)


def test_divide_is_exact_for_powers_of_two() -> None:
    for a, b in product(range(0, 62, 3), range(0, 62, 3)):
        q, e = p.divide(2**a, 2**b)
        assert Fraction(q) * Fraction(2) ** (e - 31) == Fraction(2) ** (a - b)


def test_divide_round_is_the_rounded_mean_for_all_short_words() -> None:
    for num, den in product(range(200), range(1, 40)):
        assert p.divide_round(num, den) == floor(Fraction(num, den) + Fraction(1, 2))


@given(st.integers(0, 2**61 - 1), st.integers(1, 2**60))
def test_divide_round_is_the_rounded_mean_for_long_words(num: int, den: int) -> None:
    assert p.divide_round(num, den) == floor(Fraction(num, den) + Fraction(1, 2))


@given(st.lists(words(32), min_size=1, max_size=12), st.integers(0, 62), st.data())
def test_block_scale_shifts_only_its_part_and_gives_the_largest_magnitude(
        block: list[int], s: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(block)))
    last = data.draw(st.integers(first, len(block)))
    array = np.array(block, dtype=np.int64)
    used = p.block_scale(array, first, last, s)
    want = [rounded(Fraction(w, 2**s), p.HALF_UP) if first <= i < last else w
            for i, w in enumerate(block)]
    assert array.tolist() == want
    assert used == max((w if w >= 0 else -w - 1 for w in want[first:last]), default=0)


def test_root_is_rounded_up_for_every_short_word() -> None:
    assert [p.isqrt_ceil(v) for v in range(1 << 16)] == [isqrt(v - 1) + 1 if v else 0 for v in range(1 << 16)]


@given(st.integers(0, 2**62 - 1))
@example(2**62 - 1)
@example((2**31 - 1) ** 2)
@example((2**31 - 1) ** 2 + 1)
def test_root_is_the_smallest_word_whose_square_reaches(v: int) -> None:
    x = p.isqrt_ceil(v)
    assert x * x >= v and (x == 0 or (x - 1) ** 2 < v)
