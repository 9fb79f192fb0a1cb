"""A command that is killed leaves no half-written file under a final name, and can run again."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

KILLS = 200 if os.environ.get("KERNCAST_CAMPAIGN") == "1" else 4
#: Seconds that a whole run may take; a campaign runs beside other work.
PATIENCE = 3000 if KILLS > 4 else 300
SPEC = (Path(__file__).parents[1] / "small.toml").read_text(encoding="utf-8")
#: Each command, and the files that it leaves.
COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "gen": (["gen", "small.toml", "-o", "made"], ["made"]),
    "sweep": (
        [
            "sweep",
            "small.toml",
            "--grid",
            "kernel.sigma=1..3/8",
            "--constraint",
            "ram <= 8 kB",
            "-o",
            "run",
            "--export",
            "points.csv",
        ],
        ["run/best.toml", "points.csv"],
    ),
    "row": (
        [
            "row",
            "many.csv",
            "--sigma",
            "9",
            "--scheme",
            "diagonal_mean",
            "--checkpoint",
            "done.npz",
            "-o",
            "row.npz",
        ],
        ["row.npz", "done.npz"],
    ),
    "fit": (["fit", "small.toml", "-o", "fitted.toml"], ["fitted.toml"]),
    "report": (["report", "small.toml", "-o", "report.html"], ["report.html"]),
    "record": (["hil", "record", "out", "--on", "model", "-o", "small.recording"], ["small.recording"]),
    "verify": (["verify", "out", "--on", "model", "--flips", "0", "-o", "small.zip"], ["small.zip"]),
}


def command(folder: Path, name: str) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "kerncast", *COMMANDS[name][0]],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def contents(folder: Path, name: str) -> dict[str, object]:
    """Return what a command left under final names; arrays by value, for an NPZ file holds its time."""
    found: dict[str, object] = {}
    for made in COMMANDS[name][1]:
        for path in sorted((folder / made).rglob("*")) if (folder / made).is_dir() else [folder / made]:
            if path.is_file() and "kerncast-part" not in path.name:
                found[str(path.relative_to(folder))] = (
                    {key: array.tolist() for key, array in np.load(path).items()}
                    if path.suffix == ".npz"
                    else path.read_bytes()
                )
    return found


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every command starts from."""
    folder = tmp_path_factory.mktemp("start")
    (folder / "small.csv").write_text(
        "\n".join(["y", *(str((7 * i * i) % 100 - 50) for i in range(12)), ""])
    )
    (folder / "small.toml").write_text(SPEC)
    chance = np.random.default_rng(1)
    np.savetxt(
        folder / "many.csv", chance.normal(size=(3000, 4)), delimiter=",", header="a,b,c,y", comments=""
    )
    done = subprocess.run(
        [sys.executable, "-m", "kerncast", "gen", "small.toml", "-o", "out"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_leaves_no_half_file_and_can_run_again(
    start: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNCAST_ENGINE", "python")
    began = time.monotonic()
    whole = shutil.copytree(start, tmp_path / "whole")
    running = command(whole, name)
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, errors.decode()
    seconds, expected = time.monotonic() - began, contents(whole, name)
    chance, folder = random.Random(name), shutil.copytree(start, tmp_path / "killed")
    for _ in range(KILLS):
        running = command(folder, name)
        time.sleep(chance.uniform(0.2, 1.1) * seconds)
        _killed(running)
        for file, content in contents(folder, name).items():
            if file != "done.npz" and file != "made/manifest.json":  # both say how far the command was
                assert content == expected[file], file
        for file in COMMANDS[name][1]:
            if name in ("fit", "record", "verify"):  # they replace no file
                (folder / file).unlink(missing_ok=True)
    running = command(folder, name)
    _, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0, errors.decode()
    assert contents(folder, name) == expected


def _killed(running: subprocess.Popen[bytes]) -> None:
    """Kill a command with what it started."""
    kill: Callable[[int, int], None] = os.killpg
    if running.poll() is None:
        kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
