"""lab: compare a back end with the integer model, and record its costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ...hw.backends import open_backend
from ...sim.backend import Backend, Outputs
from ...sim.plan import Plan
from ...sim.replay.vectors import Call, Vectors, replay

Progress = Callable[[Iterator[Call]], Iterator[Call]]


@dataclass(frozen=True)
class Row:
    """Comparison of one back end with the integer model.

    Parameters
    ----------
    backend : str
    words, mismatches : int
        Number of values compared, and number of mismatches.
    first : str
        Description of the first mismatch; empty if there is none.
    answers : tuple of dict
        The results of each call.
    costs : dict
        Costs, if known: ``flash``, ``ram`` and ``stack`` in bytes, and ``counts`` by call, in ``unit``.
    """

    backend: str
    words: int
    mismatches: int
    first: str = ""
    answers: tuple[Outputs, ...] = field(default=(), repr=False)
    costs: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the row, without the results, as a dictionary for ``--json``."""
        return {"backend": self.backend, "words": self.words, "mismatches": self.mismatches,
                "first": self.first, "costs": self.costs}


def run_backend(plan: Plan, vectors: Vectors, name: str, source: Path,
                progress: Progress = lambda calls: calls, waves: Path | None = None) -> Row:
    """Open a back end, replay test vectors on it, and compare the results.

    Parameters
    ----------
    plan : Plan
    vectors : Vectors
    name : str
        A name for :func:`~kerncast.hw.backends.open_backend`.
    source : Path
        The folder generated from the plan.
    progress : callable, optional
        Wraps the iteration over the calls, to show progress.
    waves : path, optional
        A folder for the waveforms of an RTL simulation.

    Returns
    -------
    Row

    Raises
    ------
    KerncastError
        If the back end cannot be opened or fails.
    """
    backend = open_backend(plan, name, source=source, state=vectors.state, waves=waves)
    try:
        return replay_on(backend, vectors, progress)
    finally:
        backend.close()


def replay_on(backend: Backend, vectors: Vectors, progress: Progress = lambda calls: calls) -> Row:
    """Replay test vectors on an open back end, and compare the results."""
    result = replay(backend, vectors, progress)
    costs = cast(Any, backend).costs() if hasattr(backend, "costs") else {}
    return Row(backend.name, result.words, result.mismatches, result.first, tuple(result.answers), costs)
