"""sim.model: predict several outputs and classes from one row of kernel values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backend import Outputs
from ..decisions import decide, members
from ..jit import jit
from ..plan import Plan
from ..primitives import Words, block_scale, mac, requantise
from ..window import Window
from . import trace_hooks as at
from .kernel import (
    Cast,
    InputConstants,
    KernelConstants,
    cast_of,
    convert_x,
    convert_y,
    distance,
    into_word,
    kernel,
)
from .ranges import ACCUMULATOR, F, Y, record, record_row
from .statuses import OK, SATURATED
from .trace_hooks import Log, trace, trace_all


class Several(NamedTuple):
    """Coefficients of several outputs.

    `alpha` has shape (N, M); column c of center i belongs to output ``slot[i, c]``.  `bias` (C,) is in LSBs
    of y.
    """

    alpha: Words
    slot: Words
    bias: Words
    mac_shift: int
    f_shift: int
    f: Cast


def several_outputs(plan: Plan) -> Several:
    """Return the coefficients of a plan of an imported model with several outputs."""
    count, outputs = plan.sizes["N"], plan.outputs
    alpha = _table(plan, "alpha").reshape(count, plan.sizes.get("M", outputs))
    slot = np.tile(np.arange(outputs, dtype=np.int64), (count, 1))
    if plan.pairwise:
        ends = _table(plan, "group_end")
        owner = np.searchsorted(ends, np.arange(count), side="right")
        slot = _table(plan, "slot").reshape(len(ends), -1)[owner]
    return Several(alpha, np.ascontiguousarray(slot), _table(plan, "bias"), plan.integer("mac_shift"),
                   plan.integer("f_shift"), cast_of(plan, "f"))


def learned_outputs(plan: Plan, alpha: Words) -> Several:
    """Return the coefficients (N C,) of a learner with several outputs."""
    count, outputs = plan.sizes["N"], plan.outputs
    slot = np.tile(np.arange(outputs, dtype=np.int64), (count, 1))
    return Several(alpha.reshape(count, outputs), slot, np.zeros(outputs, dtype=np.int64),
                   plan.integer("mac_shift"), plan.integer("f_shift"), cast_of(plan, "f"))


def trained_outputs(plan: Plan, alpha: Words, f_shift: int) -> Several:
    """Return the coefficients (C, n) of a batch trainer with several outputs."""
    outputs, count = alpha.shape
    slot = np.tile(np.arange(outputs, dtype=np.int64), (count, 1))
    return Several(np.ascontiguousarray(alpha.T), slot, np.zeros(outputs, dtype=np.int64),
                   plan.integer("mac_shift"), f_shift, cast_of(plan, "f"))


@jit
def _convert_all(raw: Words, i: InputConstants, y: Words, log: Log) -> None:
    for m in range(raw.shape[0]):
        for o in range(raw.shape[1]):
            y[m, o] = convert_y(raw[m, o], i, log)


@jit
def _record_all(y: Words, log: Log) -> None:
    for m in range(y.shape[0]):
        record_row(log, Y, y[m], y.shape[1])


def target_words(plan: Plan, y_raw: Words, i: InputConstants, log: Log) -> Words:
    """Return the targets (m, C) in LSB of y, from ADC counts or from labels."""
    if not plan.decision:
        counts = np.ascontiguousarray(y_raw.reshape(len(y_raw), plan.outputs))
        y = np.zeros_like(counts)
        _convert_all(counts, i, y, log)
        return y
    y = np.where(members(plan.decision, y_raw, len(plan.class_names)), plan.integer("y_class"),
                 plan.integer("y_other")).astype(np.int64)
    _record_all(y, log)
    return y


def _table(plan: Plan, name: str) -> Words:
    return np.array(plan.tables[name].values, dtype=np.int64)


@jit
def align_outputs(alpha: Words, exponents: Words, lowest: int) -> int:
    """Align blocks alpha (C, n) with their own exponents (C,) to the largest exponent.

    Return the common exponent, at least `lowest`.
    """
    common = lowest
    for o in range(alpha.shape[0]):
        common = max(common, exponents[o])
    for o in range(alpha.shape[0]):
        if exponents[o] < common:
            block_scale(alpha[o], 0, alpha.shape[1], min(common - exponents[o], 62))
    return common


@jit
def expand_outputs(x: Words, v: Words, first: int, count: int, to: Several, k: KernelConstants, acc: Words,
                   f: Words, log: Log) -> bool:
    """Predict all outputs f (C,) from `count` of the vectors v (N, D).

    The vectors begin at index `first`. Return whether an output saturated. acc (C,) is work space.
    """
    acc[:] = 0
    for i in range(first, first + count):
        d = distance(v[i], x, k)
        value = kernel(d, k, log)
        trace(log, at.PREDICT_DISTANCE, 0, i, d)
        trace(log, at.PREDICT_KERNEL, 0, i, value)
        for c in range(to.alpha.shape[1]):
            j = to.slot[i, c]
            acc[j] = mac(acc[j], to.alpha[i, c], value, to.mac_shift)
    clipped = False
    for j in range(acc.shape[0]):
        record(log, ACCUMULATOR, acc[j])
        whole = requantise(acc[j], to.f_shift, to.f.rounding, -(1 << 61), 1 << 61) + to.bias[j]
        f[j], saturated = into_word(whole, to.f, log, F)
        clipped = clipped or saturated
        trace(log, at.PREDICT_F, 0, j, f[j])
    return clipped


@jit
def _predict_all(raw: Words, i: InputConstants, v: Words, read: tuple[int, int, int, int], to: Several,
                 k: KernelConstants, x: Words, acc: Words, f: Words, status: Words, log: Log) -> None:
    count, low, high, step = read
    for m in range(raw.shape[0]):
        convert_x(raw[m], i, x, log)
        trace_all(log, at.INPUT_X, 0, x, 0, x.shape[0])
        first = min(max(x[0] - low, 0), high) // step
        clipped = expand_outputs(x, v, first, count, to, k, acc, f[m], log)
        status[m] = SATURATED if clipped else OK


def predict_outputs(x_raw: Words, i: InputConstants, v: Words, to: Several, k: KernelConstants,
                    log: Log, read: Window | None = None) -> Outputs:
    """Return ``status`` (m,) and ``f`` (m, C) for ADC counts (m, D).

    The sums contain the vectors in the window `read`, or all vectors if there is none.
    """
    outputs, part = len(to.bias), read or Window(len(v), 0, 0, 1)
    f, status = np.zeros((len(x_raw), outputs), dtype=np.int64), np.zeros(len(x_raw), dtype=np.int64)
    x, acc = (np.zeros(size, dtype=np.int64) for size in (v.shape[1], outputs))
    _predict_all(x_raw, i, v, (part.vectors, part.low, part.high, part.step), to, k, x, acc, f, status, log)
    return {"status": status, "f": f}


def untrained_outputs(plan: Plan, found: Outputs) -> Outputs:
    """Return the predictions of a model without vectors: ``f`` (m, C) is 0."""
    return {**found, "f": np.zeros((len(found["status"]), plan.outputs), dtype=np.int64)}


def answer(plan: Plan, status: Words, f: Words) -> Outputs:
    """Return predictions f (m, C), as (m,) for one output, with the labels of classes."""
    return classified(plan, {"status": status, "f": f if "C" in plan.sizes else f[:, 0]})


def classified(plan: Plan, answer: Outputs) -> Outputs:
    """Add ``label`` (m,) and ``margin`` (m,) to the prediction of a classifier.

    The margin saturates at the largest value of the word length.
    """
    if not plan.decision:
        return answer
    min_margin = plan.integer("min_margin") if "min_margin" in plan.constants else None
    label, margin = decide(plan.decision, answer["f"], len(plan.class_names), min_margin)
    limited: NDArray[np.int64] = np.minimum(margin, (1 << (plan.word - 1)) - 1)
    return {**answer, "label": label, "margin": limited}
