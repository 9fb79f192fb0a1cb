"""proofs: define the square root; each step determines one bit."""

from __future__ import annotations

from functools import partial

import z3

from .arithmetic import Integers, Term
from .definitions import Claim, Fact, Run, bounded, congruent


def _between(v: Term, x: Term, room: Term) -> Term:
    """Return the z3 condition ``x**2 <= v < (x + room)**2``."""
    return z3.And(x * x <= v, v < (x + room) * (x + room))


def _bit_given(run: Run) -> Term:
    a = run.a
    return z3.And(run.m.between(0, a.v, (1 << 62) - 1), run.m.between(0, a.x, (1 << 31) - 2 * a.bit),
                  _between(a.v, a.x, 2 * a.bit))


def _bit_steps(run: Run) -> list[Term | Fact]:
    """Return the steps of the proof: which bit is selected, and lemmas on products."""
    x, bit, r, v = run.a.x, run.a.bit, run.r, run.a.v
    trial = x + bit
    which = z3.If(trial * trial <= v, z3.And(r == trial, v < (x + 2 * bit) * (x + 2 * bit)),
                  z3.And(r == x, x * x <= v))
    same = ((r, trial), (r, x), (r + bit, x + 2 * bit), (r + bit, trial))
    return [run.m.between(0, trial, 1 << 31), Fact(partial(bounded, most=1 << 31), (trial, trial)), which,
            *(Fact(congruent, (a, a, b, b)) for a, b in same)]


ROOT_BIT = Claim(
    "isqrt_ceil (one bit)", "int64_t kc_isqrt_bit(int64_t v, int64_t x, int64_t bit)",
    "v: 62 bits, x: 31 bits, bit: a power of two",
    "0 <= v < 2^62; bit = 1, 2, ..., 2^30; 0 <= x <= 2^31 - 2 bit; x^2 <= v < (x + 2 bit)^2",
    "the r of x and x + bit with r^2 <= v < (r + bit)^2", Integers,
    _bit_given,
    lambda run: z3.And(z3.Or(run.r == run.a.x, run.r == run.a.x + run.a.bit),
                       _between(run.a.v, run.r, run.a.bit)),
    steps=_bit_steps, split={"bit": [1 << bit for bit in range(31)]})
ROOT = Claim(
    "isqrt_ceil", "int64_t kc_isqrt_ceil(int64_t v)",
    "v: 62 bits", "0 <= v < 2^62",
    "the r with (r - 1)^2 < v <= r^2; 0 for v = 0", Integers,
    lambda run: run.m.between(0, run.a.v, (1 << 62) - 1),
    lambda run: z3.If(run.a.v == 0, run.r == 0, z3.And(
        run.r >= 1, run.a.v <= run.r * run.r, (run.r - 1) * (run.r - 1) < run.a.v)),
    contracts=("kc_isqrt_bit",))
