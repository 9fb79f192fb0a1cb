"""sim.model: the online learner in fixed memory, bit-exact with the device.

B. Mitchinson, T. J. Dodd and R. F. Harrison, "Reduction of Kernel Models" (2003):
learning rule (2)-(6), projection (16), metrics (17), (18) and those of section 5, truncation, and
the strategies fixed N_max and fixed lambda_max.  Vectors are in slots 0 to count - 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...backend import Outputs, field_arrays
from ...data import raw
from ...jit import jit
from ...plan import Plan
from ...primitives import Words, requantise, shift_round
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
from ..ranges import ALPHA, F
from ..statuses import FULL, OK, SATURATED
from ..trace_hooks import Log, trace, trace_all
from .linear import finish_step, has_linear, predict_both, start_step
from .metric import (
    add_squares,
    bounded_sum,
    keeps_neighbours,
    keeps_sums,
    link_nearest,
    loss_of,
    relink_neighbours,
    select_victim,
    square,
)
from .rows import fill_row, kernel_expansion
from .state import CLOCK_MASK, LmsConstants, LmsState, LmsWork, constants_of, empty_state, work_space


# ---- projection ----
@jit
def add_projection(alpha: Words, count: int, removed: int, values: Words, c: LmsConstants, w: LmsWork,
            log: Log) -> int:
    """Add ``removed k`` to `count` coefficients (16); return 1 if one saturated."""
    for j in range(count):
        w.whole[j] = alpha[j] + shift_round(removed * values[j], c.project_shift, c.alpha.rounding)
    return 1 if into_words(w.whole, count, c.alpha, alpha, log, ALPHA) else 0


@jit
def project_removed(s: LmsState, slot: int, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
              log: Log) -> int:
    """Project the coefficient of the removed `slot` onto the others.

    Also subtract its squared kernel values from their sums.
    """
    projects = c.projects and s.alpha[slot] != 0
    if not projects and not keeps_sums(c):
        return 0
    for first, last in ((0, slot), (slot + 1, count)):
        distance_row(s.centers[first:last], last - first, s.centers[slot], k, w.d[first:last])
        kernel_row(w.d[first:last], last - first, k, w.values[first:last], log)
    w.values[slot] = 0  # no contribution to its own coefficient
    saturated = add_projection(s.alpha, count, s.alpha[slot], w.values, c, w, log) if projects else 0
    if keeps_sums(c):
        for j in range(count):
            s.sums[j] = bounded_sum(s.sums[j] - square(w.values[j], c), s, c)
    for j in range(count):
        if j != slot:
            trace(log, at.PROJECT_DISTANCE, slot, j, w.d[j])
            trace(log, at.PROJECT_KERNEL, slot, j, w.values[j])
            if projects:
                trace(log, at.PROJECT_ALPHA, 0, j, s.alpha[j])
    return saturated


# ---- slots ----
@jit
def remove_center(s: LmsState, slot: int, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
            log: Log) -> int:
    """Remove `slot` from the dictionary; return 1 if a value saturated.

    This includes projection, metric and age order.
    """
    saturated = project_removed(s, slot, count, c, k, w, log)
    if keeps_neighbours(c):
        relink_neighbours(s, slot, count, c, k, log)
    age = s.age_order[slot]
    for j in range(count):
        s.age_order[j] -= s.age_order[j] > age
    trace_all(log, at.REMOVE_AGE_ORDER, slot, s.age_order, 0, count)
    s.alpha[slot] = 0
    return saturated


@jit
def move_last(words: Words, last: int, slot: int) -> None:
    """Move the entry of the last slot to `slot` and clear the last one."""
    if words.shape[0] > 0:
        words[slot] = words[last]
        words[last] = 0


@jit
def close_gap(s: LmsState, slot: int, count: int, log: Log) -> int:
    """Move the last of `count` vectors to the free `slot`; return the new count."""
    last = count - 1
    for d in range(s.centers.shape[1]):
        s.centers[slot, d] = s.centers[last, d]
        s.centers[last, d] = 0
    move_last(s.scratch_row, last, slot)
    move_last(s.alpha, last, slot)
    move_last(s.age_order, last, slot)
    move_last(s.sums, last, slot)
    move_last(s.born, last, slot)
    move_last(s.nearest_d2, last, slot)
    move_last(s.nearest_idx, last, slot)
    if s.nearest_idx.shape[0] > 0:
        for j in range(last):
            if s.nearest_idx[j] == last:
                s.nearest_idx[j] = slot
    trace(log, at.CLOSE_GAP_SLOT, 0, 0, slot)
    return last


@jit
def insert_center(s: LmsState, slot: int, x: Words, alpha: int, count: int, c: LmsConstants,
                  log: Log) -> None:
    """Insert x at `slot` as the newest of `count` vectors; `scratch_row` is that of x."""
    for d in range(x.shape[0]):
        s.centers[slot, d] = x[d]
    s.alpha[slot] = alpha
    if s.age_order.shape[0] > 0:
        s.age_order[slot] = count - 1
    if c.max_age > 0:
        s.born[slot] = s.clock[0]
    if s.nearest_idx.shape[0] > 0:
        link_nearest(s, slot, count, c, log)
    if s.sums.shape[0] > 0:
        add_squares(s, slot, count, c, log)


# ---- truncation ----
@jit
def is_expired(s: LmsState, i: int, c: LmsConstants) -> bool:
    """Return whether slot i has expired: its coefficient is small, or it is old."""
    size = s.alpha[i] if s.alpha[i] >= 0 else -s.alpha[i]
    return size <= c.truncation or (c.max_age > 0 and (s.clock[0] - s.born[i]) & CLOCK_MASK >= c.max_age)


@jit
def drop_expired(s: LmsState, count: int, newest_only: bool, c: LmsConstants, k: KernelConstants,
             w: LmsWork, log: Log) -> int:
    """Remove expired vectors without projection; return the new count."""
    i = 0
    while i < count:
        if is_expired(s, i, c):
            s.alpha[i] = 0
            if not newest_only:
                remove_center(s, i, count, c, k, w, log)
            count = close_gap(s, i, count, log)
        else:
            i += 1
    return count


# ---- the rule ----
@jit
def predict_row(s: LmsState, count: int, linear: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
              log: Log) -> tuple[int, bool]:
    """Predict f from `scratch_row` before learning; return f and whether it saturated."""
    whole = shift_round(kernel_expansion(s, count, c, k, w, log), c.f_shift, c.f.rounding)
    f, saturated = into_word(whole + linear, c.f, log, F)
    trace(log, at.LEARN_F, 0, 0, f)
    return f, saturated


@jit
def lms_step(s: LmsState, count: int, error: int, duplicate: int, c: LmsConstants,
            log: Log) -> tuple[int, bool]:
    """Decay all coefficients (5) and compute the new one (4); return it.

    It belongs to the new or duplicate vector. Also return whether it saturated.
    """
    if c.max_age > 0:
        s.clock[0] = (s.clock[0] + 1) & CLOCK_MASK
    if c.decay != 0:
        for i in range(count):
            s.alpha[i] = shift_round(s.alpha[i] * c.decay, c.decay_shift, c.alpha.rounding)
        trace_all(log, at.LEARN_DECAYED, 0, s.alpha, 0, count)
    step = requantise(error * c.eta, c.eta_shift, c.alpha.rounding, -(1 << 62), 1 << 62)
    word, saturated = into_word(step if duplicate < 0 else s.alpha[duplicate] + step, c.alpha, log, ALPHA)
    trace(log, at.LEARN_ALPHA, 0, count if duplicate < 0 else duplicate, word)
    if duplicate >= 0:
        s.alpha[duplicate] = word
    return word, saturated


@jit
def learn(s: LmsState, count: int, x: Words, y: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
          log: Log) -> int:
    """Carry out one step of the rule; w.out = (f, status); return the new count."""
    duplicate = fill_row(s, x, count, c, k, log)
    slot, saturated = count, 0
    if duplicate < 0 and count == c.budget:
        slot, _ = select_victim(s, count, c, k, log)
        saturated |= remove_center(s, slot, count, c, k, w, log)
    trace(log, at.OUTPUT_Y, 0, 0, y)
    linear = start_step(s, x, c, w, log)
    f, f_saturated = predict_row(s, count, linear, c, k, w, log)
    word, alpha_saturated = lms_step(s, count, y - f, duplicate, c, log)
    if duplicate < 0:
        count = min(count + 1, c.budget)
        insert_center(s, slot, x, word, count, c, log)
    if c.truncation >= 0 or c.max_age > 0:
        count = drop_expired(s, count, False, c, k, w, log)
    if c.reduces:
        count, more = reduce(s, count, c, k, w, log)
        saturated |= more
    w_saturated = finish_step(s, y, f, linear, c, w, log)
    lost = saturated != 0 or f_saturated or alpha_saturated or w_saturated
    w.out[1] = SATURATED if lost else OK
    return count


@jit
def reduce(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
           log: Log) -> tuple[int, int]:
    """Remove vectors while the loss stays below lambda_max.

    Return the new count, and 1 if a value saturated.
    """
    least = 2 if keeps_neighbours(c) else 1
    saturated = 0
    while count >= least:
        slot, lam = select_victim(s, count, c, k, log)
        if lam > c.max_deterioration:
            break
        saturated |= remove_center(s, slot, count, c, k, w, log)
        count = close_gap(s, slot, count, log)
    return count, saturated


# ---- the newest only ----
@jit
def newest_loss(s: LmsState, count: int, alpha: int, c: LmsConstants, k: KernelConstants, log: Log) -> int:
    """Return the loss of a vector outside the dictionary.

    It is computed from the kernel row and the coefficient of the vector.
    """
    about = 0
    for i in range(count):
        if keeps_sums(c):
            about += square(s.scratch_row[i], c)
        elif i == 0 or s.scratch_row[i] < about:
            about = s.scratch_row[i]
    lam = loss_of(alpha, about, c, k, log)
    trace(log, at.NEWEST_LOSS, 0, 0, lam)
    return lam


@jit
def learn_newest(s: LmsState, count: int, x: Words, y: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
                 log: Log) -> int:
    """Keep the newest vector or project its coefficient; evict no other."""
    duplicate = fill_row(s, x, count, c, k, log)
    trace(log, at.OUTPUT_Y, 0, 0, y)
    linear = start_step(s, x, c, w, log)
    f, f_saturated = predict_row(s, count, linear, c, k, w, log)
    word, alpha_saturated = lms_step(s, count, y - f, duplicate, c, log)
    saturated, is_full = f_saturated or alpha_saturated, False
    is_kept = duplicate < 0 and (word if word >= 0 else -word) > c.truncation
    if c.truncation >= 0 or c.max_age > 0:
        count = drop_expired(s, count, True, c, k, w, log)
    if is_kept:
        alone = keeps_neighbours(c) and count == 0
        is_redundant = not alone and newest_loss(s, count, word, c, k, log) <= c.max_deterioration
        is_full = not is_redundant and count == c.budget
        if not is_redundant and not is_full:
            insert_center(s, count, x, word, count + 1, c, log)
            count += 1
        elif c.projects:
            if not keeps_sums(c):
                kernel_row(s.scratch_row, count, k, w.values, log)
            values = s.scratch_row if keeps_sums(c) else w.values
            saturated = add_projection(s.alpha, count, word, values, c, w, log) != 0 or saturated
            trace_all(log, at.PROJECT_ALPHA, 0, s.alpha, 0, count)
    saturated = finish_step(s, y, f, linear, c, w, log) or saturated
    w.out[1] = SATURATED if saturated else FULL if is_full else OK
    return count


@jit
def learn_all(x_raw: Words, y_raw: Words, s: LmsState, count: int, newest_only: bool, i: InputConstants,
              c: LmsConstants, k: KernelConstants, f: Words, status: Words, w: LmsWork,
              log: Log) -> int:
    """Learn all samples in order; return the new count."""
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
    """Integer model of a plan with algorithm ``kernel_lms``."""

    def __init__(self, plan: Plan) -> None:
        self._constants, self._work = constants_of(plan), work_space(plan)
        self._newest_only = plan.newest_only
        super().__init__(plan)

    def reset(self) -> None:
        """Return to the empty model."""
        self._state = empty_state(self.plan)
        self._count = 0

    def update(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64]) -> Outputs:
        """Learn the samples (m, D), (m,) in order; return ``status`` (m,) and ``f`` (m,)."""
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        f, status = (np.zeros(len(y_raw), dtype=np.int64) for _ in range(2))
        self._count = learn_all(x_raw, y_raw, self._state, self._count, self._newest_only, self._input,
                                self._constants, self._kernel, f, status, self._work,
                                self.ranges.log)
        return {"status": status, "f": f}

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict for ADC counts (m, D): ``status`` (m,), and ``f`` (m,) in LSBs of y."""
        if has_linear(self._state) and self._count:
            x_raw = raw.inputs(self.plan, x_raw)
            f, status = (np.zeros(len(x_raw), dtype=np.int64) for _ in range(2))
            predict_both(x_raw, self._input, self._state, self._count, self._constants, self._kernel,
                         self._work, f, status, self.ranges.log)
            return {"status": status, "f": f}
        return self._predict(x_raw, self._state.centers, self._state.alpha, self._count,
                             self._constants.f_shift)

    def _members(self) -> dict[str, NDArray[Any]]:
        return self._state._asdict()

    def load(self, state: Outputs) -> None:
        """Load a saved state."""
        super().load(state)
        self._count = int(state["count"][0])

    def state(self) -> Outputs:
        """Return every member of the device's model structure."""
        return field_arrays(self.plan, {**self._members(), "count": self._count})
