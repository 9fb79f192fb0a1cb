"""sim.model: conjugate gradients on the kernel matrix in block floating point.

Solves ``(K + lambda I) alpha = y`` for ``K_ij = k(v_i, v_j)`` in O(n) memory: every product computes each
kernel value again, once for both of its places (M. R. Hestenes and E. Stiefel, "Methods of Conjugate
Gradients for Solving Linear Systems", 1952). alpha, the residual r and the direction p are blocks with one
exponent each: an integer w of a block with exponent e has the value ``w * 2**(e - (W - 1))``.

Every new block is first computed in `wide`, n integers with an LSB of ``2**(e - 61)``, without rounding and
overflow. Then it is cast to the word length with the smallest exponent that fits its largest entry. So the
exponent follows the magnitude of its vector, up and down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..backend import Outputs
from ..jit import jit
from ..plan import Plan
from ..primitives import (
    HALF_UP,
    Words,
    arithmetic_shift,
    bit_length,
    block_scale,
    divide,
    mac,
    magnitude,
    requantise,
)
from . import trace_hooks as at
from .base import BatchModel, convert_inputs
from .bound import BoundConstants, add_square, bound_from_norm, bound_within
from .certify import alpha_norm
from .kernel import Cast, KernelConstants, cast_of, distance, kernel
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
    """Arrays of the device."""

    wide: Words
    alpha: Words
    r: Words
    p: Words
    centers: Words


@jit
def product(s: CgState, p: Words, c: CgConstants, k: KernelConstants, log: Log) -> None:
    """Compute ``(K + lambda I) p`` in `wide`.

    Its exponent is the sum of the exponent of p and `product_exp`.
    """
    n = p.shape[0]
    for i in range(n):
        d = distance(s.centers[i], s.centers[i], k)
        value = kernel(d, k, log)
        trace(log, at.PRODUCT_DISTANCE, i, i, d)
        trace(log, at.PRODUCT_KERNEL, i, i, value)
        acc = mac(0, value, p[i], c.mac_shift)
        for j in range(i):
            d = distance(s.centers[i], s.centers[j], k)
            value = kernel(d, k, log)
            trace(log, at.PRODUCT_DISTANCE, i, j, d)
            trace(log, at.PRODUCT_KERNEL, i, j, value)
            acc = mac(acc, value, p[j], c.mac_shift)
            s.wide[j] = mac(s.wide[j], value, p[i], c.mac_shift)
        s.wide[i] = acc
    for i in range(n):
        s.wide[i] = (arithmetic_shift(s.wide[i], c.row_shift)
                     + arithmetic_shift(c.lambda_mantissa * p[i], c.lambda_shift))
    trace_all(log, at.PRODUCT_WIDE, 0, s.wide, 0, n)


@jit
def add_p(s: CgState, u: Words, u_exp: int, q: int, p_exp: int, c: CgConstants) -> int:
    """Compute ``u + q p`` in `wide` (block u, quotient q); return its exponent.

    `p_exp` is the sum of the exponents of p and the quotient.
    """
    e = max(u_exp, p_exp)
    up = min(e - u_exp - (62 - c.word), 62)
    down = min(e - p_exp - (31 - c.word), 62)
    for i in range(u.shape[0]):
        s.wide[i] = arithmetic_shift(u[i], up) + arithmetic_shift(q * s.p[i], down)
    return e


@jit
def subtract_q(s: CgState, r_exp: int, step: int, q_exp: int, c: CgConstants) -> int:
    """Compute ``r - step q`` in `wide`, which contains q; return its exponent.

    `q_exp` is the sum of the exponents of q and the step.
    """
    e = max(r_exp, q_exp)
    up = min(e - r_exp - (62 - c.word), 62)
    down = min(e - q_exp - (31 - Q_BITS), 62)
    for i in range(s.r.shape[0]):
        s.wide[i] = arithmetic_shift(s.r[i], up) - arithmetic_shift(step * s.wide[i], down)
    return e


@jit
def excess(wide: Words, bits: int) -> int:
    """Return by how many bits the largest entry of `wide` exceeds a given length.

    The result may be negative.
    """
    largest = 0
    for i in range(wide.shape[0]):
        largest = max(largest, magnitude(wide[i]))
    return bit_length(largest) - (bits - 1)


@jit
def into_block(s: CgState, e: int, words: Words, w: int, to: Cast, log: Log, signal: int) -> int:
    """Cast `wide` with exponent e to a block; return the exponent of the block."""
    shift = excess(s.wide, w)
    for i in range(words.shape[0]):
        words[i] = cast(s.wide[i], shift, to.rounding, to.lo, to.hi, log, signal)
    return e + shift - (62 - w)


@jit
def dot(u: Words, w: Words, shift: int) -> int:
    """Compute ``sum u_i w_i / 2**shift``, with floor at each term."""
    acc = 0
    for i in range(u.shape[0]):
        acc = mac(acc, u[i], w[i], shift)
    return acc


@jit
def curvature(s: CgState, e: int, c: CgConstants) -> tuple[int, int]:
    """Return ``p . q`` for q = `wide`, and the exponent of q.

    The entries of q are first shortened to :data:`Q_BITS`, in place.
    """
    shift = excess(s.wide, Q_BITS)
    for i in range(s.wide.shape[0]):
        s.wide[i] = requantise(s.wide[i], shift, HALF_UP, -(1 << (Q_BITS - 1)), (1 << (Q_BITS - 1)) - 1)
    return dot(s.p, s.wide, c.dot_shift), e + shift - (62 - Q_BITS)


@jit
def begin(y: Words, s: CgState, c: CgConstants, log: Log) -> int:
    """Set alpha = 0 and r = p = y; return the exponent of r."""
    for i in range(y.shape[0]):
        s.wide[i] = arithmetic_shift(y[i], -(62 - c.word))
        s.alpha[i] = 0
    r_exp = into_block(s, 1, s.r, c.word, c.r, log, R)
    for i in range(y.shape[0]):
        s.p[i] = s.r[i]
    trace_all(log, at.BEGIN_R, 0, s.r, 0, y.shape[0])
    return r_exp


@jit
def conjugate_gradients(y: Words, s: CgState, out: Words, c: CgConstants, k: KernelConstants,
                        log: Log) -> int:
    """Iterate from alpha = 0; return a status.

    `out` receives alpha_exp and the number of steps.

    The iteration stops if the residual is zero, or if a step is smaller than half an LSB of alpha. The
    system is rejected if a direction with p . q <= 0 shows that K + lambda I is not positive definite at
    this word length, or if alpha leaves the range that a prediction can sum.
    """
    r_exp = begin(y, s, c, log)
    p_exp, alpha_exp = r_exp, c.alpha_exp_min
    rr = dot(s.r, s.r, c.mac_shift)
    taken = 0
    while taken < c.steps and rr > 0:
        product(s, s.p, c, k, log)
        pq, q_exp = curvature(s, p_exp + c.product_exp, c)
        trace(log, at.CURVATURE_PQ, taken, 0, pq)
        if pq <= 0:
            return NOT_POSITIVE_DEFINITE
        step, e = divide(rr, pq)
        trace(log, at.CG_STEP, taken, 0, step)
        step_exp = e + 2 * r_exp - p_exp - q_exp + c.step_exp
        if step_exp + p_exp < alpha_exp - c.word:
            break
        old, old_exp = rr, r_exp
        e = subtract_q(s, r_exp, step, step_exp + q_exp, c)
        r_exp = into_block(s, e, s.r, c.word, c.r, log, R)
        trace_all(log, at.CG_R, taken, s.r, 0, y.shape[0])
        e = add_p(s, s.alpha, alpha_exp, step, step_exp + p_exp, c)
        alpha_exp = into_block(s, e, s.alpha, c.word, c.alpha, log, ALPHA)
        trace_all(log, at.CG_ALPHA, taken, s.alpha, 0, y.shape[0])
        if alpha_exp > c.alpha_exp_max:
            return NOT_POSITIVE_DEFINITE
        rr = dot(s.r, s.r, c.mac_shift)
        beta, e = divide(rr, old)
        e = add_p(s, s.r, r_exp, beta, e + 2 * (r_exp - old_exp) + p_exp, c)
        p_exp = into_block(s, e, s.p, c.word, c.p, log, P)
        trace_all(log, at.CG_P, taken, s.p, 0, y.shape[0])
        taken += 1
    if alpha_exp < c.alpha_exp_min:
        block_scale(s.alpha, 0, s.alpha.shape[0], min(c.alpha_exp_min - alpha_exp, 62))
        alpha_exp = c.alpha_exp_min
    out[0], out[2] = alpha_exp, taken
    return OK


@jit
def certify(y: Words, s: CgState, out: Words, c: CgConstants, b: BoundConstants, k: KernelConstants,
            log: Log) -> int:
    """Recompute the residual ``r = y - (K + lambda I) alpha`` and the bound.

    Return a status.

    `out` receives the exponent of r and the bound. K contains the fixed-point kernel values. The exact
    matrix is positive semidefinite; the planner has subtracted the largest effect of the rounding from
    lambda.
    """
    product(s, s.alpha, c, k, log)
    e = max(1, out[0] + c.product_exp)
    up = min(e - 1 - (62 - c.word), 62)
    down = min(e - out[0] - c.product_exp, 62)
    norm, norm_shift = alpha_norm(s.alpha, b.norm_bits)
    slack = 0 if norm == 0 else c.residual_slack
    squares, shift = 0, 0
    for i in range(y.shape[0]):
        s.wide[i] = arithmetic_shift(y[i], up) - arithmetic_shift(s.wide[i], down)
        squares, shift = add_square(squares, shift, abs(s.wide[i]) + slack, b.norm_bits, 1)
    trace_all(log, at.CG_CERTIFY, 0, s.wide, 0, y.shape[0])
    out[1] = into_block(s, e, s.r, c.word, c.r, log, R)
    out[3] = bound_from_norm(squares, shift + e - out[0] - c.product_exp, b)
    trace(log, at.CERTIFY_BOUND, 0, 0, out[3])
    return OK if bound_within(out[3], norm, norm_shift, b) else INACCURATE


#: Scalars of the model structure, in the order in which training leaves them.
SCALARS = ("alpha_exp", "r_exp", "taken", "bound")


class CgModel(BatchModel):
    """Integer model of a plan with algorithm ``kernel_cg``."""

    def __init__(self, plan: Plan) -> None:
        self._constants = CgConstants._make(
            [plan.word, *(plan.integer(name) for name in CgConstants._fields[1:-3]),
             *(cast_of(plan, name) for name in ("alpha", "r", "p"))])
        self._bound = BoundConstants._make(plan.integer(name) for name in BoundConstants._fields)
        super().__init__(plan)

    def reset(self) -> None:
        """Return to the untrained state."""
        n, columns = self.plan.sizes["n"], self.plan.sizes["D"]
        wide, alpha, r, p = (np.zeros(n, dtype=np.int64) for _ in range(4))
        self._state = CgState(wide, alpha, r, p, np.zeros((n, columns), dtype=np.int64))
        self._scalars = np.zeros(len(SCALARS), dtype=np.int64)
        super().reset()

    def _solve(self, x_raw: NDArray[np.int64] | None, y: Words) -> int:
        s, log = self._state, self.ranges.log
        assert x_raw is not None  # there is no uniform grid here
        convert_inputs(x_raw, self._input, s.centers, log)
        status = conjugate_gradients(y, s, self._scalars, self._constants, self._kernel, log)
        if status == OK:
            status = certify(y, s, self._scalars, self._constants, self._bound, self._kernel, log)
        return status

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict for ADC counts (m, D): ``status`` (m,), and ``f`` (m,) in LSBs of y."""
        count = len(self._state.alpha) if self._trained else 0
        return self._predict(x_raw, self._state.centers, self._state.alpha, count,
                             self.plan.integer("f_shift") - int(self._scalars[0]))

    def _members(self) -> dict[str, NDArray[Any]]:
        scalars = self._scalars.reshape(-1, 1)
        return self._state._asdict() | dict(zip(SCALARS, scalars, strict=True))
