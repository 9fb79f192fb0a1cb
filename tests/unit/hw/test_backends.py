"""One door to every back end: what it refuses, what it names, what it leaves behind."""

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerncast.codegen.build import compilers
from kerncast.codegen.build.compilers import host_compiler
from kerncast.codegen.build.host import HostBackend
from kerncast.codegen.firmware.image import OPTIMISATIONS
from kerncast.codegen.generate import generate
from kerncast.hw.backends import _OPENERS, NAMES, open_backend
from kerncast.sim.backend import Backend
from kerncast.sim.errors import EXIT_BAD_INPUT, EXIT_TOOL_MISSING, KerncastError
from kerncast.sim.model.statuses import BAD_ARGUMENT, NOT_TRAINED
from kerncast.sim.planner import make_plan
from kerncast.sim.replay.trace import TRACED_CALLS
from kerncast.sim.spec import Spec

GCC = "sudo apt-get install -y gcc libc6-dev"


def made(name: str = "probe", sigma: float = 2.0):
    return make_plan(Spec(model={"name": name, "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
                          output={"word": "s8f0"}, kernel={"sigma": sigma},
                          toeplitz={"n": 6, "lam": 0.5, "scheme": "uniform"}))


@pytest.fixture
def plan():
    return made()


@pytest.fixture
def leftovers(tmp_path, monkeypatch):
    """A folder for temporary files; calling the result lists what is left in it."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return lambda: sorted(p.name for p in folder.iterdir())


def refused(plan, name, **options) -> KerncastError:
    with pytest.raises(KerncastError) as caught:
        open_backend(plan, name, **options)
    return caught.value


@pytest.mark.parametrize("name", [
    "", "modell", "Model", "model:numpy", "host:tcc", "host:gcc:clang", "host::", "emu", "emu:", "board",
    "board:", "rtl", "rtl:", "rtl:icarus:none", "hosts", ":host", "wasm32",
])
def test_an_unknown_name_is_refused_with_the_forms_there_are(plan, leftovers, name):
    error = refused(plan, name)
    assert [p.code for p in error.problems] == ["E420"]
    assert error.exit_code == EXIT_BAD_INPUT
    assert all(form in error.problems[0].allowed for form in NAMES)
    assert leftovers() == []


@pytest.mark.parametrize("name", ["host:gcc:-O9", "host:-Ofast", "host:clang:-ffast-math", "host:-O0:-O2",
                                  "wasm:-O9", "wasm:gcc"])
def test_an_unknown_optimisation_level_is_refused_with_those_there_are(plan, leftovers, name):
    (problem,) = refused(plan, name).problems
    assert (problem.code, problem.value) == ("E325", name)
    assert all(level in problem.allowed for level in OPTIMISATIONS)
    assert leftovers() == []


@pytest.mark.parametrize("name", ["model", "host", "host:-O1"])
def test_an_opened_back_end_answers_the_protocol_and_leaves_nothing_behind(
        plan, leftovers, require_tool, name):
    require_tool("gcc", GCC)
    backend = open_backend(plan, name)
    assert isinstance(backend, Backend)
    assert backend.calls <= TRACED_CALLS
    y = np.array([1, 2, 3, 4, 5, 6])
    assert backend.train(None, y)["status"].tolist() == [0]
    assert backend.predict(np.array([[2]]))["status"].tolist() == [0]
    assert list(backend.state()) == [f.name for f in plan.memory]
    backend.reset()
    assert backend.predict(np.array([[2]]))["status"].tolist() == [NOT_TRAINED]
    assert set(backend.update(np.array([[2]]), np.array([1]))["status"]) == {BAD_ARGUMENT}
    backend.close()
    assert leftovers() == []


def test_a_back_end_on_a_user_s_folder_leaves_it_unchanged(plan, leftovers, require_tool, tmp_path):
    require_tool("gcc", GCC)
    generate(plan, tmp_path / "out")
    before = {p: p.is_file() and p.read_bytes() for p in (tmp_path / "out").rglob("*")}
    backend = open_backend(plan, "host:gcc", source=tmp_path / "out")
    backend.close()
    assert {p: p.is_file() and p.read_bytes() for p in (tmp_path / "out").rglob("*")} == before
    assert leftovers() == []


@pytest.mark.parametrize(("compiler", "command"), [
    ("gcc", "apt-get install -y gcc"), ("clang", "apt-get install -y clang"), ("zig", "pip install"),
    ("auto", "pip install"),
])
def test_a_missing_compiler_is_named_with_the_command_that_installs_it(
        plan, leftovers, monkeypatch, tmp_path, compiler, command):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: None)
    error = refused(plan, f"host:{compiler}" if compiler != "auto" else "host")
    assert [p.code for p in error.problems] == ["E511"]
    assert command in error.problems[0].remedy
    assert error.exit_code == EXIT_TOOL_MISSING
    assert compilers.available() == []
    assert leftovers() == []


def test_without_gcc_and_clang_the_compiler_that_pip_brings_is_taken(monkeypatch, tmp_path, require_tool):
    require_tool("python:ziglang", "python -m pip install ziglang")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert host_compiler().name == "zig"


def test_generated_code_of_another_plan_is_refused_before_it_is_called(
        plan, leftovers, require_tool, tmp_path):
    require_tool("gcc", GCC)
    for i, other in enumerate((made(sigma=2.5), made(name="other"))):
        generate(other, tmp_path / str(i))
        error = refused(plan, "host:gcc", source=tmp_path / str(i))
        assert [p.code for p in error.problems] == ["E413"]
        assert other.hash in str(error)
        assert plan.hash in str(error)
    assert leftovers() == []


def test_code_that_a_compiler_refuses_is_an_error_with_the_compilers_words(
        plan, leftovers, require_tool, tmp_path):
    require_tool("gcc", GCC)
    generate(plan, tmp_path / "out")
    (tmp_path / "out" / "probe_model.c").write_text("#error what the compiler says\n")
    error = refused(plan, "host:gcc", source=tmp_path / "out")
    assert [p.code for p in error.problems] == ["E320"]
    assert "what the compiler says" in str(error)
    assert leftovers() == []


def test_a_foreign_folder_is_refused_as_source(plan, leftovers, require_tool, tmp_path):
    require_tool("gcc", GCC)
    shutil.copytree(Path(__file__).parent, tmp_path / "theirs", ignore=shutil.ignore_patterns("__pycache__"))
    assert [p.code for p in refused(plan, "host:gcc", source=tmp_path / "theirs").problems] == ["E305"]
    assert leftovers() == []


def test_a_host_back_end_dropped_without_close_removes_its_folder(plan, leftovers, require_tool):
    require_tool("gcc", GCC)
    backend = HostBackend(plan, compiler="gcc")
    assert len(leftovers()) == 1
    with pytest.warns(ResourceWarning):
        del backend
    assert leftovers() == []


@pytest.mark.parametrize("name", ["model", "model:fxpmath", "host"])
@pytest.mark.parametrize(("x", "code"), [
    (np.zeros((2, 3), dtype=np.int64), "E248"), (np.zeros((2, 1), dtype=np.int64), "E248"),
    (np.full((2, 2), 256), "E246"), (np.full((2, 2), 0.5), "E244"), (np.full((2, 2), np.nan), "E245")])
def test_no_back_end_accepts_invalid_values_or_shapes(name: str, x: Any, code: str) -> None:
    spec = Spec(model={"name": "pair", "algorithm": "kernel_lms"}, input={"word": "u8f0", "columns": 2},
                output={"word": "s8f0"}, kernel={"sigma": 9.0}, online={"budget": 3, "eta": 0.5})
    backend = open_backend(make_plan(spec), name)
    try:
        before = backend.state()
        for call in (lambda: backend.update(x, np.zeros(2, dtype=np.int64)), lambda: backend.predict(x)):
            with pytest.raises(KerncastError, match=code):
                call()
        with pytest.raises(KerncastError, match="E248"):
            backend.update(np.zeros((2, 2), dtype=np.int64), np.zeros(3, dtype=np.int64))
        assert all((words == before[field]).all() for field, words in backend.state().items())
    finally:
        backend.close()


def test_a_training_of_wrong_length_leaves_every_back_end_unchanged() -> None:
    spec = Spec(model={"name": "tiny", "algorithm": "toeplitz_rls"}, input={"word": "u8f0"},
                output={"word": "s8f0"}, kernel={"sigma": 2.0},
                toeplitz={"n": 8, "lam": 0.5, "scheme": "uniform"})
    for name in ("model", "model:fxpmath", "host"):
        backend = open_backend(make_plan(spec), name)
        try:
            backend.train(None, np.arange(8))
            before = backend.state()
            assert backend.train(None, np.arange(7))["status"].tolist() == [BAD_ARGUMENT]
            assert all((words == before[field]).all() for field, words in backend.state().items())
        finally:
            backend.close()


def test_every_kind_of_back_end_is_named_once():
    assert {re.split(r"[:\[]", form)[0] for form in NAMES} == set(_OPENERS)
