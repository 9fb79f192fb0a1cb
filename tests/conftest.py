"""What every test shares: the ledger of compared words, the machine's tools, Hypothesis without chance."""

import importlib.util
import os
import shutil
import signal
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, settings

CAMPAIGN = os.environ.get("KERNCAST_CAMPAIGN") == "1"
# In CI, and under `make test`, a test that could not run is a failure and not a footnote.
STRICT = os.environ.get("CI", "").lower() in ("1", "true") or os.environ.get("KERNCAST_REQUIRE_TOOLS") == "1"

# `make test` gives the same verdict every time; `make campaign` looks for what nobody has seen yet.
settings.register_profile("test", derandomize=True, deadline=None, database=None)
settings.register_profile(
    "campaign", deadline=None, max_examples=10_000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("campaign" if CAMPAIGN else "test")

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
        if path is None:
            (pytest.fail if STRICT else pytest.skip)(f"missing tool: {name}; to add it: {remedy}")
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long searches to `make campaign`; deselected, because nothing is missing."""
    if CAMPAIGN:
        return
    long = [item for item in items if item.get_closest_marker("campaign")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]


# ---- the ledger: what was compared, on which back end ----
class Ledger:
    """Records compared words with the test that is running, so any fixture may use it, under xdist too."""

    def __init__(self) -> None:
        self.item: pytest.Item | None = None

    def record(self, *, backend: str, words: int, mismatches: int = 0, case: str = "") -> None:
        """Note that `words` words of `case` were compared on `backend`; a mismatch fails the test.

        Parameters
        ----------
        backend : str
            Name of the back end with what tells it apart, such as ``"host:gcc:-O2"``.
        words : int
            Number of words compared, at least one: a comparison of nothing proves nothing.
        mismatches : int
            Number of words that differ.
        case : str
            What was compared, such as ``"ecg16"``.
        """
        assert self.item is not None, "the ledger is for running tests"
        assert words > 0, f"{backend}: no word of {case or 'this case'} was compared"
        row = {"backend": backend, "words": int(words), "mismatches": int(mismatches), "case": case}
        self.item.user_properties.append(("ledger", row))
        assert mismatches == 0, f"{backend}: {mismatches} of {words} words differ in {case or 'this case'}"


_LEDGER = Ledger()


@pytest.fixture(scope="session")
def ledger() -> Ledger:
    """The recorder behind the closing table; call its ``record``."""
    return _LEDGER


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tell the ledger which test is running."""
    _LEDGER.item = item


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Read why a test was skipped; pytest reports it as (file, line, reason)."""
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else report.longreprtext.strip()


class ClosingTable:
    """Gathers the ledger's rows from the reports (under xdist they come from the workers) and prints them."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, object]] = {}
        # In order and once each: every xdist worker collects every module.
        self.skipped: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a test's rows once, with its last report, and note a skip."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped[f"{report.nodeid}: {_reason(report)}"] = None
        if report.when != "teardown":
            return
        for key, row in report.user_properties:
            if key != "ledger":
                continue
            empty = {"tests": set(), "cases": set(), "words": 0, "bad": 0}
            total = self.rows.setdefault(row["backend"], empty)
            total["tests"].add(report.nodeid)
            total["cases"].add(row["case"])
            total["words"] += row["words"]
            total["bad"] += row["mismatches"]

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
        """Print what ran on which back end, and in a strict run what did not run."""
        write = terminalreporter.write_line
        if self.rows:
            terminalreporter.section("what ran on which back end")
            width = max(len("back end"), *map(len, self.rows))
            write(f"{'back end':{width}}  tests  cases  words compared  mismatches")
            for name, row in sorted(self.rows.items()):
                write(
                    f"{name:{width}}  {len(row['tests']):5}  {len(row['cases']):5}  "
                    f"{row['words']:14,}  {row['bad']:10,}"
                )
            words, bad = (sum(row[key] for row in self.rows.values()) for key in ("words", "bad"))
            write(f"{'all':{width}}  {'':5}  {'':5}  {words:14,}  {bad:10,}")
        if STRICT and self.skipped:
            terminalreporter.section("left out, which fails this run")
            for line in self.skipped:
                write(line)


def pytest_configure(config: pytest.Config) -> None:
    """Gather rows where the reports arrive: in the one process, or in the one that steers the workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(ClosingTable(), "kerncast-closing-table")
