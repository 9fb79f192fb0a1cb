"""sim: the protocol of all back ends, and the exact comparison of their results.

The inputs of a back end are ADC counts, and its results are integers, which are compared exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import Raw as Raw
from .plan import Plan
from .statuses import DeviceStatus

Outputs = dict[str, NDArray[np.int64]]

ALL_CALLS = frozenset({"train", "update", "predict", "state", "save", "restore"})
#: The calls of a model trained elsewhere: it has no state.
FIXED_CALLS = frozenset({"predict"})
#: Names of the statuses by their codes.
STATUSES = {int(status): status.word for status in DeviceStatus}


@runtime_checkable
class Backend(Protocol):
    """Implementation of a plan, such as the integer model, host C, a board or RTL."""

    name: str

    #: Supported calls: a hardware predictor has one; trace hooks add `trace` (:mod:`.replay.trace`).
    calls: frozenset[str]

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train on all samples: x_raw (n, D), or None for a uniform grid, and y_raw (n,)."""

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn from samples in order; return ``status`` and ``f`` of each sample.

        ``f`` is the prediction before the sample is learned.
        """

    def predict(self, x_raw: Raw) -> Outputs:
        """Return ``status`` (m,) and ``f`` (m,) for inputs of shape (m, D).

        With several outputs, ``f`` has shape (m, C). For a classifier, the result also contains ``label`` and
        ``margin``, each of shape (m,); see :mod:`.decisions`.
        """

    def state(self) -> Outputs:
        """Return every member of the model structure, in the order of the structure."""

    def save(self) -> bytes:
        """Save the state; return the image, in the format of :mod:`.replay.saved_state`.

        All back ends return the same image. Its sequence number is one more than that of the last image saved
        or restored.
        """

    def restore(self, image: bytes) -> None:
        """Restore the state from an image.

        If the image is rejected (E440 to E446), the state is unchanged.
        """

    def reset(self) -> None:
        """Reset the model to its initial state; saved images are kept."""

    def close(self) -> None:
        """Release all resources: temporary folders, processes and ports."""


@runtime_checkable
class TrainerBackend(Protocol):
    """Back end of a batch trainer whose trainer structure can be read."""

    def workspace(self) -> Outputs:
        """Return the members of the trainer structure after the last training.

        The result is empty before the first training. In an integer model it is also empty after a failed
        training.
        """


@runtime_checkable
class FittedBackend(Protocol):
    """Back end of a trainer on a uniform grid that computes the fitted values."""

    def fitted(self) -> Outputs:
        """Return ``status`` (1,) and the fitted values ``f`` of the last training.

        The shape of ``f`` is (n,), or (n, C) for several outputs. ``f`` is y - lambda alpha, in LSBs of y.
        If the trainer structure does not contain a solution, the result contains only the status, which is
        out of order.
        """


@runtime_checkable
class LambdaBackend(Protocol):
    """Back end of a banded trainer whose lambda can change at run time."""

    def train_with(self, lam: int, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train with an integer lambda; return ``status`` (1,).

        lambda has `lambda_frac` fraction bits.
        The status is bad argument if lambda is outside the range of the plan; the model is then unchanged.
        """


@runtime_checkable
class StreamBackend(Protocol):
    """Back end of a trainer whose plan has a stream of fitted values."""

    def stream(self, y_raw: Raw) -> Outputs:
        """Return ``status`` (m,) and ``f`` (m,) after each of m targets of a new stream.

        The status is pending, and ``f`` is 0, for the first 2 L samples; then ``f`` is the fitted value of
        the sample L earlier, in LSBs of y.
        """


@runtime_checkable
class NoveltyBackend(Protocol):
    """Back end of an online learner whose plan has a novelty."""

    def leverage(self, x_raw: Raw) -> Outputs:
        """Return ``status``, ``leverage`` and ``novel``, each of shape (m,).

        The samples are not learned. `leverage` is in LSBs of 2^-20. `novel` is 1 if the next sample learned
        would be novel with these inputs.
        """


