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


def driven(name: str, state: Path, *options: str) -> dict[str, int]:
    """Run the driver in a process of its own, whose memory and clock it watches."""
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.drive", name, "--state", str(state), *options],
        cwd=TESTS,
        env=os.environ | {"KERNCAST_ENGINE": "python"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, int] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_no_input_of_a_parser_ends_without_a_code(name: str, tmp_path: Path) -> None:
    assert driven(name, tmp_path, "--seconds", str(BUDGET), "--runs", "3000")["done"] >= 100


def test_a_search_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    drive("libsvm", 300, tmp_path / "libsvm.json")
    assert json.loads((tmp_path / "libsvm.json").read_text()) == {"done": 300}
    assert drive("libsvm", 400, tmp_path / "libsvm.json")["done"] == 400


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_ten_million_inputs_of_a_parser_end_with_a_code(name: str) -> None:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kerncast-fuzz"
    assert driven(name, cache, "--runs", str(RUNS))["done"] == RUNS
