"""The suite's own cache of builds: a result is reused only where the compiler would write the same."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from build_cache import BuildCache

FLAGS = ["-O1", "-Wall", "-Werror", "-fstack-usage"]
Compile = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def cache(tmp_path: Path, require_tool: Callable[[str, str], str]) -> BuildCache:
    """An empty cache."""
    require_tool("gcc", "sudo apt-get install -y gcc libc6-dev")
    return BuildCache(tmp_path / "store")


@pytest.fixture
def project(tmp_path: Path) -> Callable[[str], Path]:
    """``project(name)``: a folder with a source, a header in a folder of its own, and one that none reads."""
    def made(name: str) -> Path:
        folder = tmp_path / name
        (folder / "rt").mkdir(parents=True)
        (folder / "rt" / "gain.h").write_text("#define GAIN 3\n", encoding="utf-8")
        (folder / "other.h").write_text(f"/* {name} */\n", encoding="utf-8")
        (folder / "a.c").write_text('#include "gain.h"\nint f(int v);\nint f(int v) { return GAIN * v; }\n',
                                    encoding="utf-8")
        (folder / "b.c").write_text("int g(int v);\nint g(int v) { return v; }\n", encoding="utf-8")
        return folder

    return made


def compile_one(cache: BuildCache, folder: Path, *flags: str) -> bytes:
    (folder / "a.o").unlink(missing_ok=True)
    done = cache.run(["gcc", *FLAGS, *flags, "-I.", "-Irt", "-c", "a.c", "-o", "a.o"], cwd=folder,
                     env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (folder / "a.o").read_bytes()


def link_both(cache: BuildCache, folder: Path) -> bytes:
    done = cache.run(["gcc", "-O1", "-shared", "-fPIC", "-Irt", "a.c", "b.c", "-o", "both.so"], cwd=folder,
                     env=dict(os.environ), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (folder / "both.so").read_bytes()


def test_the_same_source_in_another_folder_is_compiled_once(
        cache: BuildCache, project: Callable[[str], Path]) -> None:
    one, two = project("one"), project("two")
    assert compile_one(cache, one) == compile_one(cache, two)
    assert (cache.hits, cache.misses) == (1, 1)
    assert (two / "a.su").read_text(encoding="utf-8") == (one / "a.su").read_text(encoding="utf-8") != ""


def test_zig_compiles_the_same_source_once_unless_it_writes_where_it_ran(
        cache: BuildCache, project: Callable[[str], Path], require_tool: Callable[[str, str], str]) -> None:
    require_tool("python:ziglang", "python -m pip install ziglang")

    def compiled(folder: Path, *flags: str) -> bytes:
        words = [sys.executable, "-m", "ziglang", "cc", *flags, "-I.", "-Irt", "-c", "a.c", "-o", "a.o"]
        done = cache.run(words, cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return (folder / "a.o").read_bytes()

    one, two = project("one"), project("two")
    assert compiled(one, "-O2", "-g0") == compiled(two, "-O2", "-g0")
    assert (cache.hits, cache.misses) == (1, 1)
    (two / "rt" / "gain.h").write_text("#define GAIN 5\n", encoding="utf-8")
    assert compiled(one, "-O2", "-g0") != compiled(two, "-O2", "-g0")
    assert str(one).encode() in compiled(one, "-O2", "-g")
    assert (cache.hits, cache.misses) == (2, 2)


@pytest.mark.parametrize(("file", "text"), [
    ("rt/gain.h", "#define GAIN 5\n"), ("gain.h", "#define GAIN 7\n"), ("a.c", "int f = 1;\n")])
def test_a_change_of_what_the_compiler_reads_is_compiled_anew(
        cache: BuildCache, project: Callable[[str], Path], file: str, text: str) -> None:
    """Of a header too that is found before the one that was read."""
    folder = project("one")
    before = compile_one(cache, folder)
    (folder / file).write_text(text, encoding="utf-8")
    assert compile_one(cache, folder) != before
    assert (cache.hits, cache.misses) == (0, 2)


def test_other_flags_are_compiled_anew(cache: BuildCache, project: Callable[[str], Path]) -> None:
    folder = project("one")
    assert compile_one(cache, folder, "-DF=1") != b"" != compile_one(cache, folder, "-DF=2")
    assert (cache.hits, cache.misses) == (0, 2)


def test_several_sources_are_built_anew_if_any_header_beside_them_changes(
        cache: BuildCache, project: Callable[[str], Path]) -> None:
    folder = project("one")
    assert link_both(cache, folder) == link_both(cache, folder)
    assert (cache.hits, cache.misses) == (1, 1)
    (folder / "other.h").write_text("/* changed */\n", encoding="utf-8")
    link_both(cache, folder)
    assert (cache.hits, cache.misses) == (1, 2)


def test_what_the_compiler_refused_or_warned_of_is_not_kept(
        cache: BuildCache, project: Callable[[str], Path]) -> None:
    folder = project("one")
    (folder / "a.c").write_text("int f(void) { int unused; return 0; }\n", encoding="utf-8")
    for _ in range(2):
        done = cache.run(["gcc", "-Wall", "-c", "a.c", "-o", "a.o"], cwd=folder, env=dict(os.environ),
                         capture_output=True, text=True, check=False)
        assert "unused" in done.stderr
    assert (cache.hits, cache.misses) == (0, 2)


def test_a_makefile_compiles_through_it_with_and_without_a_named_object(
        cache: BuildCache, project: Callable[[str], Path], tmp_path: Path) -> None:
    """As Verilator's makefiles do; what is compiled for one is found by all the others."""
    plain, store = project("plain"), tmp_path / "store"
    wanted = compile_one(cache, plain, "-DF=1")
    command = shlex.join([*shlex.split(os.environ["OBJCACHE"])[:-1], str(store)])
    for name, named in (("one", "-o a.o"), ("two", "")):
        folder = project(name)
        done = subprocess.run(
            f"{command} gcc {shlex.join(FLAGS)} -DF=1 -I. -Irt -c a.c {named}", cwd=folder, shell=True,
            capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")
        assert (folder / "a.o").read_bytes() == wanted
    assert len(list(store.glob("*/*.d"))) == 1


def test_a_makefile_hears_what_the_compiler_refuses(project: Callable[[str], Path]) -> None:
    folder = project("one")
    (folder / "a.c").write_text("int f(void) { return g; }\n", encoding="utf-8")
    done = subprocess.run("$OBJCACHE gcc -c a.c", cwd=folder, shell=True, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1
    assert "undeclared" in done.stderr
