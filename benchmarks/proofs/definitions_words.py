"""proofs: define the primitives with arrays, block_scale and exp2."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import z3

from . import definitions as scalar
from .arithmetic import Bits, Integers, Term, numeral
from .c_values import Array, State
from .definitions import Claim, Fact, Run, bounded, congruent
from .definitions_root import ROOT, ROOT_BIT
from .definitions_sine import SINE
from .exact import Exact, Words


# ---- block_scale: the induction step ----
def _names(run: Run, state: State) -> SimpleNamespace:
    """Return the variables of a state as exact integers."""
    exact = run.m.arithmetic.exact
    return SimpleNamespace(**{
        name: Words(found, run.m.arithmetic) if isinstance(found, Array) else exact(found.term, found.kind)
        for name, found in state.names.items()
    })


def _block_given(run: Run) -> Term:
    """Return the precondition of an arbitrary iteration; i is at least `first`."""
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
        after.used == z3.If(magnitude > before.used, magnitude, before.used),
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
        "word changes, the result is the largest magnitude, 0 of none", Bits,
        _block_given, _block_step, arrays={"words": "length"})


# ---- exp2 ----
BITS_16, BITS_32 = (5, 6, 7), (5, 6, 8)


def _bits(run: Run) -> int:
    """Return the number of index bits.

    It is a constant, because each size of the table is proved separately.
    """
    found = numeral(run.a.bits)
    assert found is not None
    return found


def _entries_16(run: Run) -> tuple[Term, Term, Term]:
    """Return the integer part of t, and the two table entries next to its fraction."""
    m, a, bits = run.m, run.a, _bits(run)
    left = m.floor(m.low_bits(a.t, 20), 20 - bits)
    return m.floor(a.t, 20), a.table[left], a.table[left + 1]


def _exp2_16_given(run: Run) -> Term:
    m, bits = run.m, _bits(run)
    _, left, right = _entries_16(run)
    return z3.And(m.between(0, run.a.t, (16 << 20) - 1), m.free("entries", 33) == (1 << bits) + 1,
                  m.between(0, left - right, 1 << (12 + bits)))


def _drop_16(run: Run) -> Term:
    """Return the difference between the left table entry and the interpolated value."""
    m, rest = run.m, 20 - _bits(run)
    _, left, right = _entries_16(run)
    return m.floor((left - right) * m.low_bits(m.low_bits(run.a.t, 20), rest), rest)


def _exp2_16_steps(run: Run) -> list[Term | Fact]:
    return [run.end.drop == _drop_16(run)]


def _exp2_16(run: Run) -> Term:
    whole, left, _ = _entries_16(run)
    return run.m.is_half_up(run.r, left - _drop_16(run), whole + 6)


def _parts_32(run: Run) -> SimpleNamespace:
    """Return the integer part of t, its table entries, and the terms of the result.

    The result before the last shift is ``2**33 * 2**-fraction``.
    """
    m, a, bits = run.m, run.a, _bits(run)
    fraction, rest = m.low_bits(a.t, 32), 32 - 2 * bits
    line = m.floor(m.low_bits(fraction, rest) * (1 << (bits - 2)) * 0xB17217F8, 32)
    tail = line - m.floor(line * line, 31 + bits) if bits < 8 else line
    step = a.fine[m.low_bits(m.floor(fraction, rest), bits)]
    fall = step + tail - m.floor(step * tail, 30 + bits)
    head = a.coarse[m.floor(fraction, 32 - bits)]
    value = (1 << 32) + head - m.floor((1 << 32) * fall + head * fall, 30 + bits)
    return SimpleNamespace(whole=m.floor(a.t, 32), line=line, tail=tail, step=step, fall=fall, head=head,
                           value=value)


def _exp2_32_given(run: Run) -> Term:
    m, parts = run.m, _parts_32(run)
    return z3.And(m.between(0, run.a.t, (32 << 32) - 1), m.free("entries", 33) == 1 << _bits(run),
                  parts.step < 1 << 30, parts.value >= 1 << 32)


def _exp2_32_steps(run: Run) -> list[Term | Fact]:
    """Return the steps that equate variables of the C code and of the definition."""
    own, found = _parts_32(run), run.end
    square, product = (own.line, own.line), (own.step, own.tail)
    return [
        own.line < 1 << 25, found.line == own.line, Fact(_bounded_25, square),
        Fact(congruent, (found.line, found.line, *square)), found.tail == own.tail,
        found.step == own.step, Fact(_bounded_30, product),
        Fact(congruent, (found.step, found.tail, *product)), found.fall == own.fall,
        own.fall >= 0, own.fall < 1 << 31, found.head == own.head, Fact(_bounded_32, (own.head, own.fall)),
        Fact(congruent, (found.head, found.fall, own.head, own.fall)),
        run.m.floor(own.head * own.fall, 32) >= 0, run.m.floor(own.head * own.fall, 32) <= own.fall,
        Fact(partial(_nested, run.m, _bits(run)), (own.fall, own.head * own.fall)),
        found.value + (1 << 32) == own.value,
    ]


def _nested(m: Exact, bits: int, a: Term, b: Term) -> Term:
    """Return the lemma that a floor of a floor equals a single floor."""
    return m.floor((1 << 32) * a + b, 30 + bits) == m.floor(a + m.floor(b, 32), bits - 2)


def _bounded_25(a: Term, b: Term) -> Term:
    return bounded(a, b, 1 << 25)


def _bounded_30(a: Term, b: Term) -> Term:
    return bounded(a, b, 1 << 30)


def _bounded_32(a: Term, b: Term) -> Term:
    return bounded(a, b, 1 << 32)


def _exp2_32(run: Run) -> Term:
    parts = _parts_32(run)
    return run.m.is_half_up(run.r, parts.value, parts.whole + 2)


EXP2_16 = Claim(
    "exp2_16", "int64_t kc_exp2_16(int64_t t, const uint32_t *table, int32_t bits)",
    "t: 24 bits, entries: 32 bits, index: 5, 6, 7 bits",
    "0 <= t < 16 * 2^20; the table of 2^bits + 1 entries does not rise, nor fall by more than 2^(12 + bits) "
    "from one to the next",
    "w = floor(t / 2^20); i, z the next `bits` and the last q = 20 - bits bits of t; "
    "L, R = table[i], table[i + 1]; L - floor((L - R) z / 2^q), divided by 2^(w+6), half up", Integers,
    _exp2_16_given, _exp2_16, split={"bits": BITS_16}, parts={"t": (range(16), 20)},
    arrays={"table": "entries"}, steps=_exp2_16_steps)
EXP2_32 = Claim(
    "exp2_32", "int64_t kc_exp2_32(int64_t t, const uint32_t *coarse, const uint32_t *fine, int32_t bits)",
    "t: 37 bits, entries: 32 bits, indices: 5, 6, 8 bits",
    "0 <= t < 32 * 2^32; 2^bits entries; those of fine < 2^30; the value is at least 2^32",
    "w = floor(t / 2^32); i, j the next two fields of `bits` bits and z the last bits of t; q = 30 + bits; "
    "l = floor(z 2^(bits-2) 0xB17217F8 / 2^32), less floor(l^2 / 2^(q+1)) for bits < 8; "
    "s = fine[j] + l - floor(fine[j] l / 2^q); h = 2^32 + coarse[i]; "
    "the value h - floor(h s / 2^q), divided by 2^(w+2), half up", Integers,
    _exp2_32_given, _exp2_32, split={"bits": BITS_32}, parts={"t": (range(32), 32)},
    arrays={"coarse": "entries", "fine": "entries"}, steps=_exp2_32_steps)

#: The table of the page, in the order of the closed list.
CLAIMS: tuple[Claim, ...] = (
    scalar.SHIFT_FLOOR, scalar.SHIFT_ROUND, scalar.ALIGN, scalar.SATURATE, scalar.WRAP, scalar.NARROW,
    scalar.MAC_16, scalar.MAC_32, scalar.MAC_64, scalar.SQUARE_16, scalar.SQUARE_32, scalar.SQUARE_64,
    scalar.ABS_DIFF, scalar.MUL_SHIFT, scalar.MAGNITUDE, scalar.BIT_LENGTH, scalar.NORMALISE,
    scalar.FLOOR_DIV, scalar.DIVIDE, scalar.DIVIDE_ROUND, ROOT_BIT, ROOT, _block_scale(16), _block_scale(32),
    EXP2_16, EXP2_32, SINE,
)
