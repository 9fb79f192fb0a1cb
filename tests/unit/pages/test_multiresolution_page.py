"""docs/papers/multiresolution-ls-svm.md speaks of the solver that ships."""

import re

import pytest

from kerncast.benchmarks.papers.multiresolution import COMMAND, FIGURE, PAGE, TABLE_I, drawn
from kerncast.benchmarks.papers.multiresolution_table import table_i

TEXT = PAGE.read_text(encoding="utf-8")


def rows(text: str) -> list[list[float]]:
    return [[float(cell) for cell in line.split("|")[1:-1]]
            for line in text.splitlines() if re.match(r"\| 1e-\d\d \|", line)]


def test_table_i_of_the_page_is_what_the_solver_gives():
    section = TEXT[TEXT.index("## Table I"): TEXT.index("## The second basis")]
    for found, told in zip(rows(drawn(table_i(), TABLE_I)), rows(section), strict=True):
        assert found == pytest.approx(told, rel=0.02), f"stale: {COMMAND}"


def test_figure_1_is_there_and_small():
    assert f"figures/{FIGURE.name}" in TEXT
    assert FIGURE.stat().st_size < 60_000
