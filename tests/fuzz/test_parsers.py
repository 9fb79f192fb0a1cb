"""Every parser of foreign input ends in a result or in an error with a code, whatever it is given."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .drive import drive

TESTS = Path(__file__).parent.parent
NAMES = [
    "toml",
    "edited_spec",
    "sweep_table",
    "csv",
    "table",
    "npz",
    "wav",
    "libsvm",
    "model",
    "plan",
    "vectors",
    "manifest",
    "bundle",
    "sweep_database",
    "checkpoint",
    "frames",
    "saved_state",
    "recording",
    "results",
    "http",
]
#: Seconds of each parser in `make test`; inputs in all of each in `make campaign`.
BUDGET, RUNS = 2.0, 10**7


def driven(name: str, state: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the driver, which watches memory and clock of a process per parser."""
    return subprocess.run(
        [sys.executable, "-m", "fuzz.drive", name, "--state", str(state), *options],
        cwd=TESTS,
        env=os.environ | {"KERNCAST_ENGINE": "python"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, int], str]:
    """By parser, the inputs that were done in its seconds; and what the driver said."""
    done = driven("all", tmp_path_factory.mktemp("fuzz"), "--seconds", str(BUDGET), "--runs", "3000")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {each["parser"]: each["done"] for each in found}, done.stderr[-9000:]


@pytest.mark.parametrize("name", NAMES)
def test_no_input_of_a_parser_ends_without_a_code(name: str, quick: tuple[dict[str, int], str]) -> None:
    done, said = quick
    assert name in done, said
    assert done[name] >= 100


def test_every_parser_is_among_those_named(quick: tuple[dict[str, int], str]) -> None:
    assert sorted(quick[0]) == sorted(NAMES)


def test_a_search_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    drive("libsvm", 300, tmp_path / "libsvm.json")
    assert json.loads((tmp_path / "libsvm.json").read_text()) == {"done": 300}
    assert drive("libsvm", 400, tmp_path / "libsvm.json")["done"] == 400


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_ten_million_inputs_of_a_parser_end_with_a_code(name: str) -> None:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kerncast-fuzz"
    done = driven(name, cache, "--runs", str(RUNS))
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout)["done"] == RUNS
