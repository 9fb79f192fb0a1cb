"""sim.replay: the trace of a run.

A trace contains the number of computed values, their hash, and one of the values.
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
    """Computed value and its position.

    Parameters
    ----------
    operation, signal : str
        Names as in the generated C: ``KC_TRACE(operation, signal, ...)``.
    step : int
        Step of the operation: m of a recursion, the slot or the diagonal; 0 if the operation has no steps.
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
        """Return a dictionary for ``--json``."""
        return {"operation": self.operation, "signal": self.signal, "step": self.step,
                "index": self.index, "word": self.word}


@dataclass(frozen=True)
class Trace:
    """Events between two calls of :meth:`TracedBackend.trace`.

    Parameters
    ----------
    count : int
        Number of events.
    folded : int
        32-bit hash of the first `limit` events.
    event : Event or None
        Event number `limit`, counted from 0; None if there were at most `limit` events.
    """

    count: int
    folded: int
    event: Event | None


@runtime_checkable
class TracedBackend(Backend, Protocol):
    """Back end with trace hooks; ``trace`` is one of its :attr:`calls`."""

    def trace(self, limit: int) -> Trace:
        """Return the trace since the last call, and restart it with `limit`.

        The limit of the returned trace is that of the previous call.
        """


def no_hooks(name: str) -> KerncastError:
    """Return the error E433 of a back end without trace hooks."""
    return fail("E433", "this back end has no trace hooks", where="back end", value=name,
                allowed="model, host, wasm, emu:BOARD, board:PORT",
                remedy="choose one of the allowed values, or omit --bisect")
