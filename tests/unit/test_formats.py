"""Formats: what a word means, and the one exact cast of a real number into it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor

import apytypes
import pytest
from fxpmath import Fxp
from hypothesis import given
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format, Overflow, Rounding

FORMATS = st.builds(lambda signed, bits, frac: Format(signed, max(bits, 2), frac), st.booleans(),
                    st.integers(1, 64), st.integers(-8, 72))
REALS = st.fractions(min_value=-(2**70), max_value=2**70)


def rounded(value: Fraction, rounding: Rounding) -> int:
    """The oracle: Python's own exact rounding of a fraction."""
    if rounding is Rounding.FLOOR:
        return floor(value)
    if rounding is Rounding.HALF_UP:
        return floor(value + Fraction(1, 2))
    return round(value)  # Python rounds halves to even


@pytest.mark.parametrize("text", ["s16f15", "u12f0", "s32f31", "u1f0", "s2f-3", "s64f63", "u8f12"])
def test_the_written_form_is_read_back_unchanged(text: str) -> None:
    assert str(Format.parse(text)) == text


@pytest.mark.parametrize("text", ["", "16f15", "Q1.15", "s16", "s16f", "s16f15 ", "S16F15", "s1f0", "u0f0",
                                  "s65f0", "u99f1", "s016f15x", None, 16])
def test_anything_else_is_refused_with_e201(text: object) -> None:
    with pytest.raises(KerncastError) as error:
        Format.parse(text)  # type: ignore[arg-type]
    problem = error.value.problems[0]
    assert problem.code == "E201" and problem.where and problem.allowed and problem.remedy


@pytest.mark.parametrize("bits", range(2, 11))
@pytest.mark.parametrize("signed", [False, True])
def test_lo_and_hi_are_the_limits_of_all_values(signed: bool, bits: int) -> None:
    words = range(-(2**bits), 2**bits + 1)
    held = [w for w in words if Format(signed, bits, 3).fit(w) == w]
    fmt = Format(signed, bits, 3)
    assert (fmt.lo, fmt.hi, len(held)) == (held[0], held[-1], 2**bits)


@given(FORMATS, st.data())
def test_an_integer_survives_the_way_through_its_real_value(fmt: Format, data: st.DataObject) -> None:
    word = data.draw(st.integers(fmt.lo, fmt.hi))
    for rounding in Rounding:
        assert fmt.quantise(fmt.value(word), rounding) == word


@given(FORMATS, REALS, st.sampled_from(Rounding))
def test_quantise_rounds_exactly_and_saturates(fmt: Format, value: Fraction, rounding: Rounding) -> None:
    nearest = rounded(value * Fraction(2) ** fmt.frac, rounding)
    assert fmt.quantise(value, rounding) == min(max(nearest, fmt.lo), fmt.hi)


@given(FORMATS, st.integers(-(2**70), 2**70))
def test_wrap_keeps_the_value_modulo_two_to_the_bits(fmt: Format, word: int) -> None:
    wrapped = fmt.fit(word, Overflow.WRAP)
    assert fmt.lo <= wrapped <= fmt.hi and (wrapped - word) % 2**fmt.bits == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), Decimal("nan")])
def test_nan_and_infinity_are_refused_with_e202(value: float) -> None:
    with pytest.raises(KerncastError, match="E202"):
        Format(True, 16, 15).quantise(value)


@given(FORMATS)
def test_fxpmath_notation_is_read_back_and_means_the_same(fmt: Format) -> None:
    assert Format.from_fxpmath(fmt.fxpmath) == fmt


@pytest.mark.parametrize("text", ["s16f15", "u16f15", "s32f31", "u32f0", "s12f-4", "s8f12"])
def test_fxpmath_agrees_on_the_range_and_step_of_a_format(text: str) -> None:
    fmt = Format.parse(text)
    theirs = Fxp(None, dtype=fmt.fxpmath)
    assert Fraction(float(theirs.upper)) == fmt.value(fmt.hi)
    assert Fraction(float(theirs.lower)) == fmt.value(fmt.lo)
    assert Fraction(float(theirs.precision)) == fmt.lsb
    assert theirs.dtype == fmt.fxpmath


@pytest.mark.parametrize("text", ["fxp-s16", "s16f15", "fxp-s16/x"])
def test_a_broken_fxpmath_notation_is_refused_with_e201(text: str) -> None:
    with pytest.raises(KerncastError, match="E201"):
        Format.from_fxpmath(text)


@pytest.mark.parametrize("text", ["s16f15", "s32f31", "s12f-4", "s8f12", "s40f36"])
def test_apytypes_agrees_on_every_rail_of_a_signed_format(text: str) -> None:
    fmt = Format.parse(text)
    for word in (fmt.lo, -1, 0, 1, fmt.hi):
        theirs = apytypes.APyFixed(word % 2**fmt.bits, **fmt.apytypes)
        assert float(theirs) == float(fmt.value(word))
        assert Format.from_apytypes(True, theirs.int_bits, theirs.frac_bits) == fmt


@pytest.mark.parametrize(("text", "ap_fixed", "c_type", "verilog"), [
    ("s16f15", "ap_fixed<16, 1>", "int16_t", "logic signed [15:0]"),
    ("u32f31", "ap_ufixed<32, 1>", "uint32_t", "logic [31:0]"),
    ("s12f0", "ap_fixed<12, 12>", "int16_t", "logic signed [11:0]"),
    ("u1f0", "ap_ufixed<1, 1>", "uint8_t", "logic [0:0]"),
    ("s8f12", "ap_fixed<8, -4>", "int8_t", "logic signed [7:0]"),
    ("s33f0", "ap_fixed<33, 33>", "int64_t", "logic signed [32:0]"),
])
def test_a_format_names_the_type_that_holds_it_in_each_language(
        text: str, ap_fixed: str, c_type: str, verilog: str) -> None:
    fmt = Format.parse(text)
    assert (fmt.ap_fixed, fmt.c_type, fmt.verilog) == (ap_fixed, c_type, verilog)
    assert fmt.c_bits >= fmt.bits
