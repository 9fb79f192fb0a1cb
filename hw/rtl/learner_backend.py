"""hw: back end that runs the generated learner in an RTL simulator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...codegen.rtl import LEARNER, model_tag
from ...codegen.rtl.common import signed
from ...codegen.rtl.frames import sample_frame, state_frames
from ...codegen.rtl.learner import distance_parts, worst_update_cycles
from ...codegen.rtl.rls import state_beats, state_of
from ...sim.backend import Outputs, Raw, answer_width, answered, field_arrays
from ...sim.data import raw
from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ...sim.replay.saved_state import Saving
from .core_backend import CoreBackend
from .simulators import Operation


def learned_state(plan: Plan, frames: list[list[int]]) -> Outputs:
    """Decode a learner's state from the frames that the core sends.

    Raises
    ------
    KerncastError
        E432 if the frames belong to another plan or have a wrong length.
    """
    if plan.second_order:
        found = state_of(plan, frames[0])
        if found is None:
            raise _wrong_shape(plan, f"{len(frames[0])} values",
                               f"{state_beats(plan)} values that belong to this plan")
        return field_arrays(plan, found)
    columns, budget, parts = plan.sizes["D"], plan.sizes["N"], distance_parts(plan)
    width = columns + plan.outputs
    (tag, count, _, *model), (slots_tag, slots_count, *slots) = frames
    if (tag, slots_tag) != (model_tag(plan),) * 2 or slots_count != count or count > budget \
            or len(model) != count * width or len(slots) != count * (2 * parts + 2):
        raise _wrong_shape(plan, f"{count} centers, {len(model)} and {len(slots)} values",
                           f"{width} and {2 * parts + 2} values per center")
    words = np.array(model, dtype=np.int64).reshape(count, width)
    v = words[:, :columns]
    v = signed(plan.word, v) if plan.signals["x"].format.signed else v
    kept: list[list[int]] = [slots[i:i + 2 * parts + 2] for i in range(0, len(slots), 2 * parts + 2)]
    members: dict[str, Any] = {"alpha": signed(plan.word, words[:, columns:]).ravel(), "centers": v.ravel(),
                             "scratch_row": [_joined(plan, slot[:parts]) for slot in kept],
                             "nearest_d2": [_joined(plan, slot[parts:2 * parts]) for slot in kept],
                             "nearest_idx": [slot[2 * parts] for slot in kept],
                             "age_order": [slot[2 * parts + 1] for slot in kept]}
    whole = {field.name: np.zeros(field.count, dtype=np.int64) for field in plan.memory}
    for name, held in members.items():
        if name in whole:  # a plan may have no nearest vectors
            whole[name][:len(held)] = held
    return field_arrays(plan, {**whole, "count": count})


def _wrong_shape(plan: Plan, value: str, allowed: str) -> KerncastError:
    return fail("E432", "the state of the core has the wrong shape", where=f"{plan.name}_learner",
                value=value, allowed=allowed, remedy="generate the folder again: kerncast gen SPEC -o FOLDER")


def _joined(plan: Plan, parts: list[int]) -> int:
    return sum(part << (plan.word * i) for i, part in enumerate(parts))


def longest_update(plan: Plan) -> int:
    """Return the maximum clock cycles between samples in one lane."""
    return LEARNER.cycles(plan) if plan.second_order else worst_update_cycles(plan)


def state_cycles(plan: Plan) -> int:
    """Return the clock cycles in which a state is sent or received, without stalls."""
    if plan.second_order:
        return 4 * state_beats(plan)
    words = plan.sizes["D"] + plan.outputs + 2 * distance_parts(plan) + 2
    return 2 * (words * plan.sizes["N"] + 5)


class LearnerBackend(Saving, CoreBackend):
    """Back end that runs the generated learner in an RTL simulator.

    Each call is a separate simulation, in which the core starts without a state. Therefore, each call first
    replays all earlier updates.

    Parameters
    ----------
    plan, simulator, build_dir, source, waves
        As in :class:`.core_backend.CoreBackend`.
    """

    calls = frozenset({"update", "predict", "state", "save", "restore"})

    def __init__(self, plan: Plan, simulator: str = "icarus", build_dir: str | Path = "build",
                 source: str | Path | None = None, waves: str | Path | None = None) -> None:
        super().__init__(plan, LEARNER, simulator, build_dir, source, waves)
        self.reset()

    def reset(self) -> None:
        """Reset to the model without centers."""
        self._restored: list[Operation] = []
        self._learned: list[Operation] = []
        self._state: Outputs | None = None

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn from samples in order; see :class:`~kerncast.sim.backend.Backend`."""
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        new = [operation for x, y in zip(x_raw, y_raw, strict=True)
               for operation in _asked(sample_frame(self.plan, x, y), True)]
        answers, frames = self._run(new)
        self._learned += new
        self._state = learned_state(self.plan, frames)
        return self._outputs(answers)

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for the given inputs; see :class:`~kerncast.sim.backend.Backend`."""
        x_raw = raw.inputs(self.plan, x_raw)
        answers, _ = self._run([operation for x in x_raw
                                for operation in _asked(sample_frame(self.plan, x), False)])
        return self._outputs(answers)

    def state(self) -> Outputs:
        """Return the model structure; see :class:`~kerncast.sim.backend.Backend`."""
        if self._state is None:
            self._state = learned_state(self.plan, self._run([])[1])
        return self._state

    def load(self, state: Outputs) -> None:
        """Load a state, which must be consistent and belong to this plan."""
        self.reset()
        self._restored = [("restore", *state_frames(self.plan, state))]

    def _run(self, new: list[Operation]) -> tuple[list[list[int]], list[list[int]]]:
        """Replay all earlier updates, then run new operations.

        Returns the replies to the new operations, and the final state.
        """
        *found, frames = self._simulation.run([*self._restored, *self._learned, *new, ("state",)],
                                              2 * longest_update(self.plan) + state_cycles(self.plan) + 100)
        answers = [answer for answered in found[len(self._learned) // 2:] for answer in answered]
        return answers, frames

    def _outputs(self, answers: list[list[int]]) -> Outputs:
        width = 1 + answer_width(self.plan)
        found = np.array([answer[:width] for answer in answers], dtype=np.int64).reshape(-1, width)
        return answered(self.plan, found[:, 0], signed(self.plan.word, found[:, 1:]))


def _asked(words: list[int], learning: bool) -> Iterator[Operation]:
    """Yield the operations that send one sample and wait for its reply.

    Several samples are not queued at a time, because a waiting source slows the simulation in every clock
    cycle.
    """
    yield ("sample", words, learning)
    yield ("answers", 1)
