"""The tests of the link, again and again, on a machine that has no time for them."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = ("test_client.py", "test_links.py", "test_protocol.py", "test_agent.py", "test_emulators.py",
         "test_soak.py")
RUNS = 200
AT_ONCE = 4  # runs a processor core: each is the load of the others
#: What a campaign of its own does at length, or compiles more than it talks.
NOT_AGAIN = "riscv or mips or hexagon or arduino or count_the_same or (bad_line and unicorn)"


@pytest.mark.campaign
def test_two_hundred_runs_under_load_pass_every_one(tmp_path: Path) -> None:
    environment = {**os.environ, "KERNCAST_CAMPAIGN": "0"}

    def once(run: int) -> tuple[int, str]:
        command = [sys.executable, "-m", "pytest", "-c", str(HERE.parent / "pytest.ini"), "-q", "-x",
                   "-p", "no:cacheprovider", "--basetemp", str(tmp_path / f"run{run}"),
                   "-k", f"not ({NOT_AGAIN})", *(str(HERE / name) for name in FILES)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout[-10_000:]

    with ThreadPoolExecutor(AT_ONCE * (os.cpu_count() or 1)) as pool:
        for run, (code, said) in enumerate(pool.map(once, range(RUNS)), start=1):
            if code:
                pool.shutdown(cancel_futures=True)
            assert code == 0, f"run {run} of {RUNS}:\n{said}"
            print(f"{run} of {RUNS} runs passed", flush=True)
