"""codegen.rtl: frames that a core receives, as unsigned beats."""

from __future__ import annotations

from collections.abc import Iterable

from ...sim.backend import Outputs, Raw
from ...sim.plan import Plan
from .common import model_frame, model_tag
from .learner import distance_parts

__all__ = ["model_frame", "model_tag", "sample_frame", "sample_frames", "state_frames", "target_frame"]


def _unsigned(plan: Plan, signal: str, words: Iterable[int]) -> list[int]:
    """Convert fixed-point values of a signal to unsigned beats."""
    mask = (1 << plan.signals[signal].format.bits) - 1
    return [int(word) & mask for word in words]


def sample_frames(plan: Plan, x_raw: Raw) -> list[list[int]]:
    """Return the frames of inputs (m, D), in ADC counts, as unsigned beats."""
    return [_unsigned(plan, "x_raw", row) for row in x_raw]


def sample_frame(plan: Plan, x_raw: Raw, y_raw: int | None = None) -> list[int]:
    """Return the unsigned beats of one sample (D,), with its target if there is one."""
    words = _unsigned(plan, "x_raw", x_raw)
    return words if y_raw is None else [*words, *_unsigned(plan, "y_raw", [y_raw])]


def target_frame(plan: Plan, y_raw: Raw) -> list[int]:
    """Return the frame of targets (n,), in ADC counts, as unsigned beats."""
    return _unsigned(plan, "y_raw", y_raw)


def state_frames(plan: Plan, state: Outputs) -> list[list[int]]:
    """Encode a learner's model structure as its two frames: model and slots."""
    count, parts, mask = int(state["count"][0]), distance_parts(plan), (1 << plan.word) - 1
    slots = [model_tag(plan), count]
    for slot in range(count):
        for name in ("scratch_row", "nearest_d2"):
            slots += [int(state[name][slot]) >> (plan.word * i) & mask for i in range(parts)]
        slots += [int(state[name][slot]) for name in ("nearest_idx", "age_order")]
    return [model_frame(plan, state), slots]
