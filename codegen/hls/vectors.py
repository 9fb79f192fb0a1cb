"""codegen.hls: write the input text of the testbench.

Each line is a call with its arguments and expected results, such as ``predict 12 -5 = 0 731``: two ADC
counts, then the status and f. The result of a line without ``=`` is printed on the standard output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...sim.backend import Outputs, field_arrays
from ...sim.model import open_model
from ...sim.model.base import convert_inputs, fixed_targets
from ...sim.model.kernel import input_constants
from ...sim.model.ranges import Ranges
from ...sim.model.toeplitz.first_row import row_of
from ...sim.model.toeplitz.signals import solve_signal
from ...sim.plan import Plan
from ...sim.replay.vectors import Call, Vectors
from ...sim.statuses import TRAINED, DeviceStatus
from ..rtl.common import model_frame, model_tag
from ..rtl.predictor import framed
from .cores import LEARNER, SOLVER, STREAM, TRAINER, state_parts

#: Result of the frame of a model, which is not answered: it was accepted.
_LOADED = (DeviceStatus.OK,)


def line(name: str, words: Sequence[int], expected: Sequence[int] | None = None) -> str:
    """Format one call as a line."""
    answer = [] if expected is None else ["=", *map(str, map(int, expected))]
    return " ".join([name, *map(str, map(int, words)), *answer])


def answer_rows(answer: Outputs) -> list[list[int]]:
    """Return each sample's status and outputs, with label and margin for classes."""
    parts = (answer[name] for name in ("status", "f", "label", "margin") if name in answer)
    rows: list[list[int]] = np.column_stack(list(parts)).tolist()
    return rows


def lambda_words(plan: Plan) -> list[int]:
    """Return lambda as the first argument of a training; nothing if it is a constant."""
    return [plan.integer("lambda_word")] if plan.ranged else []


def slots_frame(plan: Plan, state: Outputs) -> list[int]:
    """Return the learner's slot frame.

    The frame contains tag and count, then four values per slot: two distances, neighbour and rank.
    """
    count, mask, parts = int(state["count"][0]), (1 << plan.word) - 1, state_parts(plan)

    def split(distance: int) -> list[int]:
        return [distance >> (plan.word * i) & mask for i in range(parts)]

    return [model_tag(plan), count, *(word for i in range(count) for word in (
        *split(int(state["scratch_row"][i])), *split(int(state["nearest_d2"][i])),
        int(state["nearest_idx"][i]),
        int(state["age_order"][i])))]


def streamed(answer: Outputs) -> list[int]:
    """Return the status and the value of each fitted value of a record.

    Of a record without values, the result is the status of a bad argument and the error.
    """
    given = answer["status"] != DeviceStatus.PENDING
    pairs: list[int] = np.column_stack([answer["status"], answer["f"]])[given].ravel().tolist()
    return pairs or [DeviceStatus.BAD_ARGUMENT, 1]


def _inputs(plan: Plan, call: Call) -> Outputs:
    """Return the converted inputs for training; empty for a uniform grid."""
    if call.x_raw is None:
        return {}
    v = np.zeros(call.x_raw.shape, dtype=np.int64)
    convert_inputs(call.x_raw, input_constants(plan), v, Ranges(plan).log)
    return {"centers": v}


def _trained(plan: Plan, call: Call, state: Outputs, status: int) -> Iterator[str]:
    """Yield the lines that train, then load the trained model into the predictor.

    The trainer or the solver trains; without these, the model is only loaded.
    """
    assert call.y_raw is not None
    status, mask = DeviceStatus.OK if status == DeviceStatus.INACCURATE else status, (1 << plan.word) - 1
    solved = status in TRAINED
    if SOLVER.fits(plan) and plan.outputs > 1:
        for signal in fixed_targets(plan, call.y_raw).reshape(plan.outputs, -1):
            found = solve_signal(plan, signal)
            yield line("solve", signal.tolist(), [found.status, found.exponent, *found.alpha.tolist()])
    elif SOLVER.fits(plan):
        y, alpha = fixed_targets(plan, call.y_raw).tolist(), state["alpha"].tolist() if solved else []
        names = ["alpha_exp", "bias"] if plan.bias else ["alpha_exp"]
        head = [int(state[name][0]) for name in names] if solved else [0]
        row = lambda_words(plan) if plan.banded else row_of(plan, _inputs(plan, call)).tolist()
        yield line("solve", [*row, *y], [status, *head, *alpha])
    if TRAINER.fits(plan):
        frame = model_frame(plan, state if solved else field_arrays(plan, {}))
        yield line("train", [*lambda_words(plan), *call.y_raw.tolist()], [status, *frame])
    yield line("load", [word & mask for word in model_frame(plan, state)], _LOADED)


def _learned(plan: Plan, call: Call) -> Iterator[str]:
    """Yield the lines that learn from samples in order, with prediction and error."""
    assert call.x_raw is not None and call.y_raw is not None
    rail = 1 << (plan.word - 1)
    if framed(plan):  # a reply is that of a prediction
        for x, y_raw, row in zip(call.x_raw.tolist(), call.y_raw.reshape(len(call.x_raw), -1).tolist(),
                                 answer_rows(call.expected), strict=True):
            yield line("learn", [*x, *y_raw], row)
        return
    answers = zip(call.expected["status"].tolist(), call.expected["f"].tolist(),
                  fixed_targets(plan, call.y_raw).tolist(), strict=True)
    for x, y_raw, (status, f, y) in zip(call.x_raw.tolist(), call.y_raw.tolist(), answers, strict=True):
        yield line("learn", [*x, y_raw], [status, f, min(max(y - f, -rail), rail - 1)])


def _lines(plan: Plan, vectors: Vectors) -> Iterator[str]:
    """List every call of the cores that corresponds to a call of the vectors."""
    model, learner = open_model(plan), LEARNER.fits(plan)
    for call in vectors.calls:
        answer = call.run(model)
        state = model.state()
        if call.name == "train":
            yield from _trained(plan, call, state, int(answer["status"][0]))
        elif call.name == "update":
            yield from _learned(plan, call) if learner else ()
            yield line("load", model_frame(plan, state), _LOADED)
        else:
            assert call.x_raw is not None
            asked = zip(call.x_raw.tolist(), answer_rows(answer), strict=True)
            for x, expected in asked:
                yield from [line("ask", x, expected)] if learner else []
                yield line("predict", x, expected)
    if STREAM.fits(plan) and vectors.streamed is not None:
        yield line("stream", vectors.streamed.tolist(), streamed(vectors.stream))
    if learner:
        state = model.state()
        yield line("state", [], [*model_frame(plan, state), *slots_frame(plan, state)])


def vectors_text(plan: Plan, vectors: Vectors) -> str:
    """Write the calls of `vectors` for the testbench of the plan's cores."""
    return "".join(f"{text}\n" for text in _lines(plan, vectors))
