"""Lines of keys: the scanner finds in every TOML text what tomllib finds, at the line where it stands."""

import json
import tomllib

from hypothesis import given
from hypothesis import strategies as st

from kerncast.sim.spec.source import Source

TRICKY = '''\
# [not_a_table]
a = "x # no comment ] = [" # comment = "
b = \'single # = [\'
[t1]          # [t2]
c = """
[not_a_table]
d = 1
"quoted" \\""" \\\\"""
e = \'\'\'
f = "1
\'\'\'
"g h" = [ # [
  1, "]", [2,
  3],
]
\'i.j\'.k = {l = 1, m = [2]}
o.p = 1
[ t3 . "t 4" ]
q = 1979-05-27T07:32:00Z
[[t5]]
r = 1
[[t5]]
r = 2
"" = 3'''


def test_lines_are_right_where_strings_brackets_and_comments_look_like_keys():
    source = Source.parse(TRICKY, "tricky.toml")
    assert dict(source.lines) == {
        ("a",): 2, ("b",): 3, ("t1",): 4, ("t1", "c"): 5, ("t1", "e"): 9, ("t1", "g h"): 12,
        ("t1", "i.j", "k"): 16, ("t1", "o", "p"): 17, ("t3", "t 4"): 18, ("t3", "t 4", "q"): 19,
        ("t5",): 20, ("t5", "r"): 21, ("t5", ""): 24, ("t5", "0"): 20, ("t5", "0", "r"): 21,
        ("t5", "1"): 22, ("t5", "1", "r"): 23, ("t5", "1", ""): 24}
    assert source.length == 24


def test_a_key_without_a_line_of_its_own_has_that_of_its_nearest_parent():
    source = Source.parse(TRICKY, "tricky.toml")
    assert source.line(("t1", "i.j", "k", "m")) == 16
    assert source.line(("t1", "absent")) == 4
    assert source.line(("absent",)) == source.length


# What json escapes as TOML does: no surrogates (so nothing beyond 16 bits), no DEL.
letter = st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"], exclude_characters="\x7f")
text = st.text(letter, max_size=8)
value = st.recursive(st.booleans() | st.integers(-9, 9) | text, lambda inner: st.lists(inner, max_size=3))


@st.composite
def document(draw):
    """A TOML text with the line of each key as it was written."""
    lines, where = [], {}

    def emit(line):
        lines.extend(line.split("\n"))

    def filler():
        for kind in draw(st.lists(st.sampled_from(["", "  ", "# [x] = \"", "\t# '''"]), max_size=2)):
            emit(kind)

    for table in draw(st.lists(text, unique=True, max_size=4)):
        filler()
        where[(table,)] = len(lines) + 1
        emit(f"[{json.dumps(table)}]" + draw(st.sampled_from(["", " # ]"])))
        for key, held in draw(st.dictionaries(text, value, max_size=4)).items():
            filler()
            where[(table, key)] = len(lines) + 1
            indent, comma = draw(st.sampled_from(["", "  "])), draw(st.sampled_from([", ", ",\n", ", # ]\n"]))
            emit(f"{indent}{json.dumps(key)} = {written_as(held, comma)}")
    return "\n".join(lines), where


def written_as(held, comma):
    """A value as TOML, with `comma` between the entries of lists."""
    if isinstance(held, list):
        return f"[{comma.join(written_as(item, comma) for item in held)}]"
    return json.dumps(held)


@given(document())
def test_every_key_is_found_at_the_line_where_it_was_written(case):
    written, where = case
    source = Source.parse(written, "any.toml")
    assert source.values == tomllib.loads(written)
    assert dict(source.lines) == where
