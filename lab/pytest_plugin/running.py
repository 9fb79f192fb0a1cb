"""lab: run back ends and report results in pytest hooks and test items.

Pytest always imports this module. Therefore, it has few imports.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ...sim.errors import EXIT_TOOL_MISSING, KerncastError
from .ledger import Ledger, missing_tool

if TYPE_CHECKING:
    from ...sim.plan import Plan
    from ..compare.ledger import Row
    from .bench import Bench

TARGETS = pytest.StashKey[list[str]]()
LEDGER = pytest.StashKey[Ledger]()
BENCH = pytest.StashKey["Bench"]()


def is_real(target: str) -> bool:
    """Report whether a back end is a physical board, which only one process can open."""
    return target.startswith("board:")


def marks_of(config: pytest.Config, target: str) -> list[pytest.MarkDecorator]:
    """Return marks with which all tests of a physical board run in one xdist worker."""
    return [pytest.mark.xdist_group(target)] if is_real(target) and config.pluginmanager.hasplugin("xdist") \
        else []


def bench_of(config: pytest.Config) -> Bench:
    """Return the bench of a test run; it is created at the first use."""
    if BENCH not in config.stash:
        from .bench import Bench

        config.stash[BENCH] = Bench(config.getoption("--kerncast-flash"),
                                     config.getoption("--kerncast-predictions"))
    return config.stash[BENCH]


@contextlib.contextmanager
def reported_errors() -> Iterator[None]:
    """Convert an error in the block to a test result.

    A missing tool skips the test, and any other error fails it.
    """
    try:
        yield
    except KerncastError as error:
        if error.exit_code == EXIT_TOOL_MISSING:
            raise missing_tool(", ".join(problem.value for problem in error.problems),
                               "; ".join(dict.fromkeys(p.remedy for p in error.problems))) from None
        raise pytest.fail.Exception(str(error), pytrace=False) from None


def note(item: pytest.Item, target: str, plan: Plan, row: Row) -> None:
    """Add the result of a replay to the JUnit properties and to the ledger.

    A mismatch fails the test.
    """
    costs: dict[str, Any] = row.costs
    known = {"target": target, "plan": plan.hash,
             **{key: costs.get(key) for key in ("compiler", "flash", "ram", "stack")},
             **{f"{costs['unit']}_{call}": count for call, count in costs.get("counts", {}).items()}}
    item.user_properties += [(f"kerncast_{key}", value) for key, value in known.items() if value is not None]
    backend = target if is_real(target) else row.backend  # its name contains only the port
    item.config.stash[LEDGER].record(backend=backend, words=row.words, mismatches=row.mismatches,
                                      case=plan.name, first=row.first,
                                     remedy=f"kerncast test OUT --on {target} --bisect finds the place")
