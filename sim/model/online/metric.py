"""sim.model: the metrics of the online learner: the loss of removing a vector.

B. Mitchinson, T. J. Dodd and R. F. Harrison, "Reduction of Kernel Models" (2003), (17), (18) and the metrics
of section 5. :mod:`...planner.online.metric` defines each in integers.
"""

from __future__ import annotations

from ...jit import jit, jit_inline
from ...primitives import FLOOR, mac, mul_shift, shift_round
from .. import trace_hooks as at
from ..kernel import KernelConstants, distance, kernel
from ..ranges import DISTANCE, record
from ..trace_hooks import Log, trace
from .state import AGE, FAST_KLMS, FKLMS, FMKLMS, MAGNITUDE, LmsConstants, LmsState

#: An upper bound of distances and losses.
INT64_MAX = (1 << 63) - 1


@jit_inline
def keeps_neighbours(c: LmsConstants) -> bool:
    """Return whether each slot stores its nearest vector."""
    return c.metric in (FKLMS, FMKLMS)


@jit_inline
def keeps_sums(c: LmsConstants) -> bool:
    """Return whether each slot stores the sum of its squared kernel values."""
    return c.metric >= FAST_KLMS


@jit_inline
def square(value: int, c: LmsConstants) -> int:
    """Square a kernel value for a sum of squares."""
    return shift_round(value * value, c.square_shift, FLOOR)


@jit_inline
def weighted(alpha: int, kappa: int, c: LmsConstants) -> int:
    """Compute ``alpha^2 kappa``; kappa must not be negative."""
    return mul_shift(alpha * alpha, kappa >> c.kappa_shift, c.metric_shift)


@jit_inline
def magnitude(s: LmsState, i: int, c: LmsConstants) -> int:
    """Return |alpha| of slot i; with several outputs, the sum of their squares."""
    if c.outputs == 1:
        size: int = s.alpha[i] if s.alpha[i] >= 0 else -s.alpha[i]
        return size
    total = 0
    for o in range(i * c.outputs, (i + 1) * c.outputs):
        total = mac(total, s.alpha[o], s.alpha[o], c.norm_shift)
    return total


@jit
def loss_of(alpha: int, about: int, c: LmsConstants, k: KernelConstants, log: Log) -> int:
    """Return the loss of a vector from its coefficient and `about`.

    Depending on the metric, `about` is its nearest distance, its sum of squares or its age order.
    """
    if c.metric in (FKLMS, AGE):
        return about
    if c.metric == MAGNITUDE:
        return alpha if alpha >= 0 else -alpha
    if c.metric == FMKLMS:
        return weighted(alpha, c.kappa_one - kernel(about, k, log), c)
    kappa = c.kappa_one - about
    if c.metric == FAST_KLMS:
        return kappa
    return weighted(alpha, kappa if kappa > 0 else 0, c)


@jit_inline
def loss(s: LmsState, i: int, c: LmsConstants, k: KernelConstants, log: Log) -> int:
    """Return the loss of slot i."""
    about = 0
    if c.metric == MAGNITUDE:
        return magnitude(s, i, c)
    if keeps_neighbours(c):
        about = s.nearest_d2[i]
    elif keeps_sums(c):
        about = s.sums[i]
    elif c.metric == AGE:
        about = s.age_order[i]
    return loss_of(s.alpha[i], about, c, k, log)


@jit
def select_victim_fklms(s: LmsState, count: int) -> tuple[int, int]:
    """Select the victim of FKLMS, the default metric, without a branch per slot."""
    best, min_loss = -1, INT64_MAX
    for i in range(count):
        if s.nearest_d2[i] <= min_loss and s.age_order[i] != 0 and (
                best < 0 or s.nearest_d2[i] < min_loss or s.age_order[i] > s.age_order[best]):
            best, min_loss = i, s.nearest_d2[i]
    return best, min_loss


@jit
def select_victim(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, log: Log) -> tuple[int, int]:
    """Return the slot with the smallest loss, and the loss.

    Ties select the newest vector; with FKLMS never the oldest one.
    """
    best, min_loss = -1, 0
    if c.metric == FKLMS:
        best, min_loss = select_victim_fklms(s, count)
    else:
        for i in range(count):
            candidate = loss(s, i, c, k, log)
            if best < 0 or candidate < min_loss or (candidate == min_loss
                                                    and s.age_order[i] > s.age_order[best]):
                best, min_loss = i, candidate
    trace(log, at.VICTIM_SLOT, 0, 0, best)
    return best, min_loss


