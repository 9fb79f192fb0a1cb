"""The set-up fills each cache once, repeats what failed or was killed, and passes over what is full."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import kerncast

ROOT = Path(kerncast.__file__).resolve().parent
Fill = Callable[[], str]


@pytest.fixture
def warm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, with one cache whose content depends on a file of `tmp_path`."""
    spec = importlib.util.spec_from_file_location("warm", ROOT / ".ci" / "warm.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "warm", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "CACHES", {"stub": (lambda: None, "sys", ("*.source",))})
    (tmp_path / "one.source").write_text("1", encoding="utf-8")
    return module


@pytest.fixture
def runs(warm: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The exit statuses of the processes to come; each one is taken when it is started."""
    statuses: list[int] = []

    def run(command: list[str], **options: object) -> "subprocess.CompletedProcess[str]":
        return subprocess.CompletedProcess(command, statuses.pop(), "the end of the log")

    monkeypatch.setattr(warm.subprocess, "run", run)
    return statuses


def test_a_cache_is_filled_once_and_again_when_its_sources_change(
        warm: ModuleType, runs: list[int], tmp_path: Path) -> None:
    runs.append(0)
    assert warm.fill("stub", tmp_path) == "" == warm.fill("stub", tmp_path)
    (tmp_path / "one.source").write_text("2", encoding="utf-8")
    runs.append(0)
    assert warm.fill("stub", tmp_path) == "" == warm.fill("stub", tmp_path)
    assert runs == []


def test_a_fill_that_failed_is_reported_and_repeated(
        warm: ModuleType, runs: list[int], tmp_path: Path) -> None:
    runs += [0, 1, -9]
    for _ in range(2):
        assert "the end of the log" in warm.fill("stub", tmp_path)
        assert not (tmp_path / "stub.stamp").exists()
    assert warm.fill("stub", tmp_path) == ""
    assert runs == []


def test_a_cache_in_another_place_is_filled_there(warm: ModuleType, runs: list[int], tmp_path: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    runs += [0, 0]
    for place in ("one", "two"):
        monkeypatch.setenv("XDG_CACHE_HOME", place)
        assert warm.fill("stub", tmp_path) == ""
    assert runs == []


def test_the_specs_that_compile_the_integer_model_are_in_the_matrix(warm: ModuleType) -> None:
    matrix = (ROOT / "tests" / "host" / "cases.toml").read_text(encoding="utf-8")
    assert all(f"\n[{name}]" in matrix for name in warm.SPECS)
