"""sim.model: the online learner in float32: KLMS, MKLMS and FKLMS.

B. Mitchinson, T. J. Dodd and R. F. Harrison, "Reduction of Kernel Models" (2003): learning rule (2)-(6),
strategy of fixed N_max; KLMS and MKLMS with projection (12) and metric (13) through one inverse
(:mod:`.gram_f32`), FKLMS with (16) and the exact distance. Inputs and distances are the integers of the
integer learner; coefficients are in full scales of y.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...backend import Outputs, field_arrays
from ...data import raw
from ...jit import jit, jit_inline
from ...plan import Plan
from ...primitives import Words, shift_round
from .. import trace_hooks as at
from ..base import IntegerModel
from ..float32 import LIMIT, ONE, ZERO, Floats, clip, exp2, fabs, fixed, real
from ..kernel import (
    Cast,
    InputConstants,
    KernelConstants,
    cast_of,
    convert_x,
    convert_y,
    distance,
    into_word,
    kernel_constants,
)
from ..ranges import DISTANCE, F, record
from ..statuses import INACCURATE, NOT_TRAINED, OK, SATURATED
from ..trace_hooks import Log, trace, trace_all
from .gram_f32 import Gram, clear, column, insert, rank_one, rebuild
from .metric import link_nearest, relink_neighbours
from .metric import select_victim as newer_of_closest
from .state import FKLMS, LmsConstants, LmsState


class Constants(NamedTuple):
    """Constants of the plan; floats are decoded from their bits."""

    eta: np.float32
    decay: np.float32  # 1 - eta rho; 0: no decay
    y: np.float32  # one LSB of y in full scales
    f_shift: int
    f: Cast
    scale: np.float32  # kernel: 2**-(d2 / 2**d2_shift * scale), 0 from d2_end on
    d2_shift: int
    d2_end: int
    distance: KernelConstants


class State(NamedTuple):
    """Arrays of the device.

    `k` is empty if the plan does not have it; `age_order` 0 is the oldest vector.
    """

    alpha: Floats
    centers: Words
    age_order: Words
    k: Floats


class Neighbours(NamedTuple):
    """Nearest-vector data of FKLMS, which shares centers and age order.

    KLMS and MKLMS have None instead.
    """

    state: LmsState
    constants: LmsConstants


@jit_inline
def kernel(d2: int, c: Constants) -> np.float32:
    """Compute the kernel of an exact distance."""
    if d2 >= c.d2_end:
        return ZERO
    return exp2(np.float32(d2 >> c.d2_shift) * c.scale)


@jit
def to_word(f: np.float32, f_shift: int, cast: Cast, log: Log) -> tuple[int, bool]:
    """Convert a sum in full scales of y to f; return f and whether it saturated."""
    return into_word(shift_round(fixed(f), f_shift, cast.rounding), cast, log, F)


@jit
def fill_row(s: State, neighbours: Neighbours | None, x: Words, count: int, c: Constants, log: Log) -> int:
    """Fill the row of x: kernel values in `k`, or distances in `scratch_row`.

    Return the slot whose center equals x, or -1.
    """
    duplicate = -1
    for i in range(count):
        d2 = distance(s.centers[i], x, c.distance)
        record(log, DISTANCE, d2)
        if neighbours is None:
            s.k[i] = kernel(d2, c)
        else:
            neighbours.state.scratch_row[i] = d2
        if d2 == 0:
            duplicate = i
    return duplicate


@jit
def coupling(g: Gram, slot: int, count: int, least: np.float32) -> np.float32:
    """Sum the squared kernel values of `slot` and vectors that are not candidates."""
    acc = ZERO
    for j in range(count):
        if g.step[j] > least:
            value = g.a[slot, j] if j < slot else g.a[j, slot]
            acc += value * value
    return acc


@jit
def select_victim(s: State, g: Gram, count: int, modified: bool) -> int:
    """Return the slot with the smallest kappa_i (13), or -1 if the inverse is bad.

    MKLMS compares kappa_i alpha_i^2 instead.

    kappa_i = 1 / (K^-1)_ii is accurate only up to the jitter: of all candidates for the minimum, the one
    with the strongest coupling to the others is selected; ties select the newest.
    """
    least = ZERO
    for i in range(count):
        if not g.a[i, i] > ZERO:
            return -1
        kappa = ONE / g.a[i, i]
        weight = s.alpha[i] * s.alpha[i] if modified else ONE
        g.step[i] = weight * (kappa - g.jitter)
        lam = weight * kappa
        if i == 0 or lam < least:
            least = lam
    best, most = -1, ZERO
    for i in range(count):
        if g.step[i] <= least:
            coupled = coupling(g, i, count, least)
            if best < 0 or coupled > most or (coupled >= most and s.age_order[i] > s.age_order[best]):
                best, most = i, coupled
    return best


@jit
def project(s: State, g: Gram, slot: int, count: int) -> bool:
    """Project: beta = [I K_RR^-1 K_RN] alpha (12), with column `slot` in `u`.

    Return whether a coefficient was clipped.
    """
    lost = False
    share = s.alpha[slot] / g.u[slot]
    for j in range(count):
        if j != slot:
            moved = s.alpha[j] - g.u[j] * share
            s.alpha[j] = clip(moved, LIMIT)
            if fabs(moved) > LIMIT:
                lost = True
    return lost


@jit
def drop_by_inverse(s: State, g: Gram, count: int, modified: bool, out: Words) -> int:
    """Remove the victim from the inverse; return its slot.

    An inverse that fails its check is rebuilt.
    """
    slot = select_victim(s, g, count, modified)
    sound = slot >= 0 and column(g, count, slot)
    if not sound:
        rebuild(g, count)
        out[2] += 1
        slot = select_victim(s, g, count, modified)
        sound = column(g, count, slot)
    if sound:
        if project(s, g, slot, count):
            out[1] = SATURATED
        rank_one(g, count, -g.u[slot])
    else:
        out[1] = INACCURATE
    clear(g, count, slot)
    s.k[slot] = ZERO
    return slot


@jit
def drop_nearest(s: State, neighbours: Neighbours, count: int, c: Constants, out: Words, log: Log) -> int:
    """Remove the newer vector of the closest pair; return its slot.

    The coefficient of that vector is projected onto the others (16).
    """
    slot, _ = newer_of_closest(neighbours.state, count, neighbours.constants, c.distance, log)
    for j in range(count):
        if j != slot:
            moved = s.alpha[j] + s.alpha[slot] * kernel(distance(s.centers[j], s.centers[slot], c.distance),
                                                        c)
            s.alpha[j] = clip(moved, LIMIT)
            if fabs(moved) > LIMIT:
                out[1] = SATURATED
    relink_neighbours(neighbours.state, slot, count, neighbours.constants, c.distance, log)
    return slot


@jit
def evict(s: State, g: Gram, neighbours: Neighbours | None, count: int, c: Constants, modified: bool,
          out: Words,
              log: Log) -> int:
    """Evict a vector; return its slot.

    out[1] receives a status, out[2] counts rebuilds.
    """
    if neighbours is None:
        slot = drop_by_inverse(s, g, count, modified, out)
        trace(log, at.VICTIM_SLOT, 0, 0, slot)
    else:
        slot = drop_nearest(s, neighbours, count, c, out, log)
    for j in range(count):
        if s.age_order[j] > s.age_order[slot]:
            s.age_order[j] -= 1
    s.alpha[slot] = ZERO
    return slot


@jit
def kernel_expansion(s: State, neighbours: Neighbours | None, count: int, c: Constants) -> np.float32:
    """Compute ``sum_i alpha_i k(v_i, x)`` (1)."""
    acc = ZERO
    for i in range(count):
        if neighbours is None:
            acc += s.alpha[i] * s.k[i]
        else:
            acc += s.alpha[i] * kernel(neighbours.state.scratch_row[i], c)
    return acc


@jit
def insert_center(s: State, g: Gram, neighbours: Neighbours | None, slot: int, x: Words, held: int,
                  out: Words, log: Log) -> None:
    """Insert x at `slot` as the newest of `held` vectors."""
    for j in range(x.shape[0]):
        s.centers[slot, j] = x[j]
    s.age_order[slot] = held - 1
    if neighbours is None:
        s.k[slot] = ZERO
        out[2] += insert(g, held, slot, s.k)
    else:
        link_nearest(neighbours.state, slot, held, neighbours.constants, log)


@jit
def correct(alpha: Floats, count: int, slot: int, decay: np.float32, step: np.float32) -> bool:
    """Decay all coefficients (5), update `slot` (3), (4); return whether it clipped."""
    if decay != ZERO:
        for i in range(count):
            alpha[i] *= decay
    learnt = alpha[slot] + step
    alpha[slot] = clip(learnt, LIMIT)
    return bool(fabs(learnt) > LIMIT)


@jit
def learn(s: State, g: Gram, neighbours: Neighbours | None, count: int, x: Words, y: int, c: Constants,
          modified: bool,
          out: Words, log: Log) -> int:
    """Learn one sample; out = (f, status, rebuilds); return the new count."""
    duplicate = fill_row(s, neighbours, x, count, c, log)
    slot, held = count if duplicate < 0 else duplicate, count
    out[1] = OK
    if duplicate < 0 and count == s.alpha.shape[0]:
        slot = evict(s, g, neighbours, count, c, modified, out, log)
    trace(log, at.OUTPUT_Y, 0, 0, y)
    f = kernel_expansion(s, neighbours, count, c)
    out[0], saturated = to_word(f, c.f_shift, c.f, log)
    trace(log, at.LEARN_F, 0, 0, out[0])
    if duplicate < 0:
        held = min(count + 1, s.alpha.shape[0])
        insert_center(s, g, neighbours, slot, x, held, out, log)
    saturated |= correct(s.alpha, held, slot, c.decay, c.eta * (np.float32(y) * c.y - f))
    if saturated and out[1] == OK:
        out[1] = SATURATED
    return held


@jit
def learn_all(x_raw: Words, y_raw: Words, s: State, g: Gram, neighbours: Neighbours | None, count: int,
              i: InputConstants, c: Constants, modified: bool, f: Words, status: Words, x: Words, out: Words,
              log: Log) -> int:
    """Learn all samples; x (D,), out (3,) are workspace; return the new count."""
    for p in range(x_raw.shape[0]):
        convert_x(x_raw[p], i, x, log)
        trace_all(log, at.INPUT_X, 0, x, 0, x.shape[0])
        count = learn(s, g, neighbours, count, x, convert_y(y_raw[p], i, log), c, modified, out, log)
        f[p], status[p] = out[0], out[1]
    return count


@jit
def expand(x: Words, s: State, count: int, c: Constants) -> np.float32:
    """Compute a prediction in full scales of y."""
    acc = ZERO
    for i in range(count):
        acc += s.alpha[i] * kernel(distance(s.centers[i], x, c.distance), c)
    return acc


def constants_of(plan: Plan) -> Constants:
    """Return the plan's constants in the form that the compiled loops use."""
    return Constants(
        real(plan, "eta_f32"), real(plan, "decay_f32") if "decay_f32" in plan.constants else ZERO,
        np.float32(2.0 ** -plan.signals["y"].format.frac), plan.integer("f_shift"), cast_of(plan, "f"),
        real(plan, "kernel_f32"), plan.integer("kernel_d2_shift"), plan.integer("kernel_d2_end"),
        kernel_constants(plan))


