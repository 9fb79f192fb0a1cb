"""The primitives against fxpmath and APyTypes, and the known defects of the two, each by name.

A test that demonstrates a defect fails when a new release mends it; then our own precaution
(named in the test) can go.
"""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import floor

import apytypes
import numpy as np
import pytest
from apytypes import APyFixed, APyFixedAccumulatorContext, APyFixedArray, OverflowMode, QuantizationMode
from fxpmath import Fxp
from hypothesis import given
from hypothesis import strategies as st

from kerncast.sim import primitives as p

#: Our rounding modes in their words.
FXPMATH = {p.FLOOR: "floor", p.HALF_UP: "nearest_posinf", p.HALF_EVEN: "around"}
APYTYPES = {p.FLOOR: QuantizationMode.TO_NEG, p.HALF_UP: QuantizationMode.TIES_POS,
            p.HALF_EVEN: QuantizationMode.TIES_EVEN}

MODES = st.sampled_from(sorted(FXPMATH))
WIDTHS = st.sampled_from((8, 16, 24, 32))


def fxp(word: int, bits: int, frac: int) -> Fxp:
    return Fxp(word, True, bits, frac, raw=True)


def fxp_cast(value: Fxp, bits: int, frac: int, mode: int) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return int(Fxp(value, True, bits, frac, rounding=FXPMATH[mode], overflow="saturate").val)


def apy(word: int, bits: int, frac: int) -> APyFixed:
    return APyFixed(word % 2**bits, bits=bits, frac_bits=frac)


def apy_word(value: APyFixed) -> int:
    word = value.to_bits()
    return word - (1 << value.bits) if word >> (value.bits - 1) else word


