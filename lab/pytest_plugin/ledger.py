"""lab: print the number of values compared on each back end, after a pytest run."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

_ROWS = pytest.StashKey[list[dict[str, Any]]]()
#: Under this name the rows of a test travel with its last report, from xdist's workers too.
_CARRIED = "kerncast_ledger"


def tools_required() -> bool:
    """Report whether a missing tool fails a test, instead of skipping it.

    This is the case in CI, and if KERNCAST_REQUIRE_TOOLS is 1.
    """
    wanted = os.environ.get("KERNCAST_REQUIRE_TOOLS", os.environ.get("CI", ""))
    return wanted.lower() in ("1", "true")


def missing_tool(name: str, remedy: str) -> BaseException:
    """Return an exception that skips a test because a tool is missing.

    If :func:`tools_required` is true, the exception fails the test.
    """
    said = f"missing tool: {name}; to install it: {remedy}"
    if tools_required():
        return pytest.fail.Exception(said, pytrace=False)
    return pytest.skip.Exception(said)


class Ledger:
    """Ledger of the values that the current test has compared.

    Any fixture may use it. It also works with xdist.
    """

    def __init__(self) -> None:
        self.item: pytest.Item | None = None

    def record(self, *, backend: str, words: int, mismatches: int = 0, case: str = "",
               first: str = "", remedy: str = "") -> None:
        """Record that `words` values of `case` were compared on `backend`.

        A mismatch fails the test.

        Parameters
        ----------
        backend : str
            Full name of the back end, such as ``"host:gcc:-O2"``.
        words : int
            Number of values compared, at least one.
        mismatches : int
            Number of mismatches.
        case : str
            Name of the compared case, such as ``"ecg16"``.
        first : str
            Description of the first mismatch.
        remedy : str
            A command that finds the cause of the mismatch.
        """
        assert self.item is not None, "the ledger is available only while tests run"
        case = case or "this case"
        if words < 1:
            pytest.fail(f"{backend}: no value of {case} was compared", pytrace=False)
        row = {"backend": backend, "words": int(words), "mismatches": int(mismatches), "case": case}
        self.item.stash.setdefault(_ROWS, []).append(row)
        if mismatches:
            at = (f": {first}" if first else "") + (f"\n    do: {remedy}" if remedy else "")
            pytest.fail(f"{backend}: {mismatches} mismatches in {words} values of {case}{at}", pytrace=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Store the current test."""
        self.item = item

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None],
                                  ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the rows of a test to its last report, and their sums to its properties."""
        rows = item.stash.get(_ROWS, []) if call.when == "teardown" else []
        if rows:
            item.user_properties += [
                ("kerncast_backend", ", ".join(sorted({row["backend"] for row in rows}))),
                *((f"kerncast_{key}", sum(row[key] for row in rows)) for key in ("words", "mismatches"))]
        report = yield
        if rows:
            setattr(report, _CARRIED, rows)
        return report


class ClosingTable:
    """Plugin that prints a table of the values compared on each back end."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the rows of a test report to the table."""
        for row in getattr(report, _CARRIED, ()):
            empty = {"tests": set(), "cases": set(), "words": 0, "mismatches": 0}
            total = self.rows.setdefault(row["backend"], empty)
            total["tests"].add(report.nodeid)
            total["cases"].add(row["case"])
            total["words"] += row["words"]
            total["mismatches"] += row["mismatches"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table at the end of the run."""
        if not self.rows:
            return
        write = terminalreporter.write_line
        terminalreporter.section("tests per back end")
        width = max(len("back end"), *map(len, self.rows))
        write(f"{'back end':{width}}  tests  cases  values compared  mismatches")
        for name, row in sorted(self.rows.items()):
            write(f"{name:{width}}  {len(row['tests']):5}  {len(row['cases']):5}  "
                  f"{row['words']:14,}  {row['mismatches']:10,}")
        words, bad = (sum(row[key] for row in self.rows.values()) for key in ("words", "mismatches"))
        write(f"{'all':{width}}  {'':5}  {'':5}  {words:14,}  {bad:10,}")