def stream_of(backend: Backend, plan: Plan, y_raw: Raw | None) -> Outputs:
    """Return the values of a stream of the targets.

    The result is empty if the plan or the back end has none.
    """
    if not plan.stream_taps or y_raw is None or not isinstance(backend, StreamBackend):
        return {}
    return backend.stream(y_raw)


def fitted_of(backend: Backend, plan: Plan) -> Outputs:
    """Return the fitted values of the last training; empty if there are none."""
    return backend.fitted() if plan.fits and isinstance(backend, FittedBackend) else {}


def fitted_answer(plan: Plan, status: int, f: ArrayLike) -> Outputs:
    """Return the status and the fitted values as a result.

    The values are included only if the status means that there is a solution.
    """
    found = {"status": np.array([status], dtype=np.int64)}
    if not DeviceStatus(status).usable:
        return found
    values = np.array(f, dtype=np.int64)
    return found | {"f": values if plan.outputs == 1 else values.reshape(-1, plan.outputs)}


def workspace_of(backend: Backend) -> Outputs:
    """Return the members of the trainer structure after the last training.

    The result is empty if the back end does not give access to the structure.
    """
    return backend.workspace() if isinstance(backend, TrainerBackend) else {}


def calls_of(plan: Plan) -> frozenset[str]:
    """Return the calls that back ends of a plan support.

    A hardware predictor supports fewer calls.
    """
    return FIXED_CALLS if plan.fixed else ALL_CALLS


def field_arrays(plan: Plan, values: Mapping[str, Any]) -> Outputs:
    """Return copies of the members of ``plan.memory`` as flat arrays.

    Members that `values` omits are 0.
    """
    return {f.name: np.array(values.get(f.name, np.zeros(f.count)), dtype=np.int64).reshape(f.count)
            for f in plan.memory}


def answer_width(plan: Plan) -> int:
    """Return the number of integers in the prediction of one sample.

    These integers are the outputs, followed by the label and the margin of a classifier.
    """
    return plan.outputs + (2 if plan.decision else 0)


def answered(plan: Plan, status: Raw, rows: Raw) -> Outputs:
    """Return the result of a prediction as a dictionary.

    The keys are ``status`` and ``f``, and for a classifier also ``label`` and ``margin``.

    Parameters
    ----------
    plan : Plan
    status : ndarray of int64, shape (m,)
        Status of each sample.
    rows : ndarray of int64, shape (m, :func:`answer_width`)
        The integers of each sample.
    """
    f = rows[:, :plan.outputs] if "C" in plan.sizes else rows[:, 0]
    more = {"label": rows[:, -2], "margin": rows[:, -1]} if plan.decision else {}
    return {"status": status, "f": f, **more}


def in_range(plan: Plan, lam: int) -> bool:
    """Return whether an integer lambda is in the range of a plan."""
    return plan.ranged and plan.integer("lambda_lo") <= lam <= plan.integer("lambda_hi")


def refused_training() -> Outputs:
    """Return the result of a training with invalid arguments: status `bad_argument`."""
    return {"status": np.array([DeviceStatus.BAD_ARGUMENT], dtype=np.int64)}


def refused_update(y_raw: Raw) -> Outputs:
    """Return the result of an update with invalid arguments.

    The status of every sample is bad argument.
    """
    return {"status": np.full(len(y_raw), DeviceStatus.BAD_ARGUMENT, dtype=np.int64),
            "f": np.zeros(len(y_raw), dtype=np.int64)}


@dataclass
class Comparison:
    """Result of a comparison of two back ends.

    Parameters
    ----------
    words : int
        Number of values compared.
    mismatches : int
        Number of values that differ.
    first : str
        Description of the first difference; empty if there is none.
    answers : list of dict
        The results of the back end, one per call.
    """

    words: int = 0
    mismatches: int = 0
    first: str = ""
    answers: list[Outputs] = field(default_factory=list, repr=False)

    def add(self, where: str, expected: Outputs, found: Outputs, first: int = 0) -> None:
        """Compare all arrays of two results.

        If an array is missing or has the wrong shape, all of its values count as mismatches. `first` is added
        to the indices in messages.
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
