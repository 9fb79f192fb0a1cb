"""docs/classes.md: its example runs and prints what the page says; so does the example as a program."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import kerncast

ROOT = Path(kerncast.__file__).resolve().parent
PAGE = (ROOT / "docs" / "classes.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def test_the_example_of_the_page_prints_the_output_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block("python"), "docs/classes.md", "exec"), {})
    assert printed.getvalue() == block("text")


def test_the_program_writes_c_with_the_labels_of_scikit_learn(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "ten_digits.py"))
    assert "same label as scikit-learn on 797 of 797 digits, in 16 bits" in capsys.readouterr().out
    header = (tmp_path / "build" / "ten_digits" / "ten_digits.h").read_text()
    assert "#define TEN_DIGITS_CLASS_9 9u /* 9 */" in header and "ten_digits_model_classify(" in header
