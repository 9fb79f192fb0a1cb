"""sim.model: the FKLMS learner with a fixed budget, word for word as the device's.

Report 836: learning rule (2)-(6), projection (16), metric (17), strategy of fixed N_max.  The
metric is taken as the exact distance: the closest pair has the largest kernel value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import raw
from ..backend import Outputs, field_arrays
from ..engine import jit
from ..plan import Plan
from ..primitives import Words, mac, narrow, shift_round
from . import hooks as at
from .base import IntegerModel
from .hooks import Log, trace, trace_all
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
from .ranges import ACCUMULATOR, ALPHA, DISTANCE, F, record
from .statuses import OK, SATURATED


class LmsConstants(NamedTuple):
    """Integers of the plan."""

    eta: int
    eta_shift: int
    decay: int
    decay_shift: int
    project_shift: int
    mac_shift: int
    f_shift: int
    alpha: Cast
    f: Cast


class LmsState(NamedTuple):
    """The device's arrays; `rank` 0 is the oldest vector."""

    row: Words
    dist: Words
    alpha: Words
    v: Words
    near: Words
    rank: Words


@jit
def cheapest(s: LmsState, count: int) -> int:
    """The slot nearest to one of its elders; of equals, the newest (metric of eq. 17)."""
    worst = -1
    for i in range(count):
        if s.rank[i] == 0:
            continue
        if worst < 0 or s.dist[i] < s.dist[worst] or (
                s.dist[i] == s.dist[worst] and s.rank[i] > s.rank[worst]):
            worst = i
    return worst


@jit
def project(s: LmsState, slot: int, count: int, c: LmsConstants, k: KernelConstants,
            log: Log) -> int:
    """Hand the multiplier of `slot` to the others by their kernel values (eq. 16)."""
    saturated = 0
    for j in range(count):
        if j != slot:
            d = distance(s.v[j], s.v[slot], k)
            value = kernel(d, k, log)
            moved = shift_round(s.alpha[slot] * value, c.project_shift, c.alpha.rounding)
            s.alpha[j], lost = into_word(s.alpha[j] + moved, c.alpha, log, ALPHA)
            saturated |= lost
            trace(log, at.PROJECT_DISTANCE, slot, j, d)
            trace(log, at.PROJECT_KERNEL, slot, j, value)
            trace(log, at.PROJECT_ALPHA, slot, j, s.alpha[j])
    return saturated


@jit
def find_near(s: LmsState, slot: int, count: int, skip: int, k: KernelConstants, log: Log) -> None:
    """Search the nearest older vector of `slot`, leaving out `skip`; of equals, the oldest."""
    best = -1
    for j in range(count):
        if j == skip or s.rank[j] >= s.rank[slot]:
            continue
        d2 = distance(s.v[slot], s.v[j], k)
        trace(log, at.NEAR_DISTANCE, slot, j, d2)
        if best < 0 or d2 < s.dist[slot] or (d2 == s.dist[slot] and s.rank[j] < s.rank[best]):
            best = j
            s.dist[slot] = d2
    s.near[slot] = best
    trace(log, at.NEAR_NEAR, slot, 0, s.near[slot])
    trace(log, at.NEAR_DIST, slot, 0, s.dist[slot])


@jit
def release(s: LmsState, slot: int, count: int, k: KernelConstants, log: Log) -> None:
    """Take `slot` out of the order of age and mend the neighbours that pointed at it."""
    for j in range(count):
        if j != slot and s.near[j] == slot and s.rank[j] > s.rank[slot]:
            find_near(s, j, count, slot, k, log)
    for j in range(count):
        if s.rank[j] > s.rank[slot]:
            s.rank[j] -= 1
    trace_all(log, at.RELEASE_RANK, slot, s.rank, 0, count)


@jit
def insert(s: LmsState, slot: int, x: Words, alpha: int, count: int, log: Log) -> None:
    """Put x into `slot` as the newest of `count` vectors; `row` holds its distances."""
    best = -1
    for j in range(count):
        if j != slot and (best < 0 or s.row[j] < s.row[best] or (
                s.row[j] == s.row[best] and s.rank[j] < s.rank[best])):
            best = j
    for c in range(x.shape[0]):
        s.v[slot, c] = x[c]
    s.alpha[slot] = alpha
    s.rank[slot] = count - 1
    s.near[slot] = 0 if best < 0 else best
    s.dist[slot] = 0 if best < 0 else s.row[best]
    record(log, DISTANCE, s.dist[slot])
    trace(log, at.INSERT_NEAR, slot, 0, s.near[slot])
    trace(log, at.INSERT_DIST, slot, 0, s.dist[slot])


@jit
def fill_row(s: LmsState, x: Words, count: int, k: KernelConstants, log: Log) -> int:
    """The distances of x to all vectors into `row`; the slot that holds x already, or -1."""
    duplicate = -1
    for i in range(count):
        s.row[i] = distance(s.v[i], x, k)
        if s.row[i] == 0:
            duplicate = i
    trace_all(log, at.FILL_ROW, 0, s.row, 0, count)
    return duplicate


