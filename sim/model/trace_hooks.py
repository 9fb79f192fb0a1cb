"""sim.model: trace hooks: the words that a run computes, in order, so that two runs can be compared.

An event is a word with its place: an operation, a step, the signal and an index.  A trace keeps no list:
it counts the events, folds the first `limit` of them into a hash, and remembers the one after these.
Whoever runs the same call twice with other limits finds the first event that differs
(:mod:`..replay.divergence`).  firmware/agent/kc_hil_trace.c does the same on the device.

Without a trace ``log.trace`` is None, and numba compiles every hook to nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..jit import jit
from ..primitives import Words
from ..replay.trace import Event, Trace

#: Operation and signal of every hook, as the C names them: ``KC_TRACE(operation, signal, ...)``.
HOOKS = (
    ("input_convert", "x"),
    ("output_convert", "y"),
    ("predict", "distance"),
    ("predict", "kernel"),
    ("predict", "f"),
    ("fill_row", "row"),
    ("cheapest", "slot"),
    ("project", "distance"),
    ("project", "kernel"),
    ("project", "alpha"),
    ("find_near", "distance"),
    ("find_near", "near"),
    ("find_near", "dist"),
    ("release", "rank"),
    ("weigh", "kernel"),
    ("learn", "f"),
    ("learn", "decayed_alpha"),
    ("learn", "alpha"),
    ("insert", "near"),
    ("insert", "dist"),
    ("meet", "dist"),
    ("insert", "sum"),
    ("close_gap", "slot"),
    ("newest_loss", "loss"),
    ("first_row", "distance"),
    ("first_row", "kernel"),
    ("first_row", "r"),
    ("reflection", "num"),
    ("lengthen_a", "xi"),
    ("extend_a", "a_exp"),
    ("extend_a", "scaled_a"),
    ("update_a", "a"),
    ("lengthen_a", "eps"),
    ("lengthen_x", "y"),
    ("residual", "mu"),
    ("lengthen_x", "c"),
    ("extend_x", "x_exp"),
    ("extend_x", "scaled_x"),
    ("update_x", "x"),
    ("toeplitz_train", "alpha"),
    ("bound_certify", "bound"),
    ("left_over", "rhs"),
    ("refine", "eta"),
    ("move", "alpha"),
    ("product", "distance"),
    ("product", "kernel"),
    ("product", "wide"),
    ("begin", "r"),
    ("curvature", "pq"),
    ("conjugate_gradients", "step"),
    ("r_from_wide", "r"),
    ("alpha_from_wide", "alpha"),
    ("p_from_wide", "p"),
    ("certify", "wide"),
    ("start_residual", "s"),
    ("update_generators", "p"),
    ("update_generators", "q"),
    ("lengthen_s", "scaled_s"),
    ("update_residual", "s"),
    ("schur", "xi"),
    ("schur", "eps"),
    ("schur", "c"),
    ("lookahead", "p"),
    ("single_step", "mu"),
    ("single_step", "xi"),
    ("single_step", "x"),
    ("single_step", "g"),
    ("single_step", "a"),
    ("schur_complement", "B"),
    ("schur_complement", "S"),
    ("border", "z"),
    ("block_step", "g"),
    ("block_step", "a"),
    ("block_step", "x"),
    ("residual", "c"),
    ("solve_again", "first"),
    ("solve_again", "second"),
    ("solve_again", "c"),
    ("block_step", "refined_g"),
    ("block_step", "refined_a"),
    ("lookahead", "eps"),
    ("lookahead", "eps_exp"),
    ("lookahead", "a_exp"),
    ("lookahead", "g_exp"),
    ("lookahead", "x_exp"),
    ("refine", "better"),
    ("refine", "left"),
)
(INPUT_X, OUTPUT_Y, PREDICT_DISTANCE, PREDICT_KERNEL, PREDICT_F, FILL_ROW, CHEAPEST_SLOT, PROJECT_DISTANCE,
 PROJECT_KERNEL, PROJECT_ALPHA, NEAR_DISTANCE, NEAR_NEAR, NEAR_DIST, RELEASE_RANK, WEIGH_KERNEL, LEARN_F,
 LEARN_DECAYED, LEARN_ALPHA, INSERT_NEAR, INSERT_DIST, MEET_DIST, INSERT_SUM,
 CLOSE_GAP_SLOT, NEWEST_LOSS, ROW_DISTANCE, ROW_KERNEL, ROW_R, REFLECTION_NUM,
 LENGTHEN_XI, EXTEND_A_EXP, EXTEND_SCALED_A, UPDATE_A, LENGTHEN_EPS, LENGTHEN_Y, RESIDUAL_MU, LENGTHEN_C,
 EXTEND_X_EXP, EXTEND_SCALED_X, UPDATE_X, TRAIN_ALPHA, CERTIFY_BOUND, LEFT_OVER_RHS, REFINE_ETA,
 MOVE_ALPHA, PRODUCT_DISTANCE, PRODUCT_KERNEL, PRODUCT_WIDE, BEGIN_R, CURVATURE_PQ, CG_STEP, CG_R, CG_ALPHA,
 CG_P, CG_CERTIFY, START_S, GENERATOR_P, GENERATOR_Q, LENGTHEN_SCALED_S, UPDATE_S, SCHUR_XI, SCHUR_EPS,
 SCHUR_C, AHEAD_P, SINGLE_MU, SINGLE_XI, SINGLE_X, SINGLE_G, SINGLE_A, COMPLEMENT_B, COMPLEMENT_S, BORDER_Z,
 BLOCK_G, BLOCK_A, BLOCK_X, RESIDUAL_C, AGAIN_FIRST, AGAIN_SECOND, AGAIN_C, REFINED_G, REFINED_A, AHEAD_EPS,
 AHEAD_EPS_EXP, AHEAD_A_EXP, AHEAD_G_EXP, AHEAD_X_EXP, REFINE_BETTER, REFINE_LEFT) = range(len(HOOKS))

_LIMIT, _COUNT, _HASH, _HOOK, _STEP, _INDEX, _WORD = range(7)
_MASK = 0xFFFFFFFF
#: Odd and below 2**31, so that its product with 32 bits fits an int64.
_MULTIPLIER = 0x2545F491


class Log(NamedTuple):
    """What a run writes down beside its result.

    Parameters
    ----------
    ranges : ndarray of int64, shape (signals, 3)
        See :class:`.ranges.Ranges`.
    trace : ndarray of int64, shape (7,), or None
        Made by :func:`begin`.
    """

    ranges: Words
    trace: Words | None


@jit
def _fold(folded: int, half: int) -> int:
    """The hash after 32 more bits: combined, rotated by 13, multiplied modulo 2**32."""
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
    """``KC_TRACE``: one word of the hook's signal, at a step of its operation."""
    _event(log.trace, hook, step, index, word)


@jit
def _events(t: Words | None, hook: int, step: int, words: Words, first: int, last: int) -> None:
    if t is None:
        return
    for i in range(first, last):
        _event(t, hook, step, i, words[i])


@jit
def trace_all(log: Log, hook: int, step: int, words: Words, first: int, last: int) -> None:
    """``KC_TRACE_ALL``: words[first..last), in order."""
    _events(log.trace, hook, step, words, first, last)


def begin(limit: int) -> Words:
    """A new trace: the hash will be that of the first `limit` events."""
    return np.array([limit, 0, 1, -1, 0, 0, 0], dtype=np.int64)


#: What hooks write into where nobody asked for a trace, of code that is compiled once, with its hooks.
UNREAD = Log(np.zeros((0, 3), dtype=np.int64), begin(0))


def finish(t: Words | None) -> Trace:
    """What a trace came to."""
    if t is None:
        return Trace(0, 0, None)
    count, folded, hook, step, index, word = (int(v) for v in t[_COUNT:])
    event = Event(*HOOKS[hook], step, index, word) if hook >= 0 else None
    return Trace(count, folded, event)
