"""docs/measured/exp2.md speaks of the tables and of the C that ship."""

import re

from kerncast.benchmarks.exp2 import COMMAND, PAGE, bound, entries, stamp
from kerncast.sim.planner.words import EXP2_BITS
from kerncast.sim.spec.keys import Numbers

TEXT = PAGE.read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]]
        for line in TEXT.splitlines() if re.match(r"\| \d", line)]


def test_the_page_was_measured_of_what_ships():
    assert f"<!-- {stamp()} -->" in TEXT, f"stale: {COMMAND}"


def test_every_size_has_its_row_with_its_bytes_and_an_error_within_its_bound():
    sizes = [(word, size, bits) for word, found in EXP2_BITS.items() for size, bits in found.items()]
    for (word, size, bits), row in zip(sizes, ROWS, strict=True):
        assert row[:2] == [str(word), size]
        assert int(row[3].replace(",", "")) == 4 * sum(map(len, entries(word, bits))) <= 3 * 1024
        assert float(row[4]) <= float(row[5]) == round(bound(word, bits), 3)
        assert int(row[6]) < 40


def test_the_default_is_within_one_lsb_at_every_word_length():
    default = Numbers().exp_table
    assert all(bound(word, sizes[default]) < 1 for word, sizes in EXP2_BITS.items())
