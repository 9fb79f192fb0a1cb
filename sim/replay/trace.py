"""sim.replay: the trace of a run.

A trace contains the number of intermediate values, a hash of the first values up to a limit, and the value
that follows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..backend import ALL_CALLS, Backend
from ..errors import KerncastError, fail

#: The calls of a back end with trace hooks.
TRACED_CALLS = ALL_CALLS | {"trace"}
#: A limit that no run reaches: the hash covers all events.
NO_LIMIT = (1 << 32) - 1


@dataclass(frozen=True)
class Event:
    """Intermediate value with its position.

    Parameters
    ----------
    operation, signal : str
        Names as in the generated C: ``KC_TRACE(operation, signal, ...)``.
    step : int
        Step of the operation, such as m of a recursion, a slot or a diagonal; 0 if the operation has no
        steps.
    index : int
        Index within the signal.
    word : int
        The value.
    """

    operation: str
    signal: str
    step: int
    index: int
    word: int

    def __str__(self) -> str:
        return f"{self.operation}: {self.signal}[{self.index}] at step {self.step} is {self.word}"

    def as_dict(self) -> dict[str, Any]:
        """Return the event as a dictionary for ``--json``."""
        return {"operation": self.operation, "signal": self.signal, "step": self.step,
                "index": self.index, "word": self.word}


@dataclass(frozen=True)
class Trace:
    """Summary of the events between two calls of :meth:`TracedBackend.trace`.

    Parameters
    ----------
    count : int
        Number of events.
    folded : int
        32-bit hash of the first events, up to the limit.
    event : Event or None
        Event after the hashed ones; None if the number of events does not exceed the limit.
    """

    count: int
    folded: int
    event: Event | None


@runtime_checkable
class TracedBackend(Backend, Protocol):
    """Back end with trace hooks; its :attr:`calls` contain ``trace``."""

    def trace(self, limit: int) -> Trace:
        """Return the trace since the previous call, and start a new trace with `limit`.

        The limit of the returned trace is the one passed to the previous call.
        """


def no_hooks(name: str) -> KerncastError:
    """Create the error E433 for a back end without trace hooks."""
    return fail("E433", "this back end has no trace hooks", where="back end", value=name,
                allowed="model, host, wasm, emu:BOARD, board:PORT",
                remedy="choose one of the allowed values, or omit --bisect")
