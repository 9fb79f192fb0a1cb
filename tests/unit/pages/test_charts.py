"""The charts show the tables of the measured pages."""

import pytest

from kerncast.benchmarks import charts
from kerncast.benchmarks.papers.common import with_counted_ids


@pytest.mark.parametrize("name", charts.CHARTS)
def test_a_chart_is_small_and_on_a_page(name):
    figure = charts.ROOT / "docs" / "figures" / f"chart-{name}.svg"
    pages = [page.read_text(encoding="utf-8") for page in (charts.ROOT / "docs").glob("*.md")]
    assert any(f"figures/{figure.name}" in text for text in pages) and figure.stat().st_size < 70_000


@pytest.mark.parametrize("name", charts.CHARTS)
def test_a_chart_is_drawn_from_the_tables_of_today(name, tmp_path, monkeypatch):
    held = (charts.ROOT / "docs" / "figures" / f"chart-{name}.svg").read_text(encoding="utf-8")
    monkeypatch.setattr("kerncast.benchmarks.papers.common.DOCS", tmp_path)
    charts.draw(name)
    drawn = (tmp_path / "figures" / f"chart-{name}.svg").read_text(encoding="utf-8")
    assert drawn == held, "stale: python -m kerncast.benchmarks.charts"


@pytest.mark.parametrize(("cell", "value"), [
    ("1,234 (5)", 1234.0), ("1.2e-03 (≤ 4e-03)", 1.2e-3), ("refused", None)])
def test_the_number_of_a_cell_is_read(cell, value):
    assert charts.number(cell) == value


def test_the_ids_of_a_chart_do_not_depend_on_the_last_bits_of_coordinates():
    svg = '<path id="m{0}"/><use href="#m{0}"/><g clip-path="url(#p{1})"/><clipPath id="p{1}"/>'
    drawn = {with_counted_ids(svg.format(*ids)) for ids in (("1210fa5e33", "a4591fdafc"),
                                                            ("1210fa5e34", "a5ab530541"))}
    assert drawn == {'<path id="m0"/><use href="#m0"/><g clip-path="url(#p1)"/><clipPath id="p1"/>'}
