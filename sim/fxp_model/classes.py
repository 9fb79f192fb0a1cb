"""sim.fxp_model: convert predictions to classes, in plain Python."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..backend import Outputs, Raw
from ..plan import Plan
from .arithmetic import Fxp, number
from .kernel import FxpKernel


def target_columns(plan: Plan, kernel: FxpKernel, y_raw: Raw) -> list[Fxp]:
    """Return the targets (n,) of each output, from ADC counts or labels."""
    if not plan.decision:
        return [kernel.y_numbers(column) for column in y_raw.reshape(len(y_raw), -1).T]
    hit, other = plan.integer("y_class"), plan.integer("y_other")
    stands_for = range(plan.outputs) if plan.outputs > 1 else (1,)
    return [number(np.where(y_raw == label, hit, other), plan.signals["y"].format) for label in stands_for]


def with_classes(plan: Plan, answer: Outputs) -> Outputs:
    """Add ``label`` (m,) and ``margin`` (m,) to predictions, if the plan has classes."""
    if not plan.decision:
        return answer
    found = [_decided(plan, np.atleast_1d(f).tolist()) for f in answer["f"]]
    label, margin = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return {**answer, "label": label, "margin": margin}


def _decided(plan: Plan, f: list[int]) -> tuple[int, int]:
    """Return the label and the margin of the outputs of one sample, in plain Python."""
    classes, most = len(plan.class_names), (1 << (plan.word - 1)) - 1
    if plan.decision == "sign":
        label, margin = int(f[0] > 0), abs(f[0])
    elif plan.decision == "argmax":
        label = f.index(max(f))
        margin = f[label] - max(f[:label] + f[label + 1:])
    else:
        favour: list[list[int]] = [[] for _ in range(classes)]
        votes = [0] * classes
        by_sum = plan.decision == "vote_confidence"
        for (i, j), value in zip(combinations(range(classes), 2), f, strict=True):
            votes[i if value > 0 or (by_sum and value == 0) else j] += 1
            favour[i].append(value)
            favour[j].append(-value)
        label = max(range(classes), key=lambda a: (votes[a], sum(favour[a]) if by_sum else 0, -a))
        margin = min(favour[label])
    unknown = "min_margin" in plan.constants and margin < plan.integer("min_margin")
    return classes if unknown else label, min(margin, most)
