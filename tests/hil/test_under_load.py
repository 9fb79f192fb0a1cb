"""The tests of the link, again and again, on a machine that has no time for them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = ("test_client.py", "test_links.py", "test_protocol.py", "test_agent.py", "test_emulators.py",
         "test_soak.py")
RUNS = 200
BUSY = 3  # idle loops a processor core


@pytest.mark.campaign
def test_two_hundred_runs_under_load_pass_every_one(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-c", str(HERE.parent / "pytest.ini"), "-q", "-x",
               "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "runs"),
               *(str(HERE / name) for name in FILES)]
    environment = {**os.environ, "KERNCAST_CAMPAIGN": "0"}
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
             for _ in range(BUSY * (os.cpu_count() or 1))]
    try:
        for run in range(1, RUNS + 1):
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"run {run} of {RUNS}:\n{done.stdout[-10_000:]}"
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
