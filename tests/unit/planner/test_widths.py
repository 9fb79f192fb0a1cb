"""What a plan proves of the length of its intermediate results."""

import pytest

from kerncast.sim.planner import make_plan
from kerncast.sim.planner.widths import widths
from kerncast.sim.spec import Spec

SPEC = """
[model]
name = "widths"
algorithm = "kernel_lms"
[input]
word = "{word}"
columns = {columns}
[output]
word = "s12f0"
[kernel]
sigma = {sigma}
[online]
budget = 8
eta = 0.5
[numbers]
word = {bits}
"""


def of(word, columns, sigma, bits=16):
    text = SPEC.format(word=word, columns=columns, sigma=sigma, bits=bits)
    return widths(make_plan(Spec.from_text(text, "widths.toml")))


@pytest.mark.parametrize("columns", [4, 8, 64])
def test_from_four_columns_on_differences_fit_lanes_of_sixteen_bits(columns):
    found = of("s16f0", columns, 900.0)
    assert found.distance and found.lanes and found.difference and found.products


def test_a_difference_of_seventeen_bits_has_no_lane():
    found = of("s16f0", 1, 900.0)
    assert found.distance
    assert not found.lanes


def test_the_exponent_is_one_short_product_where_sigma_is_small():
    assert of("u5f0", 64, 10.0).exponent
    assert not of("s12f0", 8, 900.0).exponent
    assert of("s12f0", 8, 900.0).high


def test_longer_words_keep_their_long_sums():
    found = of("s16f0", 8, 900.0, bits=32)
    assert found.difference
    assert not (found.distance or found.lanes or found.kernel or found.products)


def test_an_unsigned_input_of_whole_bits_is_limited_by_its_bits():
    assert of("u5f0", 64, 10.0).clamp == 5
    assert of("u8f0", 4, 10.0).clamp == 0  # every byte is inside
    assert of("s12f0", 4, 900.0).clamp == 0  # signed


def test_bytes_that_are_the_input_s_words_are_widened_only():
    assert of("u5f0", 64, 10.0).byte == 5
    assert of("u8f0", 4, 10.0).byte == 8
    assert of("u1f0", 64, 2.0).byte == 1
    assert of("s8f0", 4, 10.0).byte == 0  # signed
    assert of("u9f0", 4, 10.0).byte == 0  # two bytes
    assert of("u8f0", 4, 10.0, bits=32).byte == 8  # stored in a byte at any word length
    assert of("u5f0\"\noffset = 3\nunit = \"V", 4, 10.0).byte == 0
    assert of("u5f0\"\ngain = [1.0, 0.5, 1.0, 1.0]\nunit = \"V", 4, 10.0).byte == 0


@pytest.mark.parametrize(("word", "short"), [("s16f0", True), ("s32f0", False)])
def test_a_target_of_sixteen_bits_is_converted_in_one_register(word, short):
    plan = make_plan(Spec(
        model={"name": "widths", "algorithm": "toeplitz_rls"}, input={"word": "u16f0"},
        output={"word": word}, kernel={"sigma": 2.0}, numbers={"word": 16},
        toeplitz={"n": 32, "lambda": 0.1, "scheme": "uniform", "solver": "banded"}))
    assert widths(plan).target is short
