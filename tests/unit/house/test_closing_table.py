"""The suite's own promises: the closing table adds up, and nothing is left out in silence."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[2]

COMPARING = """
import pytest

@pytest.fixture(scope="module")
def built(ledger):
    ledger.record(backend="host:gcc:-O2", words=5, case="build")

@pytest.mark.parametrize("case", ["ecg16", "ecg32"])
def test_words(case, ledger, built):
    ledger.record(backend="host:gcc:-O2", words=1000, case=case)
    ledger.record(backend="emu", words=7, case=case)
"""

DIFFERING = """
def test_words(ledger):
    ledger.record(backend="rtl", words=10, mismatches=3, case="digits")
"""

SKIPPING = """
def test_tool(require_tool):
    require_tool("no-such-program", "apt-get install no-such-package")
"""

SKIPPED_MODULE = """
import pytest
pytest.importorskip("no_such_module")
"""

LONG = """
import pytest

@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(1234))
def test_long(seed): pass

def test_short(): pass
"""


def run(folder: Path, test: str, *options: str, strict: bool = False) -> subprocess.CompletedProcess[str]:
    for name in ("conftest.py", "build_cache.py", "covering.py", "pytest.ini"):
        shutil.copy(TESTS / name, folder)
    (folder / "test_it.py").write_text(test, encoding="utf-8")
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "KERNCAST_"))}
    env |= {"CI": "false", "KERNCAST_REQUIRE_TOOLS": "1" if strict else "0"}
    # Plugins that these runs do not use take two thirds of their time.
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-c", str(folder / "pytest.ini"), "-p", "xdist",
               str(folder), *options]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_closing_table_adds_up_when_workers_share_the_tests(tmp_path):
    done = run(tmp_path, COMPARING, "-n", "2", "--dist", "loadfile")
    table = [line.split() for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stdout
    assert ["host:gcc:-O2", "2", "3", "2,005", "0"] in table
    assert ["emu", "2", "2", "14", "0"] in table
    assert ["all", "2,019", "0"] in table


def test_a_mismatch_fails_the_test_and_shows_in_the_table(tmp_path):
    done = run(tmp_path, DIFFERING)
    assert done.returncode == 1
    assert "rtl: 3 mismatches in 10 values of digits" in done.stdout
    assert ["rtl", "1", "1", "10", "3"] in [line.split() for line in done.stdout.splitlines()]


def test_a_missing_tool_is_reported_with_its_remedy(tmp_path):
    done = run(tmp_path, SKIPPING)
    assert done.returncode == 0
    assert "missing tool: no-such-program; to install it: apt-get install no-such-package" in done.stdout


@pytest.mark.parametrize(
    ("test", "workers"), [(SKIPPING, "0"), (SKIPPED_MODULE + COMPARING, "2")], ids=["tool", "module"]
)
def test_whatever_was_left_out_fails_a_strict_run(tmp_path, test, workers):
    (tmp_path / "test_other.py").write_text("def test_passes(): pass\n", encoding="utf-8")
    done = run(tmp_path, test, "-n", workers, strict=True)
    assert done.returncode == 1, done.stdout
    assert "no-such-program" in done.stdout or "no_such_module" in done.stdout


@pytest.mark.parametrize(("options", "count"), [
    ((), "1,234"), (("-n", "2"), "1,234"), (("-k", "12 or short"), "66")])
def test_tests_that_only_a_campaign_runs_are_counted_below_the_table(tmp_path, options, count):
    done = run(tmp_path, LONG, *options)
    assert done.returncode == 0, done.stdout
    assert f"tests that run in campaigns only: {count}; to run them too (hours): make campaign" in done.stdout
