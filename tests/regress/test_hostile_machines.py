"""Schedulers, boards, disks and signals that misbehave: each ends in a code, soon, without a traceback."""

import errno
import io
import os
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import typer

import kerncast
from kerncast.cli._guard import guarded
from kerncast.hw.hil import board_backend
from kerncast.hw.hil.board_backend import BoardBackend
from kerncast.lab.sweep.store import Store
from kerncast.sim.errors import KerncastError
from kerncast.sim.reference.first_row import cluster, first_row

Run = Callable[..., tuple[int, str, str]]
X = np.arange(40.0).reshape(20, 2)


# ---- [sweep] ----
@pytest.mark.parametrize(("line", "code"), [
    ('grid = {"a.b.c.d" = [1]}', "E103"), ('grid = {"kernel.sigma" = "nan..inf/3"}', "E360"),
    ('grid = {"kernel.sigma.x" = [1]}', "E103"), ('objectives = ["zzz"]', "E362"),
    ("constraints = [\"__import__('os') <= 1\"]", "E363")])
def test_check_refuses_a_sweep_that_cannot_run(run: Run, spec: Path, line: str, code: str) -> None:
    spec.write_text(spec.read_text() + f"[sweep]\n{line}\n")
    status, _, err = run("check", spec)
    assert status == 2 and code in err


def test_check_accepts_a_sweep_whose_axes_come_from_options(run: Run, spec: Path) -> None:
    spec.write_text(spec.read_text() + '[sweep]\nobjectives = ["error"]\n')
    assert run("check", spec)[0] == 0


# ---- schedulers ----
@pytest.mark.parametrize("address", [
    "garbage", "", "tls://127.0.0.1:1", "wss://127.0.0.1:1", "http://127.0.0.1:1", "tcp://127.0.0.1:99999",
    "tcp://a b", "inproc://x", "tcp://127.0.0.1:1", "tcp://no.invalid:1"])
def test_a_wrong_address_makes_no_client(monkeypatch: pytest.MonkeyPatch, require_tool: Callable[..., None],
                                         address: str) -> None:
    require_tool("python:distributed", "python -m pip install distributed")
    import distributed

    monkeypatch.setattr(distributed, "Client", None)
    with pytest.raises(KerncastError, match="E262"):
        first_row(X, 1.5, "diagonal_mean", scheduler=address)


@pytest.fixture
def mute() -> Iterator[str]:
    """The place of a server that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("scheme", ["tcp", "tls", "wss"])
def test_a_server_that_is_silent_is_given_up(monkeypatch: pytest.MonkeyPatch, mute: str, scheme: str,
                                             require_tool: Callable[..., None]) -> None:
    require_tool("python:distributed", "python -m pip install distributed")
    import distributed

    monkeypatch.setattr(cluster, "_PROBE", 0.2)
    monkeypatch.setattr(distributed, "Client", None)
    monkeypatch.setattr(distributed.Security, "get_connection_args",
                        lambda self, role: {"ssl_context": ssl._create_unverified_context()})
    with pytest.raises(KerncastError, match="E262"):
        first_row(X, 1.5, "diagonal_mean", scheduler=f"{scheme}://{mute}")


# ---- boards ----
def test_a_counter_that_runs_faster_than_any_board_is_not_believed() -> None:
    board = BoardBackend.__new__(BoardBackend)
    board.counter = board_backend.Counter(kind="file", unit="cycles")
    board.tallies = {"predict": board_backend.Tally()}
    claimed = (1 << 63, 0)
    board.client = type("Client", (), {"counters": lambda self: claimed,  # type: ignore[assignment]
                                       "link": type("Link", (), {"name": "pty"})})()
    with pytest.raises(KerncastError, match="E414"):
        board._count("predict", 1, time.monotonic())
    claimed = (168_000_000, 12)
    board._count("predict", 1, time.monotonic())
    assert board.tallies["predict"].each == 168_000_000 - 12


@pytest.mark.parametrize("claimed", [(1 << 30, 1 << 31), (4096, 65_537), (9, 8)])
def test_a_stack_that_exceeds_the_ram_of_the_board_is_not_believed(claimed: tuple[int, int]) -> None:
    board = BoardBackend.__new__(BoardBackend)
    board.image = SimpleNamespace(  # type: ignore[assignment]
        board=SimpleNamespace(memory=SimpleNamespace(ram_bytes=65_536)))
    board.client = SimpleNamespace(stack=lambda: claimed,  # type: ignore[assignment]
                                   link=SimpleNamespace(name="pty"))
    with pytest.raises(KerncastError, match="E414"):
        board.costs()


# ---- a full disk ----
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named_with_its_remedy(number: int) -> None:
    @guarded
    def command() -> None:
        raise OSError(number, os.strerror(number))

    with pytest.raises(typer.Exit) as caught, redirect_stderr(io.StringIO()) as errors:
        command()
    assert caught.value.exit_code == 2
    assert "E191" in errors.getvalue() and "do: free some space" in errors.getvalue()


def test_a_full_disk_is_not_reported_as_damage(tmp_path: Path) -> None:
    store = Store(tmp_path, new=True)
    (pages,) = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(KerncastError) as caught:
        store.put(identity=["x" * 100_000])
    store.close()
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    assert caught.value.problems[0].code == "E191" and "resumes" in caught.value.problems[0].remedy


# ---- Ctrl-C before the first line ----
def test_an_interruption_while_modules_load_is_one_line(tmp_path: Path) -> None:
    package = Path(kerncast.__file__).parent
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "typer.py").write_text("import sys, time\nprint('loading', flush=True)\ntime.sleep(60)\n")
    path = os.pathsep.join([str(slow), *sys.path])
    with subprocess.Popen([sys.executable, "-m", "kerncast", "check", str(package)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=os.environ | {"PYTHONPATH": path}) as running:
        assert running.stdout is not None and running.stdout.readline() == "loading\n"
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "interrupted\n")


def test_an_interruption_of_the_first_import_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "signal.py").write_text("raise KeyboardInterrupt\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run([sys.executable, "-c", "import kerncast.__main__"], capture_output=True, text=True,
                          check=False, env=os.environ | {"PYTHONPATH": path})
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
