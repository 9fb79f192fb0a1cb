"""The blocks of README, tutorials and guides run, and their output is the one on the page."""

import os
import sys
from pathlib import Path

import pytest

import kerncast
from kerncast.benchmarks import figures

ROOT = Path(kerncast.__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests"))

import pages  # noqa: E402

PAGES = ["../README", "tutorials/firmware", "tutorials/own-data", "tutorials/word-lengths", "extend/kernel",
         "mathematics"]
#: Pages that place an RTL core, which takes minutes.
LONG = ["tutorials/fpga"]
#: Pages with a test of their own.
OTHERS = ["sklearn", "classes", "tutorials/gestures"]


@pytest.mark.parametrize("name", [*PAGES, *(pytest.param(name, marks=pytest.mark.campaign) for name in LONG)])
def test_every_block_of_a_page_runs_and_prints_the_output_on_the_page(name, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert pages.run_page(ROOT / "docs" / f"{name}.md") > 0


def test_every_page_with_commands_or_output_is_run():
    found = {os.path.relpath(page.with_suffix(""), ROOT / "docs")
             for page in figures.prose()
             if any(language == "text" or (language in ("sh", "python") and page.parent != ROOT / "docs")
                    for language, _ in pages.blocks(page))}
    assert found <= {*PAGES, *LONG, *OTHERS}


@pytest.mark.parametrize("name", [*PAGES, *LONG, *OTHERS])
def test_no_output_block_of_a_page_is_empty(name):
    found = [text for language, text in pages.blocks(ROOT / "docs" / f"{name}.md") if language == "text"]
    assert [text for text in found if not text.replace("...", "").strip()] == []


@pytest.mark.parametrize(("shown", "printed", "right"), [
    ("a  b\n", "a b", True), ("a ... c", "a b\nc", True), ("a\n...\n", "a\n", True), ("a c", "a b c", False),
    ("...\nend", "x\nend", True), ("...\nend", "x\nend more", False)])
def test_output_is_compared_except_for_dots_and_blanks(shown, printed, right):
    assert pages.agrees(shown, printed) is right
