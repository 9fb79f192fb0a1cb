"""proofs: define the sine, which is interpolated from a table."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import z3

from .arithmetic import Integers, Term
from .definitions import Claim, Fact, Run, bounded, congruent

_PI = 0xC90FDAA2
#: The largest b and b^2 / 2, which belong to the largest angle between two entries.
_MOST_B = ((1 << 23) - 1) * _PI >> 24
_MOST_HALF = _MOST_B**2 >> 39


def _parts(run: Run) -> SimpleNamespace:
    """Return the folded angle, its table entries, and the terms of the series."""
    m, table = run.m, run.a.table
    low = m.low_bits(run.a.t, 32)
    turn = z3.If(low < 1 << 31, low, (1 << 32) - low)
    index = m.floor(turn, 23)
    b = m.floor(m.low_bits(turn, 23) * _PI, 24)
    half = m.floor(b * b, 39)
    sixth = m.floor(m.floor(b * half, 38) * 0x5555, 16)
    return SimpleNamespace(low=low, turn=turn, index=index, s=table[index], c=table[256 - index], b=b,
                           half=half, sixth=sixth)


def _given(run: Run) -> Term:
    parts = _parts(run)
    return z3.And(run.a.t >= 0, run.m.free("entries", 33) == 257, parts.s <= 1 << 31, parts.c <= 1 << 31)


def _at_most(most: int, a: Term, b: Term) -> Term:
    return bounded(a, b, most)


def _steps(run: Run) -> list[Term | Fact]:
    """Return the steps that equate variables of the C code and of the definition."""
    own, found, m = _parts(run), run.end, run.m
    rise, fall = (own.c, own.b - own.sixth), (own.s, own.half)
    return [
        found.low == own.low, found.turn == own.turn, m.between(0, own.turn, 1 << 31),
        found.index == own.index, m.between(0, own.index, 256), found.s == own.s, found.c == own.c,
        own.s >= 0, own.c >= 0, found.b == own.b, m.between(0, own.b, _MOST_B),
        Fact(partial(_at_most, _MOST_B), (own.b, own.b)), Fact(congruent, (found.b, found.b, own.b, own.b)),
        found.half == own.half, m.between(0, own.half, _MOST_HALF),
        Fact(partial(_at_most, _MOST_B), (own.b, own.half)),
        Fact(congruent, (found.b, found.half, own.b, own.half)),
        found.sixth == own.sixth, m.between(0, own.sixth, own.b),
        Fact(partial(_at_most, 1 << 31), rise), Fact(congruent, (found.c, found.b - found.sixth, *rise)),
        Fact(partial(_at_most, 1 << 31), fall), Fact(congruent, (found.s, found.half, *fall)),
    ]


def _ensures(run: Run) -> Term:
    own = _parts(run)
    return run.m.is_half_up(run.r - own.s, own.c * (own.b - own.sixth) - own.s * own.half, 38)


SINE = Claim(
    "abs_sinpi", "int64_t kc_abs_sinpi(int64_t t, const uint32_t *table)",
    "t: 63 bits, entries: 32 bits",
    "0 <= t; 257 entries, none above 2^31",
    "u = t modulo 2^32, or 2^32 - u from 2^31 on; i, z its upper bits and its last 23; "
    "b = floor(z 0xC90FDAA2 / 2^24); h = floor(b^2 / 2^39); g = floor(floor(b h / 2^38) 0x5555 / 2^16); "
    "S, C = table[i], table[256 - i]; S + (C (b - g) - S h) / 2^38, half up", Integers,
    _given, _ensures, arrays={"table": "entries"}, steps=_steps)
