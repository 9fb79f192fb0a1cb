"""Workers of a sweep on this machine: Ctrl-C is not for them, and they end with the sweep."""

import signal
import subprocess
import sys
from pathlib import Path

import kerncast
from kerncast.lab.sweep import make_settings, open_run, run_sweep
from kerncast.sim.spec import Spec

ECG = (Path(kerncast.__file__).parent / "examples" / "ecg.toml").read_text().replace("n = 256", "n = 96")
GRID = ["sigma=2..4/30", "refine=0,1"]
#: As a terminal sends Ctrl-C, to all processes of the group, when the workers have been started. The thread
#: that hands out the work looks for it too late: all is cancelled by then.
INTERRUPTED = """
import os, signal, sys
from joblib import Parallel
from joblib.externals.loky.process_executor import _ExecutorManagerThread as Manager
from kerncast.cli.main import app
start, hand_out = Parallel.__call__, Manager.add_call_item_to_queue
def late(manager):
    if manager.executor_flags.shutdown:
        hand_out(manager)
Manager.add_call_item_to_queue = late
def started(*given):
    found = start(*given)
    os.killpg(os.getpgrp(), signal.SIGINT)
    return found
Parallel.__call__ = started
app(["sweep", *sys.argv[1:]], prog_name="kerncast")
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from kerncast.lab.sweep import make_settings, run_sweep
from kerncast.sim.spec import Spec
def progress(done, total):
    os.kill(os.getpid(), signal.SIGKILL)
text, folder, *grid = sys.argv[1:]
asked = make_settings(Spec.from_text(text), Path("."), grid=grid, constraints=["ram <= 8 kB"])
run_sweep(asked, Path(folder), jobs=2, progress=progress)
"""


def test_ctrl_c_while_workers_start_prints_one_line_and_allows_a_resume(tmp_path):
    (tmp_path / "ecg.toml").write_text(ECG)
    words = [word for grid in GRID for word in ("--grid", grid)]
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, "ecg.toml", *words, "--jobs", "2", "-o", "run"],
                          cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE, text=True,
                          check=False)
    told = "interrupted; run keeps the completed points; run the same command again to resume\n"
    assert (done.returncode, done.stderr) == (130, told)
    asked = make_settings(Spec.from_text(ECG), tmp_path, grid=GRID)
    assert len(run_sweep(asked, tmp_path / "run").points) == 60


def test_the_workers_of_a_killed_sweep_end_too(tmp_path):
    words = [ECG, str(tmp_path / "run"), *GRID]
    with subprocess.Popen([sys.executable, "-c", KILLED, *words], stderr=subprocess.PIPE) as sweep:
        assert sweep.wait() == -signal.SIGKILL
        # The pipe ends with its last writer, which a worker is; an idle one would stay for 300 s.
        sweep.communicate(timeout=200)
    assert 0 < len(open_run(tmp_path / "run").points) < 60
