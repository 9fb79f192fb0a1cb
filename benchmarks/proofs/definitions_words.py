"""proofs: definitions of the primitives that read or write arrays: block_scale and the two exp2."""

from __future__ import annotations

from types import SimpleNamespace

import z3

from . import definitions as scalar
from .arithmetic import Bits, Integers, Term
from .c_values import Array, State
from .definitions import Claim, Run
from .exact import Words


# ---- block_scale: the induction step ----
def _names(run: Run, state: State) -> SimpleNamespace:
    """Names of a state as exact integers."""
    exact = run.m.arithmetic.exact
    return SimpleNamespace(**{
        name: Words(found, run.m.arithmetic) if isinstance(found, Array) else exact(found.term, found.kind)
        for name, found in state.names.items()
    })


def _block_given(run: Run) -> Term:
    """A turn in the middle: i has come from `first` upwards."""
    m, a = run.m, run.a
    inside = z3.And(m.between(0, run.a.s, 62), a.first >= 0, a.first <= a.last,
                    a.last <= m.free("length", 33))
    if not run.turns:  # a mutant whose loop does not depend on its arguments
        return inside
    return z3.And(inside, a.first <= _names(run, run.turns[0].before).i)


def _block_step(run: Run) -> Term:
    m, a = run.m, run.a
    if len(run.turns) != 1:
        return z3.BoolVal(False)
    turn = run.turns[0]
    entry, before, after = (_names(run, state) for state in (turn.entry, turn.before, turn.after))
    k, q = m.free("k", 33), m.free("q")
    magnitude = z3.If(after.words[before.i] < 0, -after.words[before.i] - 1, after.words[before.i])
    step = z3.And(
        after.i == before.i + 1,
        z3.Implies(m.is_half_up(q, before.words[before.i], a.s), after.words[before.i] == q),
        z3.Implies(k != before.i, after.words[k] == before.words[k]),
        after.used == m.any_bit(before.used, magnitude),
    )
    return z3.And(
        entry.i == a.first, entry.used == 0, entry.words[k] == a.words[k],
        turn.condition == (before.i < a.last), z3.Implies(turn.condition, step), run.r == before.used,
    )


def _block_scale(bits: int) -> Claim:
    rest = "int32_t first, int32_t last, int32_t s"
    return Claim(
        "block_scale", f"int64_t kc_block_scale_{bits}(int{bits}_t *words, {rest})",
        f"words: {bits} bits",
        "0 <= first <= last <= length; 0 <= s <= 62",
        "by induction over i = first ... last - 1: words[i] becomes floor(words[i] / 2^s + 1/2), no other "
        "word changes, its magnitude is OR-ed into the result, which begins at 0", Bits,
        _block_given, _block_step, arrays={"words": "length"})


# ---- exp2 ----
ENTRIES_16, BITS_16 = 129, 7
ENTRIES_32 = 256


def _entries_16(run: Run) -> tuple[Term, Term, Term]:
    """Whole part of t, and the two entries around its fraction."""
    m, a = run.m, run.a
    left = m.low_bits(m.floor(a.t, 13), BITS_16)
    return m.floor(a.t, 20), a.table[left], a.table[left + 1]


def _exp2_16_given(run: Run) -> Term:
    _, left, right = _entries_16(run)
    return z3.And(run.m.between(0, run.a.t, (17 << 20) - 1), left >= right)


def _exp2_16(run: Run) -> Term:
    m = run.m
    whole, left, right = _entries_16(run)
    drop = m.floor((left - right) * m.low_bits(run.a.t, 13), 13)
    return m.is_half_up(run.r, left - drop, whole + 1)


def _entries_32(run: Run) -> tuple[Term, Term, Term]:
    """Whole part of t, and its two entries."""
    m, a = run.m, run.a
    coarse = a.coarse[m.low_bits(m.floor(a.t, 24), 8)]
    return m.floor(a.t, 32), coarse, a.fine[m.low_bits(m.floor(a.t, 16), 8)]


def _exp2_32_given(run: Run) -> Term:
    _, coarse, fine = _entries_32(run)
    return z3.And(run.m.between(0, run.a.t, (33 << 32) - 1), coarse <= 1 << 31, fine <= 1 << 31)


def _exp2_32(run: Run) -> Term:
    m = run.m
    whole, coarse, fine = _entries_32(run)
    head = m.floor(coarse * fine, 30)
    drop = m.floor(head * m.floor(m.low_bits(run.a.t, 16) * 0xB17217F8, 32), 32)
    return m.is_half_up(run.r, head - drop, whole + 1)


EXP2_16 = Claim(
    "exp2_16", "int64_t kc_exp2_16(int64_t t, const uint16_t *table)",
    "t: 25 bits, entries: 16 bits",
    "0 <= t < 17 * 2^20; the table does not rise",
    "w = floor(t / 2^20); i, z the next 7 and the last 13 bits of t; L, R = table[i], table[i + 1]; "
    "L - floor((L - R) z / 2^13), divided by 2^(w+1), half up", Integers,
    _exp2_16_given, _exp2_16, parts={"t": (range(17), 20)}, arrays={"table": ENTRIES_16})
EXP2_32 = Claim(
    "exp2_32", "int64_t kc_exp2_32(int64_t t, const uint32_t *coarse, const uint32_t *fine)",
    "t: 38 bits, entries: 32 bits",
    "0 <= t < 33 * 2^32; entries <= 2^31",
    "w = floor(t / 2^32); i, j the next two bytes and z the last 16 bits of t; "
    "h = floor(coarse[i] fine[j] / 2^30); "
    "h - floor(h floor(z 0xB17217F8 / 2^32) / 2^32), "
    "divided by 2^(w+1), half up", Integers,
    _exp2_32_given, _exp2_32, parts={"t": (range(33), 32)}, arrays={"coarse": ENTRIES_32, "fine": ENTRIES_32})

#: The table of the page, in the order of the closed list.
CLAIMS: tuple[Claim, ...] = (
    scalar.SHIFT_FLOOR, scalar.SHIFT_ROUND, scalar.ALIGN, scalar.SATURATE, scalar.WRAP, scalar.NARROW,
    scalar.MAC_16, scalar.MAC_32, scalar.MAC_64, scalar.SQUARE_16, scalar.SQUARE_32, scalar.SQUARE_64,
    scalar.MUL_SHIFT, scalar.MAGNITUDE, scalar.BIT_LENGTH, scalar.NORMALISE, scalar.FLOOR_DIV,
    scalar.DIVIDE, scalar.DIVIDE_ROUND, _block_scale(16), _block_scale(32), EXP2_16, EXP2_32,
)
