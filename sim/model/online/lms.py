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
from ...replay.saved_state import restore_error
from .. import trace_hooks as at
from ..base import IntegerModel
from ..kernel import InputConstants, KernelConstants, convert_x, into_word, kernel_row
from ..outputs import answer, classified, learned_outputs, predict_outputs, target_words
from ..ranges import ALPHA, F
from ..statuses import FULL, INACCURATE, NOT_TRAINED, OK, OUT_OF_ORDER, PENDING, SATURATED
from ..trace_hooks import Log, trace, trace_all
from .linear import finish_step, has_linear, predict_both, set_features, start_step
from .metric import (
    keeps_neighbours,
    keeps_sums,
    loss_of,
    magnitude,
    search_pending,
    select_victim,
    square,
)
from .rows import fill_row, kernel_expansion
from .slots import CUT, add_projection, clear_alpha, close_gap, insert_center, remove_center
from .state import CLOCK_MASK, LmsConstants, LmsState, LmsWork, constants_of, empty_state, work_space


# ---- truncation ----
@jit
def is_expired(s: LmsState, i: int, c: LmsConstants) -> bool:
    """Return whether slot i has expired: its coefficient is small, or it is old."""
    small = c.truncation >= 0 and magnitude(s, i, c) <= c.truncation
    return small or (c.max_age > 0 and (s.clock[0] - s.born[i]) & CLOCK_MASK >= c.max_age)


@jit
def drop_expired(s: LmsState, count: int, newest_only: bool, c: LmsConstants, k: KernelConstants,
             w: LmsWork, log: Log) -> int:
    """Remove expired vectors without projection; return the new count."""
    i = 0
    while i < count:
        if is_expired(s, i, c):
            clear_alpha(s, i, c)
            if not newest_only:
                remove_center(s, i, count, c, k, w, log)
            count = close_gap(s, i, count, c, log)
        else:
            i += 1
    return count


# ---- the rule ----
@jit
def predict_row(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
              log: Log) -> bool:
    """Predict ``w.f`` from `scratch_row` and ``w.linear`` before learning.

    Return whether any prediction saturated.
    """
    kernel_expansion(s, count, c, k, w, log)
    found = False
    for o in range(c.outputs):
        whole = shift_round(w.acc[o], c.f_shift, c.f.rounding)
        w.f[o], saturated = into_word(whole + w.linear[o], c.f, log, F)
        found = found or saturated
        trace(log, at.LEARN_F, 0, o, w.f[o])
    return found


@jit
def lms_step(s: LmsState, count: int, duplicate: int, c: LmsConstants, w: LmsWork, log: Log) -> bool:
    """Decay all coefficients (5) and compute ``w.coefficient``, the new ones (4).

    The new coefficients belong to the new or duplicate vector. Return whether any coefficient saturated.
    """
    if c.max_age > 0:
        s.clock[0] = (s.clock[0] + 1) & CLOCK_MASK
    if c.decay != 0:
        for i in range(count * c.outputs):
            s.alpha[i] = shift_round(s.alpha[i] * c.decay, c.decay_shift, c.alpha.rounding)
        trace_all(log, at.LEARN_DECAYED, 0, s.alpha, 0, count * c.outputs)
    first, found = (count if duplicate < 0 else duplicate) * c.outputs, False
    for o in range(c.outputs):
        step = requantise((w.y[o] - w.f[o]) * c.eta, c.eta_shift, c.alpha.rounding, -(1 << 62), 1 << 62)
        before = 0 if duplicate < 0 else s.alpha[first + o]
        word, saturated = into_word(before + step, c.alpha, log, ALPHA)
        found = found or saturated
        trace(log, at.LEARN_ALPHA, 0, first if c.outputs == 1 else o, word)
        w.coefficient[o] = word
        if duplicate >= 0:
            s.alpha[first + o] = word
    return found


