"""proofs: the mathematical operations with which definitions are written.

A term is an exact integer: a bit vector that is wide enough to exclude overflow, or a z3 integer. Definitions
apply to both.
"""

from __future__ import annotations

from dataclasses import dataclass

import z3

from .arithmetic import Bits, Integers, Term
from .c_types import CType
from .c_values import Array

# The widest free integer; with a shift of 62 and two bits of room it stays below Bits.WIDE.
FREE_BITS = 66


@dataclass(frozen=True)
class Words:
    """Elements of an array as exact integers."""

    array: Array
    arithmetic: Bits | Integers

    def __getitem__(self, index: Term) -> Term:
        if isinstance(index, int):
            index = self.arithmetic.exact(self.arithmetic.literal(index, CType(64, True)), CType(64, True))
        return self.arithmetic.exact(z3.Select(self.array.elements, index), self.array.kind)


@dataclass(frozen=True)
class Exact:
    """Operations on exact integers that z3 does not provide for both representations."""

    arithmetic: Bits | Integers

    def free(self, name: str, bits: int = FREE_BITS) -> Term:
        """Return a new variable of `bits` bits; a proof holds for all of its values."""
        if isinstance(self.arithmetic, Bits):
            return z3.SignExt(Bits.WIDE - bits, z3.BitVec(name, bits))
        return z3.Int(name)

    def times_power(self, x: Term, s: Term) -> Term:
        """Return ``x * 2**s`` for s >= 0."""
        if isinstance(self.arithmetic, Bits):
            return x << s
        return x * self.arithmetic.power(z3.IntVal(s) if isinstance(s, int) else s)

    def is_multiple(self, x: Term, s: Term) -> Term:
        """Return the z3 condition that ``2**s`` divides x."""
        if isinstance(self.arithmetic, Bits):
            return x & ((self.one << s) - 1) == 0
        return x % self.arithmetic.power(z3.IntVal(s) if isinstance(s, int) else s) == 0

    def floor(self, x: Term, s: int) -> Term:
        """Return ``floor(x / 2**s)`` as an exact integer."""
        return x >> s if isinstance(self.arithmetic, Bits) else self.arithmetic.quotient(x, z3.IntVal(s))

    def low_bits(self, x: Term, s: int) -> Term:
        """Return ``x`` modulo ``2**s``."""
        return x & ((1 << s) - 1) if isinstance(self.arithmetic, Bits) else self.arithmetic.remainder(x, s)

    @property
    def one(self) -> Term:
        """Return the exact integer 1."""
        return z3.BitVecVal(1, Bits.WIDE) if isinstance(self.arithmetic, Bits) else z3.IntVal(1)

    # ---- the words that definitions are made of ----
    def is_floor(self, q: Term, x: Term, s: Term) -> Term:
        """Return the z3 condition ``q = floor(x / 2**s)``.

        It is written as ``q * 2**s <= x < (q + 1) * 2**s``.
        """
        return z3.And(self.times_power(q, s) <= x, x < self.times_power(q + 1, s))

    def is_half_up(self, q: Term, x: Term, s: Term) -> Term:
        """Return the z3 condition ``q = floor(x / 2**s + 1/2)``."""
        twice = 2 * x + self.times_power(self.one, s)
        return z3.And(self.times_power(2 * q, s) <= twice, twice < self.times_power(2 * q + 2, s))

    def is_half_even(self, q: Term, x: Term, s: Term) -> Term:
        """Return the z3 condition that q is ``x / 2**s``, rounded half to even."""
        error, unit = 2 * x - self.times_power(2 * q, s), self.times_power(self.one, s)
        tie = z3.Or(error == unit, error == -unit)
        return z3.And(-unit <= error, error <= unit, z3.Implies(tie, self.is_multiple(q, 1)))

    def is_rounded(self, q: Term, x: Term, s: Term, mode: Term) -> Term:
        """Return the z3 condition that q is ``x / 2**s``, rounded in the given mode.

        The modes are 0 (floor), 1 (half up) and 2 (half to even).
        """
        return z3.And(
            z3.Implies(mode == 0, self.is_floor(q, x, s)),
            z3.Implies(mode == 1, self.is_half_up(q, x, s)),
            z3.Implies(mode == 2, self.is_half_even(q, x, s)),
        )

    def fits(self, x: Term, bits: int = 64) -> Term:
        """Return the z3 condition that x fits in a signed integer of `bits` bits."""
        return z3.And(x >= -(1 << (bits - 1)), x < (1 << (bits - 1)))

    def between(self, lo: Term, x: Term, hi: Term) -> Term:
        """Return the z3 condition ``lo <= x <= hi``."""
        if isinstance(self.arithmetic, Integers) and isinstance(lo, int) and isinstance(hi, int) \
                and self.arithmetic.within(lo, x, hi):
            return z3.BoolVal(True)
        return z3.And(lo <= x, x <= hi)


def absolute(x: Term) -> Term:
    """Return |x|."""
    return z3.If(x < 0, -x, x)
