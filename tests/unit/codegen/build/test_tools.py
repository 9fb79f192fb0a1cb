"""How a compiler is run: what it finds in its environment."""

import sys
from pathlib import Path

import pytest

from kerncast.codegen.build.tools import run_tool

NAMES = ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")


def caches(folder: Path) -> list[str]:
    """What a tool run in `folder` reads of zig's caches."""
    code = f"import os; print(*(os.environ[name] for name in {NAMES}), sep='\\n')"
    return run_tool([sys.executable, "-c", code], folder, folder / "work").stdout.splitlines()


def test_zig_puts_its_caches_beside_its_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    assert caches(tmp_path) == [str(tmp_path / "work" / "zig-cache")] * 2


def test_zig_keeps_its_caches_where_the_user_wants_them(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setenv(name, str(tmp_path / name))
    assert caches(tmp_path) == [str(tmp_path / name) for name in NAMES]
