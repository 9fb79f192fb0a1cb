"""sim.model: 31-bit scalars with an exponent, for values without a fixed range.

A scalar (q, e) has the value ``q 2**(e - 31)`` with ``2**30 <= |q| < 2**31``; zero is (0, LEAST). A wide
number (v, e) has the value ``v 2**(e - 62)`` with ``|v| <= 2**62``. A scalar is converted to a wide number by
``v = q << 31``, with the same exponent.
"""

from __future__ import annotations

from ..jit import jit
from ..primitives import HALF_UP, Words, arithmetic_shift, bit_length, divide, magnitude, requantise, saturate

#: The largest word.
WORD_MAX = (1 << 31) - 1
#: The exponent of zero, below that of every value to which it may be added.
ZERO_EXP = -512


@jit
def to_scalar(v: int, e: int) -> tuple[int, int]:
    """Convert a wide number to a scalar, rounding half up."""
    if v == 0:
        return 0, ZERO_EXP
    s = bit_length(magnitude(v)) - 31
    return requantise(v, s, HALF_UP, -WORD_MAX, WORD_MAX), e - 31 + s


@jit
def add_wide(v: int, e: int, u: int, f: int) -> tuple[int, int]:
    """Add two wide numbers; return a scalar.

    Each is first rounded down to a common exponent.
    """
    top = max(e, f) + 1
    return to_scalar(arithmetic_shift(v, min(top - e, 62)) + arithmetic_shift(u, min(top - f, 62)), top)


@jit
def add(q: int, e: int, p: int, f: int) -> tuple[int, int]:
    """Add two scalars."""
    return add_wide(q << 31, e, p << 31, f)


@jit
def mul(q: int, e: int, p: int, f: int) -> tuple[int, int]:
    """Multiply two scalars."""
    return to_scalar(q * p, e + f)


@jit
def div(q: int, e: int, p: int, f: int) -> tuple[int, int]:
    """Divide two scalars; p must not be 0."""
    if q == 0:
        return 0, ZERO_EXP
    quotient, up = divide(q if p > 0 else -q, p if p > 0 else -p)
    return saturate(quotient, -WORD_MAX, WORD_MAX), up + e - f


@jit
def lt(q: int, e: int, p: int, f: int) -> bool:
    """Return whether the first of two scalars is less than the second."""
    difference, _ = add(q, e, -p, f)
    return difference < 0


@jit
def eliminate(c: int, p: int, rest: Words, inverse: Words) -> bool:
    """Run one step of Gauss-Jordan elimination, for column c of `rest`.

    The step transforms this column to that of the identity.
    """
    pivot = c
    for i in range(c + 1, p):
        if lt(abs(rest[pivot, c, 0]), rest[pivot, c, 1], abs(rest[i, c, 0]), rest[i, c, 1]):
            pivot = i
    head, head_exp = rest[pivot, c, 0], rest[pivot, c, 1]
    if head == 0:
        return False
    for M in (rest, inverse):
        for j in range(p):
            q, e = M[pivot, j, 0], M[pivot, j, 1]
            M[pivot, j, 0], M[pivot, j, 1] = M[c, j, 0], M[c, j, 1]
            M[c, j, 0], M[c, j, 1] = div(q, e, head, head_exp)
    for i in range(p):
        factor, factor_exp = (0, ZERO_EXP) if i == c else (rest[i, c, 0], rest[i, c, 1])
        for M in (rest, inverse):
            for j in range(p):
                q, e = mul(-factor, factor_exp, M[c, j, 0], M[c, j, 1])
                M[i, j, 0], M[i, j, 1] = add(M[i, j, 0], M[i, j, 1], q, e)
    return True


@jit
def invert(S: Words, p: int, rest: Words, inverse: Words) -> tuple[int, int]:
    """Invert the leading p by p block of S.

    Return the largest row sum of magnitudes of S^-1, or 0 if the block is singular. The matrices have shape
    (BLOCK, BLOCK, 2); `rest` is overwritten.
    """
    for i in range(p):
        for j in range(p):
            rest[i, j, 0], rest[i, j, 1] = S[i, j, 0], S[i, j, 1]
            inverse[i, j, 0], inverse[i, j, 1] = (1 << 30, 1) if i == j else (0, ZERO_EXP)
    for c in range(p):
        if not eliminate(c, p, rest, inverse):
            return 0, ZERO_EXP
    norm, norm_exp = 0, ZERO_EXP
    for i in range(p):
        row, row_exp = 0, ZERO_EXP
        for j in range(p):
            row, row_exp = add(row, row_exp, abs(inverse[i, j, 0]), inverse[i, j, 1])
        if lt(norm, norm_exp, row, row_exp):
            norm, norm_exp = row, row_exp
    return norm, norm_exp
