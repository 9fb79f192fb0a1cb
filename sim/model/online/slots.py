"""sim.model: project, remove and insert centers of the online learner.

Each center has a slot. B. Mitchinson, T. J. Dodd and R. F. Harrison, "Reduction of Kernel Models" (2003):
projection (16).
"""

from __future__ import annotations

from ...jit import jit
from ...primitives import Words, mac, shift_round
from .. import trace_hooks as at
from ..kernel import KernelConstants, distance_row, into_word, into_words, kernel_row
from ..ranges import ALPHA
from ..trace_hooks import Log, trace, trace_all
from .metric import (
    add_squares,
    bounded_sum,
    keeps_neighbours,
    keeps_sums,
    link_nearest,
    mark_neighbours,
    relink_neighbours,
    square,
)
from .state import LmsConstants, LmsState, LmsWork

#: What the functions below add to their result if the guard stopped a projection.
CUT = 2


# ---- projection ----
@jit
def add_projection(alpha: Words, count: int, removed: int, values: Words, c: LmsConstants, w: LmsWork,
            log: Log) -> int:
    """Add ``removed * k`` to `count` coefficients, equation (16).

    A guard stops this when the sum of the squared kernel values exceeds 2. Return 1 if a coefficient
    saturated, plus `CUT` if the guard stopped the projection.
    """
    total = 0
    for j in range(count):
        if c.guard_limit > 0:
            total = mac(total, values[j], values[j], c.guard_shift)
        w.whole[j] = alpha[j]
        if c.guard_limit == 0 or total <= c.guard_limit:
            w.whole[j] += shift_round(removed * values[j], c.project_shift, c.alpha.rounding)
    found = 1 if into_words(w.whole, count, c.alpha, alpha, log, ALPHA) else 0
    return found | (CUT if removed != 0 and 0 < c.guard_limit < total else 0)


@jit
def project_outputs(alpha: Words, count: int, slot: int, c: LmsConstants, w: LmsWork, log: Log) -> int:
    """Project all outputs of `slot`; return the flags of :func:`add_projection`."""
    found, total = 0, 0
    for j in range(count):
        if c.guard_limit > 0:
            total = mac(total, w.values[j], w.values[j], c.guard_shift)
            if total > c.guard_limit:
                return found | CUT
        for o in range(c.outputs):
            whole = alpha[j * c.outputs + o] + shift_round(
                alpha[slot * c.outputs + o] * w.values[j], c.project_shift, c.alpha.rounding)
            alpha[j * c.outputs + o], lost = into_word(whole, c.alpha, log, ALPHA)
            found |= 1 if lost else 0
    return found


@jit
def project_removed(s: LmsState, slot: int, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
              log: Log) -> int:
    """Project the coefficient of the removed `slot` onto the others.

    Also subtract its squared kernel values from the sums of the other vectors.
    """
    projects = c.projects and (c.outputs > 1 or s.alpha[slot] != 0)
    if not projects and not keeps_sums(c):
        return 0
    for first, last in ((0, slot), (slot + 1, count)):
        distance_row(s.centers[first:last], last - first, s.centers[slot], k, w.d[first:last])
        kernel_row(w.d[first:last], last - first, k, w.values[first:last], log)
    w.values[slot] = 0  # no contribution to its own coefficient
    saturated = 0
    if projects and c.outputs > 1:
        saturated = project_outputs(s.alpha, count, slot, c, w, log)
    elif projects:
        saturated = add_projection(s.alpha, count, s.alpha[slot], w.values, c, w, log)
    if keeps_sums(c):
        for j in range(count):
            s.sums[j] = bounded_sum(s.sums[j] - square(w.values[j], c), s, c)
    for j in range(count):
        if j != slot:
            trace(log, at.PROJECT_DISTANCE, slot, j, w.d[j])
            trace(log, at.PROJECT_KERNEL, slot, j, w.values[j])
            if projects:
                trace_all(log, at.PROJECT_ALPHA, 0, s.alpha, j * c.outputs, (j + 1) * c.outputs)
    return saturated


# ---- slots ----
@jit
def remove_center(s: LmsState, slot: int, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
            log: Log) -> int:
    """Remove `slot` from the dictionary; return the flags of :func:`add_projection`.

    The coefficient is projected, and metric and age order are updated.
    """
    saturated = project_removed(s, slot, count, c, k, w, log)
    if c.bounded:
        mark_neighbours(s, slot, count, c)
    elif keeps_neighbours(c):
        relink_neighbours(s, slot, count, c, k, log)
    age = s.age_order[slot]
    for j in range(count):
        s.age_order[j] -= s.age_order[j] > age
    trace_all(log, at.REMOVE_AGE_ORDER, slot, s.age_order, 0, count)
    clear_alpha(s, slot, c)
    return saturated


@jit
def clear_alpha(s: LmsState, slot: int, c: LmsConstants) -> None:
    """Set the coefficients of a slot to 0."""
    for o in range(slot * c.outputs, (slot + 1) * c.outputs):
        s.alpha[o] = 0


@jit
def move_last(words: Words, last: int, slot: int) -> None:
    """Move the entry of the last slot to `slot` and clear the last one."""
    if words.shape[0] > 0:
        words[slot] = words[last]
        words[last] = 0


@jit
def close_gap(s: LmsState, slot: int, count: int, c: LmsConstants, log: Log) -> int:
    """Move the last of `count` vectors to the free `slot`; return the new count."""
    last = count - 1
    for d in range(s.centers.shape[1]):
        s.centers[slot, d] = s.centers[last, d]
        s.centers[last, d] = 0
    move_last(s.scratch_row, last, slot)
    for o in range(c.outputs):
        s.alpha[slot * c.outputs + o] = s.alpha[last * c.outputs + o]
        s.alpha[last * c.outputs + o] = 0
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
def insert_center(s: LmsState, slot: int, x: Words, alpha: Words, count: int, c: LmsConstants,
                  log: Log) -> None:
    """Insert x at `slot` as the newest of `count` vectors, with coefficients `alpha`.

    `alpha` has shape (C,); `scratch_row` must be the row of x.
    """
    for d in range(x.shape[0]):
        s.centers[slot, d] = x[d]
    for o in range(c.outputs):
        s.alpha[slot * c.outputs + o] = alpha[o]
    if s.age_order.shape[0] > 0:
        s.age_order[slot] = count - 1
    if c.max_age > 0:
        s.born[slot] = s.clock[0]
    if s.nearest_idx.shape[0] > 0:
        link_nearest(s, slot, count, c, log)
    if s.sums.shape[0] > 0:
        add_squares(s, slot, count, c, log)
