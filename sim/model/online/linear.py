"""sim.model: the linear part of the online learner, by square-root RLS or by NLMS.

:mod:`...planner.online.linear` derives the formats and proves that R, z and the rotated rows fit.
"""

from __future__ import annotations

from ...jit import jit
from ...primitives import (
    FLOOR,
    HALF_UP,
    Words,
    arithmetic_shift,
    divide,
    isqrt_ceil,
    mac,
    requantise,
    saturate,
    shift_round,
    wrap,
)
from .. import trace_hooks as at
from ..kernel import InputConstants, KernelConstants, convert_x
from ..outputs import Several, expand_outputs
from ..statuses import OK, SATURATED
from ..trace_hooks import Log, trace, trace_all
from .last_errors import bounded, correct, has_errors, learn_error
from .state import LmsConstants, LmsState, LmsWork

_HI = (1 << 31) - 1
_FRAC = 30  # of the root, c and s


@jit
def set_features(x: Words, raw: Words, i: InputConstants, c: LmsConstants, phi: Words) -> None:
    """Set phi (D + 1,) to 1 and the scaled x.

    If `linear_wide`, the scaled ADC counts stand for x, with all their bits.
    """
    phi[0] = c.linear_one
    for d in range(x.shape[0]):
        if c.linear_wide:
            scaled = arithmetic_shift((raw[d] - i.x_offset[d]) * i.x_gain[d], c.linear_raw_exp)
            phi[d + 1] = saturate(scaled, -c.linear_one, c.linear_one)
        else:
            phi[d + 1] = arithmetic_shift(x[d], c.linear_x_exp)


@jit
def linear_sum(s: LmsState, output: int, phi: Words, c: LmsConstants) -> int:
    """Return w.phi of an output, to be shifted by `linear_out_shift`."""
    acc, first = 0, output * phi.shape[0]
    for j in range(phi.shape[0]):
        acc = mac(acc, s.linear_w[first + j], phi[j], c.linear_mac_shift)
    return acc


@jit
def predict_linear(s: LmsState, c: LmsConstants, w: LmsWork, log: Log) -> None:
    """Set ``w.linear`` to w.phi in LSBs of y, saturated to the range of f."""
    for o in range(c.outputs):
        f = saturate(shift_round(linear_sum(s, o, w.phi, c), c.linear_out_shift, HALF_UP), c.f.lo, c.f.hi)
        w.linear[o] = f
        trace(log, at.LINEAR_F, 0, o, f)


@jit
def rest_of(s: LmsState, phi: Words, linear: int, c: LmsConstants) -> int:
    """Return the rounding error of an output's w.phi, in ``2**-error_frac`` LSBs of y."""
    one = 1 << c.error_frac
    fine = shift_round(linear_sum(s, 0, phi, c), c.error_out_shift, HALF_UP)
    return saturate(fine - linear * one, -one, one)


@jit
def rotation(a: int, b: int) -> tuple[int, int, int]:
    """Return h = |(a, b)| rounded up, cosine a / h and sine b / h, toward zero.

    Both are products with one reciprocal of the root, which is rounded down. 0 < a < 2**31, |b| <= 2**31.
    """
    h = isqrt_ceil(saturate(a * a + b * b, 0, (1 << 62) - 1))
    reciprocal, e = divide(1, h)
    size = shift_round((b if b >= 0 else -b) * reciprocal, 1 - e, FLOOR)
    return h, shift_round(a * reciprocal, 1 - e, FLOOR), size if b >= 0 else -size


@jit
def fit(v: int) -> int:
    """Round off the 30 fraction bits of a rotation; only a corrupted state wraps."""
    return wrap(shift_round(v, _FRAC, HALF_UP), 32)


@jit
def rotate(s: LmsState, row: Words, target: Words, first: int) -> None:
    """Rotate a row, zero before column `first`, and its targets (C,) into R and z."""
    order, base = row.shape[0], 0
    for i in range(order):
        b = row[i]
        if i >= first and b != 0:
            diagonal = s.linear_r[base]  # above 0, except in an overwritten state
            h, cosine, sine = rotation(diagonal if diagonal > 0 else _HI, b)
            s.linear_r[base] = saturate(h, -_HI, _HI)
            for j in range(i + 1, order):
                above, below = s.linear_r[base + j - i], row[j]
                s.linear_r[base + j - i] = fit(cosine * above + sine * below)
                row[j] = fit(cosine * below - sine * above)
            for o in range(target.shape[0]):
                above, below = s.linear_z[o * order + i], target[o]
                s.linear_z[o * order + i] = fit(cosine * above + sine * below)
                target[o] = fit(cosine * below - sine * above)
        base += order - i


