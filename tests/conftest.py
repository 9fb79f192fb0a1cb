"""What every test shares: the machine's tools, the plugin's ledger, Hypothesis without chance."""

import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import build_cache as cached_builds
import pytest
from build_cache import BuildCache
from covering import leave_to_campaigns
from hypothesis import HealthCheck, settings
from typer.testing import CliRunner

from kerncast.cli.main import app
from kerncast.codegen.build import tools
from kerncast.lab.pytest_plugin.ledger import Ledger, missing_tool, tools_required

CAMPAIGN = os.environ.get("KERNCAST_CAMPAIGN") == "1"
# In CI, and under `make test`, a test that could not run is a failure and not a footnote.
STRICT = tools_required()

# `make test` gives the same verdict every time; `make campaign` looks for what nobody has seen yet.
settings.register_profile("test", derandomize=True, deadline=None, database=None)
settings.register_profile(
    "campaign", deadline=None, max_examples=10_000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("campaign" if CAMPAIGN else "test")

# xdist tells its workers the width of a terminal that they do not write to; output goes to a pipe here.
os.environ.pop("COLUMNS", None)

# A shell starts what runs in the background with Ctrl-C ignored, and so does everything that this starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# ---- tools of the machine ----
@pytest.fixture(scope="session")
def require_tool() -> Callable[[str, str], str]:
    """``require_tool(name, remedy)``: the path of a program, or of a Python module as ``python:NAME``.

    Where it is missing the test is skipped with the remedy, and fails in CI and under `make test`.
    """

    def find(name: str, remedy: str) -> str:
        if name.startswith("python:"):
            spec = importlib.util.find_spec(name.removeprefix("python:"))
            path = (spec.origin or name) if spec else None
        else:
            path = shutil.which(name)
        if not path:
            raise missing_tool(name, remedy)
        return path

    return find


@pytest.fixture(scope="session", autouse=True)
def one_cache_for_zig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Zig builds its own runtime once for all tests and workers, where it would for every build folder."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "zig-cache"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
            patch.setenv(name, os.environ.get(name, str(folder)))
        yield


@pytest.fixture(scope="session", autouse=True)
def build_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuildCache]:
    """Start the product's compilers through one cache, and those of Verilator's makefiles, in all tests."""
    base = tmp_path_factory.getbasetemp()
    store = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "builds"
    cache = BuildCache(store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tools, "subprocess", SimpleNamespace(
            run=cache.run, DEVNULL=subprocess.DEVNULL, CompletedProcess=subprocess.CompletedProcess))
        patch.setenv("OBJCACHE", shlex.join([sys.executable, "-I", "-S", cached_builds.__file__, str(store)]))
        yield cache


@pytest.fixture
def compile_anew(build_cache: BuildCache, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile everything in this test, for one that compares what two runs of a compiler write."""
    monkeypatch.delenv("OBJCACHE")
    build_cache.enabled = False
    yield
    build_cache.enabled = True


#: Test -> its cases that run by default, and those that only a campaign runs, whatever -k leaves out.
CASES = pytest.StashKey[dict[str, tuple[int, int]]]()


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Choose the cases of a test that run by default, while all of them are together; count both kinds."""
    made = yield
    items = [item for item in made or () if isinstance(item, pytest.Item)] if isinstance(made, list) else []
    leave_to_campaigns(items)
    if items:
        long = sum(item.get_closest_marker("campaign") is not None for item in items)
        counts = collector.config.stash.setdefault(CASES, {})
        counts[items[0].nodeid.partition("[")[0]] = (len(items) - long, long)
    return made


@pytest.fixture(scope="session")
def default_and_campaign_cases(pytestconfig: pytest.Config) -> dict[str, tuple[int, int]]:
    """Test -> its number of cases that run by default, and of those that only a campaign runs."""
    return pytestconfig.stash[CASES]


@pytest.hookimpl(trylast=True)  # after -k and -m, so that what they leave out is not counted
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long searches to `make campaign`; deselected, because nothing is missing."""
    if CAMPAIGN:
        return
    long = {item for item in items if item.get_closest_marker("campaign")}
    if long:
        config.hook.pytest_deselected(items=list(long))
        items[:] = [item for item in items if item not in long]
    if hasattr(config, "workeroutput"):  # every xdist worker collects every test
        config.workeroutput[CampaignTests.key] = len(long)
    else:
        config.pluginmanager.get_plugin(CampaignTests.key).count = len(long)


@pytest.fixture(scope="session")
def ledger(kerncast_ledger: Ledger) -> Ledger:
    """The recorder behind the closing table; call its ``record``."""
    return kerncast_ledger


# ---- a command, and a small folder that it generated ----
SMALL = Path(__file__).with_name("small.toml")


@pytest.fixture(scope="session")
def run() -> Callable[..., tuple[int, str, str]]:
    """``run(*arguments)``: a command in this process; its exit code, stdout and stderr."""

    def command(*arguments: str | Path) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="kerncast")
        assert "Traceback" not in result.stdout + result.stderr
        return result.exit_code, result.stdout, result.stderr

    return command


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The file of a spec that trains on twelve samples, its data beside it."""
    words = [str((7 * i * i) % 100 - 50) for i in range(12)]
    (tmp_path / "small.csv").write_text("\n".join(["y", *words, ""]))
    (tmp_path / "small.toml").write_text(SMALL.read_text(encoding="utf-8"))
    return tmp_path / "small.toml"


@pytest.fixture
def generated(run: Callable[..., tuple[int, str, str]], spec: Path) -> Path:
    """The folder generated from it."""
    out = spec.parent / "out"
    assert run("gen", spec, "-o", out)[0] == 0
    return out


# ---- what was left out ----
def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Read why a test was skipped; pytest reports it as (file, line, reason)."""
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else report.longreprtext.strip()


class LeftOut:
    """Gathers what was skipped, and in a strict run fails for it."""

    def __init__(self) -> None:
        # In order and once each: every xdist worker collects every module.
        self.skipped: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that was skipped."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped[f"{report.nodeid}: {_reason(report)}"] = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a whole module that was skipped, as `pytest.importorskip` does."""
        if report.skipped:
            self.skipped[f"{report.nodeid}: {_reason(report)}"] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a strict run that left something out."""
        if STRICT and self.skipped and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """In a strict run, print what did not run."""
        if STRICT and self.skipped:
            terminalreporter.section("left out, which fails this run")
            for line in self.skipped:
                terminalreporter.write_line(line)


class CampaignTests:
    """Count the tests that only a campaign runs, and report them below the closing table."""

    key = "campaign-tests"

    def __init__(self) -> None:
        self.count = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the count of an xdist worker that ends."""
        self.count = max(self.count, getattr(node, "workeroutput", {}).get(self.key, 0))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the count and the command that runs them."""
        if self.count:
            terminalreporter.write_line(
                f"tests that run in campaigns only: {self.count:,}; to run them too (hours): make campaign")


def pytest_configure(config: pytest.Config) -> None:
    """Gather rows where the reports arrive: in the one process, or in the one that steers the workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(LeftOut(), "left-out")
        config.pluginmanager.register(CampaignTests(), CampaignTests.key)
