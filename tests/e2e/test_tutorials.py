"""The tutorials and how-tos run as they stand, and print what they say."""

import sys
from pathlib import Path

import pytest

import kerncast

ROOT = Path(kerncast.__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests"))

import pages  # noqa: E402

#: Those that take longest are each a part of what other tests run.
PAGES = ["tutorials/own-data", "tutorials/word-lengths", "howto/kernel", "mathematics",
         pytest.param("tutorials/firmware", marks=pytest.mark.campaign)]


@pytest.mark.parametrize("name", PAGES)
def test_every_block_of_the_page_runs_and_prints_what_the_page_says(name, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert pages.run_page(ROOT / "docs" / f"{name}.md") > 0


def test_every_page_with_commands_to_type_is_run():
    run = {getattr(page, "values", [page])[0] for page in PAGES}
    found = {path.relative_to(ROOT / "docs").with_suffix("").as_posix()
             for folder in ("tutorials", "howto") for path in (ROOT / "docs" / folder).glob("*.md")
             if any(language in ("sh", "python") for language, _ in pages.blocks(path))}
    assert found <= run


@pytest.mark.parametrize(("told", "printed", "right"), [
    ("a  b\n", "a b", True), ("a ... c", "a b\nc", True), ("a\n...\n", "a\n", True), ("a c", "a b c", False),
    ("...\nend", "x\nend", True), ("...\nend", "x\nend more", False)])
def test_what_a_page_tells_is_compared_but_for_dots_and_blanks(told, printed, right):
    assert pages.agrees(told, printed) is right
