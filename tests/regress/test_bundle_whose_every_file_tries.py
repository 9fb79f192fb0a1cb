"""A bundle or folder whose every file, name and kind of file tries to run code or to leave its place."""

import json
import os
import pickle
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from .forging import sha, with_digests

Run = Callable[..., tuple[int, str, str]]
SHELL = 'touch "{mark}"'
PYTHON = "open({mark!r}, 'w').close()\n"
#: What a file of each kind would do, if a program that reads such files read it.
PAYLOADS = {
    ".c": '\n__attribute__((constructor)) static void tries(void) {{ extern int system(const char *);'
    " (void)system(\"touch {mark}\"); }}\n",
    ".h": '\n#include "{mark}.h"\n',
    ".sv": '\nmodule tries; initial $system("touch {mark}"); endmodule\n',
    ".hpp": "\nstatic int tries = __builtin_system();\n",
    ".py": PYTHON,
    ".pth": "import os; " + PYTHON,
    ".md": "\n<script>tries()</script>\n",
    ".json": " ",
    ".toml": "\n# tries\n",
}
#: Files that a tool runs or obeys if it finds them, which no folder of kerncast contains.
MORE = {
    "conftest.py": PYTHON,
    "sitecustomize.py": PYTHON,
    "usercustomize.py": PYTHON,
    "setup.py": PYTHON,
    "numpy.py": PYTHON,
    "__init__.py": PYTHON,
    "all.pth": "import os; " + PYTHON,
    "setup.cfg": "[options]\ncmdclass = tries\n",
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "conftest"\nbackend-path = ["."]\n',
    "pytest.ini": "[pytest]\naddopts = -p conftest\n",
    "Makefile": "all:\n\t" + SHELL + "\n$(shell " + SHELL + ")\n",
    "CMakeLists.txt": 'execute_process(COMMAND sh -c "touch {mark}")\n',
    "build.zig": "comptime {{ @compileError(\"tries\"); }}\n",
    ".numba_config.yaml": "cache_dir: .\n",
    "matplotlibrc": "text.usetex: True\n",
    ".gdbinit": "shell " + SHELL + "\n",
    "a.sh": "#!/bin/sh\n" + SHELL + "\n",
}
#: Names that some system takes for another place, another file, or none at all.
NAMES = [
    *("../up.c", "rt/../../up.c", "/tmp/absolute.c", "//server/share.c", "..\\up.c", "rt\\up.c", "C:up.c"),
    *("C:\\up.c", "file:stream.c", "./small.h", "rt//kc_rt.h", "rt/./kc_rt.h", "small.h/", "small.h/in.c"),
    *("SMALL.H", "Rt/kc_rt.h", "\uff53mall.h", "sma\u200bll.h", "caf\u00e9.c", "cafe\u0301.c", "small.h "),
    *("small.h.", "CON", "nul.c", "rt/AUX.h", "COM1", "\x1b[2J.c", "a\nb.c", "\u202eh.c", "n" * 300 + ".c"),
    *("a/" * 1200 + "b.c", "verified.json", "spec.toml/", "."),
]


def pack(path: Path, files: dict[str, bytes], *more: tuple[zipfile.ZipInfo | str, bytes]) -> Path:
    """Write a bundle of files with a manifest that lists them, and more members."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("manifest.json", with_digests(files["manifest.json"], files))
        for name, data in files.items():
            if name not in ("manifest.json", "verified.json"):
                file.writestr(name, data)
        file.writestr("verified.json", '{"versions": {}}')
        for member, data in more:
            file.writestr(member, data)
    return path


@pytest.fixture
def files(generated: Path) -> dict[str, bytes]:
    """The files of a good folder, by name."""
    return {
        path.relative_to(generated).as_posix(): path.read_bytes()
        for path in sorted(generated.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that a payload would make; afterwards, nothing is found that no command was asked to write."""
    work = tmp_path / "work"
    (work / "temporary").mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(work / "temporary"))
    monkeypatch.chdir(work)
    yield work / "executed"
    assert not (work / "executed").exists()
    left = {path.name for path in tmp_path.iterdir()} - {"small.csv", "small.toml", "out", "work"}
    assert left <= {"evil", "evil.zip"} and not list((work / "temporary").iterdir())
    assert not Path("/tmp/absolute.c").exists()


def refused(run: Run, given: Path) -> str:
    """Verify, require a verdict of the documented form, and return it."""
    code, out, errors = run("verify", given, "--on", "host", "--flips", "2")
    if code == 1:
        assert out.startswith("NOT TRUSTED: ") and " differ, first in " in out.splitlines()[0]
        assert "\x1b" not in out
        return out
    assert code == 2 and str(given) in errors.splitlines()[0]
    assert "    found: " in errors and "    allowed: " in errors and "    do: " in errors
    assert "\x1b" not in errors and len(errors) < 5000
    return errors


def tried(files: dict[str, bytes], mark: Path) -> dict[str, bytes]:
    """Return files, each with its payload."""
    return {
        name: data + PAYLOADS.get(Path(name).suffix, "\n" + SHELL).format(mark=str(mark)).encode()
        for name, data in files.items()
    }


