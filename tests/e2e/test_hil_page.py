"""docs/hil-testing.md runs line by line as it stands, without its physical board and the package index."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import kerncast
from kerncast.benchmarks import first_difference

ROOT = Path(kerncast.__file__).resolve().parent
PAGE = (ROOT / "docs" / "hil-testing.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = {"pytest": ("-m", "pytest", "-p", "kerncast.lab.pytest_plugin", "-p", "no:cacheprovider"),
        "kerncast": ("-m", "kerncast")}


def run(line, cwd, expected=0):
    """Run a command of the page with this Python; return what it printed."""
    program, *words = shlex.split(line, comments=True)
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "KERNCAST_ENGINE": "python", "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, *CODE[program], *words], cwd=cwd, env=env, capture_output=True,
                          text=True, check=False)
    assert done.returncode == expected, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def commands():
    """The indented commands of the page, in order, and those of its blocks without a language."""
    text = BLOCK.sub(lambda block: "" if block[1] else "".join(f"    {line}\n" for line in
                                                               block[2].splitlines()), PAGE)
    return re.findall(r"^    ((?:kerncast|pytest) .*)$", text, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project as the page assumes it: the examples, and the spec and the test of the page."""
    place = tmp_path_factory.mktemp("hil")
    (place / "examples").symlink_to(ROOT / "examples")
    (place / "specs").mkdir()
    (place / "specs" / "ecg.toml").write_text((ROOT / "examples" / "ecg.toml").read_text(encoding="utf-8"))
    (python,) = [text for language, text in BLOCK.findall(PAGE) if language == "python"]
    (place / "test_board.py").write_text(python)
    return place


def test_every_command_of_the_page_without_a_physical_board_runs(folder):
    lines = [line for line in commands() if "board:" not in line]
    assert len(lines) >= 7
    for line in lines:
        said = run(line, folder)
        assert "failed" not in said and "skipped" not in said


def test_the_jobs_of_the_page_run_what_they_say(folder):
    blocks = [yaml.safe_load(text) for language, text in BLOCK.findall(PAGE) if language == "yaml"]
    github = [step["run"] for step in blocks[0]["jobs"]["hil"]["steps"] if "run" in step]
    gitlab = blocks[1]["hil"]["script"]
    ran = set()
    for install, generate, test in (github, gitlab):
        extras = re.search(r"\./kerncast\[([\w,]+)\]", install)
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert extras is not None and set(extras[1].split(",")) <= set(project["optional-dependencies"])
        if (generate, test) not in ran:
            run(generate.replace(" --check", "").partition("#")[0], folder)
            run(generate, folder)
            run(test.replace("-n 2 --dist loadgroup", ""), folder)
        ran.add((generate, test))
    assert (folder / "hil.xml").is_file()


def test_a_mismatch_is_reported_in_few_lines(folder):
    (folder / "test_words.py").write_text(
        "def test_words(kerncast_ledger):\n"
        "    kerncast_ledger.record(backend='host:gcc:-O2', words=774, mismatches=3, case='ecg',\n"
        "                           first='alpha[7]', remedy='kerncast test ecg --on host --bisect')\n")
    said = run("pytest test_words.py -q", folder, expected=1)
    assert "3 mismatches in 774 values" in said and "--bisect" in said
    assert len(said.splitlines()) <= 15, said


def test_its_picture_shows_what_bisect_prints_today():
    assert first_difference.measured() == first_difference.PICTURE.read_text(encoding="utf-8")
