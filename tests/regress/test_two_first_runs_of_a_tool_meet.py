"""Two processes met at the first run of yosys: one cut off the file that the other had mapped (status -7)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

#: Stands in for yowasp: writes its compiled code in place and in two halves, and reads what it finds.
TOOL = """
import os, pathlib, sys, time
def run(words):
    file = pathlib.Path(os.environ["YOWASP_CACHE_DIR"], "slow_tool", "code")
    if not file.exists():
        file.parent.mkdir(parents=True)
        with (pathlib.Path(__file__).parent / "log").open("a") as log:
            log.write("compiled\\n")
        with file.open("w") as code:
            for part in ("first ", "second"):
                code.write(part)
                code.flush()
                time.sleep(float(os.environ["SLOW_TOOL_SECONDS"]))
    return 0 if file.read_text() == "first second" else 7
"""
USER = """
import pathlib, sys
from kerncast.hw.rtl import synthesis
synthesis._PROGRAMS["slow"] = ("slow-tool", "slow_tool", "run")
synthesis.run_program("slow", [], pathlib.Path(sys.argv[1]))
"""

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """``start(name, seconds)``: a process that runs the tool; it leads a group of its own."""
    (tmp_path / "slow_tool.py").write_text(TOOL, encoding="utf-8")

    def begin(name: str, seconds: float = 0.2) -> subprocess.Popen[bytes]:
        (tmp_path / name).mkdir()
        path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
        env = os.environ | {"PYTHONPATH": path, "YOWASP_CACHE_DIR": str(tmp_path / "cache"),
                            "SLOW_TOOL_SECONDS": str(seconds)}
        return subprocess.Popen([sys.executable, "-c", USER, str(tmp_path / name)], env=env,
                                start_new_session=True)

    return begin


def compilations(folder: Path) -> int:
    log = folder / "log"
    return len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0


def test_two_first_runs_that_meet_compile_a_tool_once(start: Start, tmp_path: Path) -> None:
    both = [start("a"), start("b")]
    assert [process.wait(60) for process in both] == [0, 0]
    assert compilations(tmp_path) == 1
    assert start("c").wait(60) == 0
    assert compilations(tmp_path) == 1


def test_a_first_run_that_is_killed_leaves_no_half_of_a_tool(start: Start, tmp_path: Path) -> None:
    killed = start("a", 60)
    while not compilations(tmp_path):
        assert killed.poll() is None
        time.sleep(0.02)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait(60)
    assert start("b").wait(60) == 0
    assert compilations(tmp_path) == 2
    assert len([path for path in (tmp_path / "cache").iterdir() if path.is_dir()]) == 1


def test_a_cache_that_cannot_be_written_only_costs_time(start: Start, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in its place", encoding="utf-8")
    assert [start(name).wait(60) for name in "ab"] == [0, 0]
    assert compilations(tmp_path) == 2
