"""A command that is killed leaves no half-written file under a final name, and can run again."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CAMPAIGN = os.environ.get("KERNCAST_CAMPAIGN") == "1"
KILLS = 200 if CAMPAIGN else 8
#: Changes of files before and after the last renaming, at each of which a command is killed.
AROUND = 2
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


class Killer:
    """A process that runs one command again and again, and kills it."""

    def __init__(self, running: "subprocess.Popen[str]") -> None:
        self.running = running

    def ask(self, **request: object) -> dict[str, Any]:
        assert self.running.stdin and self.running.stdout
        self.running.stdin.write(json.dumps(request) + "\n")
        self.running.stdin.flush()
        answer: dict[str, Any] = json.loads(self.running.stdout.readline() or "null")
        assert answer is not None, self.running.communicate()[1]
        return answer


@contextmanager
def killer() -> Iterator[Killer]:
    with subprocess.Popen(
        [sys.executable, "-m", "e2e.killed_commands"],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        yield Killer(running)
        running.communicate()


def moments(name: str, changes: list[list[str]], seconds: float) -> Iterator[tuple[int | None, float]]:
    """Draw when a command is killed: around its last renaming, at any change of a file, and at any time."""
    chance = random.Random(name)
    last = max(at for at, (event, _) in enumerate(changes) if event == "os.rename")
    for change in range(max(last - AROUND, 0), min(last + AROUND, len(changes))):
        yield change, 0.0
        if CAMPAIGN:
            yield change, chance.uniform(1e-5, 1e-3)
    while True:
        yield None, chance.uniform(0.02, 1.1) * seconds
        yield chance.randrange(len(changes)), max(chance.uniform(-1e-3, 2e-3), 0.0)


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
    whole, folder = shutil.copytree(start, tmp_path / "whole"), shutil.copytree(start, tmp_path / "killed")
    with killer() as process:
        first = process.ask(command=COMMANDS[name][0], folder=str(whole))
        assert first["code"] == 0
        expected, killed, chance = contents(whole, name), 0, random.Random(name)
        when = moments(name, first["changes"], first["seconds"])
        for _ in range(KILLS):
            change, seconds = next(when)
            killed += process.ask(folder=str(folder), change=change, seconds=seconds)["killed"]
            for file, content in contents(folder, name).items():
                if file != "done.npz" and file != "made/manifest.json":  # both say how far the command was
                    assert content == expected[file], (file, change, seconds)
            # Some commands replace no file; the others start now and then from nothing.
            if name in ("fit", "record", "verify") or chance.getrandbits(1):
                _removed(folder, name)
        again = process.ask(folder=str(folder), change=-1, seconds=0.0)
    assert killed >= KILLS // 2
    assert again == {"killed": False, "code": 0}
    assert contents(folder, name) == expected


def _removed(folder: Path, name: str) -> None:
    """Remove what a command left under final names."""
    for made in COMMANDS[name][1]:
        if (folder / made).is_dir():
            shutil.rmtree(folder / made)
        (folder / made).unlink(missing_ok=True)
