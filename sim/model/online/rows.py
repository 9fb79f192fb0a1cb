"""sim.model: the distances of a sample to all centers, and the expansion."""

from __future__ import annotations

from ...jit import jit
from ...primitives import Words, mac
from .. import trace_hooks as at
from ..kernel import KernelConstants, distance_row, kernel_row
from ..ranges import ACCUMULATOR, record
from ..trace_hooks import Log, trace_all
from .metric import keeps_sums
from .state import LmsConstants, LmsState, LmsWork


@jit
def fill_row(s: LmsState, x: Words, count: int, c: LmsConstants, k: KernelConstants, log: Log) -> int:
    """Store all distances of x in `scratch_row`; return the slot to update, or -1.

    That slot contains the nearest vector (ties select the oldest), if its distance is at most
    `quantise`, or 0 without quantisation.
    """
    nearest = -1
    distance_row(s.centers, count, x, k, s.scratch_row)
    trace_all(log, at.FILL_ROW, 0, s.scratch_row, 0, count)
    for i in range(count):
        d2 = s.scratch_row[i]
        if d2 <= c.quantise and (nearest < 0 or d2 < s.scratch_row[nearest] or (
                d2 == s.scratch_row[nearest] and is_older(s, i, nearest))):
            nearest = i
    return nearest


@jit
def is_older(s: LmsState, i: int, j: int) -> bool:
    """Return whether slot i is older than slot j."""
    return bool(s.age_order[i] < s.age_order[j]) if s.age_order.shape[0] > 0 else i < j


@jit
def kernel_expansion(s: LmsState, count: int, c: LmsConstants, k: KernelConstants, w: LmsWork,
                     log: Log) -> None:
    """Compute ``sum_i alpha_i k(v_i, x)`` (1) of each output.

    `scratch_row` holds the distances. The sums are ``w.acc``. With a sum metric `scratch_row` holds the
    kernel values afterwards.
    """
    kernel_row(s.scratch_row, count, k, w.values, log)
    trace_all(log, at.EXPANSION_KERNEL, 0, w.values, 0, count)
    for o in range(c.outputs):
        acc = 0
        for i in range(count):
            acc = mac(acc, s.alpha[i * c.outputs + o], w.values[i], c.mac_shift)
        w.acc[o] = acc
        record(log, ACCUMULATOR, acc)
    if keeps_sums(c):
        for i in range(count):
            s.scratch_row[i] = w.values[i]
