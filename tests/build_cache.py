"""Compile the same source with the same flags once per session, in whichever worker asks first.

Hundreds of tests build images, libraries and programs of which most sources are alike. What a compiler is
given decides what it writes: its program, its arguments, and the content of the source and of every header
that it reads. A result is reused only if all of these are equal, and only if it was made without a word of
the compiler.

Makefiles start their compilers through this file run as a program, without any package: Verilator's put the
variable ``OBJCACHE`` before them.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

#: How the names of sources and headers end.
SOURCES, HEADERS = (".c", ".S", ".cpp"), (".h", ".hpp", ".inc")
#: Beside an object, the frames of its functions.
FRAMES = ".su"


def digest(data: bytes) -> str:
    """Digest bytes, as text."""
    return hashlib.sha256(data).hexdigest()


def compiler_of(words: Sequence[str], path: str | None) -> str | None:
    """Find the program of a command; None if there is none, or if what it writes names its folder.

    That of ``python -m ziglang`` is the compiler of this package. It writes where it ran, unless ``-g0`` asks
    for no such thing; and what it links depends on the libraries that it has built before.
    """
    if "ziglang" not in words:
        return shutil.which(words[0], path=path)
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None or not {"-c", "-g0"} <= set(words):
        return None
    return shutil.which(str(Path(package.origin).with_name("zig")))


class Command:
    """A command that compiles, taken apart.

    Parameters
    ----------
    words : sequence of str
        As :func:`subprocess.run` takes them.
    folder : Path
        Where it runs.
    """

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self.folder, self.includes = folder, [folder]
        self.output = folder / words[list(words).index("-o") + 1]
        self.arguments: list[str] = []
        self.sources: list[Path] = []
        for word in words[1:]:
            if word.startswith("-I"):
                self.includes.append(folder / word[2:])
            elif word.endswith(SOURCES):
                self.sources.append(Path(os.path.normpath(folder / word)))
                self.arguments.append(self.sources[-1].name)
            elif folder / word != self.output:
                self.arguments.append(word)
        #: Asks for the headers of the source; of several sources no compiler tells them.
        self.tells = "-c" in words and len(self.sources) == 1

    def key(self, program: str) -> str:
        """Digest the compiler, its arguments without the names of folders, and the sources."""
        stat = Path(program).resolve().stat()
        given = [program, stat.st_size, stat.st_mtime_ns, self.arguments, len(self.includes),
                 self.output.name, [digest(source.read_bytes()) for source in self.sources]]
        return digest(json.dumps(given).encode())

    def headers(self, rule: Path) -> Iterator[tuple[int, str]]:
        """Name what was included, by the place of its folder in the search; all there is if none is told."""
        if not self.tells:
            for index, place in enumerate(self.includes):
                for path in sorted(place.rglob("*")):
                    if path.suffix in (*HEADERS, *SOURCES) and "build" not in path.relative_to(place).parts:
                        yield index, path.relative_to(place).as_posix()
            return
        places = [Path(os.path.normpath(place)) for place in self.includes]
        for word in rule.read_text(encoding="utf-8").replace("\\\n", " ").partition(":")[2].split():
            path = Path(os.path.normpath(self.folder / word))
            inside = [(index, path.relative_to(place).as_posix())
                      for index, place in enumerate(places) if path.is_relative_to(place)]
            if path not in self.sources:
                yield min(inside, key=lambda one: len(one[1])) if inside else (-1, str(path))

    def read(self, index: int, name: str) -> str:
        """Digest a header; empty if it is missing, or if a folder that is searched earlier has one too."""
        path = Path(name) if index < 0 else self.includes[index] / name
        if self.tells and any((place / name).is_file() for place in self.includes[:max(index, 0)]):
            return ""
        return digest(path.read_bytes()) if path.is_file() else ""


class BuildCache:
    """What compilers wrote, by all that they read.

    Parameters
    ----------
    store : Path
        A folder that all workers share.
    """

    def __init__(self, store: Path) -> None:
        self._store = store
        self.enabled = True
        self.hits = self.misses = 0

    def run(self, words: Sequence[str], *, cwd: Path, env: dict[str, str],
            **options: Any) -> "subprocess.CompletedProcess[str]":
        """Stand in for :func:`subprocess.run` where the product starts a compiler."""
        program = compiler_of(words, env.get("PATH"))
        compiles = "-o" in words and any(word.endswith(SOURCES) for word in words)
        if not self.enabled or program is None or not compiles:
            return subprocess.run(words, cwd=cwd, env=env, **options)
        command = Command(words, Path(cwd))
        shelf = self._store / command.key(program)
        if self._found(shelf, command):
            self.hits += 1
            return subprocess.CompletedProcess(words, 0, "", "")
        self.misses += 1
        return self._made(shelf, command, words, env, options)

    def _found(self, shelf: Path, command: Command) -> bool:
        """Copy what was made from the same headers, if there is such a thing."""
        for entry in shelf.glob("*.d"):
            headers = json.loads((entry / "headers").read_text(encoding="utf-8"))
            told = command.tells or [h[:2] for h in headers] == [list(h) for h in command.headers(entry)]
            if told and all(command.read(index, name) == content for index, name, content in headers):
                shutil.copy(entry / "output", command.output)
                if (entry / "frames").is_file():
                    shutil.copy(entry / "frames", command.output.with_suffix(FRAMES))
                return True
        return False

    def _made(self, shelf: Path, command: Command, words: Sequence[str], env: dict[str, str],
              options: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
        """Compile, and keep what was made at one stroke."""
        shelf.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=shelf))
        rule, frames = new / "rule", command.output.with_suffix(FRAMES)
        frames.unlink(missing_ok=True)
        done = subprocess.run([*words, *(["-MMD", "-MF", str(rule)] if command.tells else [])],
                              cwd=command.folder, env=env, **options)
        if done.returncode == 0 and not done.stdout and not done.stderr and (
                rule.is_file() or not command.tells):
            headers = [(index, name, command.read(index, name)) for index, name in command.headers(rule)]
            (new / "headers").write_text(json.dumps(headers), encoding="utf-8")
            shutil.copy(command.output, new / "output")
            if frames.is_file():
                shutil.copy(frames, new / "frames")
            new.rename(new.with_suffix(".d"))
        else:
            shutil.rmtree(new)
        return done


def main(store: str, *words: str) -> int:
    """Run one compiler through the cache: what a makefile puts before it, as it would ``ccache``."""
    named = "-o" in words or "-c" not in words
    source = next((word for word in words if word.endswith(SOURCES)), "")
    done = BuildCache(Path(store)).run(
        [*words, *([] if named else ["-o", Path(source).with_suffix(".o").name])], cwd=Path.cwd(),
        env=dict(os.environ), capture_output=True, text=True, check=False)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
