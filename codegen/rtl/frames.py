"""codegen.rtl: build the frames that a core receives, as unsigned beats."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...sim.backend import Outputs, Raw
from ...sim.plan import Plan
from .common import model_frame, model_tag
from .learner import distance_parts
from .rls import state_frame

__all__ = ["model_frame", "model_tag", "sample_frame", "sample_frames", "solution_frames",
           "state_frames", "target_frame"]


def _unsigned(plan: Plan, signal: str, words: Iterable[int]) -> list[int]:
    """Convert fixed-point values of a signal to unsigned beats (two's complement)."""
    mask = (1 << plan.signals[signal].format.bits) - 1
    return [int(word) & mask for word in words]


def sample_frames(plan: Plan, x_raw: Raw) -> list[list[int]]:
    """Return one frame of unsigned beats per row of the inputs (m, D), in ADC counts."""
    return [_unsigned(plan, "x_raw", row) for row in x_raw]


def sample_frame(plan: Plan, x_raw: Raw, y_raw: Raw | int | None = None) -> list[int]:
    """Return the frame of one sample (D,), with its targets or label if it has any."""
    words = _unsigned(plan, "x_raw", x_raw)
    if y_raw is None:
        return words
    targets = np.atleast_1d(y_raw).tolist()
    return [*words, *(targets if plan.decision else _unsigned(plan, "y_raw", targets))]


def target_frame(plan: Plan, y_raw: Raw) -> list[int]:
    """Return the frame of the targets (n,), in ADC counts, as unsigned beats."""
    return _unsigned(plan, "y_raw", y_raw)


def solution_frames(plan: Plan, state: Outputs) -> list[list[int]]:
    """Return the solution of each output as the solver sends it, as unsigned beats.

    A frame is the exponent of alpha, the intercept if it is trained, and alpha.
    """
    mask = (1 << plan.word) - 1
    head = [state["alpha_exp"][0], *(state["bias"] if plan.bias else ())]
    return [[int(word) & mask for word in (*head, *alpha)]
            for alpha in state["alpha"].reshape(plan.outputs, -1)]


def _of_slot(state: Outputs, name: str, slot: int) -> int:
    """Return an entry of the state; 0 if the plan has no such member."""
    return int(state[name][slot]) if name in state else 0


def state_frames(plan: Plan, state: Outputs) -> list[list[int]]:
    """Return a learner's state as two frames: the model, and the data of each center.

    The state of kernel RLS is one frame.
    """
    if plan.second_order:
        return [state_frame(plan, state)]
    count, parts, mask = int(state["count"][0]), distance_parts(plan), (1 << plan.word) - 1
    slots = [model_tag(plan), count]
    for slot in range(count):
        for name in ("scratch_row", "nearest_d2"):
            slots += [_of_slot(state, name, slot) >> (plan.word * i) & mask for i in range(parts)]
        slots += [_of_slot(state, name, slot) for name in ("nearest_idx", "age_order")]
    return [model_frame(plan, state), slots]
