"""sim.model: the metrics of the online learner: which vector does least harm by going.

Report 836, (17), (18), and the metrics of its section 5; what each is in integers says
:mod:`...planner.online.metric`.
"""

from __future__ import annotations

from ...jit import jit, jit_inline
from ...primitives import FLOOR, mul_shift, shift_round
from .. import trace_hooks as at
from ..kernel import KernelConstants, distance, kernel
from ..ranges import DISTANCE, record
from ..trace_hooks import Log, trace
from .state import AGE, FAST_KLMS, FKLMS, FMKLMS, MAGNITUDE, LmsConstants, LmsState

#: No distance and no loss is larger.
MOST = (1 << 63) - 1


@jit_inline
def keeps_neighbours(c: LmsConstants) -> bool:
    """Whether each slot knows its nearest vector."""
    return c.metric in (FKLMS, FMKLMS)


@jit_inline
def keeps_sums(c: LmsConstants) -> bool:
    """Whether each slot has the sum of its squared kernel values."""
    return c.metric >= FAST_KLMS


@jit_inline
def square(value: int, c: LmsConstants) -> int:
    """A kernel word squared, as it is added and subtracted."""
    return shift_round(value * value, c.square_shift, FLOOR)


@jit_inline
def weighed(alpha: int, kappa: int, c: LmsConstants) -> int:
    """``alpha^2 kappa``, which must not be negative."""
    return mul_shift(alpha * alpha, kappa >> c.kappa_shift, c.metric_shift)


@jit
def loss_of(alpha: int, about: int, c: LmsConstants, k: KernelConstants, log: Log) -> int:
    """Return lambda of a vector by its multiplier and what is kept `about` it: distance, sum or rank."""
    if c.metric in (FKLMS, AGE):
        return about
    if c.metric == MAGNITUDE:
        return alpha if alpha >= 0 else -alpha
    if c.metric == FMKLMS:
        return weighed(alpha, c.kappa_one - kernel(about, k, log), c)
    kappa = c.kappa_one - about
    if c.metric == FAST_KLMS:
        return kappa
    return weighed(alpha, kappa if kappa > 0 else 0, c)


@jit_inline
def loss(s: LmsState, i: int, c: LmsConstants, k: KernelConstants, log: Log) -> int:
    """Return lambda of slot i."""
    about = 0
    if keeps_neighbours(c):
        about = s.dist[i]
    elif keeps_sums(c):
        about = s.sums[i]
    elif c.metric == AGE:
        about = s.rank[i]
    return loss_of(s.alpha[i], about, c, k, log)


@jit
def closest(s: LmsState, count: int) -> tuple[int, int]:
    """:func:`cheapest` of FKLMS, the usual metric: without a choice at every slot."""
    best, least = -1, MOST
    for i in range(count):
        if s.dist[i] <= least and s.rank[i] != 0 and (
                best < 0 or s.dist[i] < least or s.rank[i] > s.rank[best]):
            best, least = i, s.dist[i]
    return best, least


@jit
def cheapest(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, log: Log) -> tuple[int, int]:
    """The slot of least loss, of equals the newest, and that loss; of FKLMS never the oldest vector."""
    best, least = -1, 0
    if c.metric == FKLMS:
        best, least = closest(s, count)
    else:
        for i in range(count):
            lam = loss(s, i, c, k, log)
            if best < 0 or lam < least or (lam == least and s.rank[i] > s.rank[best]):
                best, least = i, lam
    trace(log, at.CHEAPEST_SLOT, 0, 0, best)
    return best, least


@jit
def find_near(s: LmsState, slot: int, count: int, skip: int, c: LmsConstants, k: KernelConstants,
              log: Log) -> None:
    """Search the neighbour of `slot`, leaving out `skip`; of equals, the oldest."""
    age = s.rank[slot] if c.metric == FKLMS else count
    best, least = -1, MOST
    for j in range(count):
        if s.rank[j] < age and j not in (slot, skip):
            d2 = distance(s.v[slot], s.v[j], k)
            trace(log, at.NEAR_DISTANCE, slot, j, d2)
            if d2 <= least and (best < 0 or d2 < least or s.rank[j] < s.rank[best]):
                best, least = j, d2
    s.near[slot] = slot if best < 0 else best
    s.dist[slot] = 0 if best < 0 else least
    trace(log, at.NEAR_NEAR, slot, 0, s.near[slot])
    trace(log, at.NEAR_DIST, slot, 0, s.dist[slot])


@jit
def forget(s: LmsState, slot: int, count: int, c: LmsConstants, k: KernelConstants, log: Log) -> None:
    """Those whose neighbour was in `slot` search another."""
    for j in range(count):
        if j != slot and s.near[j] == slot:
            find_near(s, j, count, slot, c, k, log)


@jit
def meet(s: LmsState, slot: int, count: int, c: LmsConstants, log: Log) -> None:
    """The new vector in `slot` finds its neighbour in `row`, and becomes that of whom it is nearest to."""
    best, least = -1, MOST
    for j in range(count):
        if s.row[j] <= least and j != slot and (
                best < 0 or s.row[j] < least or s.rank[j] < s.rank[best]):
            best, least = j, s.row[j]
    s.near[slot] = slot if best < 0 else best
    s.dist[slot] = 0 if best < 0 else least
    record(log, DISTANCE, s.dist[slot])
    trace(log, at.INSERT_NEAR, slot, 0, s.near[slot])
    trace(log, at.INSERT_DIST, slot, 0, s.dist[slot])
    if c.metric == FMKLMS:
        for j in range(count):
            if j != slot and (s.near[j] == j or s.row[j] < s.dist[j]):
                s.near[j] = slot
                s.dist[j] = s.row[j]
                trace(log, at.MEET_DIST, slot, j, s.dist[j])


@jit
def add_squares(s: LmsState, slot: int, count: int, c: LmsConstants, log: Log) -> None:
    """The new vector in `slot` and all others add the squares of the kernel values in `row`."""
    s.sums[slot] = 0
    for j in range(count):
        if j != slot:
            term = square(s.row[j], c)
            s.sums[slot] += term
            s.sums[j] += term
    trace(log, at.INSERT_SUM, slot, 0, s.sums[slot])