@jit
def learn(s: LmsState, count: int, x: Words, c: LmsConstants, k: KernelConstants, w: LmsWork,
          log: Log) -> int:
    """Carry out one step of the rule for the targets ``w.y``; return the new count.

    The predictions are then in ``w.f``, and the status in ``w.status``.
    """
    duplicate = fill_row(s, x, count, c, k, log)
    slot, saturated = count, 0
    if duplicate < 0 and count == c.budget:
        slot, _ = select_victim(s, count, c, k, log)
        saturated |= remove_center(s, slot, count, c, k, w, log)
    trace_all(log, at.OUTPUT_Y, 0, w.y, 0, c.outputs)
    start_step(s, c, w, log)
    f_saturated = predict_row(s, count, c, k, w, log)
    alpha_saturated = lms_step(s, count, duplicate, c, w, log)
    if duplicate < 0:
        count = min(count + 1, c.budget)
        insert_center(s, slot, x, w.coefficient, count, c, log)
    if c.truncation >= 0 or c.max_age > 0:
        count = drop_expired(s, count, False, c, k, w, log)
    if c.reduces:
        count, more = reduce(s, count, c, k, w, log)
        saturated |= more
    w_saturated = finish_step(s, c, w, log)
    lost = saturated & 1 != 0 or f_saturated or alpha_saturated or w_saturated
    w.status[0] = SATURATED if lost else INACCURATE if saturated != 0 else OK
    return count


@jit
def reduce(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
           log: Log) -> tuple[int, int]:
    """Remove vectors while the loss stays below lambda_max.

    Return the new count, and the combined flags of :func:`.slots.remove_center`.
    """
    least = 2 if keeps_neighbours(c) else 1
    saturated = 0
    while count >= least:
        slot, lam = select_victim(s, count, c, k, log)
        if lam > c.max_deterioration:
            break
        saturated |= remove_center(s, slot, count, c, k, w, log)
        count = close_gap(s, slot, count, c, log)
    return count, saturated


