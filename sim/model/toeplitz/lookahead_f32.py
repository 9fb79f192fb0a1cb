"""sim.model: look-ahead Levinson in float32.

The solver solves ``T x = y`` for a symmetric Toeplitz matrix T that can be indefinite. The method is that of
T. F. Chan and P. C. Hansen, IEEE Trans. Signal Processing 40(5), 1992, which
:mod:`...reference.toeplitz.lookahead` explains. Every operation is rounded to float32, in the order of the C
code. After each step, the leading block T_m is well conditioned (m is regular), and the state is

    a  (m+1)  predictor: T_{m+1} a = eps e_1, a_0 = 1; b is its reversal
    g  (m)    first column of T_m^-1
    x  (m)    T_m x = y, the first m equations.

If eps is small, one step processes p <= 4 rows, by means of the p by p Schur complement of T_m. It then
refines g and a, because otherwise such steps would multiply their errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...choices import LOOKAHEAD_BLOCK as BLOCK
from ...choices import LOOKAHEAD_REFINEMENTS as REFINEMENTS
from ...jit import jit
from ...plan import Plan
from ...primitives import Words, saturate
from ..float32 import HALF, ONE, ZERO, Floats, fabs, fmax, max_abs, norm1
from ..statuses import BREAKDOWN, OK
from ..trace_hooks import Log

#: Rows of `work`: r (with r_n = 0), a and g are as long as n + 1, and B is BLOCK columns.
ROW_R, ROW_Y, ROW_A, ROW_G, ROW_B = 0, 1, 2, 3, 4
ROWS = ROW_B + BLOCK

# If |eps| is at least this part of its recent level, a single step is taken at once ...
GOOD = np.float32(2.0**-7)
# ... otherwise the shortest block whose 1/|S^-1| is at least this part of the largest.
NEAR_BEST = np.float32(0.125)
# A block whose 1/|S^-1| is below this part of the largest |r_i| is singular.
SINGULAR = np.float32(2.0**-20)
# A solution is rejected if its residual is a larger part of y, or if it is not finite.
ACCEPTED, RESIDUAL_MAX = np.float32(2.0**-10), np.float32(2.0**126)


@jit
def dot_reversed(first: Floats, at: int, second: Floats, count: int) -> np.float32:
    """Compute ``sum_i first[at - i] second[i]`` for i < count.

    This multiplies a row of a Toeplitz matrix by a vector.
    """
    acc = ZERO
    for i in range(count):
        acc += first[at - i] * second[i]
    return acc


@jit
def single_step(m: int, r: Floats, y: np.float32, a: Floats, g: Floats, x: Floats,
                eps: np.float32) -> np.float32:
    """Extend m to m + 1 by Durbin's update; return the new eps."""
    c = (y - dot_reversed(r, m, x, m)) / eps
    xi = -dot_reversed(r, m + 1, a, m + 1) / eps
    x[m] = ZERO
    for i in range(m + 1):
        x[i] += c * a[m - i]
        g[i] = a[i] / eps
    a[m + 1] = ZERO
    for i in range((m + 1) // 2 + 1):
        j = m + 1 - i
        left, right = a[i], a[j]
        a[i] = left + xi * right
        a[j] = right + xi * left
    return eps * (ONE - xi) * (ONE + xi)


@jit
def invert(S: Floats, p: int, rest: Floats, inverse: Floats) -> np.float32:
    """Invert the leading p by p block of S.

    Return 1 divided by the largest row sum of magnitudes of S^-1, or 0 if the block is singular. The method
    is Gauss-Jordan elimination; `rest` (BLOCK, BLOCK) is overwritten.
    """
    for i in range(p):
        for j in range(p):
            rest[i, j] = S[i, j]
            inverse[i, j] = ONE if i == j else ZERO
    for k in range(p):
        pivot = k
        for i in range(k + 1, p):
            if fabs(rest[i, k]) > fabs(rest[pivot, k]):
                pivot = i
        head = rest[pivot, k]
        if not fabs(head) > ZERO:
            return ZERO
        for j in range(p):
            left, right = rest[pivot, j], inverse[pivot, j]
            rest[pivot, j], inverse[pivot, j] = rest[k, j], inverse[k, j]
            rest[k, j], inverse[k, j] = left / head, right / head
        for i in range(p):
            factor = ZERO if i == k else rest[i, k]
            for j in range(p):
                rest[i, j] -= factor * rest[k, j]
                inverse[i, j] -= factor * inverse[k, j]
    norm = ZERO
    for i in range(p):
        row = ZERO
        for j in range(p):
            row += fabs(inverse[i, j])
        norm = fmax(norm, row)
    return ONE / norm if norm > ZERO else ZERO  # 0 if a pivot was not finite


@jit
def schur_complement(m: int, p: int, r: Floats, a: Floats, g: Floats, B: Floats, eps: np.float32,
                     S: Floats) -> None:
    """Compute ``B = T_m^-1 C`` and ``S = T_p - C'B``.

    ``T_{m+p} = [[T_m, C], [C', T_p]]``.

    Each column is computed from the previous one: with Z the down shift,
    ``b_{j+1} = Z b_j + (b_j)_{m-1} b_0 + (r_{m+j+1} - rho'b_j) g``, rho = (r_1, ..., r_m).
    """
    for i in range(m):
        B[0, i] = -a[m - i]
    for j in range(1, p):
        acc = r[m + j]
        for i in range(m):
            acc -= r[1 + i] * B[j - 1, i]
        for i in range(m):
            shifted = ZERO if i == 0 else B[j - 1, i - 1]
            B[j, i] = shifted + B[j - 1, m - 1] * B[0, i] + acc * g[i]
    for i in range(p):
        for j in range(i + 1):
            S[i, j] = r[i - j] - dot_reversed(r, m + i, B[j], m)
            S[j, i] = S[i, j]
    S[0, 0] = eps  # the exact result, without the rounding of a long sum


@jit
def border(m: int, p: int, r: Floats, v: Floats, new: Floats, B: Floats, inverse: Floats) -> None:
    """Extend the solution v of ``T_m v = c`` to m + p rows.

    The result is ``[v - B z; z]`` with ``S z = (the new rows of c) - C'v``.
    """
    for i in range(p):
        new[i] -= dot_reversed(r, m + i, v, m)
    for i in range(p):
        z = ZERO
        for j in range(p):
            z += inverse[i, j] * new[j]
        v[m + i] = z
    for i in range(m):
        acc = v[i]
        for j in range(p):
            acc -= B[j, i] * v[m + j]
        v[i] = acc


@jit
def residual(m: int, r: Floats, v: Floats, c: Floats) -> None:
    """Compute ``c -= T_m v``."""
    for i in range(m):
        acc = c[i]
        for j in range(m):
            acc -= r[i - j if i >= j else j - i] * v[j]
        c[i] = acc


@jit
def solve_again(m: int, a: Floats, g: Floats, c: Floats, first: Floats, second: Floats) -> None:
    """Compute ``c = T_m^-1 c`` from g and a; T_{m-1} may be singular.

    G. Heinig and K. Rost, "Algebraic Methods for Toeplitz-like Matrices and Operators", 1984.
    """
    for i in range(m):
        up, down = c[i], ZERO
        for j in range(i + 1, m):
            up += a[j - i] * c[j]
            down += g[m - (j - i)] * c[j]
        first[i], second[i] = up, down
    for i in range(m):
        acc = ZERO
        for j in range(i + 1):
            acc += g[i - j] * first[j]
            acc -= a[m - (i - j)] * second[j]
        c[i] = acc


@jit
def block_step(m: int, p: int, w: Floats, x: Floats, small: Floats) -> np.float32:
    """Extend m to m + p; return the new eps.

    `small` contains the inverse of S and a row of workspace.
    """
    r, y, a, g, B = w[ROW_R], w[ROW_Y], w[ROW_A], w[ROW_G], w[ROW_B:]
    inverse, new = small[2 * BLOCK: 3 * BLOCK], small[3 * BLOCK]
    for i in range(p):
        new[i] = ONE if m + i == 0 else ZERO
    border(m, p, r, g, new, B, inverse)
    for i in range(p):
        new[i] = -r[m + 1 + i]
    border(m, p, r, a[1:], new, B, inverse)
    for i in range(p):
        new[i] = y[m + i]
    border(m, p, r, x, new, B, inverse)
    m += p
    # One step of refinement on T g = e_1 and T a[1:] = -(r_1, ..., r_m).
    dg, first, second, da = B[0], B[1], B[2], B[3]
    for i in range(m):
        dg[i] = ONE if i == 0 else ZERO
        da[i] = -r[1 + i]
    residual(m, r, g, dg)
    residual(m, r, a[1:], da)
    solve_again(m, a, g, dg, first, second)
    solve_again(m, a, g, da, first, second)
    eps: np.float32 = r[0]
    for i in range(m):
        g[i] += dg[i]
        a[1 + i] += da[i]
        eps += r[1 + i] * a[1 + i]
    return eps


@jit
def block_size(max_rows: int, level: np.float32, small: Floats) -> int:
    """Return the number of rows of the next block, or 0 if none is suitable.

    The best conditioned block is selected, or the shortest of several; its inverse is written to `small`.
    """
    S, rest, inverse = small[:BLOCK], small[BLOCK: 2 * BLOCK], small[2 * BLOCK: 3 * BLOCK]
    best = ZERO
    for p in range(1, max_rows + 1):
        best = fmax(best, invert(S, p, rest, inverse))
    if not best > SINGULAR * level:
        return 0
    for p in range(1, max_rows + 1):
        if invert(S, p, rest, inverse) >= NEAR_BEST * best:
            return p
    return 0


@jit
def refine(n: int, w: Floats, x: Floats) -> np.float32:
    """Add ``T^-1 (y - T x)`` to x as long as the residual at least halves.

    Return the residual.
    """
    r, y, a, g = w[ROW_R], w[ROW_Y], w[ROW_A], w[ROW_G]
    rest, first, second, better = w[ROW_B], w[ROW_B + 1], w[ROW_B + 2], w[ROW_B + 3]
    for i in range(n):
        rest[i] = y[i]
    residual(n, r, x, rest)
    found = norm1(rest, n)
    for _ in range(REFINEMENTS):
        solve_again(n, a, g, rest, first, second)
        for i in range(n):
            better[i] = x[i] + rest[i]
            rest[i] = y[i]
        residual(n, r, better, rest)
        left = norm1(rest, n)
        if not left < HALF * found:
            break
        found = left
        for i in range(n):
            x[i] = better[i]
    return found


@jit
def lookahead(n: int, w: Floats, x: Floats, small: Floats, blocks: Words, out: Words) -> int:
    """Solve for x (n,) with r and y in `w` (ROWS, n + 1); return a status.

    `small` (3 BLOCK + 2, BLOCK) is workspace for matrices. `blocks` (n,) receives the sizes of the steps;
    `out` receives their number, and whether all were single with eps > 0, so that T is positive definite.
    """
    r, y, a, g, B = w[ROW_R], w[ROW_Y], w[ROW_A], w[ROW_G], w[ROW_B:]
    recent = small[3 * BLOCK + 1]  # |eps| at the last regular m, for as many as a block may skip
    level = max_abs(r, n)
    for i in range(BLOCK):
        recent[i] = level
    r[n] = ZERO  # only the last predictor depends on it, and that one is not used
    a[0] = ONE
    eps = r[0]
    m, out[0], out[1] = 0, 0, 1
    while m < n:
        p = 1
        if not fabs(eps) > GOOD * max_abs(recent, BLOCK):
            max_rows = min(BLOCK, n - m)
            schur_complement(m, max_rows, r, a, g, B, eps, small[:BLOCK])
            p = block_size(max_rows, level, small)
            if p == 0:
                return BREAKDOWN
        if p > 1 or not eps > ZERO:
            out[1] = 0
        eps = single_step(m, r, y[m], a, g, x, eps) if p == 1 else block_step(m, p, w, x, small)
        m += p
        recent[out[0] % BLOCK] = fabs(eps)
        blocks[out[0]] = p
        out[0] += 1
    found = refine(n, w, x)
    return OK if found <= ACCEPTED * norm1(y, n) and found <= RESIDUAL_MAX else BREAKDOWN


@jit
def as_floats(words: Words, unit: np.float32, out: Floats) -> None:
    """Convert fixed-point values to floats; `unit`, a power of two, is the LSB."""
    for i in range(words.shape[0]):
        out[i] = np.float32(words[i]) * unit


@jit
def as_words(x: Floats, full: np.float32, lo: int, hi: int, exp_min: int, exp_max: int,
             out: Words) -> int:
    """Convert x (n,) to fixed point; return the values and their exponent.

    At exponent 0 `full` represents 1. The exponent is the smallest that fits the largest magnitude; if x
    does not fit, it is above its range. Halves are rounded away from zero.
    """
    peak, full_scale, e = max_abs(x, x.shape[0]), ONE, 0
    while e > exp_min:
        full_scale *= HALF
        e -= 1
    while peak >= full_scale and e <= exp_max:
        full_scale += full_scale
        e += 1
    if e <= exp_max:
        for i in range(x.shape[0]):
            v = x[i] / full_scale * full
            out[i] = saturate(int(v - HALF if v < ZERO else v + HALF), lo, hi)
    return e


class Lookahead:
    """Arrays of the solver, with the layout on the device.

    Parameters
    ----------
    n : int
        Order of the system.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._work: Floats = np.zeros((ROWS, n + 1), dtype=np.float32)
        self._x: Floats = np.zeros(n, dtype=np.float32)
        self._small: Floats = np.zeros((3 * BLOCK + 2, BLOCK), dtype=np.float32)
        self._blocks: Words = np.zeros(n, dtype=np.int64)
        self._found: Words = np.zeros(2, dtype=np.int64)  # steps, positive

    @property
    def positive(self) -> bool:
        """Return whether every step had one row and eps > 0."""
        return bool(self._found[1])

    def solve(self, r: Floats, y: Floats) -> tuple[int, Floats]:
        """Solve ``T x = y`` for the first row r (n,); return the status and x."""
        self._work[ROW_R, :self._n], self._work[ROW_Y, :self._n] = r, y
        with np.errstate(all="ignore"):  # a result that is not finite is a breakdown
            status = lookahead(self._n, self._work, self._x, self._small, self._blocks, self._found)
        return status, self._x

    def solve_words(self, r: Words, y: Words, alpha: Words, plan: Plan, _: Log) -> tuple[int, int]:
        """Solve for alpha (n,), divided by 1 + lambda; return the status and exponent.

        The arguments are values of the system divided by 1 + lambda. Nothing is traced.
        """
        word, lo, hi = plan.word, plan.signals["alpha"].format.lo, plan.signals["alpha"].format.hi
        row, target = np.zeros(self._n, dtype=np.float32), np.zeros(self._n, dtype=np.float32)
        as_floats(r, np.float32(2.0 ** -(word - 1)), row)
        as_floats(y, np.float32(2.0 ** -(word - 2)), target)
        row[0] = ONE
        status, x = self.solve(row, target)
        if status != OK:
            return status, 0
        top = plan.integer("alpha_exp_max")
        e = as_words(x, np.float32(2.0 ** (word - 1)), lo, hi, plan.integer("alpha_exp_min"), top, alpha)
        return (BREAKDOWN if e > top else OK), int(e)

    def fields(self) -> dict[str, NDArray[Any]]:
        """Return the members of the model structure as views; floats as their bits."""
        n, w = self._n, self._work
        floats = {"row": w[ROW_R], "target": w[ROW_Y, :n], "predictor": w[ROW_A], "inverse": w[ROW_G, :n],
                  "columns": w[ROW_B:, :n], "solution": self._x}
        return {name: v.view(np.uint32) for name, v in floats.items()} | {
                    "blocks": self._blocks, "steps": self._found[:1], "positive": self._found[1:]}
