"""sim.model: scalars of 31 bits with an exponent, for what has no fixed range.

A scalar (q, e) is worth ``q 2**(e - 31)``, ``2**30 <= |q| < 2**31``; zero is (0, LEAST).  A wide one
(v, e), ``|v| <= 2**62``, is worth ``v 2**(e - 62)``: of a scalar, ``q << 31`` with the same exponent.
"""

from __future__ import annotations

from ..jit import jit
from ..primitives import HALF_UP, Words, align, bit_length, divide, magnitude, narrow, saturate

#: The largest word.
WORD = (1 << 31) - 1
#: The exponent of zero, below that of all that matters beside it.
LEAST = -512


@jit
def short(v: int, e: int) -> tuple[int, int]:
    """A wide number as a scalar, half up."""
    if v == 0:
        return 0, LEAST
    s = bit_length(magnitude(v)) - 31
    return narrow(v, s, HALF_UP, -WORD, WORD), e - 31 + s


@jit
def add(v: int, e: int, u: int, f: int) -> tuple[int, int]:
    """The sum of two wide numbers, each rounded down to a common exponent, as a scalar."""
    top = max(e, f) + 1
    return short(align(v, min(top - e, 62)) + align(u, min(top - f, 62)), top)


@jit
def plus(q: int, e: int, p: int, f: int) -> tuple[int, int]:
    """The sum of two scalars."""
    return add(q << 31, e, p << 31, f)


@jit
def times(q: int, e: int, p: int, f: int) -> tuple[int, int]:
    """The product of two scalars."""
    return short(q * p, e + f)


@jit
def over(q: int, e: int, p: int, f: int) -> tuple[int, int]:
    """The quotient of two scalars, p not 0."""
    if q == 0:
        return 0, LEAST
    quotient, up = divide(q if p > 0 else -q, p if p > 0 else -p)
    return saturate(quotient, -WORD, WORD), up + e - f


@jit
def less(q: int, e: int, p: int, f: int) -> bool:
    """Whether the first of two scalars is less than the second."""
    difference, _ = plus(q, e, -p, f)
    return difference < 0


@jit
def eliminate(c: int, p: int, rest: Words, inverse: Words) -> bool:
    """One step of Gauss and Jordan's elimination: column c of `rest` to that of the identity."""
    pivot = c
    for i in range(c + 1, p):
        if less(abs(rest[pivot, c, 0]), rest[pivot, c, 1], abs(rest[i, c, 0]), rest[i, c, 1]):
            pivot = i
    head, head_exp = rest[pivot, c, 0], rest[pivot, c, 1]
    if head == 0:
        return False
    for M in (rest, inverse):
        for j in range(p):
            q, e = M[pivot, j, 0], M[pivot, j, 1]
            M[pivot, j, 0], M[pivot, j, 1] = M[c, j, 0], M[c, j, 1]
            M[c, j, 0], M[c, j, 1] = over(q, e, head, head_exp)
    for i in range(p):
        factor, factor_exp = (0, LEAST) if i == c else (rest[i, c, 0], rest[i, c, 1])
        for M in (rest, inverse):
            for j in range(p):
                q, e = times(-factor, factor_exp, M[c, j, 0], M[c, j, 1])
                M[i, j, 0], M[i, j, 1] = plus(M[i, j, 0], M[i, j, 1], q, e)
    return True


@jit
def invert(S: Words, p: int, rest: Words, inverse: Words) -> tuple[int, int]:
    """The inverse of the leading p by p block of S; |S^-1| in the norm of row sums, 0 if singular.

    Of matrices (BLOCK, BLOCK, 2); `rest` is overwritten.
    """
    for i in range(p):
        for j in range(p):
            rest[i, j, 0], rest[i, j, 1] = S[i, j, 0], S[i, j, 1]
            inverse[i, j, 0], inverse[i, j, 1] = (1 << 30, 1) if i == j else (0, LEAST)
    for c in range(p):
        if not eliminate(c, p, rest, inverse):
            return 0, LEAST
    norm, norm_exp = 0, LEAST
    for i in range(p):
        row, row_exp = 0, LEAST
        for j in range(p):
            row, row_exp = plus(row, row_exp, abs(inverse[i, j, 0]), inverse[i, j, 1])
        if less(norm, norm_exp, row, row_exp):
            norm, norm_exp = row, row_exp
    return norm, norm_exp