def folder_of(files: dict[str, bytes], folder: Path) -> Path:
    """Write files with a manifest that lists them."""
    for name, data in (files | {"manifest.json": with_digests(files["manifest.json"], files)}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_no_file_of_a_bundle_or_folder_runs(
    run: Run, files: dict[str, bytes], tmp_path: Path, quiet: Path
) -> None:
    more = {name: text.format(mark=str(quiet)).encode() for name, text in MORE.items()}
    for evil in (tried(files, quiet) | more, files | more, tried(files, quiet)):
        assert refused(run, pack(tmp_path / "evil.zip", evil)).startswith("NOT TRUSTED")
        assert refused(run, folder_of(evil, tmp_path / "evil")).startswith("NOT TRUSTED")
        shutil.rmtree(tmp_path / "evil")


@pytest.mark.covering
@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("listed", [True, False])
def test_a_name_of_a_member_leads_nowhere(
    run: Run, files: dict[str, bytes], tmp_path: Path, quiet: Path, name: str, listed: bool
) -> None:
    evil = files | {name: b"int x;\n"} if listed else files
    bundle = pack(tmp_path / "evil.zip", evil, *(() if listed else ((name, b"int x;\n"),)))
    refused(run, bundle)


def test_members_that_differ_by_case_or_form_only_are_reported(
    run: Run, files: dict[str, bytes], tmp_path: Path, quiet: Path
) -> None:
    for first, second in (("a.c", "A.c"), ("caf\u00e9.c", "cafe\u0301.c"), ("a.c", "a.c ")):
        evil = files | {first: b"int x;\n", second: b"int y;\n"}
        head = refused(run, pack(tmp_path / "evil.zip", evil)).splitlines()[0]
        assert first in head or second in head


def test_a_member_that_is_there_twice_is_refused(
    run: Run, files: dict[str, bytes], tmp_path: Path, quiet: Path
) -> None:
    for first, second in ((files["small.h"], b"int x;\n"), (b"int x;\n", files["small.h"])):
        with pytest.warns(UserWarning, match="Duplicate name"):
            bundle = pack(tmp_path / "evil.zip", files | {"small.h": first}, ("small.h", second))
        assert "E336" in refused(run, bundle)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR])
def test_a_member_of_another_kind_is_only_bytes(
    run: Run, files: dict[str, bytes], tmp_path: Path, quiet: Path, kind: int
) -> None:
    member = zipfile.ZipInfo("small_link.h")
    member.external_attr = (kind | 0o777) << 16
    target = b"/etc/passwd"
    manifest = json.loads(files["manifest.json"])
    manifest["files"]["small_link.h"] = sha(target)
    bundle = pack(tmp_path / "evil.zip", files, (member, target))
    assert "E336" in refused(run, bundle)
    with zipfile.ZipFile(bundle, "w") as file:
        for name, data in (files | {"manifest.json": json.dumps(manifest).encode()}).items():
            file.writestr(name, data)
        file.writestr("verified.json", '{"versions": {}}')
        file.writestr(member, target)
    assert "small_link.h" in refused(run, bundle)


@pytest.mark.parametrize("kind", ["link", "hard link", "folder link", "fifo", "folder", "long"])
def test_a_file_of_another_kind_in_a_folder_is_reported(
    run: Run, files: dict[str, bytes], tmp_path: Path, quiet: Path, kind: str
) -> None:
    secret = quiet.parent / "secret.h"
    secret.write_text("int secret;\n")
    evil = folder_of(files | {"rt/more.h": secret.read_bytes()}, tmp_path / "evil")
    if kind == "folder link":
        shutil.move(evil / "rt", quiet.parent / "rt")
        (evil / "rt").symlink_to(quiet.parent / "rt")
    elif kind == "long":
        manifest = json.loads((evil / "manifest.json").read_text())
        manifest["files"]["n" * 300] = sha(b"")
        (evil / "manifest.json").write_text(json.dumps(manifest))
    else:
        (evil / "rt" / "more.h").unlink()
        place = evil / "rt" / "more.h"
        {
            "link": lambda: place.symlink_to(secret),
            "hard link": lambda: os.link(secret, place),
            "fifo": lambda: os.mkfifo(place),
            "folder": place.mkdir,
        }[kind]()
    assert "int secret" not in refused(run, evil)


class Pickled:
    """A Python object that makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str, str]]:
        return open, (str(self.mark), "w")


def test_no_pickled_object_is_loaded(run: Run, spec: Path, quiet: Path, generated: Path) -> None:
    folder, objects = quiet.parent, np.array([Pickled(quiet)] * 4, dtype=object)
    np.savez(folder / "objects.npz", X=objects, y=objects)
    raw = pickle.dumps(Pickled(quiet))
    for name in ("plain.npz", "state.bin", "small.recording", "results.json"):
        (folder / name).write_bytes(raw)
    with zipfile.ZipFile(folder / "members.npz", "w") as file:
        for name in ("X.npy", "y.npy", "X", "y.pkl"):
            file.writestr(name, raw)
    row = ("--sigma", "1", "--scheme", "diagonal_mean", "-o", folder / "row.npz")
    np.savetxt(folder / "a.csv", np.arange(40.0).reshape(10, 4), delimiter=",", header="a,b,c,y", comments="")
    text = spec.read_text()
    for name in ("objects.npz", "members.npz", "plain.npz"):
        spec.write_text(text.replace("small.csv", str(folder / name)))
        for command in (
            ("check", spec),
            ("row", folder / name, *row),
            ("row", folder / "a.csv", *row, "--checkpoint", folder / name),
            ("init", "m", "--data", folder / name, "-o", folder / "m.toml"),
        ):
            code, _, errors = run(*command)
            assert code == 2 and "    found: " in errors and "    do: " in errors, command
    spec.write_text(text)
    for command in (
        ("hil", "replay", folder / "small.recording"),
        ("freeze", generated, folder / "state.bin", "-o", generated),
        ("report", spec, "--results", folder / "results.json", "-o", folder / "a.html"),
        ("verify", folder / "objects.npz"),
        ("sweep", folder / "plain.npz", "-o", folder / "run"),
    ):
        code, _, errors = run(*command)
        assert code == 2 and "    found: " in errors and "    do: " in errors, command
    assert not quiet.exists()
