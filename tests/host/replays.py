"""Comparisons with the integer model that tests of several algorithms share."""

from collections.abc import Callable

from kerncast.hw.backends import open_backend
from kerncast.lab.pytest_plugin.ledger import Ledger
from kerncast.sim.backend import Backend
from kerncast.sim.plan import Plan
from kerncast.sim.replay.trace import Trace
from kerncast.sim.replay.vectors import Vectors, replay


def words_replayed(plan: Plan, vectors: Vectors, backend: str, ledger: Ledger, case: str) -> int:
    """Replay vectors on a back end, record the result, and return how many equal values were compared."""
    opened = open_backend(plan, backend)
    try:
        found = replay(opened, vectors)
    finally:
        opened.close()
    ledger.record(backend=backend, words=found.words, mismatches=found.mismatches, case=case)
    assert found.mismatches == 0, found.first
    return found.words


def traces(plan: Plan, calls: Callable[[Backend], object]) -> list[Trace]:
    """The traces of the integer model and of the host, of all events in some calls."""
    found = []
    for backend in ("model", "host"):
        opened = open_backend(plan, backend, traced=True)
        opened.trace((1 << 32) - 1)
        calls(opened)
        found.append(opened.trace(0))
        opened.close()
    return found
