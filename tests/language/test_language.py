"""The check of phrases finds a planted one, honours an exception, and holds what is enforced."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


@pytest.fixture(scope="module")
def tools():
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("check"), importlib.import_module("texts")
    finally:
        sys.path.remove(str(FOLDER))


TABLE = {"phrase": [{"not": ["to be had"], "say": "available", "except": ["no mercy to be had"]}]}


def found(tools, reader, source):
    check, texts = tools
    rows = check.phrases(TABLE)
    return [(finding.line, finding.found) for text in getattr(texts, reader)("a.md", source)
            for finding in check.findings(text, rows, check.any_of(rows))]


def test_a_phrase_is_found_in_its_line_and_across_line_ends(tools):
    assert found(tools, "of_page", "# Title\n\nNo board is to be\nhad here.\n") == [(3, "to be had")]


def test_every_pattern_compiles_and_finds_is_no_but_not_there_is_no(tools):
    check, texts = tools
    rows = check.phrases(check.tomllib.loads(check.LIST.read_text(encoding="utf-8")))
    hits = [[finding.found for text in texts.of_page("a.md", page)
             for finding in check.findings(text, rows, check.any_of(rows))]
            for page in ("This is no plan.\n", "There is no plan, and it is no longer one.\n")]
    assert hits == [["is no"], []]


def test_code_is_not_prose(tools):
    assert found(tools, "of_page", "`to be had` and\n\n```sh\nto be had\n```\n") == []


def test_an_excepted_sentence_passes(tools):
    assert found(tools, "of_page", "There is no mercy to be\nhad.\n") == []


def test_docstrings_and_messages_are_read(tools):
    source = 'def f(x):\n    """None to be had."""\n    return f"no {x} to be " "had"\n'
    assert found(tools, "of_python", source) == [(2, "to be had"), (3, "to be had")]


def test_a_summary_has_at_most_eighty_characters(tools):
    check, texts = tools
    source = "".join(f'def f():\n    """{"x" * length}"""\n\n\n' for length in (80, 81))
    assert [finding.line for text in texts.of_python("a.py", source)
            for finding in check.long_summary(text)] == [6]


def test_comments_of_python_are_read(tools):
    assert found(tools, "of_python", "x = '# no mercy'\ny = 1  # none to be had\n") == [(2, "to be had")]


def test_comments_of_c_and_templates_are_read(tools):
    source = "int a; /* none\n * to be had */\n{# to be had #}\n// to be\n// had\n# to be had\n"
    assert [line for line, _ in found(tools, "of_comments", source)] == [2, 3, 4, 6]


def test_enforced_texts_hold_no_listed_phrase():
    done = subprocess.run([sys.executable, FOLDER / "check.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_sample_is_the_same_for_the_same_seed():
    draw = [sys.executable, FOLDER / "sample.py", "--seed", "7", "--number", "5"]
    first, second = (subprocess.run(draw, check=True, capture_output=True, text=True).stdout for _ in "ab")
    assert first == second
    assert first.startswith("seed 7\n")