@jit
def set_prior(s: LmsState, order: int, c: LmsConstants) -> None:
    """Set R of an empty learner to the root of the ridge."""
    base = 0
    for i in range(order):
        s.linear_r[base] = c.linear_prior_one if i == 0 else c.linear_prior_x
        base += order - i


@jit
def solve(s: LmsState, output: int, order: int, c: LmsConstants) -> bool:
    """Solve ``R w = z`` of an output; return whether an entry of w saturated."""
    saturated, at_w = False, output * order
    base = s.linear_r.shape[0]
    for i in range(order - 1, -1, -1):
        base -= order - i
        acc = 0
        for j in range(i + 1, order):
            acc = mac(acc, s.linear_r[base + j - i], s.linear_w[at_w + j], c.linear_sum_shift)
        num = arithmetic_shift(s.linear_z[at_w + i], -c.linear_z_shift) - acc
        pivot = int(s.linear_r[base])
        limit = pivot << (31 - c.linear_sum_shift)
        if num >= limit or num <= -limit:
            s.linear_w[at_w + i] = _HI if num >= limit else -_HI
            saturated = True
        else:
            q, e = divide(num, pivot)
            s.linear_w[at_w + i] = requantise(q, min(31 - c.linear_sum_shift - e, 62), HALF_UP, -_HI, _HI)
    return saturated


@jit
def learn_linear(s: LmsState, w: LmsWork, c: LmsConstants, log: Log) -> bool:
    """Learn ``w.phi`` and the targets ``w.aim``; return whether w saturated."""
    order = w.phi.shape[0]
    if s.linear_r[0] == 0:
        set_prior(s, order, c)
    for i in range(s.linear_r.shape[0]):
        s.linear_r[i] = fit(s.linear_r[i] * c.linear_root)
    for i in range(s.linear_z.shape[0]):
        s.linear_z[i] = fit(s.linear_z[i] * c.linear_root)
    for o in range(c.outputs):
        w.aim[o] = requantise(w.aim[o], c.linear_y_exp, HALF_UP, -_HI, _HI)
    for i in range(order):
        w.rotated[i] = w.phi[i]
    rotate(s, w.rotated, w.aim, 0)
    ridge = s.linear_next[0] % order
    for i in range(order):
        w.rotated[i] = 0
    w.rotated[ridge] = c.linear_ridge_one if ridge == 0 else c.linear_ridge_x
    w.aim[:] = 0
    rotate(s, w.rotated, w.aim, ridge)
    s.linear_next[0] = (ridge + 1) % order
    saturated = False
    for o in range(c.outputs):
        saturated = solve(s, o, order, c) or saturated
    trace_all(log, at.LINEAR_R, 0, s.linear_r, 0, s.linear_r.shape[0])
    trace_all(log, at.LINEAR_W, 0, s.linear_w, 0, s.linear_w.shape[0])
    return saturated


@jit
def learn_normalised(s: LmsState, w: LmsWork, c: LmsConstants, log: Log) -> bool:
    """Learn ``w.phi`` and the targets ``w.aim`` by NLMS; return whether w saturated."""
    order, power, saturated = w.phi.shape[0], 0, False
    for j in range(order):
        power += w.phi[j] * w.phi[j]
    for o in range(c.outputs):
        q, e = divide((w.aim[o] - w.linear[o]) * c.linear_step, power)
        gain = requantise(q, min(c.linear_step_exp - e, 62), HALF_UP, -_HI, _HI)  # q may be 0
        for i in range(o * order, (o + 1) * order):
            whole = s.linear_w[i] + shift_round(gain * w.phi[i - o * order], c.linear_gain_shift, HALF_UP)
            s.linear_w[i] = saturate(whole, -_HI, _HI)
            saturated = saturated or s.linear_w[i] != whole
    trace_all(log, at.LINEAR_W, 0, s.linear_w, 0, s.linear_w.shape[0])
    return saturated


