"""Both engines, numba and plain Python, give the same words, without a warning of overflow."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kerncast.sim.jit as jit_module
from kerncast.sim.jit import COMPILED, jit

PROGRAM = Path(__file__).parent / "jit_words.py"


def lines(engine: str | None) -> list[str]:
    environment = {k: v for k, v in os.environ.items() if k != "KERNCAST_ENGINE"}
    if engine is not None:
        environment["KERNCAST_ENGINE"] = engine
    run = subprocess.run([sys.executable, "-W", "error::RuntimeWarning", str(PROGRAM)], check=False,
                         capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_plain_python_gives_numba_s_values_without_an_overflow_warning(
        require_tool: Callable[[str, str], str], ledger: Any) -> None:
    require_tool("python:numba", "python -m pip install numba")
    plain, compiled = lines("python"), lines(None)
    assert json.loads(plain[0]) == {"compiled": False, "numba": False}
    assert json.loads(compiled[0]) == {"compiled": True, "numba": True}
    assert len(plain) == len(compiled) == 1 + 2 * 3 * 3
    words = 0
    for left, right in zip(plain[1:], compiled[1:], strict=True):
        assert left == right
        words += sum(len(entry[1]) for entry in json.loads(left)[3])
    ledger.record(backend="model:python", words=words, mismatches=0, case="engines")


def test_without_numba_the_function_itself_runs() -> None:
    code = ("import sys; sys.modules['numba'] = None\n"
            "from kerncast.sim import jit\n"
            "f = lambda v: v + 1\n"
            "assert jit.jit(f) is f and not jit.COMPILED")
    environment = {k: v for k, v in os.environ.items() if k != "KERNCAST_ENGINE"}
    assert subprocess.run([sys.executable, "-c", code], check=False, env=environment).returncode == 0


@pytest.mark.skipif(not COMPILED, reason="the plain engine was asked for")
def test_a_compiled_function_keeps_its_name_and_docstring() -> None:
    def add_one(v: int) -> int:
        """One more."""
        return v + 1

    compiled = jit(add_one)
    assert (compiled(2), compiled.__name__, compiled.__doc__) == (3, "add_one", "One more.")


@pytest.mark.skipif(not COMPILED, reason="the plain engine was asked for")
def test_a_process_hands_numba_only_the_functions_that_it_calls() -> None:
    """And those that they call, when none of them is found on disk."""
    code = ("import numpy as np\n"
            "from kerncast.sim import primitives\n"
            "from kerncast.sim.jit import jit\n"
            "met = lambda name: '_callee' in vars(getattr(primitives, name))\n"
            "requantise = primitives.requantise\n"
            "twice = jit(lambda v: requantise(2 * v, 0, 0, -100, 100))\n"
            "assert not met('requantise') and not met('mac')\n"
            "assert [twice(v) for v in (3, 60)] == [6, 100]\n"
            "assert met('requantise') and not met('mac')\n"
            "assert '_dispatcher' not in vars(requantise) and requantise(5, 0, 0, -3, 3) == 3")
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was_found(enabled: bool) -> None:
    code = (f"import gc; {'pass' if enabled else 'gc.disable()'}\n"
            "from kerncast.sim import primitives\n"
            f"assert gc.isenabled() is {enabled}\n"
            f"assert primitives.saturate(5, 0, 3) == 3 and gc.isenabled() is {enabled}")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- the cache of compiled code ----
def test_a_changed_callee_in_a_subfolder_is_compiled_again(tmp_path: Path) -> None:
    """Numba stamps only the file of the function itself; the digest of the sources covers its callees."""
    pytest.importorskip("numba")
    room = tmp_path / "room"
    (room / "deep" / "deeper").mkdir(parents=True)
    source = Path(jit_module.__file__)
    for path in needed_modules(source):
        (room / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    for folder in (room, room / "deep", room / "deep" / "deeper"):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    callee = room / "deep" / "deeper" / "callee.py"
    (room / "caller.py").write_text("from .deep.deeper.callee import step\nfrom .jit import jit\n\n\n"
                                    "@jit\ndef twice(v):\n    return step(v) + step(v)\n", encoding="utf-8")
    answers = []
    for increment in (1, 10):
        callee.write_text("from ...jit import jit\n\n\n@jit\ndef step(v):\n"
                          f"    return v + {increment}\n", encoding="utf-8")
        done = subprocess.run([sys.executable, "-c", "from room.caller import twice; print(twice(0))"],
                              check=True, capture_output=True, text=True, cwd=tmp_path,
                              env={k: v for k, v in os.environ.items() if k != "KERNCAST_ENGINE"})
        answers.append(int(done.stdout))
    assert answers == [2, 20]


def imported_modules(path: Path, room: Path) -> set[Path]:
    """List the modules of `room` that `path` imports, lazily or not."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for place in [base, *(base / alias.name for alias in node.names)]:
                files = (place.with_suffix(".py"), place / "__init__.py")
                found |= {file for file in files if file.is_file()}
    return {file for file in found if file.is_relative_to(room)}


def needed_modules(path: Path) -> set[Path]:
    """List a module of sim and those that its import needs."""
    found, new = set[Path](), {path}
    while new:
        found |= new
        new = {other for each in new for other in imported_modules(each, path.parent)} - found
    return found


def test_the_digest_covers_every_compiled_module_and_what_it_imports() -> None:
    source = Path(jit_module.__file__)
    room = source.parent
    imports = {path: imported_modules(path, room) for path in room.rglob("*.py")}
    compiled = {path for path, used in imports.items() if source in used}
    needed = compiled.union(*(imports[path] for path in compiled))
    assert len(compiled) > 10
    assert sorted(needed - set(jit_module.compiled_sources())) == []
