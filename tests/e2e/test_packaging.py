"""The repository root is the package: under any name of the checkout, and as a wheel."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import kerncast
from kerncast.lab.workflow import shipped_spec

ROOT = Path(kerncast.__file__).resolve().parent
ROOMS = ("sim", "codegen", "templates", "firmware", "hw", "lab", "cli", "examples")


def run(*command: str | Path, cwd: Path, path: Path) -> str:
    """Run a command that finds `kerncast` in `path` before it finds this checkout."""
    env = os.environ | {"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of this checkout in a folder named `a-b`, which is no Python identifier."""
    copy = tmp_path_factory.mktemp("checkout") / "a-b"
    unwanted = shutil.ignore_patterns(".git", ".venv", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis")

    def ignored(folder: str, names: list[str]) -> set[str]:
        built = {"build"} if Path(folder) == ROOT else set()  # codegen/build is a package
        return built | set(unwanted(folder, names))

    shutil.copytree(ROOT, copy, ignore=ignored)
    return copy


@pytest.fixture(scope="module")
def sdist(checkout):
    """The source distribution of the copy."""
    out = checkout.parent / "sdist"
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    run(sys.executable, "-c", code, out, cwd=checkout, path=out)
    (built,) = out.glob("kerncast-*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel_file(sdist):
    """The wheel that pip makes of the source distribution, which so holds all that it takes."""
    out = sdist.parent.parent / "wheel"
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    run(*pip, "--wheel-dir", out, sdist, cwd=out.parent, path=out)
    (built,) = out.glob("kerncast-*.whl")
    return built


@pytest.fixture(scope="module")
def wheel(wheel_file):
    """That wheel, unpacked."""
    out = wheel_file.parent / "site"
    with zipfile.ZipFile(wheel_file) as archive:
        archive.extractall(out)
    return out


def environment(folder: Path) -> Path:
    """An empty virtual environment, without pip: its Python."""
    venv.create(folder)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(python: Path, *what: str | Path) -> None:
    """Install into an environment with the pip that is here."""
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile",
           "--no-warn-script-location"]
    run(*pip, *what, cwd=python.parent, path=python.parent / "none")


def test_a_checkout_of_any_name_imports_runs_and_tests_itself(checkout):
    link = checkout.parent / "src"
    link.mkdir()
    (link / "kerncast").symlink_to(checkout, target_is_directory=True)
    where = run(sys.executable, "-c", "import kerncast; print(kerncast.__file__)", cwd=link.parent, path=link)
    assert Path(where.strip()).resolve() == checkout / "__init__.py"
    assert "Usage: kerncast" in run(sys.executable, "-m", "kerncast", "--help", cwd=link.parent, path=link)
    pytest_ini = checkout / "tests" / "pytest.ini"
    mini = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", pytest_ini]
    mini += [checkout / "tests" / "unit" / "house" / "test_house.py", "-k", "import or public"]
    assert " passed" in run(*mini, cwd=link.parent, path=link)


def test_the_wheel_has_every_file_of_every_room(wheel):
    wanted = {
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    shipped = {path.relative_to(wheel / "kerncast").as_posix() for path in (wheel / "kerncast").rglob("*")}
    assert sorted((wanted | {"__init__.py", "__main__.py", "py.typed"}) - shipped) == []
    assert not {path.partition("/")[0] for path in shipped} & {"tests", "docs", "benchmarks"}


def test_the_package_list_names_every_package():
    listed = pyproject()["tool"]["setuptools"]["packages"]
    folders = {path.parent for room in ROOMS for path in (ROOT / room).rglob("__init__.py")}
    there = {".".join(["kerncast", *folder.relative_to(ROOT).parts]) for folder in folders}
    assert sorted(listed) == sorted(there | {"kerncast"})


def test_the_wheel_works_without_the_checkout(wheel):
    code = (
        "import kerncast; from importlib.resources import files; root = files('kerncast');"
        "print(kerncast.__file__, *((root / room).is_dir() for room in ('templates', 'firmware')))"
    )
    said = run(sys.executable, "-c", code, cwd=wheel, path=wheel).split()
    assert said == [str(wheel / "kerncast" / "__init__.py"), "True", "True"]
    assert "Usage: kerncast" in run(sys.executable, "-m", "kerncast", "--help", cwd=wheel, path=wheel)


def test_the_source_distribution_holds_what_the_wheel_has_and_no_more(sdist, wheel):
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    shipped = {path.relative_to(wheel / "kerncast").as_posix()
               for path in (wheel / "kerncast").rglob("*") if path.is_file()}
    assert sorted(shipped - held) == []
    assert {"LICENSE", "NOTICE", "README.md", "pyproject.toml"} <= held
    assert not {path.partition("/")[0] for path in held} & {"tests", "docs", "benchmarks", ".ci", ".git"}


def test_the_wheel_in_an_empty_environment_generates_what_this_checkout_does(wheel_file, tmp_path):
    python = environment(tmp_path / "venv")
    install(python, "--no-deps", "--no-index", wheel_file)
    (site,) = (tmp_path / "venv").rglob("site-packages")
    # Stands for the packages that it needs, so that the quick test asks no index.
    (site / "needed.pth").write_text("".join(f"{path}\n" for path in sys.path if "site-packages" in path))
    code = (
        "import sys, kerncast; from pathlib import Path; from kerncast.lab.workflow import shipped_spec\n"
        "assert Path(kerncast.__file__).is_relative_to(Path(sys.prefix)), kerncast.__file__\n"
        "plan = kerncast.plan(shipped_spec('ecg'))\n"
        "print(plan.hash, kerncast.generate(plan, sys.argv[1], 'cortex-m4').plan)"
    )
    said = run(python, "-c", code, tmp_path / "out", cwd=tmp_path, path=tmp_path / "none").split()
    assert said == [kerncast.plan(shipped_spec("ecg")).hash] * 2
    assert (tmp_path / "out" / "rt" / "kc_rt.h").read_bytes() == (ROOT / "firmware/rt/kc_rt.h").read_bytes()


@pytest.mark.campaign
def test_the_wheel_installed_from_the_index_runs_the_demo(wheel_file, tmp_path):
    python = environment(tmp_path / "venv")
    constraints = ["-c", ROOT / "requirements.lock"]
    install(python, *constraints, f"kerncast[demo] @ {wheel_file.as_uri()}")
    done = run(python, "-m", "kerncast", "demo", "-o", tmp_path / "demo", "--json", cwd=tmp_path,
               path=tmp_path / "none")
    found = json.loads(done)
    assert found["mismatches"] == 0 and found["words"] > 1000


def test_the_wheel_says_what_pyproject_says(wheel):
    (info,) = wheel.glob("kerncast-*.dist-info")
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    project = pyproject()["project"]
    assert f"\nVersion: {kerncast.__version__}\n" in metadata
    extras = [line.split()[1] for line in metadata.splitlines() if line.startswith("Provides-Extra: ")]
    assert sorted(extras) == sorted(project["optional-dependencies"])
    assert "kerncast = kerncast.__main__:main" in (info / "entry_points.txt").read_text(encoding="utf-8")
    assert {path.name for path in (info / "licenses").iterdir()} == {"LICENSE", "NOTICE"}


def test_the_lock_has_an_exact_version_for_every_requirement():
    def key(requirement: str) -> str:
        return requirement.partition("=")[0].partition(">")[0].strip().lower().replace("_", "-")

    locked = [line for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines() if line]
    locked = [line for line in locked if not line.startswith("#")]
    assert all(line.count("==") == 1 and " " not in line and "/" not in line for line in locked)
    ask = [sys.executable, ROOT / ".ci" / "requirements.py", "demo", "rtl", "test", "dev", "sweep", "synth"]
    wanted = run(*ask, cwd=ROOT, path=ROOT).splitlines()
    assert {key(line) for line in wanted} <= {key(line) for line in locked}