@jit
def weigh(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, log: Log) -> int:
    """The sum ``alpha_i k(v_i, x)`` (1) from the distances in `row`: a kernel row and its products."""
    acc = 0
    for i in range(count):
        value = kernel(s.row[i], k, log)
        trace(log, at.WEIGH_KERNEL, 0, i, value)
        acc = mac(acc, s.alpha[i], value, c.mac_shift)
    record(log, ACCUMULATOR, acc)
    return acc


@jit
def learn(s: LmsState, count: int, x: Words, y: int, budget: int, c: LmsConstants,
          k: KernelConstants, out: Words, log: Log) -> int:
    """One step of the rule; out = (f, status), the new count comes back."""
    duplicate = fill_row(s, x, count, k, log)
    slot, saturated, held = count, 0, count
    if duplicate < 0 and count == budget:
        slot = cheapest(s, count)
        trace(log, at.CHEAPEST_SLOT, 0, 0, slot)
        saturated |= project(s, slot, count, c, k, log)
        release(s, slot, count, k, log)
        s.alpha[slot] = 0
    trace(log, at.OUTPUT_Y, 0, 0, y)
    whole = shift_round(weigh(s, count, c, k, log), c.f_shift, c.f.rounding)
    f, lost = into_word(whole, c.f, log, F)
    saturated |= lost
    trace(log, at.LEARN_F, 0, 0, f)
    if c.decay != 0:
        for i in range(count):
            s.alpha[i] = shift_round(s.alpha[i] * c.decay, c.decay_shift, c.alpha.rounding)
        trace_all(log, at.LEARN_DECAYED, 0, s.alpha, 0, count)
    step = narrow((y - f) * c.eta, c.eta_shift, c.alpha.rounding, -(1 << 62), 1 << 62)
    before = step if duplicate < 0 else s.alpha[duplicate] + step
    word, lost = into_word(before, c.alpha, log, ALPHA)
    saturated |= lost
    trace(log, at.LEARN_ALPHA, 0, slot if duplicate < 0 else duplicate, word)
    if duplicate >= 0:
        s.alpha[duplicate] = word
    else:
        held = min(count + 1, budget)
        insert(s, slot, x, word, held, log)
    out[0] = f
    out[1] = SATURATED if saturated else OK
    return held


@jit
def learn_all(x_raw: Words, y_raw: Words, s: LmsState, count: int, budget: int,
              i: InputConstants, c: LmsConstants, k: KernelConstants, f: Words, status: Words,
              x: Words, out: Words, log: Log) -> int:
    """All samples in order; x (D,) and out (2,) are work space.  The new count comes back."""
    for m in range(x_raw.shape[0]):
        convert_x(x_raw[m], i, x, log)
        trace_all(log, at.INPUT_X, 0, x, 0, x.shape[0])
        count = learn(s, count, x, convert_y(y_raw[m], i, log), budget, c, k, out, log)
        f[m], status[m] = out[0], out[1]
    return count


class LmsModel(IntegerModel):
    """The integer model of a plan whose algorithm is ``kernel_lms``."""

    def __init__(self, plan: Plan) -> None:
        self._constants = LmsConstants._make(
            [*(plan.integer(name) for name in LmsConstants._fields[:-2]),
             cast_of(plan, "alpha"), cast_of(plan, "f")])
        super().__init__(plan)

    def reset(self) -> None:
        """Back to the empty model."""
        budget, columns = self.plan.sizes["N"], self.plan.sizes["D"]
        row, dist, alpha, near, rank = (np.zeros(budget, dtype=np.int64) for _ in range(5))
        v = np.zeros((budget, columns), dtype=np.int64)
        self._state = LmsState(row, dist, alpha, v, near, rank)
        self._count = 0

    def update(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64]) -> Outputs:
        """Learn from raw samples (m, D), (m,) in order: ``status`` (m,) and ``f`` (m,)."""
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        f, status = (np.zeros(len(y_raw), dtype=np.int64) for _ in range(2))
        x, out = (np.zeros(size, dtype=np.int64) for size in (self.plan.sizes["D"], 2))
        self._count = learn_all(x_raw, y_raw, self._state, self._count, self.plan.sizes["N"],
                                self._input, self._constants, self._kernel, f, status, x, out,
                                self.ranges.log)
        return {"status": status, "f": f}

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predictions in y words of raw inputs (m, D): ``status`` (m,) and ``f`` (m,)."""
        return self._predict(x_raw, self._state.v, self._state.alpha, self._count, self._constants.f_shift)

    def state(self) -> Outputs:
        """Every member of the device's model structure."""
        return field_arrays(self.plan, {**self._state._asdict(), "count": self._count})
