"""sim.model: online kernel RLS on random features, bit-exact with the device.

Dichotomous coordinate descent (Y. V. Zakharov, G. P. White, J. Liu, IEEE Trans. Signal Processing 56(7),
2008). :mod:`...planner.online.rls` derives the formats and proves that nothing overflows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...backend import Outputs, field_arrays
from ...data import raw
from ...jit import jit
from ...plan import Plan
from ...primitives import (
    FLOOR,
    Words,
    arithmetic_shift,
    mac,
    mul_shift,
    saturate,
    shift_round,
    wrap,
)
from .. import trace_hooks as at
from ..base import IntegerModel
from ..kernel import Cast, InputConstants, cast_of, convert_x, into_word
from ..outputs import answer, target_words
from ..ranges import ACCUMULATOR, F, record
from ..statuses import NOT_TRAINED, OK, SATURATED
from ..trace_hooks import Log, trace, trace_all
from .coordinate import input_scale, largest, power_above, subtract_column
from .novelty import NoveltyConstants, is_novel, leverage_of, novelty_constants, set_novelty

_W_HI = (1 << 31) - 1
#: Bits of beta that count: the plan proves that it has fewer.
_BETA_BITS = 61
_TURN_BITS, _ENTRY_BITS = 20, 12  # of a phase, and below one entry of the table


class RlsConstants(NamedTuple):
    """Integers and tables of the plan, `directions` with shape (M, D)."""

    linear: bool
    rls_steps: int
    rls_fading: int
    rls_x_exp: int
    rls_phase_shift: int
    rls_product_shift: int
    rls_out_shift: int
    rls_error_shift: int
    rls_step_shift: int
    ridge: Words
    fade: Words
    directions: Words
    phases: Words
    cosine: Words
    f: Cast
    f_lo: int
    f_hi: int
    novelty: NoveltyConstants


class RlsState(NamedTuple):
    """Arrays of the device; beta and w of several outputs follow each other."""

    rls_r: Words
    rls_beta: Words
    rls_w: Words
    trained: Words
    leverage: Words
    novel: Words
    drift: Words
    novel_count: Words


class RlsWork(NamedTuple):
    """Workspace: a sample (D,), features, a residual (P,), sums and predictions (C,)."""

    x: Words
    phi: Words
    residual: Words
    acc: Words
    f: Words


# ---- features ----
@jit
def cosine_feature(x: Words, direction: Words, phase: int, c: RlsConstants) -> int:
    """Return the cosine of ``direction.x + phase`` turns.

    The cosine is interpolated between table entries.
    """
    acc = 0
    for d in range(x.shape[0]):
        acc = mac(acc, direction[d], x[d], 0)
    turn = arithmetic_shift(acc, c.rls_phase_shift) + (phase << (_TURN_BITS - 16))
    index = (turn & ((1 << _TURN_BITS) - 1)) >> _ENTRY_BITS
    rest = turn & ((1 << _ENTRY_BITS) - 1)
    left = c.cosine[index]
    return mac(left, c.cosine[index + 1] - left, rest, _ENTRY_BITS)


@jit
def set_features(x: Words, c: RlsConstants, phi: Words, log: Log) -> None:
    """Set phi (P,) to 1, the cosines, and the scaled inputs if `linear`."""
    count = c.phases.shape[0]
    phi[0] = c.cosine[0]
    for j in range(count):
        phi[1 + j] = cosine_feature(x, c.directions[j], c.phases[j], c)
    if c.linear:
        for d in range(x.shape[0]):
            phi[1 + count + d] = arithmetic_shift(x[d], c.rls_x_exp)
    trace_all(log, at.FEATURES_PHI, 0, phi, 0, phi.shape[0])


@jit
def accumulate_prediction(w: Words, phi: Words, log: Log) -> int:
    """Return the exact inner product w.phi."""
    acc = 0
    for i in range(phi.shape[0]):
        acc = mac(acc, w[i], phi[i], 0)
    record(log, ACCUMULATOR, acc)
    return acc


@jit
def predict_sum(acc: int, c: RlsConstants, log: Log) -> tuple[int, bool]:
    """Return w.phi in LSBs of y, and whether it saturated before it was clipped.

    The result is clipped to the range of y.
    """
    f, saturated = into_word(shift_round(acc, c.rls_out_shift, c.f.rounding), c.f, log, F)
    return saturate(f, c.f_lo, c.f_hi), saturated


# ---- normal equations ----
@jit
def set_prior(s: RlsState, order: int, c: RlsConstants) -> None:
    """Set R of an empty learner to the ridge."""
    base = 0
    for i in range(order):
        s.rls_r[base] = c.ridge[i]
        base += order - i
    s.trained[0] = 1


@jit
def add_products(s: RlsState, phi: Words, c: RlsConstants) -> None:
    """Set R to lambda R + phi phi' + (1 - lambda) ridge."""
    base, order = 0, phi.shape[0]
    for i in range(order):
        for j in range(i, order):
            r = s.rls_r[base + j - i]
            product = shift_round(phi[i] * phi[j], c.rls_product_shift, FLOOR)
            s.rls_r[base + j - i] = wrap(r - shift_round(r * c.rls_fading, 32, FLOOR) + product, 32)
        s.rls_r[base] = wrap(s.rls_r[base] + c.fade[i], 32)
        base += order - i


