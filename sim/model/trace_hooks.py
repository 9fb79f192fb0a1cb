"""sim.model: trace hooks, which log intermediate values to compare two runs.

An event is a value with its position: an operation, a step, a signal and an index. A trace does not store a
list of events: it counts them, computes a hash of the first `limit` events, and stores the next one. Repeated
runs of the same call with other limits find the first event that differs (:mod:`..replay.divergence`).
firmware/agent/kc_hil_trace.c does the same on the device.

If there is no trace, ``log.trace`` is None, and numba removes every hook.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import jit
from ..primitives import Words
from ..replay.trace import Event, Trace

#: Operation and signal of every hook, as the C names them: ``KC_TRACE(operation, signal, ...)``.
_hooks: list[tuple[str, str]] = []


def _hook(operation: str, signal: str) -> int:
    """Add a hook; return the number that compiled code uses for it."""
    _hooks.append((operation, signal))
    return len(_hooks) - 1


INPUT_X = _hook("input_convert", "x")
OUTPUT_Y = _hook("output_convert", "y")
PREDICT_DISTANCE = _hook("predict", "distance")
PREDICT_KERNEL = _hook("predict", "kernel")
PREDICT_F = _hook("predict", "f")
FILL_ROW = _hook("fill_row", "row")
VICTIM_SLOT = _hook("select_victim", "slot")
PROJECT_DISTANCE = _hook("project", "distance")
PROJECT_KERNEL = _hook("project", "kernel")
PROJECT_ALPHA = _hook("project", "alpha")
NEAREST_DISTANCE = _hook("find_nearest", "distance")
NEAREST_IDX = _hook("find_nearest", "nearest_idx")
NEAREST_D2 = _hook("find_nearest", "nearest_d2")
REMOVE_AGE_ORDER = _hook("remove_center", "age_order")
EXPANSION_KERNEL = _hook("kernel_expansion", "kernel")
LEARN_F = _hook("learn", "f")
LEARN_DECAYED = _hook("learn", "decayed_alpha")
LEARN_ALPHA = _hook("learn", "alpha")
INSERT_NEAREST_IDX = _hook("insert_center", "nearest_idx")
INSERT_NEAREST_D2 = _hook("insert_center", "nearest_d2")
LINK_NEAREST_D2 = _hook("link_nearest", "nearest_d2")
INSERT_SUM = _hook("insert_center", "sum")
CLOSE_GAP_SLOT = _hook("close_gap", "slot")
NEWEST_LOSS = _hook("newest_loss", "loss")
FEATURES_PHI = _hook("features", "phi")
DESCEND_STEP = _hook("descend", "step")
LEARN_R = _hook("learn", "r")
LEARN_BETA = _hook("learn", "beta")
LEARN_W = _hook("learn", "w")
LEVERAGE_STEP = _hook("leverage", "step")
LEARN_LEVERAGE = _hook("learn", "leverage")
LINEAR_F = _hook("linear_predict", "f")
LINEAR_R = _hook("linear_learn", "r")
LINEAR_W = _hook("linear_learn", "w")
ERROR_PART = _hook("error_correct", "part")
ERROR_W = _hook("error_learn", "w")
ERROR_PAST = _hook("error_learn", "past")
ERROR_SUMS = _hook("error_learn", "sums")
GATE_SUMS = _hook("gate_learn", "sums")
ROW_DISTANCE = _hook("first_row", "distance")
ROW_KERNEL = _hook("first_row", "kernel")
ROW_R = _hook("first_row", "r")
REFLECTION_NUM = _hook("reflection_numerator", "num")
PREDICTOR_XI = _hook("predictor_step", "xi")
EXTEND_A_EXP = _hook("extend_a", "a_exp")
EXTEND_SCALED_A = _hook("extend_a", "scaled_a")
UPDATE_A = _hook("update_a", "a")
PREDICTOR_EPS = _hook("predictor_step", "eps")
SOLUTION_Y = _hook("solution_step", "y")
INNOVATION = _hook("innovation", "innov")
SOLUTION_C = _hook("solution_step", "c")
EXTEND_X_EXP = _hook("extend_x", "x_exp")
EXTEND_SCALED_X = _hook("extend_x", "scaled_x")
UPDATE_X = _hook("update_x", "x")
TRAIN_ALPHA = _hook("toeplitz_train", "alpha")
CERTIFY_BOUND = _hook("bound_certify", "bound")
RESIDUAL_RHS = _hook("compute_residual", "rhs")
REFINE_ETA = _hook("refine", "eta")
CORRECTION_ALPHA = _hook("apply_correction", "alpha")
PRODUCT_DISTANCE = _hook("product", "distance")
PRODUCT_KERNEL = _hook("product", "kernel")
PRODUCT_WIDE = _hook("product", "wide")
BEGIN_R = _hook("begin", "r")
CURVATURE_PQ = _hook("curvature", "pq")
CG_STEP = _hook("conjugate_gradients", "step")
CG_R = _hook("r_from_wide", "r")
CG_ALPHA = _hook("alpha_from_wide", "alpha")
CG_P = _hook("p_from_wide", "p")
CG_CERTIFY = _hook("certify", "wide")
START_S = _hook("start_residual", "s")
GENERATOR_P = _hook("update_generators", "p")
GENERATOR_Q = _hook("update_generators", "q")
RESIDUAL_SCALED_S = _hook("residual_step", "scaled_s")
UPDATE_S = _hook("update_residual", "s")
SCHUR_XI = _hook("schur", "xi")
SCHUR_EPS = _hook("schur", "eps")
SCHUR_C = _hook("schur", "c")
AHEAD_P = _hook("lookahead", "p")
SINGLE_INNOV = _hook("single_step", "innov")
SINGLE_XI = _hook("single_step", "xi")
SINGLE_X = _hook("single_step", "x")
SINGLE_G = _hook("single_step", "g")
SINGLE_A = _hook("single_step", "a")
COMPLEMENT_B = _hook("schur_complement", "B")
COMPLEMENT_S = _hook("schur_complement", "S")
BORDER_Z = _hook("border", "z")
BLOCK_G = _hook("block_step", "g")
BLOCK_A = _hook("block_step", "a")
BLOCK_X = _hook("block_step", "x")
RESIDUAL_C = _hook("residual", "c")
INVERSE_FIRST = _hook("apply_inverse", "first")
INVERSE_SECOND = _hook("apply_inverse", "second")
INVERSE_C = _hook("apply_inverse", "c")
REFINED_G = _hook("block_step", "refined_g")
REFINED_A = _hook("block_step", "refined_a")
AHEAD_EPS = _hook("lookahead", "eps")
AHEAD_EPS_EXP = _hook("lookahead", "eps_exp")
AHEAD_A_EXP = _hook("lookahead", "a_exp")
AHEAD_G_EXP = _hook("lookahead", "g_exp")
AHEAD_X_EXP = _hook("lookahead", "x_exp")
REFINE_BETTER = _hook("refine", "better")
REFINE_NORM = _hook("refine", "norm")
BANDED_Z = _hook("eliminate_forward", "z")
BANDED_SCALED_Z = _hook("eliminate_forward", "scaled_z")
BANDED_ALPHA = _hook("eliminate_backward", "alpha")
BANDED_SCALED_ALPHA = _hook("eliminate_backward", "scaled_alpha")
TUNE_SUM = _hook("tune", "sum")
TUNE_EVIDENCE = _hook("tune", "evidence")
TUNE_CANDIDATE = _hook("tune", "candidate")
INTERCEPT_B = _hook("intercept", "b")
#: All hooks, by number.
HOOKS = tuple(_hooks)

_LIMIT, _COUNT, _HASH, _HOOK, _STEP, _INDEX, _WORD = range(7)
_MASK = 0xFFFFFFFF
#: Odd and below 2**31, so that its product with 32 bits fits an int64.
_MULTIPLIER = 0x2545F491


class Log(NamedTuple):
    """Log of ranges and trace events of a run.

    Parameters
    ----------
    ranges : ndarray of int64, shape (signals, 3)
        See :class:`.ranges.Ranges`.
    trace : ndarray of int64, shape (7,), or None
        Array created by :func:`begin`.
    """

    ranges: Words
    trace: Words | None


@jit
def _fold(folded: int, half: int) -> int:
    """Add 32 bits to the hash: combine, rotate by 13, multiply modulo 2**32."""
    folded ^= half & _MASK
    folded = ((folded << 13) & _MASK) | (folded >> 19)
    return (folded * _MULTIPLIER) & _MASK


@jit
def _event(t: Words | None, hook: int, step: int, index: int, word: int) -> None:
    if t is None:
        return
    if t[_COUNT] < t[_LIMIT]:
        t[_HASH] = _fold(_fold(_fold(_fold(t[_HASH], step), index), word), word >> 32)
    elif t[_COUNT] == t[_LIMIT]:
        t[_HOOK], t[_STEP], t[_INDEX], t[_WORD] = hook, step, index, word
    t[_COUNT] += 1


@jit
def trace(log: Log, hook: int, step: int, index: int, word: int) -> None:
    """Trace one value of a hook at a step of its operation (``KC_TRACE``)."""
    _event(log.trace, hook, step, index, word)


@jit
def _events(t: Words | None, hook: int, step: int, words: Words, first: int, last: int) -> None:
    if t is None:
        return
    for i in range(first, last):
        _event(t, hook, step, i, words[i])


@jit
def trace_all(log: Log, hook: int, step: int, words: Words, first: int, last: int) -> None:
    """Trace the values `first` to `last` - 1, in order (``KC_TRACE_ALL``)."""
    _events(log.trace, hook, step, words, first, last)


def begin(limit: int) -> Words:
    """Create a trace whose hash covers the first `limit` events."""
    return np.array([limit, 0, 1, -1, 0, 0, 0], dtype=np.int64)


def finish(t: Words | None) -> Trace:
    """Return the result of a trace."""
    if t is None:
        return Trace(0, 0, None)
    count, folded, hook, step, index, word = (int(v) for v in t[_COUNT:])
    event = Event(*HOOKS[hook], step, index, word) if hook >= 0 else None
    return Trace(count, folded, event)
