"""The names of tests are promises short enough to read in a report."""

import ast
from pathlib import Path

import pytest

import kerncast

TESTS = Path(kerncast.__file__).resolve().parent / "tests"
MODULES = sorted(TESTS.rglob("test_*.py"))
#: Characters of a test's name, `test_` included; two promises do not fit, so they become two tests.
LIMIT = 72
#: Characters of a module's name: the subject of its tests, not a sentence.
MODULE_LIMIT = 45


def promises(path: Path) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_a_test_s_name_has_at_most_72_characters(path):
    assert [name for name in promises(path) if len(name) > LIMIT] == []


def test_a_module_of_tests_has_a_name_of_at_most_45_characters():
    assert [path.name for path in MODULES if len(path.stem) > MODULE_LIMIT] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_no_test_hides_another_of_its_name(path):
    names = [node.name for node in ast.parse(path.read_text(encoding="utf-8")).body
             if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    assert len(names) == len(set(names))
