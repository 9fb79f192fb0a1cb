"""sim.model: conjugate gradients on the kernel matrix in block floating point.

The iteration solves ``(K + lambda I) alpha = y`` for ``K_ij = k(v_i, v_j)`` in O(n) memory (M. R. Hestenes
and E. Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems", 1952). Every product with K
computes the kernel values again, each one once for its two positions. alpha, the residual r and the direction
p are blocks with one exponent each: an integer w of a block with exponent e has the value ``w * 2**(e - (W -
1))``.

A new block is first computed in `wide`, as n integers with an LSB of ``2**(e - 61)``, without overflow. Then
it is cast to the word length with the smallest exponent that fits its largest entry. Therefore the exponent
rises and falls with the magnitude of the vector.

Several outputs iterate in parallel, each with its own blocks, and share the kernel values. At the end, their
coefficients are aligned to one exponent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backend import Outputs
from ..data import raw
from ..jit import jit
from ..plan import Plan
from ..primitives import (
    HALF_UP,
    Words,
    arithmetic_shift,
    bit_length,
    divide,
    mac,
    magnitude,
    requantise,
)
from . import trace_hooks as at
from .base import BatchModel, convert_inputs
from .bound import BoundConstants, add_square, bound_from_norm, bound_within
from .kernel import Cast, KernelConstants, cast_of, distance, kernel
from .outputs import (
    align_outputs,
    classified,
    predict_outputs,
    target_words,
    trained_outputs,
    untrained_outputs,
)
from .ranges import ALPHA, P, R, cast
from .statuses import INACCURATE, NOT_POSITIVE_DEFINITE, OK
from .trace_hooks import Log, trace, trace_all

#: Bits to which q is cut, within `wide`, so that its products with a quotient fit.
Q_BITS = 32


class CgConstants(NamedTuple):
    """Integer constants of the plan; `word` is the word length W."""

    word: int
    steps: int
    mac_shift: int
    dot_shift: int
    step_exp: int
    product_exp: int
    row_shift: int
    lambda_mantissa: int
    lambda_shift: int
    alpha_exp_min: int
    alpha_exp_max: int
    residual_slack: int
    alpha: Cast
    r: Cast
    p: Cast


class CgState(NamedTuple):
    """Arrays of the device.

    `wide`, `alpha`, `r` and `p` have shape (C, n), `centers` (n, D), `acc` (C,).
    """

    wide: Words
    alpha: Words
    r: Words
    p: Words
    centers: Words
    acc: Words


class CgScalars(NamedTuple):
    """Numbers of each output (C,): exponents, ``r . r`` and the steps taken."""

    alpha_exp: Words
    r_exp: Words
    p_exp: Words
    rr: Words
    taken: Words


@jit
def product(s: CgState, p: Words, c: CgConstants, k: KernelConstants, log: Log) -> None:
    """Compute ``(K + lambda I) p`` of each output in `wide`; p has shape (C, n).

    All outputs share each kernel value.  The exponent of a product is the sum of the exponent of its p and
    `product_exp`.
    """
    outputs, n = p.shape
    for i in range(n):
        d = distance(s.centers[i], s.centers[i], k)
        value = kernel(d, k, log)
        trace(log, at.PRODUCT_DISTANCE, i, i, d)
        trace(log, at.PRODUCT_KERNEL, i, i, value)
        for o in range(outputs):
            s.acc[o] = mac(0, value, p[o, i], c.mac_shift)
        for j in range(i):
            d = distance(s.centers[i], s.centers[j], k)
            value = kernel(d, k, log)
            trace(log, at.PRODUCT_DISTANCE, i, j, d)
            trace(log, at.PRODUCT_KERNEL, i, j, value)
            for o in range(outputs):
                s.acc[o] = mac(s.acc[o], value, p[o, j], c.mac_shift)
                s.wide[o, j] = mac(s.wide[o, j], value, p[o, i], c.mac_shift)
        for o in range(outputs):
            s.wide[o, i] = s.acc[o]
    for o in range(outputs):
        for i in range(n):
            s.wide[o, i] = (arithmetic_shift(s.wide[o, i], c.row_shift)
                            + arithmetic_shift(c.lambda_mantissa * p[o, i], c.lambda_shift))
        trace_all(log, at.PRODUCT_WIDE, o, s.wide[o], 0, n)


@jit
def add_p(wide: Words, u: Words, u_exp: int, q: int, p: Words, p_exp: int, word: int) -> int:
    """Compute ``u + q p`` in `wide`, for a block u and scalar q; return its exponent.

    `p_exp` is the sum of the exponents of p and the quotient.
    """
    e = max(u_exp, p_exp)
    up = min(e - u_exp - (62 - word), 62)
    down = min(e - p_exp - (31 - word), 62)
    for i in range(u.shape[0]):
        wide[i] = arithmetic_shift(u[i], up) + arithmetic_shift(q * p[i], down)
    return e


@jit
def subtract_q(wide: Words, r: Words, r_exp: int, step: int, q_exp: int, word: int) -> int:
    """Compute ``r - step q`` in `wide`, which contains q; return its exponent.

    `q_exp` is the sum of the exponents of q and the step.
    """
    e = max(r_exp, q_exp)
    up = min(e - r_exp - (62 - word), 62)
    down = min(e - q_exp - (31 - Q_BITS), 62)
    for i in range(r.shape[0]):
        wide[i] = arithmetic_shift(r[i], up) - arithmetic_shift(step * wide[i], down)
    return e


@jit
def excess(wide: Words, bits: int) -> int:
    """Return the number of bits by which `wide` exceeds a given length.

    The result can be negative.
    """
    largest = 0
    for i in range(wide.shape[0]):
        largest = max(largest, magnitude(wide[i]))
    return bit_length(largest) - (bits - 1)


@jit
def into_block(wide: Words, e: int, words: Words, w: int, to: Cast, log: Log, signal: int) -> int:
    """Cast `wide` with exponent e to a block; return the exponent of the block."""
    shift = excess(wide, w)
    for i in range(words.shape[0]):
        words[i] = cast(wide[i], shift, to.rounding, to.lo, to.hi, log, signal)
    return e + shift - (62 - w)


@jit
def dot(u: Words, w: Words, shift: int) -> int:
    """Compute ``sum u_i w_i / 2**shift``, with each term rounded down."""
    acc = 0
    for i in range(u.shape[0]):
        acc = mac(acc, u[i], w[i], shift)
    return acc


@jit
def curvature(wide: Words, p: Words, e: int, c: CgConstants) -> tuple[int, int]:
    """Return ``p . q`` for q = `wide`, and the exponent of q.

    The entries of q are first shifted right to :data:`Q_BITS`, in place.
    """
    shift = excess(wide, Q_BITS)
    for i in range(wide.shape[0]):
        wide[i] = requantise(wide[i], shift, HALF_UP, -(1 << (Q_BITS - 1)), (1 << (Q_BITS - 1)) - 1)
    return dot(p, wide, c.dot_shift), e + shift - (62 - Q_BITS)


@jit
def begin(y: Words, s: CgState, v: CgScalars, c: CgConstants, log: Log) -> None:
    """Set alpha = 0 and r = p = y of each output; y has shape (C, n)."""
    outputs, n = y.shape
    for o in range(outputs):
        for i in range(n):
            s.wide[o, i] = arithmetic_shift(y[o, i], -(62 - c.word))
            s.alpha[o, i] = 0
        v.r_exp[o] = into_block(s.wide[o], 1, s.r[o], c.word, c.r, log, R)
        for i in range(n):
            s.p[o, i] = s.r[o, i]
        trace_all(log, at.BEGIN_R, o, s.r[o], 0, n)
        v.p_exp[o], v.alpha_exp[o], v.taken[o] = v.r_exp[o], c.alpha_exp_min, 0
        v.rr[o] = dot(s.r[o], s.r[o], c.mac_shift)


@jit
def correct(o: int, s: CgState, v: CgScalars, c: CgConstants, log: Log) -> int:
    """Run the part of a step that follows the product, for output o; return a status.

    If the step is smaller than half an LSB of alpha, ``r . r`` is set to 0, which ends the iteration.
    """
    outputs, n = s.r.shape
    wide, alpha, r, p, place = s.wide[o], s.alpha[o], s.r[o], s.p[o], v.taken[o] * outputs + o
    old, old_exp, p_exp = v.rr[o], v.r_exp[o], v.p_exp[o]
    pq, q_exp = curvature(wide, p, p_exp + c.product_exp, c)
    trace(log, at.CURVATURE_PQ, place, 0, pq)
    if pq <= 0:
        return NOT_POSITIVE_DEFINITE
    step, e = divide(old, pq)
    trace(log, at.CG_STEP, place, 0, step)
    step_exp = e + 2 * old_exp - p_exp - q_exp + c.step_exp
    if step_exp + p_exp < v.alpha_exp[o] - c.word:
        v.rr[o] = 0
        return OK
    e = subtract_q(wide, r, old_exp, step, step_exp + q_exp, c.word)
    v.r_exp[o] = into_block(wide, e, r, c.word, c.r, log, R)
    trace_all(log, at.CG_R, place, r, 0, n)
    e = add_p(wide, alpha, v.alpha_exp[o], step, p, step_exp + p_exp, c.word)
    v.alpha_exp[o] = into_block(wide, e, alpha, c.word, c.alpha, log, ALPHA)
    trace_all(log, at.CG_ALPHA, place, alpha, 0, n)
    if v.alpha_exp[o] > c.alpha_exp_max:
        return NOT_POSITIVE_DEFINITE
    v.rr[o] = dot(r, r, c.mac_shift)
    beta, e = divide(v.rr[o], old)
    e = add_p(wide, r, v.r_exp[o], beta, p, e + 2 * (v.r_exp[o] - old_exp) + p_exp, c.word)
    v.p_exp[o] = into_block(wide, e, p, c.word, c.p, log, P)
    trace_all(log, at.CG_P, place, p, 0, n)
    v.taken[o] += 1
    return OK


@jit
def is_active(o: int, v: CgScalars, c: CgConstants) -> int:
    """Return 1 if output o has remaining steps and a residual, otherwise 0."""
    return int(v.taken[o] < c.steps and v.rr[o] > 0)


@jit
def count_active(v: CgScalars, c: CgConstants) -> int:
    """Return the number of active outputs."""
    count = 0
    for o in range(v.rr.shape[0]):
        count += is_active(o, v, c)
    return count


@jit
def conjugate_gradients(y: Words, s: CgState, v: CgScalars, out: Words, c: CgConstants, k: KernelConstants,
                        log: Log) -> int:
    """Iterate from alpha = 0 for targets y (C, n); return a status.

    `out` receives the common exponent of the coefficients of all outputs.

    The iteration of an output stops if its residual is zero, or if a step is smaller than half an LSB of
    alpha; the other outputs continue. The system is rejected in two cases: p . q <= 0 for a direction p, so
    that K + lambda I is not positive definite at this word length; or alpha exceeds the range that a
    prediction can sum.
    """
    begin(y, s, v, c, log)
    while count_active(v, c) > 0:
        product(s, s.p, c, k, log)
        for o in range(y.shape[0]):
            if is_active(o, v, c) != 0 and correct(o, s, v, c, log) != OK:
                return NOT_POSITIVE_DEFINITE
    out[0] = align_outputs(s.alpha, v.alpha_exp, c.alpha_exp_min)
    return OK


@jit
def certify(y: Words, s: CgState, v: CgScalars, out: Words, c: CgConstants, b: BoundConstants,
            k: KernelConstants, log: Log) -> int:
    """Recompute the residual ``r = y - (K + lambda I) alpha`` and the bound.

    Return a status. `out` receives the bound on the norm over all outputs. K contains the fixed-point kernel
    values. The exact matrix is positive semidefinite, and the planner has subtracted the largest effect of
    rounding the kernel values from lambda.
    """
    product(s, s.alpha, c, k, log)
    e = max(1, out[0] + c.product_exp)
    up = min(e - 1 - (62 - c.word), 62)
    down = min(e - out[0] - c.product_exp, 62)
    norm, norm_shift = 0, 0
    for o in range(y.shape[0]):
        for i in range(y.shape[1]):
            norm, norm_shift = add_square(norm, norm_shift, abs(s.alpha[o, i]), b.norm_bits, 0)
    slack = 0 if norm == 0 else c.residual_slack
    squares, shift = 0, 0
    for o in range(y.shape[0]):
        for i in range(y.shape[1]):
            s.wide[o, i] = arithmetic_shift(y[o, i], up) - arithmetic_shift(s.wide[o, i], down)
            squares, shift = add_square(squares, shift, abs(s.wide[o, i]) + slack, b.norm_bits, 1)
        trace_all(log, at.CG_CERTIFY, o, s.wide[o], 0, y.shape[1])
        v.r_exp[o] = into_block(s.wide[o], e, s.r[o], c.word, c.r, log, R)
    out[1] = bound_from_norm(squares, shift + e - out[0] - c.product_exp, b)
    trace(log, at.CERTIFY_BOUND, 0, 0, out[1])
    return OK if bound_within(out[1], norm, norm_shift, b) else INACCURATE


class CgModel(BatchModel):
    """Integer model of a plan with algorithm ``kernel_cg``."""

    def __init__(self, plan: Plan) -> None:
        self._constants = CgConstants._make(
            [plan.word, *(plan.integer(name) for name in CgConstants._fields[1:-3]),
             *(cast_of(plan, name) for name in ("alpha", "r", "p"))])
        self._bound = BoundConstants._make(plan.integer(name) for name in BoundConstants._fields)
        super().__init__(plan)

    def reset(self) -> None:
        """Reset the model to the untrained state."""
        n, columns, outputs = self.plan.sizes["n"], self.plan.sizes["D"], self.plan.outputs
        wide, alpha, r, p = (np.zeros((outputs, n), dtype=np.int64) for _ in range(4))
        self._state = CgState(wide, alpha, r, p, np.zeros((n, columns), dtype=np.int64),
                              np.zeros(outputs, dtype=np.int64))
        self._each = CgScalars._make(np.zeros((5, outputs), dtype=np.int64))
        self._shared = np.zeros(2, dtype=np.int64)
        super().reset()

    def _targets(self, y_raw: Words) -> Words:
        """Convert ADC counts or labels to y (C, n)."""
        y = (target_words(self.plan, y_raw, self._input, self.ranges.log) if self._many
             else super()._targets(y_raw)[:, np.newaxis])
        return np.ascontiguousarray(y.T)

    @property
    def _many(self) -> bool:
        return self.plan.outputs > 1 or bool(self.plan.decision)

    def _solve(self, x_raw: NDArray[np.int64] | None, y: Words) -> int:
        s, v, log = self._state, self._each, self.ranges.log
        assert x_raw is not None  # there is no uniform grid here
        convert_inputs(x_raw, self._input, s.centers, log)
        status = conjugate_gradients(y, s, v, self._shared, self._constants, self._kernel, log)
        if status == OK:
            status = certify(y, s, v, self._shared, self._constants, self._bound, self._kernel, log)
        return status

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict for ADC counts (m, D).

        The result contains ``status`` (m,) and ``f`` (m,), or (m, C) for several outputs, in LSBs of y. For a
        classifier it also contains ``label`` (m,) and ``margin`` (m,).
        """
        s, f_shift = self._state, self.plan.integer("f_shift") - int(self._shared[0])
        if self.plan.outputs == 1 or not self._trained:
            found = self._predict(x_raw, s.centers, s.alpha[0], self._trained * s.alpha.shape[1], f_shift)
            if self.plan.outputs > 1:
                found = untrained_outputs(self.plan, found)
            return classified(self.plan, found)
        several = trained_outputs(self.plan, s.alpha, f_shift)
        return classified(self.plan, predict_outputs(raw.inputs(self.plan, x_raw), self._input, s.centers,
                                                     several, self._kernel, self.ranges.log))

    def _members(self) -> dict[str, NDArray[Any]]:
        each = self._each._asdict()
        if self.plan.outputs == 1:  # the device leaves others of a single output than this model
            del each["rr"], each["p_exp"]
        return each | self._state._asdict() | {"alpha_exp": self._shared[:1], "bound": self._shared[1:]}
