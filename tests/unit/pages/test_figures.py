"""No figure in README and docs is typed by hand: pages and docs/figures.json agree."""

import json
import re

import pytest

from kerncast.benchmarks import demo, figures

README = (figures.ROOT / "README.md").read_text(encoding="utf-8")
#: Numbers in names and definitions.
DEFINED = (r"Python 3\.\d+|C99|Apache-2\.0|AXI4|digits, 3 or 8|16-bit (?:integers|ECG)|float32|float64|"
           r"m2cgen|hls4ml|16 bits|gcc -O2|Cortex-M\d+|STM32\w+|ESP32-C3|"
           r"nRF\d+|RP2040|ATmega\w+|RV32IMAC|F446RE")


def test_prose_pages_and_the_data_file_agree():
    assert figures.disagreements() == [], figures.COMMAND


def test_every_number_of_the_readme_is_marked_measured_or_a_definition():
    left = re.sub(DEFINED, "", re.sub(r"\[[^\]]*\]", "", figures.without_marks(README)))
    assert re.findall(r".{0,20}\d.{0,20}", left) == []


def test_the_readme_is_short_and_begins_with_installation_and_picture():
    lines = README.splitlines()
    assert len(lines) <= 160
    head, start = "\n".join(lines[:18]), ("**Let a sensor", "python -m pip install", "![")
    assert [part for part in start if part not in head] == []


def test_pages_are_measured_by_the_zig_that_is_locked():
    locked = re.findall(r"^ziglang==(\S+)", (figures.ROOT / "requirements.lock").read_text(), re.M)
    pages = {page: (figures.ROOT / page).read_text(encoding="utf-8") for page in figures.PAGES}
    named = {page: set(re.findall(r"\| zig (\S+) \|", text)) for page, text in pages.items()}
    assert len(locked) == 1 and named["docs/measured/intrinsics.md"]
    assert {page: found for page, found in named.items() if found - set(locked)} == {}


def test_every_page_of_the_docs_is_prose_or_made_by_an_existing_program():
    for page, command in figures.PAGES.items():
        name = command.removesuffix(" >").split()[-1].replace("kerncast.", "").replace(".", "/")
        found = [figures.ROOT / command.split()[1], figures.ROOT / f"{name}.py",
                 figures.ROOT / name / "__main__.py"]
        assert any(path.is_file() for path in found), page
    assert figures.ROOT / "README.md" in figures.prose()


@pytest.mark.parametrize("claim", ["takes 41 instructions", "in 5.8 kB", "at 100 MHz,", "1,204 words",
                                   "200 samples/s", "2.5 times as fast", "1e-3 lsb", "37 % of it"])
def test_a_figure_of_prose_without_a_mark_is_found(claim):
    assert figures.unmarked(f"It {claim}.") != []
    marked = re.sub(r"(\d[\d,.]*\d|\d)(e-\d)?", r"<!--=a-->\g<0><!--=-->", claim, count=1)
    assert figures.unmarked(f"It {marked}.") == []


def test_a_marked_figure_unlike_the_data_file_s_is_reported_and_set():
    data = {"ecg.samples": {"value": "256"}}
    text = "of <!--=ecg.samples-->255<!--=--> samples"
    assert list(figures.marks(text)) == [("ecg.samples", "255")]
    assert figures.set_marks(text, data) == text.replace("255", "256")


def test_a_page_changed_by_hand_is_reported(monkeypatch, tmp_path):
    held = json.loads(figures.DATA.read_text(encoding="utf-8"))
    held["pages"]["docs/measured/sweep.md"]["tables"][-1]["rows"][1][-1] += "0"
    (tmp_path / "figures.json").write_text(json.dumps(held))
    monkeypatch.setattr(figures, "DATA", tmp_path / "figures.json")
    assert any(line.startswith("docs/measured/sweep.md") for line in figures.disagreements())


def test_tables_are_read_with_their_heading_and_without_what_stands_in_code():
    text = "# A\n| a | b |\n|--|:-:|\n| 1 | `x\\|y` |\n\n```\n| no |\n```\n## B\n| c |\n|---|\n"
    assert figures.tables(text) == [{"under": "A", "rows": [["a", "b"], ["1", "`x\\|y`"]]},
                                    {"under": "B", "rows": [["c"]]}]


@pytest.mark.campaign
def test_the_picture_of_the_demo_is_that_of_today(tmp_path, monkeypatch):
    held = (figures.ROOT / "docs" / "figures" / "demo.svg").read_text(encoding="utf-8")
    monkeypatch.setattr("kerncast.benchmarks.papers.common.DOCS", tmp_path)
    demo.draw()
    assert (tmp_path / "figures" / "demo.svg").read_text(encoding="utf-8") == held, figures.DEMO