def _no_neighbours(plan: Plan, centers: Words, age_order: Words) -> Neighbours:
    """Create empty nearest-vector data; only the metric of the constants is used."""
    arrays = {name: np.zeros(plan.sizes["N"], dtype=np.int64) for name in LmsState._fields}
    plain: dict[str, Any] = dict.fromkeys(LmsConstants._fields, 0)
    plain |= {"metric": FKLMS, "alpha": cast_of(plan, "f"), "f": cast_of(plan, "f")}
    return Neighbours(LmsState(**{**arrays, "centers": centers, "age_order": age_order}),
                      LmsConstants(**plain))


class LmsF32Model(IntegerModel):
    """Model of a plan with algorithm ``kernel_lms`` and float32 coefficients."""

    def __init__(self, plan: Plan) -> None:
        self._constants = constants_of(plan)
        super().__init__(plan)

    def reset(self) -> None:
        """Make the model empty."""
        budget, columns, metric = self.plan.sizes["N"], self.plan.sizes["D"], self.plan.metric
        kept = 0 if metric == "fklms" else budget
        centers = np.zeros((budget, columns), dtype=np.int64)
        age_order = np.zeros(budget, dtype=np.int64)
        k, u, rest, step = np.zeros((4, kept), dtype=np.float32)
        self._state = State(np.zeros(budget, dtype=np.float32), centers, age_order, k)
        one, jitter = (real(self.plan, name) if kept else ONE for name in ("one_f32", "jitter_f32"))
        self._gram = Gram(np.zeros((kept, kept), dtype=np.float32), u, rest, step, one, jitter)
        self._neighbours = None if kept else _no_neighbours(self.plan, centers, age_order)
        self._out = np.zeros(3, dtype=np.int64)
        self._count = 0

    def update(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64]) -> Outputs:
        """Learn the samples (m, D), (m,) in order; return ``status`` (m,) and ``f`` (m,)."""
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        f, status = (np.zeros(len(y_raw), dtype=np.int64) for _ in range(2))
        x = np.zeros(self.plan.sizes["D"], dtype=np.int64)
        with np.errstate(all="ignore"):  # an inverse with a NaN or infinity does not pass
            self._count = learn_all(x_raw, y_raw, self._state, self._gram, self._neighbours, self._count,
                                    self._input, self._constants, self.plan.metric == "mklms",
                                    f, status, x, self._out, self.ranges.log)
        return {"status": status, "f": f}

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict for ADC counts (m, D): ``status`` (m,), and ``f`` (m,) in LSBs of y."""
        x_raw, log = raw.inputs(self.plan, x_raw), self.ranges.log
        f, status = (np.zeros(len(x_raw), dtype=np.int64) for _ in range(2))
        if self._count == 0:
            return {"status": np.full(len(x_raw), NOT_TRAINED, dtype=np.int64), "f": f}
        x, c = np.zeros(self.plan.sizes["D"], dtype=np.int64), self._constants
        for m, sample in enumerate(x_raw):
            convert_x(sample, self._input, x, log)
            trace_all(log, at.INPUT_X, 0, x, 0, len(x))
            f[m], saturated = to_word(expand(x, self._state, self._count, c), c.f_shift, c.f, log)
            trace(log, at.PREDICT_F, 0, 0, int(f[m]))
            status[m] = SATURATED if saturated else OK
        return {"status": status, "f": f}

    def _members(self) -> dict[str, NDArray[Any]]:
        s, g = self._state, self._gram
        if self._neighbours is not None:
            neighbours = self._neighbours.state
            return {"alpha": s.alpha.view(np.uint32), "centers": s.centers, "age_order": s.age_order,
                    "scratch_row": neighbours.scratch_row, "nearest_d2": neighbours.nearest_d2,
                    "nearest_idx": neighbours.nearest_idx}
        floats = {"gram": g.a, "alpha": s.alpha, "k": s.k, "u": g.u, "rest": g.rest, "step": g.step}
        return {name: v.view(np.uint32) for name, v in floats.items()} | {
            "centers": s.centers, "age_order": s.age_order, "rebuilds": self._out[2:]}

    def load(self, state: Outputs) -> None:
        """Load a saved state."""
        super().load(state)
        self._count = int(state["count"][0])

    def state(self) -> Outputs:
        """Return every member of the device's model structure; floats as their bits."""
        return field_arrays(self.plan, self._members() | {"count": np.array(self._count)})
