"""The examples on recorded movements run, and their C computes what their scripts compute."""

import importlib.util
import re
import runpy
import subprocess
import sys

import cffi
import numpy as np
import pytest

from kerncast.benchmarks import figures

EXAMPLES = figures.ROOT / "examples"
sys.path.insert(0, str(figures.ROOT / "tests"))

import pages  # noqa: E402

GESTURES = figures.ROOT / "docs" / "tutorials" / "gestures.md"
ACTIVITY = EXAMPLES / "activity" / "activity.py"
INSTALL = "python -m pip install --no-deps aeon==1.6.0"


@pytest.fixture
def recordings(require_tool):
    return require_tool("python:aeon", INSTALL)


def test_four_activities_are_learned_in_one_kilobyte(recordings, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ACTIVITY), run_name="__main__")
    (_, _, ram), (correct, of), (same, _) = [
        [int(number) for number in re.findall(r"\d+", line)] for line in capsys.readouterr().out.splitlines()]
    assert (of, same) == (40, 40) and correct >= 39 and ram <= 1024
    assert (tmp_path / "build" / "activity" / "activity.h").is_file()


def test_the_c_of_a_window_computes_the_features_of_the_script(recordings, tmp_path, require_tool):
    require_tool("gcc", "sudo apt-get install -y gcc")
    subprocess.run(["gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-shared",
                    "-fPIC", str(ACTIVITY.with_name("window.c")), "-o", "window.so"],
                   cwd=tmp_path, check=True)
    ffi = cffi.FFI()
    ffi.cdef("int window_push(void *w, const int16_t reading[6], int8_t x[18]);")
    library, window = ffi.dlopen(str(tmp_path / "window.so")), ffi.new("char[256]")
    script = runpy.run_path(str(ACTIVITY))
    recorded = np.concatenate([script["readings"](part)[0] for part in ("TRAIN", "TEST")])
    extremes = np.random.default_rng(0).choice([-2048, 2047], (2, 6, 100))
    for readings in (*recorded, *extremes, np.full((6, 100), -2048)):
        x = ffi.new("int8_t[18]")
        full = [library.window_push(window, ffi.new("int16_t[6]", row.tolist()), x) for row in readings.T]
        assert full == [0] * 99 + [1]
        assert list(x) == script["features"](readings).tolist()


def test_a_board_learns_gestures_as_the_tutorial_shows(recordings, tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    assert pages.run_page(GESTURES) == 5


def test_the_tutorial_shows_the_spec_and_the_program_that_are_run():
    shown = dict(pages.blocks(GESTURES))
    assert shown["toml"] in (EXAMPLES / "gestures" / "gestures.toml").read_text(encoding="utf-8")
    assert shown["c"] in (EXAMPLES / "gestures" / "main.c").read_text(encoding="utf-8")


@pytest.mark.parametrize(("script", "name"), [
    ("activity/activity", "BasicMotions"), ("gestures/record", "PickupGestureWiimoteZ")])
def test_a_missing_package_of_recordings_is_named_with_the_command(script, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=rf"{name}.*aeon.*pip install --no-deps aeon"):
        runpy.run_path(str(EXAMPLES / f"{script}.py"), run_name="__main__")
    assert not list(tmp_path.glob("*.csv"))
