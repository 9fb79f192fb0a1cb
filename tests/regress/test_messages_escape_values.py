"""A file name with terminal escapes, or of megabytes, was printed as it is."""

from kerncast.sim.errors import Problem


def test_control_characters_are_escaped_and_long_values_abbreviated():
    text = str(Problem("E241", "cannot read the data file", "\x1b[31mred", "a\tb\nc" + "x" * 5000, "", ""))
    assert "\x1b" not in text and r"\x1b[31mred" in text
    assert "a\tb\nc" in text and len(text) < 2200 and "5,005 characters" in text