# ---- the gate ----
@jit
def gate_prediction(s: LmsState, output: int, linear: int, f: int, c: LmsConstants) -> int:
    """Return linear + g (f - linear) of an output, with g = P / Q from 0 to 1."""
    if s.gate_sums.shape[0] == 0:
        return f
    product, power = bounded(s.gate_sums[2 * output]), bounded(s.gate_sums[2 * output + 1])
    if product >= power or product <= 0:
        return f if product > 0 else linear
    q, e = divide(product, power)
    part = saturate(f - linear, c.f.lo, c.f.hi)
    return linear + requantise(q * part, min(31 - e, 62), HALF_UP, c.f.lo, c.f.hi)


@jit
def gate_learn(s: LmsState, output: int, error: int, part: int, c: LmsConstants, log: Log) -> None:
    """Add e_L f_K and f_K^2 to the sums of an output, which decay exponentially."""
    if s.gate_sums.shape[0] > 0:
        error = saturate(error, c.f.lo, c.f.hi) << c.gate_frac
        part = saturate(part, c.f.lo, c.f.hi) << c.gate_frac
        first = 2 * output
        for i in range(first, first + 2):
            acc = bounded(s.gate_sums[i])
            s.gate_sums[i] = mac(acc - shift_round(acc, c.gate_window, FLOOR), error if i == first else part,
                                 part, c.gate_shift)
        trace_all(log, at.GATE_SUMS, 0, s.gate_sums, first, first + 2)


@jit
def has_linear(s: LmsState) -> bool:
    """Return whether the learner has a linear part."""
    return bool(s.linear_w.shape[0] > 0)


@jit
def start_step(s: LmsState, c: LmsConstants, w: LmsWork, log: Log) -> None:
    """Set ``w.linear`` to the linear predictions from ``w.phi`` before learning.

    They stay 0 without a linear part.
    """
    if has_linear(s):
        predict_linear(s, c, w, log)


@jit
def finish_step(s: LmsState, c: LmsConstants, w: LmsWork, log: Log) -> bool:
    """Train the linear part, and clip ``w.f``; return whether w saturated."""
    if not has_linear(s):
        return False
    rest = rest_of(s, w.phi, w.linear[0], c) if has_errors(s) else 0
    for o in range(c.outputs):
        w.aim[o] = w.y[o] - w.f[o] + w.linear[o] if c.joint else w.y[o]
    saturated = learn_normalised(s, w, c, log) if c.nlms else learn_linear(s, w, c, log)
    for o in range(c.outputs):
        y, f, linear = w.y[o], w.f[o], w.linear[o]
        gated = gate_prediction(s, o, linear, f, c)
        gate_learn(s, o, y - linear, f - linear, c, log)
        if has_errors(s):
            fine = gated * (1 << c.error_frac) + rest
            gated = correct(s, fine, c, log)
            learn_error(s, y * (1 << c.error_frac) - fine, c, log)
        w.f[o] = saturate(gated, c.f_lo, c.f_hi)
    return saturated


@jit
def predict_both(raw: Words, i: InputConstants, s: LmsState, count: int, to: Several, c: LmsConstants,
                 k: KernelConstants, w: LmsWork, f: Words, status: Words, log: Log) -> None:
    """Predict with both parts for ADC counts (m, D); clip f (m, C) to the range of y.

    The bias of `to` is ``w.linear``.
    """
    for m in range(raw.shape[0]):
        convert_x(raw[m], i, w.x, log)
        trace_all(log, at.INPUT_X, 0, w.x, 0, w.x.shape[0])
        set_features(w.x, raw[m], i, c, w.phi)
        predict_linear(s, c, w, log)
        saturated = expand_outputs(w.x, s.centers, 0, count, to, k, w.acc, f[m], log)
        for o in range(c.outputs):
            gated = gate_prediction(s, o, w.linear[o], f[m, o], c)
            if has_errors(s):
                fine = gated * (1 << c.error_frac) + rest_of(s, w.phi, w.linear[o], c)
                gated = correct(s, fine, c, log)
            f[m, o] = saturate(gated, c.f_lo, c.f_hi)
        status[m] = SATURATED if saturated else OK
