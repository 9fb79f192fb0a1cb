"""sim: the protocol that every back end answers, and the exact comparer.

A back end takes raw sensor words and gives back words.  Integers compare with tolerance 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ._arrays import Raw as Raw
from .plan import Plan
from .statuses import DeviceStatus

Outputs = dict[str, NDArray[np.int64]]

ALL_CALLS = frozenset({"train", "update", "predict", "state", "save", "restore"})
#: Those of a model that was trained elsewhere: it has no state.
FIXED_CALLS = frozenset({"predict"})
#: Names of the statuses, each at its code.
STATUSES = tuple(status.word for status in DeviceStatus)


@runtime_checkable
class Backend(Protocol):
    """One way of running a plan: model, host C, emulator, board or RTL."""

    name: str

    #: The calls it answers: a predictor in hardware one; with trace hooks `trace` too (:mod:`.replay.trace`).
    calls: frozenset[str]

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train on a whole set: x_raw (n, D) or None on the uniform grid, y_raw (n,)."""

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn from samples in order; ``status`` and ``f``, the prediction before learning."""

    def predict(self, x_raw: Raw) -> Outputs:
        """``status`` and ``f`` for inputs (m, D)."""

    def state(self) -> Outputs:
        """Every member of the model structure, in its order."""

    def save(self) -> bytes:
        """The state as an image of :mod:`.replay.saved_state`, the same bytes on every back end.

        The sequence number is one more than that of the last image saved or restored.
        """

    def restore(self, image: bytes) -> None:
        """Go on from an image; where it is refused, E440 to E446, and model and saved states as they were."""

    def reset(self) -> None:
        """Back to the initial state; what was saved stays."""

    def close(self) -> None:
        """Let go of compilers' folders, processes and ports."""


def calls_of(plan: Plan) -> frozenset[str]:
    """The calls that every back end of a plan answers, but for one that only predicts."""
    return FIXED_CALLS if plan.fixed else ALL_CALLS


def field_arrays(plan: Plan, values: Mapping[str, Any]) -> Outputs:
    """The members of ``plan.memory`` as flat arrays, copied; a member not given is zero."""
    return {f.name: np.array(values.get(f.name, np.zeros(f.count)), dtype=np.int64).reshape(f.count)
            for f in plan.memory}


def refused_training() -> Outputs:
    """What a back end that trains no batch, or was given another number of samples, returns."""
    return {"status": np.array([DeviceStatus.BAD_ARGUMENT], dtype=np.int64)}


def refused_update(y_raw: Raw) -> Outputs:
    """What a back end that learns nothing online returns: every sample is refused."""
    return {"status": np.full(len(y_raw), DeviceStatus.BAD_ARGUMENT, dtype=np.int64),
            "f": np.zeros(len(y_raw), dtype=np.int64)}


@dataclass
class Comparison:
    """Words compared between two back ends, and where they first differ.

    Parameters
    ----------
    words, mismatches : int
        Words compared, and how many of them were unequal.
    first : str
        The first difference; empty where there is none.
    answers : list of dict
        What the back end answered, call by call.
    """

    words: int = 0
    mismatches: int = 0
    first: str = ""
    answers: list[Outputs] = field(default_factory=list, repr=False)

    def add(self, where: str, expected: Outputs, found: Outputs, first: int = 0) -> None:
        """Compare all arrays of two outputs; a missing or misshapen array counts whole.

        `first` is the number that a message gives their first words.
        """
        for name, want in expected.items():
            got = found.get(name)
            self.words += want.size
            if got is None or got.shape != want.shape:
                self.mismatches += want.size
                self._note(f"{where} {name}: shape {None if got is None else got.shape}, "
                           f"expected {want.shape}")
                continue
            differ = np.flatnonzero(got != want)
            self.mismatches += len(differ)
            if len(differ):
                i = differ[0]
                self._note(f"{where} {name}[{first + i}]: {got.flat[i]}, expected {want.flat[i]}")

    def _note(self, text: str) -> None:
        self.first = self.first or text
