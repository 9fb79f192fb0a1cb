"""sim.model: 32-bit vectors with exponents, and products with Toeplitz matrices.

An integer w of a vector with exponent e has the value ``w 2**(e - 31)``. A new vector is summed in `wide`,
whose entries v have the value ``v 2**(e - 62)``, and then rounded to the smallest exponent that fits its
largest entry.
"""

from __future__ import annotations

from typing import NamedTuple

from ...choices import LOOKAHEAD_BLOCK as BLOCK
from ...jit import jit
from ...primitives import HALF_UP, Words, arithmetic_shift, bit_length, mac, magnitude, requantise
from .. import trace_hooks as at
from ..scalar31 import WORD_MAX, ZERO_EXP, to_scalar
from ..trace_hooks import Log, trace_all

#: Rows of `w`: r (with r_n = 0; r_0 is stored separately) and a have length n + 1, B has BLOCK columns.
ROW_R, ROW_Y, ROW_A, ROW_G, ROW_X, ROW_B = 0, 1, 2, 3, 4, 5
ROWS = ROW_B + BLOCK
#: Bits above a sum's longest term, of which there are at most 2 + BLOCK.
GUARD = 3


class Solver(NamedTuple):
    """Toeplitz system and the solver's vectors.

    A sum of n products, each shifted right by `shift`, fits 64 bits. `r0` is the diagonal, in the unit of r,
    or 1. `w` (ROWS, n + 1) contains the vectors, and `e` (ROWS,) their exponents. `wide` (n + 1,) is work
    space for one vector. `S`, `rest` and `inverse` (BLOCK, BLOCK, 2), and `fresh` and `recent` (BLOCK, 2)
    contain scalars with their exponents. `log` receives the trace.
    """

    shift: int
    r0: int
    w: Words
    e: Words
    wide: Words
    S: Words
    rest: Words
    inverse: Words
    fresh: Words
    recent: Words
    log: Log


@jit
def normalise_block(wide: Words, e: int, count: int, min_exp: int, out: Words) -> int:
    """Round ``wide[:count]`` to 32 bits; return the exponent.

    The exponent is the smallest one that fits, at least `min_exp`.
    """
    used = 0
    for i in range(count):
        used = max(used, magnitude(wide[i]))
    if used == 0:
        for i in range(count):
            out[i] = 0
        return min_exp
    s = min(max(bit_length(used) - 31, min_exp + 31 - e), 62)
    for i in range(count):
        out[i] = requantise(wide[i], s, HALF_UP, -WORD_MAX, WORD_MAX)
    return max(e - 31 + s, min_exp)


@jit
def align_to(v: int, e: int, top: int) -> int:
    """Shift from exponent e to exponent `top`, which is not smaller."""
    return arithmetic_shift(v, min(top - e, 62))


@jit
def dot_reversed(first: Words, at: int, second: Words, count: int, shift: int) -> int:
    """Compute ``sum_i first[at - i] second[i]`` for i < count.

    This multiplies a row of a Toeplitz matrix by a vector.
    """
    acc = 0
    for i in range(count):
        acc = mac(acc, first[at - i], second[i], shift)
    return acc


@jit
def dot_forward(first: Words, at: int, second: Words, start: int, end: int, shift: int) -> int:
    """Compute ``sum_j first[at + j] second[j]`` for start <= j < end."""
    acc = 0
    for j in range(start, end):
        acc = mac(acc, first[at + j], second[j], shift)
    return acc


@jit
def norm1(v: Words, e: int, count: int) -> tuple[int, int]:
    """Return the sum of magnitudes."""
    acc = 0
    for i in range(count):
        acc += v[i] if v[i] > 0 else -v[i]
    return to_scalar(acc, e + 31)


@jit
def unit(e: int) -> int:
    """Return the integer of 1.0 at exponent e, at least 1."""
    return 1 << max(31 - e, 0)


@jit
def add_scaled(k: Solver, count: int, v: int, q: int, q_exp: int, u: Words, u_exp: int) -> None:
    """Add the scalar q times ``u[count - 1], ..., u[0]`` to row v."""
    row = k.w[v]
    top = max(k.e[v], q_exp + u_exp) + GUARD
    for i in range(count):
        k.wide[i] = align_to(row[i] << 31, k.e[v], top) + align_to(q * u[count - 1 - i], q_exp + u_exp, top)
    k.e[v] = normalise_block(k.wide, top, count, ZERO_EXP, row)


@jit
def add_vectors(k: Solver, m: int, v: Words, v_exp: int, d: Words, d_exp: int, min_exp: int,
                out: Words) -> int:
    """Compute ``out = v + d``; return the exponent of `out`."""
    top = max(v_exp, d_exp) + GUARD
    for i in range(m):
        k.wide[i] = align_to(v[i] << 31, v_exp, top) + align_to(d[i] << 31, d_exp, top)
    return normalise_block(k.wide, top, m, min_exp, out)


@jit
def residual(k: Solver, m: int, v: Words, v_exp: int, c: Words, c_exp: int) -> int:
    """Compute ``c -= T_m v``; return the new exponent of c."""
    r = k.w[ROW_R]
    top = max(c_exp, v_exp + k.shift) + GUARD
    for i in range(m):
        acc = mac(dot_reversed(r, i, v, i, k.shift), k.r0, v[i], k.shift) + dot_forward(r, -i, v, i + 1, m,
                                                                                        k.shift)
        k.wide[i] = align_to(c[i] << 31, c_exp, top) - align_to(acc, v_exp + k.shift, top)
    c_exp = normalise_block(k.wide, top, m, ZERO_EXP, c)
    trace_all(k.log, at.RESIDUAL_C, m, c, 0, m)
    return c_exp


@jit
def apply_inverse(k: Solver, m: int, c: Words, c_exp: int) -> int:
    """Compute ``c = T_m^-1 c`` from g and a; return the new exponent.

    The formula is that of G. Heinig and K. Rost, "Algebraic Methods for Toeplitz-like Matrices and
    Operators", 1984.
    """
    a, g, first, second = k.w[ROW_A], k.w[ROW_G], k.w[ROW_B + 1], k.w[ROW_B + 2]
    a_exp, g_exp = k.e[ROW_A] + k.shift, k.e[ROW_G] + k.shift
    for i in range(m):
        k.wide[i] = dot_forward(a, -i, c, i, m, k.shift)
    first_exp = normalise_block(k.wide, a_exp + c_exp, m, ZERO_EXP, first)
    trace_all(k.log, at.INVERSE_FIRST, m, first, 0, m)
    for i in range(m):
        acc = 0
        for j in range(i + 1, m):
            acc = mac(acc, g[m - (j - i)], c[j], k.shift)
        k.wide[i] = acc
    second_exp = normalise_block(k.wide, g_exp + c_exp, m, ZERO_EXP, second)
    trace_all(k.log, at.INVERSE_SECOND, m, second, 0, m)
    top = max(g_exp + first_exp, a_exp + second_exp) + GUARD
    for i in range(m):
        k.wide[i] = (align_to(dot_reversed(g, i, first, i + 1, k.shift), g_exp + first_exp, top)
                     - align_to(dot_forward(a, m - i, second, 0, i + 1, k.shift), a_exp + second_exp, top))
    c_exp = normalise_block(k.wide, top, m, ZERO_EXP, c)
    trace_all(k.log, at.INVERSE_C, m, c, 0, m)
    return c_exp


@jit
def max_abs(v: Words, count: int) -> int:
    """Return the largest magnitude; a negative v counts as -v - 1."""
    found = 0
    for i in range(count):
        found = max(found, magnitude(v[i]))
    return found