@given(st.data(), WIDTHS, st.integers(0, 20), MODES)
def test_narrow_is_the_cast_of_fxpmath_below_its_53_exact_bits(
        data: st.DataObject, bits: int, s: int, mode: int) -> None:
    wide = min(bits + s + 1, 52)
    v = data.draw(st.integers(-(2 ** (wide - 1)), 2 ** (wide - 1) - 1))
    ours = p.requantise(v, s, mode, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    assert ours == fxp_cast(fxp(v, wide, s), bits, 0, mode)


@given(st.data(), WIDTHS, st.integers(0, 62), MODES)
def test_narrow_is_the_cast_of_apytypes_at_every_width(
        data: st.DataObject, bits: int, s: int, mode: int) -> None:
    v = data.draw(st.integers(-(2**62), 2**62 - 1))
    theirs = apy(v, 64, s).cast(bits=bits, frac_bits=0, quantization=APYTYPES[mode],
                                overflow=OverflowMode.SAT)
    assert p.requantise(v, s, mode, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1) == apy_word(theirs)


@given(st.integers(-(2**62), 2**62 - 1), st.integers(2, 62))
def test_wrap_is_the_wrap_of_apytypes(v: int, bits: int) -> None:
    theirs = apy(v, 64, 0).cast(bits=bits, frac_bits=0, overflow=OverflowMode.WRAP)
    assert p.wrap(v, bits) == apy_word(theirs)


@given(st.integers(-(2**40), 2**40), st.integers(2, 32))
def test_wrap_is_the_wrap_of_fxpmath(v: int, bits: int) -> None:
    assert p.wrap(v, bits) == int(Fxp(fxp(v, 48, 0), True, bits, 0, overflow="wrap").val)


@given(st.data(), st.sampled_from((16, 32)))
def test_products_and_sums_are_exact_in_all_three(data: st.DataObject, bits: int) -> None:
    word = st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    pairs = data.draw(st.lists(st.tuples(word, word), min_size=1, max_size=6))
    acc = 0
    a, b = (list(side) for side in zip(*pairs, strict=True))
    for left, right in pairs:
        acc = acc + left * right if bits == 32 else p.mac(acc, left, right, 0)
    product = Fxp(a, True, bits, 0, raw=True) * Fxp(b, True, bits, 0, raw=True)
    theirs = APyFixedArray(a, bits=bits, frac_bits=0) * APyFixedArray(b, bits=bits, frac_bits=0)
    assert int(np.sum(product).val) == acc == apy_word(theirs.sum())


@given(st.integers(-(2**31), 2**31 - 1), st.integers(1, 2**31 - 1))
def test_the_quotient_of_apytypes_differs_from_a_floor_by_one_below_zero(num: int, den: int) -> None:
    """Known defect, or choice: APyTypes cuts its quotient toward zero, so that it differs now and
    then (for negative ones that are not exact).  Ours are floors; APyTypes is not asked about them."""
    theirs = apy(num, 32, 0) / apy(den, 32, 0)
    exact = Fraction(num, den) * 2**theirs.frac_bits
    assert apy_word(theirs) - floor(exact) == (exact < 0 and exact.denominator != 1)


# The known defects.  Our precaution: sim/fxp_model lets fxpmath cast 53 bits and hold 63 at most.


@pytest.mark.parametrize(("mode", "word"), [(p.FLOOR, -3), (p.HALF_UP, 3), (p.HALF_EVEN, 3)])
def test_known_defect_fxpmath_casts_arrays_of_64_bits_wrongly_by_one_lsb(mode: int, word: int) -> None:
    """It forgets to round and cuts toward zero, whatever the mode."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        products = Fxp([word], True, 64, 2, raw=True)  # -0.75 or 0.75
        found = Fxp(products, True, 32, 0, rounding=FXPMATH[mode], overflow="saturate")
    assert int(found.val[0]) == 0
    assert p.requantise(word, 2, mode, -(2**31), 2**31 - 1) == (1 if word > 0 else -1)


@pytest.mark.parametrize("word", [-7, -3, 3, 5])
def test_fxpmath_casts_arrays_of_64_bits_rightly_in_trunc_mode(word: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Fxp(Fxp([word], True, 64, 2, raw=True), True, 32, 0, rounding="trunc")
    assert int(found.val[0]) == int(Fraction(word, 4))


@pytest.mark.parametrize("mode", sorted(FXPMATH))
def test_known_defect_fxpmath_casts_through_float64_and_loses_bits_beyond_53(mode: int) -> None:
    just_below = 2**61 - 1  # 2**30 - 2**-31: every float64 near it is 2**30
    assert fxp_cast(fxp(just_below, 63, 31), 40, 0, p.FLOOR) == 2**30
    assert p.requantise(just_below, 31, p.FLOOR, -(2**39), 2**39 - 1) == 2**30 - 1
    below_half = 2**60 + 2**30 - 1  # 2**29 + 1/2 - 2**-31
    assert p.requantise(below_half, 31, mode, -(2**39), 2**39 - 1) == 2**29
    if mode == p.HALF_UP:
        assert fxp_cast(fxp(below_half, 62, 31), 40, 0, mode) == 2**29 + 1


def test_known_defect_fxpmath_turns_mixed_64_bit_values_into_floats() -> None:
    left, right = (Fxp([2**k + 1, 1], True, 64, 0, raw=True) for k in (40, 23))
    product = (left * right).val  # 2**63 + 2**40 + 2**23 + 1, and 1
    assert [type(word) for word in product] == [float, float]
    assert int(product[0]) != (2**40 + 1) * (2**23 + 1)


def test_known_defect_apytypes_saturating_accumulator_does_not_saturate() -> None:
    halves = APyFixedArray([16384] * 8, int_bits=1, frac_bits=15)
    with APyFixedAccumulatorContext(int_bits=1, frac_bits=15, quantization=QuantizationMode.TO_NEG,
                                    overflow=OverflowMode.SAT):
        found = halves @ halves  # 8 * 0.25 = 2, and s16f15 ends below 1
    assert apytypes.__version__ == "0.5.1" and float(found) == 2.0
    acc = 0
    for _ in range(8):
        acc = p.mac(acc, 16384, 16384, 0)
    assert p.requantise(acc, 15, p.FLOOR, -(2**15), 2**15 - 1) == 2**15 - 1
