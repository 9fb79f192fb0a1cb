"""docs/sklearn.md: its example runs, and prints what the page says; so does the example as a program."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import kerncast
from kerncast.sim.interop.sklearn import READERS

ROOT = Path(kerncast.__file__).resolve().parent
PAGE = (ROOT / "docs" / "sklearn.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def test_the_example_of_the_page_prints_the_page_s_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(block("python"), "docs/sklearn.md", "exec"), {})
    assert said.getvalue() == block("text")
    ends = ("csv", "json", "toml")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"digits_svc.{end}" for end in ends]


def test_the_program_writes_a_folder_of_c_with_its_spec_and_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "export_svc.py"))
    assert "same label as scikit-learn on 107 of 107 digits, in 16 bits" in capsys.readouterr().out
    folder = tmp_path / "build" / "digits_svc"
    assert kerncast.plan(folder / "spec.toml").hash == kerncast.plan("digits_svc.toml").hash
    assert "8 where f > 0, else 3" in (folder / "README.md").read_text()


def test_the_page_names_every_estimator_that_can_be_exported():
    others = [name for name in READERS if not hasattr(kerncast, name) and name != "Pipeline"]
    assert [name for name in others if f"`{name}`" not in PAGE] == []
