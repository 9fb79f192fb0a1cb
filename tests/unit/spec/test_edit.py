"""Changes to the text of a spec keep its comments, and change what they name and nothing else."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerncast.codegen.resources import read_text
from kerncast.sim.spec import Spec
from kerncast.sim.spec.edit import edited

TEXT = """\
# head
[model]
name = "m"                  # the name

[kernel]
sigma = 2.0                 # "width" = 1

# about the learner
[online]
budget = 8
# quantise = 0.8            # an example
eta = 0.5 # fast
taps = [ 1, # one
  2 ] # two
"""


def test_a_new_value_keeps_its_line_and_comment() -> None:
    lines = edited(TEXT, {("kernel", "sigma"): 0.125}).split("\n")
    assert lines[5] == 'sigma = 0.125               # "width" = 1'
    assert [*lines[:5], TEXT.split("\n")[5], *lines[6:]] == TEXT.split("\n")


def test_a_missing_key_replaces_its_example_or_follows_the_last_key() -> None:
    assert "\nquantise = 0.5              # an example\n" in edited(TEXT, {("online", "quantise"): 0.5})
    assert '  2 ] # two\nlinear = "rls"\n' in edited(TEXT, {("online", "linear"): "rls"})
    assert 'sigma = 2.0                 # "width" = 1\ntype = "linear"\n' in edited(TEXT, {
        ("kernel", "type"): "linear"})


def test_a_missing_table_comes_last() -> None:
    assert edited(TEXT, {("numbers", "word"): 24}).endswith("\n\n[numbers]\nword = 24\n")


def test_keys_and_tables_without_a_value_become_comments() -> None:
    assert "\n# eta = 0.5 # fast\n" in edited(TEXT, {("online", "eta"): None})
    found = edited(TEXT, {("online", "taps"): None, ("online", "missing"): None, ("none", ""): None})
    assert "taps" not in tomllib.loads(found)["online"] and "two" in found
    gone = edited(TEXT, {("online", ""): None, ("cg", "n"): 3})
    assert tomllib.loads(gone) == {"model": {"name": "m"}, "kernel": {"sigma": 2.0}, "cg": {"n": 3}}


def test_lines_keep_their_ends() -> None:
    found = edited(TEXT.replace("\n", "\r\n"), {("kernel", "sigma"): 1.5})
    assert found.count("\r\n") == found.count("\n") == TEXT.count("\n")


VALUES = st.one_of(st.integers(-9, 9), st.floats(allow_nan=False, allow_infinity=False), st.booleans(),
                   st.text("ab#\"'\\= é", max_size=6), st.lists(st.integers(0, 9), max_size=3))


@given(st.dictionaries(st.tuples(st.sampled_from(["model", "kernel", "online", "numbers"]),
                                 st.sampled_from(["name", "sigma", "eta", "taps", "quantise", "word"])),
                       st.none() | VALUES, max_size=6))
def test_only_the_named_values_change(changes: dict[tuple[str, str], object]) -> None:
    wanted = tomllib.loads(TEXT)
    for (table, key), value in changes.items():
        if value is None:
            wanted.get(table, {}).pop(key, None)
        else:
            wanted.setdefault(table, {})[key] = value
    found = edited(TEXT, changes)
    assert tomllib.loads(found) == wanted
    assert all(part in found for part in ("# head", "# the name", "# about the learner", "# fast", "# two"))


@pytest.mark.parametrize("name", ["ecg", "digits", "drift", "ecg_stream", "equaliser"])
def test_an_example_can_be_edited(name: str) -> None:
    text = read_text(f"examples/{name}.toml")
    found = Spec.from_text(edited(text, {("kernel", "sigma"): 1.5, ("numbers", "word"): 24}))
    assert (found.kernel.sigma, found.numbers.word) == (1.5, 24)
    assert edited(text, {}) == text
