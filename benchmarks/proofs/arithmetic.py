"""proofs: represent the operators of C as z3 terms over bit vectors or integers.

Each operation returns a term, and reports the conditions under which the behaviour is undefined or
implementation-defined in C99. Proofs of shifts and masks use bit vectors. Proofs of products and quotients
use integers: if none of the reported conditions holds, the result in C equals the exact integer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import z3

from .c_source import Refused
from .c_types import CType

Term = Any  # z3 types its expressions only by what they are at run time
Report = Callable[[str, Term], None]

OVERFLOW = "signed overflow"
SHIFT = "shift by an amount out of range"
NEGATIVE_SHIFT = "shift of a negative number"
DIVISION = "division by zero, or without a quotient"
CONVERSION = "conversion to a signed type that cannot hold the value"


class Arithmetic(Protocol):
    """Operations of C on integers as z3 terms.

    The operands of `binary` must have been converted to the common type.
    """

    def literal(self, value: int, kind: CType) -> Term:
        """Return a constant of a C type."""

    def variable(self, name: str, kind: CType) -> Term:
        """Return a variable that can have any value of a C type."""

    def ranges(self, term: Term, kind: CType) -> Term:
        """Return the z3 condition that a term is within the range of its C type."""

    def exact(self, term: Term, kind: CType) -> Term:
        """Return the mathematical value of a term, in an arithmetic without overflow."""

    def convert(self, term: Term, old: CType, new: CType, report: Report) -> Term:
        """Convert a term to another C type (C99 6.3.1.3)."""

    def binary(self, op: str, a: Term, b: Term, kind: CType, report: Report) -> Term:
        """Apply one of the operators + - * / % & | ^ to operands of the same type."""

    def compare(self, op: str, a: Term, b: Term, kind: CType) -> Term:
        """Compare two terms with one of the operators < <= > >= == !=."""

    def shift(self, op: str, a: Term, kind: CType, count: Term, count_kind: CType, report: Report) -> Term:
        """Shift a term with the operator << or >>."""

    def complement(self, a: Term, kind: CType) -> Term:
        """Return the bitwise complement of a term (``~`` in C)."""


class Bits:
    """Arithmetic with bit vectors; exact values have `WIDE` bits."""

    WIDE = 160

    def literal(self, value: int, kind: CType) -> Term:
        """Return a constant of a C type."""
        return z3.BitVecVal(value, kind.bits)

    def variable(self, name: str, kind: CType) -> Term:
        """Return a variable that can have any value of a C type."""
        return z3.BitVec(name, kind.bits)

    def ranges(self, term: Term, kind: CType) -> Term:
        """Return the z3 condition that a term is within the range of its C type."""
        return z3.BoolVal(True)

    def exact(self, term: Term, kind: CType) -> Term:
        """Return the mathematical value of a term, in an arithmetic without overflow."""
        return _extended(term, kind, self.WIDE)

    def convert(self, term: Term, old: CType, new: CType, report: Report) -> Term:
        """Convert a term to another C type (C99 6.3.1.3)."""
        if new.bits > old.bits:
            return _extended(term, old, new.bits)  # a negative number becomes itself modulo 2^bits
        result = z3.Extract(new.bits - 1, 0, term) if new.bits < old.bits else term
        if new.signed and (new.bits, new.signed) != (old.bits, old.signed):
            wide = old.bits + 1
            report(CONVERSION, _extended(result, new, wide) != _extended(term, old, wide))
        return result

    def binary(self, op: str, a: Term, b: Term, kind: CType, report: Report) -> Term:
        """Apply one of the operators + - * / % & | ^ to operands of the same type."""
        if op in "+-*" and kind.signed:
            report(OVERFLOW, z3.Not(_no_overflow(op, a, b)))
        if op in "/%":
            report(DIVISION, b == 0)
            if kind.signed:
                report(DIVISION, z3.And(a == kind.least, b == -1))
                return a / b if op == "/" else z3.SRem(a, b)
            return z3.UDiv(a, b) if op == "/" else z3.URem(a, b)
        operations: dict[str, Callable[[], Term]] = {
            "+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b,
            "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b,
        }
        return operations[op]()

    def compare(self, op: str, a: Term, b: Term, kind: CType) -> Term:
        """Compare two terms with one of the operators < <= > >= == !=."""
        if op in ("==", "!="):
            return a == b if op == "==" else a != b
        if kind.signed:
            return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
        return {"<": z3.ULT, "<=": z3.ULE, ">": z3.UGT, ">=": z3.UGE}[op](a, b)

    def shift(self, op: str, a: Term, kind: CType, count: Term, count_kind: CType, report: Report) -> Term:
        """Shift a term with the operator << or >>."""
        wide = max(kind.bits, count_kind.bits) + 1
        amount = _extended(count, count_kind, wide)
        report(SHIFT, z3.Or(amount < 0, amount >= kind.bits))
        by = z3.Extract(kind.bits - 1, 0, amount)
        if kind.signed:
            report(NEGATIVE_SHIFT, a < 0)
        if op == ">>":
            return a >> by if kind.signed else z3.LShR(a, by)
        if kind.signed:
            report(OVERFLOW, z3.Or(z3.LShR(a << by, by) != a, a << by < 0))
        return a << by

    def complement(self, a: Term, kind: CType) -> Term:
        """Return the bitwise complement of a term (``~`` in C)."""
        return ~a


class Integers:
    """Arithmetic with z3 integers in the range of their C types."""

    # 2^n for an n that is not a constant; the only assumption is that it is at least one.
    POWER = z3.Function("power_of_two", z3.IntSort(), z3.IntSort())

    def __init__(self) -> None:
        self.parts: dict[int, tuple[Term, int, Term, int]] = {}

    def in_parts(self, name: str, high: int, low_bits: int) -> tuple[Term, Term]:
        """Return a number with known high bits, and the condition on its low bits.

        The condition states the range of the low part, which is a variable.
        """
        low = z3.Int(f"{name}_low")
        whole = (high << low_bits) + low
        self.parts[whole.get_id()] = (whole, high, low, low_bits)
        return whole, z3.And(low >= 0, low < 1 << low_bits)

    def quotient(self, a: Term, count: Term) -> Term:
        """Return ``floor(a / 2**count)``, simplified if the high bits of `a` are known."""
        _, high, _, low_bits = self.parts.get(a.get_id(), (None, 0, None, -1))
        number = numeral(count)
        return z3.IntVal(high) if number is not None and number == low_bits else a / self.power(count)

    def remainder(self, a: Term, bits: int) -> Term:
        """Return `a` modulo ``2**bits``, simplified if the high bits of `a` are known."""
        _, high, low, low_bits = self.parts.get(a.get_id(), (None, 0, None, -1))
        if bits == low_bits:
            return low
        if low_bits >= 0 and high >= 0 and (high + 1) << low_bits <= 1 << bits:
            return a
        return a % (1 << bits)

    def within(self, lo: int, a: Term, hi: int) -> bool:
        """Report whether the known high bits of `a` imply that it is in [lo, hi]."""
        _, high, _, low_bits = self.parts.get(a.get_id(), (None, 0, None, -1))
        return low_bits >= 0 and lo <= high << low_bits and ((high + 1) << low_bits) - 1 <= hi

    def literal(self, value: int, kind: CType) -> Term:
        """Return a constant of a C type."""
        return z3.IntVal(value)

    def variable(self, name: str, kind: CType) -> Term:
        """Return a variable that can have any value of a C type."""
        return z3.Int(name)

    def ranges(self, term: Term, kind: CType) -> Term:
        """Return the z3 condition that a term is within the range of its C type."""
        if self.within(kind.least, term, kind.greatest):
            return z3.BoolVal(True)
        return z3.And(term >= kind.least, term <= kind.greatest)

    def exact(self, term: Term, kind: CType) -> Term:
        """Return the mathematical value of a term, in an arithmetic without overflow."""
        return term

    def power(self, count: Term) -> Term:
        """Return 2^count; `count` need not be a constant."""
        number = numeral(count)
        if number is None:
            return self.POWER(count)
        return z3.IntVal(1 << number) if 0 <= number < 64 else z3.IntVal(1)  # out of range: reported

    def convert(self, term: Term, old: CType, new: CType, report: Report) -> Term:
        """Convert a term to another C type (C99 6.3.1.3)."""
        if new.least <= old.least and old.greatest <= new.greatest:
            return term
        if new.signed:
            report(CONVERSION, z3.Or(term < new.least, term > new.greatest))
            return term
        return self.remainder(term, new.bits)

    def binary(self, op: str, a: Term, b: Term, kind: CType, report: Report) -> Term:
        """Apply one of the operators + - * / % & | ^ to operands of the same type."""
        if op in "/%":
            return self._divided(op, a, b, kind, report)
        if op == "&":
            return self._masked(a, b) if numeral(b) is not None else self._masked(b, a)
        if op == "|" and numeral(b) is not None:
            return a + b - self._masked(a, b)
        if op not in "+-*":
            raise Refused(f"{op} over the integers")
        result = {"+": a + b, "-": a - b, "*": a * b}[op]
        if not kind.signed:
            return result % (1 << kind.bits)
        report(OVERFLOW, z3.Or(result < kind.least, result > kind.greatest))
        return result

    def _divided(self, op: str, a: Term, b: Term, kind: CType, report: Report) -> Term:
        """Apply the operator / or % as in C, where quotients are truncated (C99 6.5.5).

        In z3, the operator / rounds down for b > 0.
        """
        report(DIVISION, z3.Or(b == 0, z3.And(a == kind.least, b == -1, kind.signed)))
        down = z3.If(a >= 0, a / b, -((-a) / b))  # z3: a = b * (a / b) + rest, 0 <= rest < |b|
        return down if op == "/" else z3.If(a >= 0, a % b, -((-a) % b))

    def _masked(self, a: Term, mask: Term) -> Term:
        """Return ``a & mask`` for a non-negative constant mask.

        For each run of ones in the mask, the result is a difference of remainders.
        """
        left = numeral(mask)
        if left is None or left < 0:
            raise Refused(f"& {mask} over the integers")
        result: Term = None
        low = 0
        while left >> low:
            low += ((left >> low) & -(left >> low)).bit_length() - 1
            high = low + (~(left >> low) & -~(left >> low)).bit_length() - 1
            run = self.remainder(a, high) - self.remainder(a, low) if low else self.remainder(a, high)
            result, low = run if result is None else result + run, high
        return z3.IntVal(0) if result is None else result

    def compare(self, op: str, a: Term, b: Term, kind: CType) -> Term:
        """Compare two terms with one of the operators < <= > >= == !=."""
        return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op]

    def shift(self, op: str, a: Term, kind: CType, count: Term, count_kind: CType, report: Report) -> Term:
        """Shift a term with the operator << or >>."""
        report(SHIFT, z3.Or(count < 0, count >= kind.bits))
        if kind.signed:
            report(NEGATIVE_SHIFT, a < 0)
        power = self.power(count)
        if op == ">>":
            return self.quotient(a, count)
        if not kind.signed:
            return (a * power) % (1 << kind.bits)
        report(OVERFLOW, a * power > kind.greatest)
        return a * power

    def complement(self, a: Term, kind: CType) -> Term:
        """Return the bitwise complement of a term (``~`` in C)."""
        return -a - 1 if kind.signed else kind.greatest - a


def numeral(term: Term) -> int | None:
    """Return the value of a term if it is a constant, else None."""
    found = z3.simplify(term)
    return found.as_long() if z3.is_int_value(found) or z3.is_bv_value(found) else None


def _extended(term: Term, kind: CType, bits: int) -> Term:
    more = bits - kind.bits
    return z3.SignExt(more, term) if kind.signed else z3.ZeroExt(more, term)


def _no_overflow(op: str, a: Term, b: Term) -> Term:
    if op == "+":
        return z3.And(z3.BVAddNoOverflow(a, b, True), z3.BVAddNoUnderflow(a, b))
    if op == "-":
        return z3.And(z3.BVSubNoOverflow(a, b), z3.BVSubNoUnderflow(a, b, True))
    return z3.And(z3.BVMulNoOverflow(a, b, True), z3.BVMulNoUnderflow(a, b))