# ---- the newest only ----
@jit
def newest_loss(s: LmsState, count: int, alpha: int, c: LmsConstants, k: KernelConstants, log: Log) -> int:
    """Return the loss of a vector outside the dictionary.

    The loss is computed from the kernel row and the coefficient of the vector.
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
def learn_newest(s: LmsState, count: int, x: Words, c: LmsConstants, k: KernelConstants, w: LmsWork,
                 log: Log) -> int:
    """Keep the newest vector or project its coefficient; evict no other."""
    duplicate = fill_row(s, x, count, c, k, log)
    trace(log, at.OUTPUT_Y, 0, 0, w.y[0])
    start_step(s, c, w, log)
    f_saturated = predict_row(s, count, c, k, w, log)
    alpha_saturated = lms_step(s, count, duplicate, c, w, log)
    word = w.coefficient[0]
    saturated, is_full, projected = f_saturated or alpha_saturated, False, 0
    is_kept = duplicate < 0 and (word if word >= 0 else -word) > c.truncation
    if c.truncation >= 0 or c.max_age > 0:
        count = drop_expired(s, count, True, c, k, w, log)
    if is_kept:
        alone = keeps_neighbours(c) and count == 0
        is_redundant = not alone and newest_loss(s, count, word, c, k, log) <= c.max_deterioration
        is_full = not is_redundant and count == c.budget
        if not is_redundant and not is_full:
            insert_center(s, count, x, w.coefficient, count + 1, c, log)
            count += 1
        elif c.projects:
            if not keeps_sums(c):
                kernel_row(s.scratch_row, count, k, w.values, log)
            values = s.scratch_row if keeps_sums(c) else w.values
            projected = add_projection(s.alpha, count, word, values, c, w, log)
            saturated = projected & 1 != 0 or saturated
            trace_all(log, at.PROJECT_ALPHA, 0, s.alpha, 0, count)
    saturated = finish_step(s, c, w, log) or saturated
    w.status[0] = SATURATED if saturated else FULL if is_full else INACCURATE if projected & CUT else OK
    return count


@jit
def learn_all(x_raw: Words, y: Words, s: LmsState, count: int, newest_only: bool, searches: int,
              i: InputConstants, c: LmsConstants, k: KernelConstants, f: Words, status: Words, w: LmsWork,
              log: Log) -> int:
    """Learn from all samples in order, and return the new count.

    Targets y and predictions f have the shape (m, C). After each sample, up to `searches` pending searches
    are carried out.
    """
    for m in range(x_raw.shape[0]):
        convert_x(x_raw[m], i, w.x, log)
        trace_all(log, at.INPUT_X, 0, w.x, 0, w.x.shape[0])
        for o in range(c.outputs):
            w.y[o] = y[m, o]
        if has_linear(s):
            set_features(w.x, x_raw[m], i, c, w.phi)
        if newest_only:
            count = learn_newest(s, count, w.x, c, k, w, log)
        else:
            count = learn(s, count, w.x, c, k, w, log)
        if c.bounded:
            search_pending(s, count, searches, c, k, log)
        for o in range(c.outputs):
            f[m, o] = w.f[o]
        status[m] = w.status[0]
    return count


class LmsModel(IntegerModel):
    """Integer model of a plan with algorithm ``kernel_lms``."""

    def __init__(self, plan: Plan) -> None:
        self._constants, self._work = constants_of(plan), work_space(plan)
        self._newest_only = plan.newest_only
        super().__init__(plan)

    def reset(self) -> None:
        """Make the model empty."""
        self._state = empty_state(self.plan)
        self._count = 0

    def update(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64]) -> Outputs:
        """Learn from the samples in order; return the prediction before each update.

        The targets have the shape (m,), or (m, C) for several outputs; those of classes are labels (m,).
        """
        return self._learn(x_raw, y_raw, self.plan.sizes["N"])

    def update_begin(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64]) -> Outputs:
        """Learn one sample, but leave the searches to :meth:`update_run`."""
        return self._learn(x_raw, y_raw, 0)

    def update_run(self, max_searches: int) -> int:
        """Carry out up to `max_searches` of the pending searches; return a status."""
        if self.plan.bounded_update:
            search_pending(self._state, self._count, max_searches, self._constants, self._kernel,
                           self.ranges.log)
        return PENDING if self._pending else OK

    @property
    def _pending(self) -> bool:
        """Return whether the last update has pending searches."""
        return bool(self._state.pending.any())

    def _learn(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64], searches: int) -> Outputs:
        """Learn from the samples in order, with up to `searches` after each.

        If searches of an earlier sample are left, nothing changes and the status is out of order.
        """
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        y = target_words(self.plan, y_raw, self._input, self.ranges.log)
        f, status = np.zeros(y.shape, dtype=np.int64), np.full(len(y), OUT_OF_ORDER, dtype=np.int64)
        if not self._pending:
            self._count = learn_all(x_raw, y, self._state, self._count, self._newest_only, searches,
                                    self._input, self._constants, self._kernel, f, status, self._work,
                                    self.ranges.log)
        return answer(self.plan, status, f)

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict for ADC counts (m, D), as :meth:`~kerncast.sim.backend.Backend.predict`."""
        return classified(self.plan, self._expansion(x_raw))

    def _expansion(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict ``status`` (m,), and ``f`` (m,) or (m, C) in LSBs of y."""
        several = "C" in self.plan.sizes
        if has_linear(self._state) and self._count:
            x_raw = raw.inputs(self.plan, x_raw)
            to = learned_outputs(self.plan, self._state.alpha)._replace(bias=self._work.linear)
            f = np.zeros((len(x_raw), self.plan.outputs), dtype=np.int64)
            status = np.zeros(len(x_raw), dtype=np.int64)
            predict_both(x_raw, self._input, self._state, self._count, to, self._constants, self._kernel,
                         self._work, f, status, self.ranges.log)
            return {"status": status, "f": f if several else f[:, 0]}
        if several:
            x_raw, to = raw.inputs(self.plan, x_raw), learned_outputs(self.plan, self._state.alpha)
            if self._count == 0:
                return {"status": np.full(len(x_raw), NOT_TRAINED, dtype=np.int64),
                        "f": np.zeros((len(x_raw), self.plan.outputs), dtype=np.int64)}
            return predict_outputs(x_raw, self._input, self._state.centers[:self._count], to, self._kernel,
                                   self.ranges.log)
        return self._predict(x_raw, self._state.centers, self._state.alpha, self._count,
                             self._constants.f_shift)

    def _members(self) -> dict[str, NDArray[Any]]:
        return self._state._asdict()

    def save(self) -> bytes:
        """Save the state; raise E449 if the last update has pending searches."""
        if self._pending:
            raise restore_error(self.plan, b"", OUT_OF_ORDER, f"back end {self.name}")
        return super().save()

    def load(self, state: Outputs) -> None:
        """Load a saved state."""
        super().load(state)
        self._count = int(state["count"][0])

    def state(self) -> Outputs:
        """Return every member of the device's model structure."""
        return field_arrays(self.plan, {**self._members(), "count": self._count})