@jit
def add_error(residual: Words, w: Words, phi: Words, error: int, c: RlsConstants) -> None:
    """Set beta to lambda beta + error phi - (1 - lambda) ridge w."""
    for i in range(phi.shape[0]):
        beta = wrap(residual[i], _BETA_BITS)
        faded = mul_shift(beta if beta >= 0 else -beta, c.rls_fading, 32)
        beta -= faded if beta >= 0 else -faded
        beta = mac(beta, error, phi[i], 15)
        residual[i] = beta - shift_round(c.fade[i] * w[i], c.rls_step_shift, FLOOR)


# ---- dichotomous coordinate descent ----
@jit
def descend(beta: Words, w: Words, all_r: Words, scale: int, c: RlsConstants, log: Log) -> bool:
    """Change up to `rls_steps` coefficients of one output.

    Return whether one reached its limit. `scale` is that of :func:`input_scale`.
    """
    order, first = w.shape[0], 1 + c.phases.shape[0]
    for _ in range(c.rls_steps):
        i = largest(beta, first, scale)
        rest, r = beta[i], all_r[i * order - i * (i - 1) // 2]
        if rest == 0 or r <= 0:  # an R_ii <= 0 exists in an overwritten state only
            return False
        size = rest if rest >= 0 else -rest
        k = min(power_above(size, r) + c.rls_step_shift, 30)
        trace(log, at.DESCEND_STEP, 0, i, k)
        if k < 0:
            return False
        step = (1 << k) if rest > 0 else -(1 << k)
        word = w[i] + step
        if word > _W_HI or word < -_W_HI:
            return True
        w[i] = word
        subtract_column(beta, all_r, i, step, c.rls_step_shift)
    return False


# ---- novelty ----
@jit
def set_leverage(s: RlsState, c: RlsConstants, w: RlsWork, log: Log) -> None:
    """Set the leverage of the features `w.phi`, and whether they are novel."""
    found = leverage_of(s.rls_r, w.phi, w.residual, 1 + c.phases.shape[0], c.novelty, log)
    trace(log, at.LEARN_LEVERAGE, 0, 0, found)
    s.leverage[0] = found
    set_novelty(s.novel, s.drift, s.novel_count, found, c.novelty)


@jit
def leverage_all(x_raw: Words, s: RlsState, i: InputConstants, c: RlsConstants, leverage: Words, novel: Words,
                 w: RlsWork, log: Log) -> None:
    """Compute the leverages of ADC counts (m, D), and which samples are novel."""
    for m in range(x_raw.shape[0]):
        convert_x(x_raw[m], i, w.x, log)
        trace_all(log, at.INPUT_X, 0, w.x, 0, w.x.shape[0])
        set_features(w.x, c, w.phi, log)
        leverage[m] = leverage_of(s.rls_r, w.phi, w.residual, 1 + c.phases.shape[0], c.novelty, log)
        novel[m] = is_novel(s.novel[0], leverage[m], c.novelty)


# ---- the rule ----
@jit
def predict_outputs(s: RlsState, c: RlsConstants, w: RlsWork, point: int, log: Log) -> bool:
    """Predict all outputs for the features ``w.phi``; return whether one saturated."""
    order, found = w.phi.shape[0], False
    for o in range(w.f.shape[0]):
        w.acc[o] = accumulate_prediction(s.rls_w[o * order:(o + 1) * order], w.phi, log)
        w.f[o], saturated = predict_sum(w.acc[o], c, log)
        trace(log, point, 0, o, w.f[o])
        found = found or saturated
    return found


@jit
def learn(s: RlsState, y: Words, c: RlsConstants, w: RlsWork, log: Log) -> int:
    """Learn the sample in ``w.x``; return the status.

    The predictions before learning are then in ``w.f``. One R serves all outputs.
    """
    order = w.phi.shape[0]
    trace_all(log, at.OUTPUT_Y, 0, y, 0, y.shape[0])
    if s.trained[0] == 0:
        set_prior(s, order, c)
    set_features(w.x, c, w.phi, log)
    if c.novelty.steps > 0:
        set_leverage(s, c, w, log)
    clipped = predict_outputs(s, c, w, at.LEARN_F, log)
    add_products(s, w.phi, c)
    scale = input_scale(s.rls_r, order, 1 + c.phases.shape[0])
    for o in range(y.shape[0]):
        error = shift_round(arithmetic_shift(y[o], -c.rls_out_shift) - w.acc[o], c.rls_error_shift, FLOOR)
        beta = s.rls_beta[o * order:(o + 1) * order]
        coefficients = s.rls_w[o * order:(o + 1) * order]
        add_error(beta, coefficients, w.phi, error, c)
        w_saturated = descend(beta, coefficients, s.rls_r, scale, c, log)
        clipped = clipped or w_saturated
    trace_all(log, at.LEARN_R, 0, s.rls_r, 0, s.rls_r.shape[0])
    trace_all(log, at.LEARN_BETA, 0, s.rls_beta, 0, s.rls_beta.shape[0])
    trace_all(log, at.LEARN_W, 0, s.rls_w, 0, s.rls_w.shape[0])
    return SATURATED if clipped else OK


@jit
def learn_all(x_raw: Words, y: Words, s: RlsState, i: InputConstants, c: RlsConstants, f: Words,
              status: Words, novelty: Words, w: RlsWork, log: Log) -> None:
    """Learn from all samples in order; y and f have the shape (m, C).

    A row of `novelty` is leverage, novel, drift.
    """
    for m in range(x_raw.shape[0]):
        convert_x(x_raw[m], i, w.x, log)
        trace_all(log, at.INPUT_X, 0, w.x, 0, w.x.shape[0])
        status[m] = learn(s, y[m], c, w, log)
        novelty[m, 0], novelty[m, 1], novelty[m, 2] = s.leverage[0], s.novel[0], s.drift[0]
        for o in range(w.f.shape[0]):
            f[m, o] = w.f[o]


@jit
def predict_all(x_raw: Words, s: RlsState, i: InputConstants, c: RlsConstants, f: Words, status: Words,
                w: RlsWork, log: Log) -> None:
    """Predict f (m, C) for ADC counts (m, D)."""
    for m in range(x_raw.shape[0]):
        convert_x(x_raw[m], i, w.x, log)
        trace_all(log, at.INPUT_X, 0, w.x, 0, w.x.shape[0])
        set_features(w.x, c, w.phi, log)
        clipped = predict_outputs(s, c, w, at.PREDICT_F, log)
        for o in range(w.f.shape[0]):
            f[m, o] = w.f[o]
        status[m] = SATURATED if clipped else OK


def constants_of(plan: Plan) -> RlsConstants:
    """Return the plan's integers and tables in the form that the compiled loops use."""
    tables = {name: np.array(plan.tables[name].values, dtype=np.int64)
              for name in ("directions", "phases", "cosine")}
    tables["directions"] = tables["directions"].reshape(plan.sizes["M"], plan.sizes["D"])
    counts = [("one", 1), ("cosine", plan.sizes["M"]), ("x", plan.sizes["N"] - plan.sizes["M"] - 1)]
    rows = {name: np.array([plan.integer(f"rls_{name}_{part}") for part, count in counts
                            for _ in range(count)], dtype=np.int64) for name in ("ridge", "fade")}
    values: dict[str, Any] = {"linear": counts[2][1] > 0, "f": cast_of(plan, "f"),
                              "novelty": novelty_constants(plan), **tables, **rows}
    for name in RlsConstants._fields:
        if name not in values:
            values[name] = plan.integer(name)
    return RlsConstants(**values)


class RlsModel(IntegerModel):
    """Integer model of a plan with algorithm ``online_kernel_rls``.

    Attributes
    ----------
    novelty : ndarray of int64, shape (m, 3)
        Leverage, novel and drift of the samples of the last `update`; all 0 if the plan has no novelty.
    """

    def __init__(self, plan: Plan) -> None:
        self._constants = constants_of(plan)
        self._work = RlsWork(*(np.zeros(size, dtype=np.int64)
                               for size in (plan.sizes["D"], *[plan.sizes["N"]] * 2, *[plan.outputs] * 2)))
        self.novelty = np.zeros((0, 3), dtype=np.int64)
        super().__init__(plan)

    def reset(self) -> None:
        """Make the model empty."""
        counts = {field.name: field.count for field in self.plan.memory}
        self._state = RlsState(*(np.zeros(counts.get(name, 1), dtype=np.int64) for name in RlsState._fields))

    def update(self, x_raw: NDArray[np.int64], y_raw: NDArray[np.int64]) -> Outputs:
        """Learn from the samples in order; return the prediction before each update.

        The targets have the shape (m,), or (m, C) for several outputs; those of classes are labels (m,).
        """
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        y = target_words(self.plan, y_raw, self._input, self.ranges.log)
        f, status = np.zeros_like(y), np.zeros(len(y), dtype=np.int64)
        self.novelty = np.zeros((len(y), 3), dtype=np.int64)
        learn_all(x_raw, y, self._state, self._input, self._constants, f, status, self.novelty, self._work,
                  self.ranges.log)
        return answer(self.plan, status, f)

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict for ADC counts (m, D), as :meth:`~kerncast.sim.backend.Backend.predict`."""
        x_raw = raw.inputs(self.plan, x_raw)
        f = np.zeros((len(x_raw), self.plan.outputs), dtype=np.int64)
        status = np.full(len(x_raw), NOT_TRAINED, dtype=np.int64)
        if self._state.trained[0] != 0:
            predict_all(x_raw, self._state, self._input, self._constants, f, status, self._work,
                        self.ranges.log)
        return answer(self.plan, status, f)

    def leverage(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Compute leverages; see :class:`~kerncast.sim.backend.NoveltyBackend`."""
        x_raw = raw.inputs(self.plan, x_raw)
        leverage, novel = (np.zeros(len(x_raw), dtype=np.int64) for _ in range(2))
        if self._state.trained[0] == 0:
            return {"status": np.full(len(x_raw), NOT_TRAINED, dtype=np.int64), "leverage": leverage,
                    "novel": novel}
        leverage_all(x_raw, self._state, self._input, self._constants, leverage, novel, self._work,
                     self.ranges.log)
        return {"status": np.zeros(len(x_raw), dtype=np.int64), "leverage": leverage, "novel": novel}

    def _members(self) -> dict[str, NDArray[Any]]:
        return self._state._asdict()

    def state(self) -> Outputs:
        """Return every member of the device's model structure."""
        return field_arrays(self.plan, self._members())
