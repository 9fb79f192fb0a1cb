"""lab: find the first value in which a back end differs from the integer model.

The value is located by call, operation, step, signal and line of the generated C.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ...codegen.c.trace_hooks import find_hook
from ...hw.backends import open_backend
from ...sim.model import open_model
from ...sim.plan import Plan
from ...sim.replay.divergence import Divergence, Report, find_divergence
from ...sim.replay.trace import TracedBackend
from ...sim.replay.vectors import Vectors


@dataclass(frozen=True)
class Bisection:
    """Result of a bisection on one back end.

    Parameters
    ----------
    backend : str
    words, mismatches : int
        Number of compared values (results, state and trace), and of mismatches. In the trace, only the first
        mismatch is counted.
    first : str
        The first result that differs; empty if there is none.
    divergence : Divergence or None
        The first mismatch in the trace; None if there is none.
    hook : str
        ``file:line`` of the trace hook of `divergence` in the generated folder; empty if unknown.
    """

    backend: str
    words: int
    mismatches: int
    first: str
    divergence: Divergence | None
    hook: str

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for ``--json``."""
        divergence = self.divergence and {**self.divergence.as_dict(), "hook": self.hook}
        return {"backend": self.backend, "words": self.words, "mismatches": self.mismatches,
                "first": self.first, "divergence": divergence}

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of the report as pairs of name and value."""
        found = self.divergence
        if found is None:
            verdict = "in the results, although every traced value is equal" if self.mismatches else "nowhere"
            return [("differs", verdict)] + ([("answer", self.first)] if self.first else [])
        event = found.event
        sample = "" if found.sample is None else f", sample {found.sample}"
        return [("differs", f"in call {found.call} ({found.name}{sample}), after {found.equal} equal values"),
                ("operation", event.operation), ("step", str(event.step)),
                ("signal", f"{event.signal}[{event.index}]"),
                ("model", str(found.model or "has ended")), ("back end", str(found.device or "has ended")),
                ("hook", self.hook or "not in this folder"),
                ("answer", self.first or "no result differs")]


def bisect_backend(plan: Plan, vectors: Vectors, name: str, source: Path,
                   report: Report = lambda _: None) -> Bisection:
    """Open a back end with trace hooks, and find its first mismatch.

    Parameters
    ----------
    plan : Plan
    vectors : Vectors
    name : str
        A name for :func:`~kerncast.hw.backends.open_backend`.
    source : Path
        The folder generated from the plan.
    report : callable, optional
        Progress callback; receives the current step.

    Raises
    ------
    KerncastError
        E433 or E434 if the back end has no trace hooks; other errors if it cannot be opened, or fails.
    """
    device = cast(TracedBackend, open_backend(plan, name, source=source, traced=True))
    try:
        model = cast(TracedBackend, open_model(plan))
        result, found = find_divergence(model, device, vectors, report)
    finally:
        device.close()
    hook = find_hook(source, found.event.operation, found.event.signal) if found else ""
    return Bisection(device.name, result.words, result.mismatches, result.first, found, hook)
