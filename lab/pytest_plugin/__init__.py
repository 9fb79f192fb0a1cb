"""lab: pytest plugin: ``pytest OUT --kerncast-on BACKEND``, fixtures and markers.

Pytest loads this module in every environment in which kerncast is installed. Therefore, it imports little
more than pytest. The modules that run back ends are imported when the first test requests one.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ...sim.errors import KerncastError
from .ledger import ClosingTable, Ledger
from .running import BENCH, LEDGER, TARGETS, bench_of, is_real, marks_of, note, reported_errors

if TYPE_CHECKING:
    from ...sim.backend import Backend
    from ...sim.plan import Plan
    from ...sim.replay.vectors import Vectors
    from ..compare.ledger import Row


_MARKERS = (
    "kerncast(folder=None, spec=None): generated folder or spec that the test's back end runs, relative to "
    "the folder of the test",
    "kerncast_requires(*calls): skip the test on a back end without these calls: train, update, predict, "
    "state, save, restore, trace")


# ---- options ----
def pytest_addoption(parser: pytest.Parser) -> None:
    """Add command-line options, and their settings in pytest's configuration file."""
    group = parser.getgroup("kerncast", "kerncast: generated code on physical and emulated boards")
    group.addoption("--kerncast-on", action="append", default=[], metavar="BACKEND",
                    help="Back end, in the form of `kerncast test --on`; repeat the option for more: "
                         "host:gcc, emu:mps2-an386:qemu, board:ID@PORT. Generated folders among pytest's "
                         "arguments become tests, one per back end.")
    # How the port of a board was named before board:ID@PORT.
    group.addoption("--kerncast-port", action="append", default=[], help=argparse.SUPPRESS)
    group.addoption("--kerncast-flash", default="", metavar="PROGRAM",
                    help="Flash the images to physical boards first, with this program or `auto`.")
    group.addoption("--kerncast-predictions", type=int, default=0, metavar="COUNT",
                    help="Maximum number of predictions per call, for slow back ends; 0 for all.")
    parser.addini("kerncast_on", "Back ends to use if --kerncast-on is omitted, one per line.",
                  type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    """Register markers and plugins, and check the names of the back ends."""
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    config.stash[LEDGER] = Ledger()
    config.pluginmanager.register(config.stash[LEDGER], "kerncast-ledger")
    if not hasattr(config, "workerinput"):  # reports arrive where the workers are steered
        config.pluginmanager.register(ClosingTable(), "kerncast-closing-table")
    names = config.getoption("--kerncast-on") or config.getini("kerncast_on")
    config.stash[TARGETS] = _checked(config, names) if names else []


def _checked(config: pytest.Config, names: list[str]) -> list[str]:
    from ...hw.backends import at_port, check_name

    targets = list(dict.fromkeys(at_port(name, config.getoption("--kerncast-port")) for name in names))
    try:
        for target in targets:
            check_name(target)
    except KerncastError as error:
        raise pytest.UsageError(str(error)) from None
    if any(is_real(target) for target in targets) and \
            config.getoption("dist", "no") not in ("no", "loadgroup"):
        raise pytest.UsageError("several workers cannot open the port of one board\n    do: add --dist "
                                "loadgroup, which keeps each board on one worker")
    return targets


# ---- vector files as tests ----
def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a generated folder that contains vectors, if back ends are specified."""
    if file_path.name != "vectors.json" or not parent.config.stash[TARGETS]:
        return None
    if not (file_path.parent / "plan.json").is_file():
        return None
    from .vectors import VectorFile

    found: pytest.Collector = VectorFile.from_parent(parent, path=file_path)
    return found


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> str:
    """Return a hint if back ends are specified, but no test was found."""
    if items or not config.stash[TARGETS]:
        return ""
    return "kerncast: no test, and no generated folder with vectors\n    do: kerncast gen SPEC -o FOLDER"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise each test that uses a back end with the specified back ends."""
    if "kerncast_target" not in metafunc.fixturenames:
        return
    targets = metafunc.config.stash[TARGETS]
    unnamed = pytest.mark.skip(reason="no back end is named\n    do: pytest --kerncast-on host")
    found = [pytest.param(target, id=target, marks=marks_of(metafunc.config, target)) for target in targets]
    metafunc.parametrize("kerncast_target", found or [pytest.param("", id="none", marks=unnamed)],
                         scope="session")


# ---- the end of the run ----
def pytest_unconfigure(config: pytest.Config) -> None:
    """Close all open back ends."""
    if BENCH in config.stash:
        config.stash[BENCH].close()


# ---- fixtures ----
@pytest.fixture(scope="session")
def kerncast_ledger(pytestconfig: pytest.Config) -> Ledger:
    """Return the ledger, which records the values compared on each back end.

    If a test compares values itself, it calls ``record`` of the ledger.
    """
    return pytestconfig.stash[LEDGER]


@pytest.fixture(scope="session")
def kerncast_target() -> str:
    """Return the name of the back end as given with --kerncast-on.

    A test with this fixture runs once for each back end.
    """
    raise AssertionError("the plugin parametrises every test that uses this fixture")


@pytest.fixture
def kerncast_source(request: pytest.FixtureRequest) -> Path:
    """Return the folder or spec given in the marker ``kerncast`` of a test."""
    marker = request.node.get_closest_marker("kerncast")
    given = [value for value in (*marker.args, *marker.kwargs.values()) if value] if marker else []
    if marker is None or len(given) != 1 or not set(marker.kwargs) <= {"folder", "spec"}:
        pytest.fail("the test does not name the folder or spec that its back end runs\n    found: "
                    f"{marker or 'no marker kerncast'}\n    do: @pytest.mark.kerncast(folder=\"build/ecg\"), "
                    "or (spec=\"ecg.toml\")", pytrace=False)
    return Path(request.node.path.parent, given[0]).resolve()


@pytest.fixture
def kerncast_plan(request: pytest.FixtureRequest, kerncast_source: Path) -> Plan:
    """Return the plan of the test's folder or spec."""
    with reported_errors():
        plan = bench_of(request.config).material(kerncast_source).plan
    return plan


@pytest.fixture
def kerncast_backend(request: pytest.FixtureRequest, kerncast_source: Path, kerncast_target: str) -> Backend:
    """Return a back end in its initial state. Consecutive tests share one build."""
    required = [call for marker in request.node.iter_markers("kerncast_requires") for call in marker.args]
    _check_calls(required)
    with reported_errors():
        backend = bench_of(request.config).open(kerncast_source, kerncast_target)
    lacking = [call for call in required if call not in backend.calls]
    if lacking:
        pytest.skip(f"{kerncast_target} has no call {', '.join(lacking)}")
    return backend


def _check_calls(required: list[str]) -> None:
    """Fail a test that requires a call which does not exist.

    Otherwise, the test would be skipped on every back end.
    """
    from ...sim.replay.trace import TRACED_CALLS

    unknown = [str(call) for call in required if call not in TRACED_CALLS]
    if unknown:
        pytest.fail(f"the test requires a call that no back end has\n    found: {', '.join(unknown)}\n    "
                    f"allowed: {', '.join(sorted(TRACED_CALLS))}\n    do: correct "
                    "@pytest.mark.kerncast_requires(...)", pytrace=False)


@pytest.fixture
def kerncast_replay(request: pytest.FixtureRequest, kerncast_source: Path, kerncast_target: str,
                    kerncast_backend: Backend) -> Callable[..., Row]:
    """Return a function ``replay(vectors=None)`` that compares every value of vectors.

    The function replays the vectors on the test's back end. By default, they are the vectors of the folder.
    """
    def replayed(vectors: Vectors | None = None) -> Row:
        bench = bench_of(request.config)
        with reported_errors():
            row = bench.replay(kerncast_source, kerncast_target, vectors)
        note(request.node, kerncast_target, bench.material(kerncast_source).plan, row)
        return row

    return replayed
