"""Formats and casts in the notation of other tools, both ways; every 8-bit cast as these tools do it."""

from __future__ import annotations

import warnings

import apytypes
import numpy as np
import pytest
from fxpmath import Fxp
from hypothesis import given
from hypothesis import strategies as st

from kerncast.sim.errors import KerncastError
from kerncast.sim.formats import Format, Overflow, Rounding
from kerncast.sim.notations import (
    OVERFLOW_NAMES,
    ROUNDING_NAMES,
    ap_fixed,
    cast_names,
    read_ap_fixed,
    read_cast,
)

CASTS = [(rounding, overflow) for rounding in Rounding for overflow in Overflow]
FORMATS = st.builds(lambda signed, bits, frac: Format(signed, bits + signed, frac), st.booleans(),
                    st.integers(1, 63), st.integers(-32, 64))
#: All 12-bit words, and 8-bit formats that drop none, some and nearly all of their bits.
WIDE = Format(True, 12, 6)
NARROW = [Format(signed, 8, frac) for signed in (True, False) for frac in (-3, 0, 3, 5, 6, 8)]


def ours(fmt: Format, rounding: Rounding, overflow: Overflow) -> list[int]:
    """Every wide word cast to an 8-bit format, exactly."""
    return [fmt.quantise(WIDE.value(word), rounding, overflow) for word in range(WIDE.lo, WIDE.hi + 1)]


@pytest.mark.parametrize("fmt", NARROW, ids=str)
@pytest.mark.parametrize(("rounding", "overflow"), CASTS)
def test_every_8_bit_cast_is_fxpmaths_of_the_same_name(fmt: Format, rounding: Rounding,
                                                       overflow: Overflow) -> None:
    names = cast_names("fxpmath", rounding, overflow)
    words = np.arange(WIDE.lo, WIDE.hi + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Fxp(Fxp(words, WIDE.signed, WIDE.bits, WIDE.frac, raw=True), fmt.signed, fmt.bits, fmt.frac,
                     rounding=names[0], overflow=names[1])
    assert theirs.dtype == fmt.fxpmath
    assert np.asarray(theirs.val).tolist() == ours(fmt, rounding, overflow)


@pytest.mark.parametrize("fmt", [f for f in NARROW if f.signed], ids=str)
@pytest.mark.parametrize(("rounding", "overflow"), CASTS)
def test_every_8_bit_cast_is_apytypes_of_the_same_name(fmt: Format, rounding: Rounding,
                                                       overflow: Overflow) -> None:
    names = cast_names("apytypes", rounding, overflow)
    words = apytypes.APyFixedArray(range(WIDE.lo, WIDE.hi + 1), **WIDE.apytypes)
    theirs = words.cast(**fmt.apytypes, quantization=getattr(apytypes.QuantizationMode, names[0]),
                        overflow=getattr(apytypes.OverflowMode, names[1]))
    bits = np.asarray(theirs.to_bits(), dtype=np.int64)
    assert np.where(bits > fmt.hi, bits - 256, bits).tolist() == ours(fmt, rounding, overflow)


@given(FORMATS)
def test_every_notation_is_read_back(fmt: Format) -> None:
    assert Format.from_fxpmath(fmt.fxpmath) == fmt
    assert Format.from_apytypes(fmt.signed, **fmt.apytypes) == fmt
    assert Format.from_ap_fixed(fmt.ap_fixed) == fmt
    assert Format.from_verilog(fmt.verilog, fmt.frac) == fmt
    held = Format.from_c_type(fmt.c_type, fmt.frac)
    assert (held.lo <= fmt.lo, held.hi >= fmt.hi, held.frac) == (True, True, fmt.frac)


@given(FORMATS, st.sampled_from(CASTS))
def test_a_format_with_its_cast_is_read_back_from_ap_fixed(
        fmt: Format, cast: tuple[Rounding, Overflow]) -> None:
    assert read_ap_fixed(ap_fixed(fmt, *cast)) == (fmt, *cast)


@pytest.mark.parametrize("tool", ROUNDING_NAMES)
def test_the_casts_of_every_tool_are_read_back(tool: str) -> None:
    assert set(ROUNDING_NAMES) == set(OVERFLOW_NAMES)
    for cast in CASTS:
        assert read_cast(tool, *cast_names(tool, *cast)) == cast


@pytest.mark.parametrize(("text", "fmt", "cast"), [
    ("ap_fixed<16,1>", "s16f15", (Rounding.FLOOR, Overflow.WRAP)),
    ("ap_ufixed< 8, 8, AP_RND >", "u8f0", (Rounding.HALF_UP, Overflow.WRAP)),
    ("ap_int<12>", "s12f0", (Rounding.FLOOR, Overflow.WRAP)),
    ("ap_fixed<8, -4, AP_RND_CONV, AP_SAT>", "s8f12", (Rounding.HALF_EVEN, Overflow.SATURATE)),
])
def test_ap_fixed_means_truncation_and_wrap_where_it_is_silent(
        text: str, fmt: str, cast: tuple[Rounding, Overflow]) -> None:
    assert read_ap_fixed(text) == (Format.parse(fmt), *cast)


@pytest.mark.parametrize(("text", "fmt"), [
    ("logic signed [15:0]", "s16f0"), ("reg [7:0]", "u8f0"), ("wire signed[31:0]", "s32f0"),
    ("[3:0]", "u4f0"), ("bit unsigned [11 : 0]", "u12f0")])
def test_vectors_of_systemverilog_are_read(text: str, fmt: str) -> None:
    assert Format.from_verilog(text) == Format.parse(fmt)


@pytest.mark.parametrize("read", [Format.from_ap_fixed, Format.from_c_type, Format.from_verilog,
                                  Format.from_fxpmath, read_ap_fixed])
@pytest.mark.parametrize("text", ["", "float", "ap_fixed<16>", "ap_int<16, 3>", "int17_t", "logic [15:1]",
                                  "ap_fixed<99, 1>", "logic signed [99:0]", None])
def test_an_invalid_format_is_refused_with_e201(read: object, text: str | None) -> None:
    with pytest.raises(KerncastError, match="E201"):
        read(text)  # type: ignore[operator]


@pytest.mark.parametrize(("tool", "rounding", "overflow"), [
    ("apytypes", "JAM", "SAT"), ("ap_fixed", "AP_RND", "AP_SAT_SYM"), ("fxpmath", "ceil", "wrap"),
    ("matlab", "Floor", "Saturate")])
def test_an_unsupported_mode_is_refused_with_e207(tool: str, rounding: str, overflow: str) -> None:
    with pytest.raises(KerncastError, match="E207"):
        read_cast(tool, rounding, overflow)
