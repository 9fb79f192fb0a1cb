"""sim.model: the online learner in fixed memory, word for word as the device's.

Report 836: learning rule (2)-(6), projection (16), metrics (17), (18) and those of section 5, truncation, and
the strategies fixed N_max and fixed lambda_max.  Vectors stand in slots 0 to count - 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...backend import Outputs, field_arrays
from ...data import raw
from ...jit import jit
from ...plan import Plan
from ...primitives import Words, mac, narrow, shift_round
from .. import trace_hooks as at
from ..base import IntegerModel
from ..kernel import (
    InputConstants,
    KernelConstants,
    convert_x,
    convert_y,
    distance_row,
    into_word,
    into_words,
    kernel_row,
)
from ..ranges import ACCUMULATOR, ALPHA, F, record
from ..statuses import FULL, OK, SATURATED
from ..trace_hooks import Log, trace, trace_all
from .metric import add_squares, cheapest, forget, keeps_neighbours, keeps_sums, loss_of, meet, square
from .state import CLOCK_MASK, LmsConstants, LmsState, LmsWork, constants_of, empty_state, work_space


# ---- rows ----
@jit
def fill_row(s: LmsState, x: Words, count: int, k: KernelConstants, log: Log) -> int:
    """The distances of x to all vectors into `row`; the slot that holds x already, or -1.

    A distance may be rounded to 0: of several such vectors the oldest counts.
    """
    duplicate = -1
    distance_row(s.v, count, x, k, s.row)
    for i in range(count):
        if s.row[i] == 0:
            duplicate = i
    for i in range(duplicate):
        older = s.rank[i] < s.rank[duplicate] if s.rank.shape[0] > 0 else i < duplicate
        if s.row[i] == 0 and older:
            duplicate = i
    trace_all(log, at.FILL_ROW, 0, s.row, 0, count)
    return duplicate


@jit
def weigh(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork, log: Log) -> int:
    """The sum ``alpha_i k(v_i, x)`` (1) from the distances in `row`: a kernel row and its products.

    Where sums of squares are kept, `row` holds the kernel values afterwards.
    """
    acc = 0
    kernel_row(s.row, count, k, w.values, log)
    trace_all(log, at.WEIGH_KERNEL, 0, w.values, 0, count)
    for i in range(count):
        acc = mac(acc, s.alpha[i], w.values[i], c.mac_shift)
    if keeps_sums(c):
        for i in range(count):
            s.row[i] = w.values[i]
    record(log, ACCUMULATOR, acc)
    return acc


# ---- projection ----
@jit
def receive(alpha: Words, count: int, gone: int, values: Words, c: LmsConstants, w: LmsWork,
            log: Log) -> int:
    """Add ``gone k`` to the first `count` multipliers (16); whether one saturated."""
    for j in range(count):
        w.whole[j] = alpha[j] + shift_round(gone * values[j], c.project_shift, c.alpha.rounding)
    return 1 if into_words(w.whole, count, c.alpha, alpha, log, ALPHA) else 0


@jit
def hand_over(s: LmsState, slot: int, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
              log: Log) -> int:
    """The kernel row of `slot`, which leaves: its multiplier to the others, its squares out of their sums."""
    projects = c.projects and s.alpha[slot] != 0
    if not projects and not keeps_sums(c):
        return 0
    for first, last in ((0, slot), (slot + 1, count)):
        distance_row(s.v[first:last], last - first, s.v[slot], k, w.d[first:last])
        kernel_row(w.d[first:last], last - first, k, w.values[first:last], log)
    w.values[slot] = 0  # which adds nothing to its own
    saturated = receive(s.alpha, count, s.alpha[slot], w.values, c, w, log) if projects else 0
    if keeps_sums(c):
        for j in range(count):
            s.sums[j] -= square(w.values[j], c)
    for j in range(count):
        if j != slot:
            trace(log, at.PROJECT_DISTANCE, slot, j, w.d[j])
            trace(log, at.PROJECT_KERNEL, slot, j, w.values[j])
            if projects:
                trace(log, at.PROJECT_ALPHA, 0, j, s.alpha[j])
    return saturated


# ---- slots ----
@jit
def release(s: LmsState, slot: int, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
            log: Log) -> int:
    """Take `slot` out of the model: projection, metric and order of age; whether a word saturated."""
    saturated = hand_over(s, slot, count, c, k, w, log)
    if keeps_neighbours(c):
        forget(s, slot, count, c, k, log)
    age = s.rank[slot]
    for j in range(count):
        s.rank[j] -= s.rank[j] > age
    trace_all(log, at.RELEASE_RANK, slot, s.rank, 0, count)
    s.alpha[slot] = 0
    return saturated


@jit
def move(words: Words, last: int, slot: int) -> None:
    """The word of the last slot to `slot`; nothing stays behind."""
    if words.shape[0] > 0:
        words[slot] = words[last]
        words[last] = 0


@jit
def close_gap(s: LmsState, slot: int, count: int, log: Log) -> int:
    """Move the last of `count` vectors into the hole `slot`, so that none is between; the new count."""
    last = count - 1
    for d in range(s.v.shape[1]):
        s.v[slot, d] = s.v[last, d]
        s.v[last, d] = 0
    move(s.row, last, slot)
    move(s.alpha, last, slot)
    move(s.rank, last, slot)
    move(s.sums, last, slot)
    move(s.born, last, slot)
    move(s.dist, last, slot)
    move(s.near, last, slot)
    if s.near.shape[0] > 0:
        for j in range(last):
            if s.near[j] == last:
                s.near[j] = slot
    trace(log, at.CLOSE_GAP_SLOT, 0, 0, slot)
    return last


@jit
def insert(s: LmsState, slot: int, x: Words, alpha: int, count: int, c: LmsConstants, log: Log) -> None:
    """Put x into `slot` as the newest of `count` vectors; `row` is that of x."""
    for d in range(x.shape[0]):
        s.v[slot, d] = x[d]
    s.alpha[slot] = alpha
    if s.rank.shape[0] > 0:
        s.rank[slot] = count - 1
    if c.max_age > 0:
        s.born[slot] = s.clock[0]
    if s.near.shape[0] > 0:
        meet(s, slot, count, c, log)
    if s.sums.shape[0] > 0:
        add_squares(s, slot, count, c, log)


# ---- truncation ----
@jit
def is_over(s: LmsState, i: int, c: LmsConstants) -> bool:
    """Whether slot i is to be dropped: its multiplier is small, or it is old."""
    size = s.alpha[i] if s.alpha[i] >= 0 else -s.alpha[i]
    return size <= c.truncation or (c.max_age > 0 and (s.clock[0] - s.born[i]) & CLOCK_MASK >= c.max_age)


@jit
def truncate(s: LmsState, count: int, newest_only: bool, c: LmsConstants, k: KernelConstants,
             w: LmsWork, log: Log) -> int:
    """Drop what is small or old; nobody inherits.  The new count."""
    i = 0
    while i < count:
        if is_over(s, i, c):
            s.alpha[i] = 0
            if not newest_only:
                release(s, i, count, c, k, w, log)
            count = close_gap(s, i, count, log)
        else:
            i += 1
    return count


# ---- the rule ----
@jit
def predicted(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
              log: Log) -> tuple[int, bool]:
    """Predict f before learning, from the distances in `row`, and whether it saturated."""
    whole = shift_round(weigh(s, count, c, k, w, log), c.f_shift, c.f.rounding)
    f, lost = into_word(whole, c.f, log, F)
    trace(log, at.LEARN_F, 0, 0, f)
    return f, lost


@jit
def stepped(s: LmsState, count: int, error: int, duplicate: int, c: LmsConstants,
            log: Log) -> tuple[int, bool]:
    """Decay of all (5), and the multiplier of the new or the repeated vector (4); whether that saturated."""
    if c.max_age > 0:
        s.clock[0] = (s.clock[0] + 1) & CLOCK_MASK
    if c.decay != 0:
        for i in range(count):
            s.alpha[i] = shift_round(s.alpha[i] * c.decay, c.decay_shift, c.alpha.rounding)
        trace_all(log, at.LEARN_DECAYED, 0, s.alpha, 0, count)
    step = narrow(error * c.eta, c.eta_shift, c.alpha.rounding, -(1 << 62), 1 << 62)
    word, lost = into_word(step if duplicate < 0 else s.alpha[duplicate] + step, c.alpha, log, ALPHA)
    trace(log, at.LEARN_ALPHA, 0, count if duplicate < 0 else duplicate, word)
    if duplicate >= 0:
        s.alpha[duplicate] = word
    return word, lost


@jit
def learn(s: LmsState, count: int, x: Words, y: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
          log: Log) -> int:
    """One step of the rule; w.out = (f, status), the new count comes back."""
    duplicate = fill_row(s, x, count, k, log)
    slot, saturated = count, 0
    if duplicate < 0 and count == c.budget:
        slot, _ = cheapest(s, count, c, k, log)
        saturated |= release(s, slot, count, c, k, w, log)
    trace(log, at.OUTPUT_Y, 0, 0, y)
    f, lost = predicted(s, count, c, k, w, log)
    word, lost_too = stepped(s, count, y - f, duplicate, c, log)
    if duplicate < 0:
        count = min(count + 1, c.budget)
        insert(s, slot, x, word, count, c, log)
    if c.truncation >= 0 or c.max_age > 0:
        count = truncate(s, count, False, c, k, w, log)
    if c.reduces:
        count, more = reduce(s, count, c, k, w, log)
        saturated |= more
    w.out[0], w.out[1] = f, SATURATED if saturated != 0 or lost or lost_too else OK
    return count


@jit
def reduce(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
           log: Log) -> tuple[int, int]:
    """Fixed lambda_max: vectors go while no more is lost; the new count, and whether a word saturated."""
    least = 2 if keeps_neighbours(c) else 1
    saturated = 0
    while count >= least:
        slot, lam = cheapest(s, count, c, k, log)
        if lam > c.max_deterioration:
            break
        saturated |= release(s, slot, count, c, k, w, log)
        count = close_gap(s, slot, count, log)
    return count, saturated


# ---- the newest only ----
@jit
def newest_loss(s: LmsState, count: int, alpha: int, c: LmsConstants, k: KernelConstants, log: Log) -> int:
    """Return lambda of a vector that is not held yet, from its row and its multiplier."""
    about = 0
    for i in range(count):
        if keeps_sums(c):
            about += square(s.row[i], c)
        elif i == 0 or s.row[i] < about:
            about = s.row[i]
    lam = loss_of(alpha, about, c, k, log)
    trace(log, at.NEWEST_LOSS, 0, 0, lam)
    return lam


@jit
def learn_newest(s: LmsState, count: int, x: Words, y: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
                 log: Log) -> int:
    """As :func:`learn` where only the newest vector may go: it stays, or hands its multiplier on at once."""
    duplicate = fill_row(s, x, count, k, log)
    trace(log, at.OUTPUT_Y, 0, 0, y)
    f, lost = predicted(s, count, c, k, w, log)
    word, lost_too = stepped(s, count, y - f, duplicate, c, log)
    saturated, crowded = lost or lost_too, False
    stays = duplicate < 0 and (word if word >= 0 else -word) > c.truncation
    if c.truncation >= 0 or c.max_age > 0:
        count = truncate(s, count, True, c, k, w, log)
    if stays:
        alone = keeps_neighbours(c) and count == 0
        cheap = not alone and newest_loss(s, count, word, c, k, log) <= c.max_deterioration
        crowded = not cheap and count == c.budget
        if not cheap and not crowded:
            insert(s, count, x, word, count + 1, c, log)
            count += 1
        elif c.projects:
            if not keeps_sums(c):
                kernel_row(s.row, count, k, w.values, log)
            values = s.row if keeps_sums(c) else w.values
            saturated = receive(s.alpha, count, word, values, c, w, log) != 0 or saturated
            trace_all(log, at.PROJECT_ALPHA, 0, s.alpha, 0, count)
    w.out[0], w.out[1] = f, SATURATED if saturated else FULL if crowded else OK
    return count


@jit
def learn_all(x_raw: Words, y_raw: Words, s: LmsState, count: int, newest_only: bool, i: InputConstants,
              c: LmsConstants, k: KernelConstants, f: Words, status: Words, w: LmsWork,
              log: Log) -> int:
    """All samples in order.  The new count comes back."""
    for m in range(x_raw.shape[0]):
        convert_x(x_raw[m], i, w.x, log)
        trace_all(log, at.INPUT_X, 0, w.x, 0, w.x.shape[0])
        y = convert_y(y_raw[m], i, log)
        if newest_only:
            count = learn_newest(s, count, w.x, y, c, k, w, log)
        else:
            count = learn(s, count, w.x, y, c, k, w, log)
        f[m], status[m] = w.out[0], w.out[1]
    return count


class LmsModel(IntegerModel):
    """The integer model of a plan whose algorithm is ``kernel_lms``."""

    def __init__(self, plan: Plan) -> None:
        self._constants, self._work = constants_of(plan), work_space(plan)
        self._newest_only = plan.options["newest_only"] == "1"
        super().__init__(plan)

    def reset(self) -> None:
        """Back to the empty model."""
        self._state = empty_state(self.plan)
        self._count = 0

    def update(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64]) -> Outputs:
        """Learn from raw samples (m, D), (m,) in order: ``status`` (m,) and ``f`` (m,)."""
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        f, status = (np.zeros(len(y_raw), dtype=np.int64) for _ in range(2))
        self._count = learn_all(x_raw, y_raw, self._state, self._count, self._newest_only, self._input,
                                self._constants, self._kernel, f, status, self._work,
                                self.ranges.log)
        return {"status": status, "f": f}

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predictions in y words of raw inputs (m, D): ``status`` (m,) and ``f`` (m,)."""
        return self._predict(x_raw, self._state.v, self._state.alpha, self._count, self._constants.f_shift)

    def _members(self) -> dict[str, NDArray[Any]]:
        return self._state._asdict()

    def load(self, state: Outputs) -> None:
        """Take over a state."""
        super().load(state)
        self._count = int(state["count"][0])

    def state(self) -> Outputs:
        """Every member of the device's model structure."""
        return field_arrays(self.plan, {**self._members(), "count": self._count})