@jit
def find_nearest(s: LmsState, slot: int, count: int, skip: int, c: LmsConstants, k: KernelConstants,
              log: Log) -> None:
    """Find the nearest vector of `slot`, except `skip`; ties select the oldest."""
    age = s.age_order[slot] if c.metric == FKLMS else count
    best, min_d2 = -1, INT64_MAX
    for j in range(count):
        if s.age_order[j] < age and j not in (slot, skip):
            d2 = distance(s.centers[slot], s.centers[j], k)
            trace(log, at.NEAREST_DISTANCE, slot, j, d2)
            if d2 <= min_d2 and (best < 0 or d2 < min_d2 or s.age_order[j] < s.age_order[best]):
                best, min_d2 = j, d2
    s.nearest_idx[slot] = slot if best < 0 else best
    s.nearest_d2[slot] = 0 if best < 0 else min_d2
    trace(log, at.NEAREST_IDX, slot, 0, s.nearest_idx[slot])
    trace(log, at.NEAREST_D2, slot, 0, s.nearest_d2[slot])


@jit
def relink_neighbours(s: LmsState, slot: int, count: int, c: LmsConstants, k: KernelConstants,
                      log: Log) -> None:
    """Find a new nearest vector for each vector whose nearest was in `slot`."""
    for j in range(count):
        if j != slot and s.nearest_idx[j] == slot:
            find_nearest(s, j, count, slot, c, k, log)


@jit
def mark_neighbours(s: LmsState, slot: int, count: int, c: LmsConstants) -> None:
    """Mark each vector whose nearest was in `slot`: its own slot becomes its nearest.

    :func:`search_pending` replaces the marks after the new vector was inserted in `slot`, with the result of
    :func:`relink_neighbours` before. With FKLMS, a search reads older vectors only, the new vector is the
    newest, and a removal keeps the order of the others. With FMKLMS, :func:`link_nearest` would next replace
    the nearest of all others by the new vector if that is nearer, and keep it in a tie. A search that
    includes the new vector gives the same, because ties select the oldest.

    No other vector has its own slot: FKLMS removes never the oldest, and FMKLMS has two vectors or more.
    """
    for j in range(count):
        if j != slot and s.nearest_idx[j] == slot:
            s.nearest_idx[j] = j
            if is_marked(s, j, c):
                s.pending[0] = j + 1


@jit_inline
def is_marked(s: LmsState, j: int, c: LmsConstants) -> bool:
    """Return whether slot j is marked; the oldest of FKLMS never is."""
    return bool(s.nearest_idx[j] == j and (c.metric != FKLMS or s.age_order[j] != 0))


@jit
def search_pending(s: LmsState, count: int, max_searches: int, c: LmsConstants, k: KernelConstants,
                   log: Log) -> None:
    """Carry out up to `max_searches` of the pending searches, the last slot first."""
    while s.pending[0] > 0 and max_searches > 0:
        j = s.pending[0] - 1
        find_nearest(s, j, count, j, c, k, log)
        while j > 0 and not is_marked(s, j - 1, c):
            j -= 1
        s.pending[0] = j
        max_searches -= 1


@jit
def link_nearest(s: LmsState, slot: int, count: int, c: LmsConstants, log: Log) -> None:
    """Link the new vector in `slot` to its nearest vector.

    Also relink the vectors to which it is now the nearest one.
    """
    best, min_d2 = -1, INT64_MAX
    for j in range(count):
        if s.scratch_row[j] <= min_d2 and j != slot and (
                best < 0 or s.scratch_row[j] < min_d2 or s.age_order[j] < s.age_order[best]):
            best, min_d2 = j, s.scratch_row[j]
    s.nearest_idx[slot] = slot if best < 0 else best
    s.nearest_d2[slot] = 0 if best < 0 else min_d2
    record(log, DISTANCE, s.nearest_d2[slot])
    trace(log, at.INSERT_NEAREST_IDX, slot, 0, s.nearest_idx[slot])
    trace(log, at.INSERT_NEAREST_D2, slot, 0, s.nearest_d2[slot])
    if c.metric == FMKLMS:
        for j in range(count):
            if c.bounded and s.nearest_idx[j] == j and s.pending[0] > 0:
                continue
            if j != slot and (s.nearest_idx[j] == j or s.scratch_row[j] < s.nearest_d2[j]):
                s.nearest_idx[j] = slot
                s.nearest_d2[j] = s.scratch_row[j]
                trace(log, at.LINK_NEAREST_D2, slot, j, s.nearest_d2[j])


@jit_inline
def bounded_sum(value: int, s: LmsState, c: LmsConstants) -> int:
    """Clip a sum of squares to its range, which only a forged state can exceed."""
    limit = s.sums.shape[0] * c.kappa_one
    return 0 if value < 0 else limit if value > limit else value


@jit
def add_squares(s: LmsState, slot: int, count: int, c: LmsConstants, log: Log) -> None:
    """Add the squared kernel values in `scratch_row` to the sums.

    This sets the sum of the new vector and increases the sum of every other vector.
    """
    s.sums[slot] = 0
    for j in range(count):
        if j != slot:
            term = square(s.scratch_row[j], c)
            s.sums[slot] += term
            s.sums[j] = bounded_sum(s.sums[j] + term, s, c)
    trace(log, at.INSERT_SUM, slot, 0, s.sums[slot])
