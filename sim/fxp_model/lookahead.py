"""sim.fxp_model: look-ahead Levinson with 32-bit vectors, summed in fractions.

The method is that of :mod:`..model.toeplitz.lookahead_f32`. :mod:`..model.toeplitz.block_vectors` and
:mod:`..model.toeplitz.lookahead` define the number of bits of each rounding. The exponent e of a vector
bounds its numbers: ``|v| < 2**e``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

import numpy as np

from ..formats import Format, Rounding
from ..plan import Plan
from .arithmetic import Words, cast, exact, words_of
from .base import BreakdownError
from .levinson import Block
from .scalars import (
    ONE,
    WORD,
    ZERO,
    ZERO_EXP,
    Matrix,
    Wide,
    add,
    add_wide,
    div,
    exponent,
    invert,
    lt,
    power_of_two,
    to_scalar,
    wide,
)

#: Largest number of rows per step, and of corrections of the solution.
_BLOCK, _REFINEMENTS = 4, 4
_GUARD = 3
_A_EXP_MAX, _EXP_MAX = 31, 64
_GOOD, _NEAR_BEST, _SINGULAR, _ACCEPTED = (power_of_two(e) for e in (-7, -3, -20, -10))
#: The diagonal of T in words.
_ONE_WORD = 1 << 31


class _Term(NamedTuple):
    """Term of a sum: numbers below ``2**exponent`` in magnitude."""

    sign: int
    numbers: Sequence[Fraction]
    exponent: int


class _Vector:
    """Integers that share an exponent; `words` may be longer than the vector."""

    def __init__(self, words: Words, min_exp: int = ZERO_EXP) -> None:
        self.words, self.min_exp, self.exponent = words, min_exp, min_exp

    def first(self, count: int) -> list[Fraction]:
        """Return the first `count` numbers."""
        return [int(w) * power_of_two(self.exponent - 31) for w in self.words[:count]]

    def mul(self, q: Fraction, numbers: Iterable[Fraction], sign: int = 1) -> _Term:
        """Multiply numbers of this vector by the scalar q."""
        return _Term(sign, [q * v for v in numbers], exponent(q) + self.exponent)


class FxpLookahead:
    """Look-ahead recursion.

    Parameters
    ----------
    plan : Plan
    r, y : ndarray of int64, shape (n,)
        First row divided by 1 + lambda, with r[0] the implicit 1, and the right-hand side, as integers of
        the plan.

    Attributes
    ----------
    row, target, predictor, inverse, columns, solution, wide, blocks : ndarray of int64
        Members of the model structure.
    steps, positive : int
        The number of steps, and whether T is positive definite.
    """

    def __init__(self, plan: Plan, r: Words, y: Words) -> None:
        n, lsb = len(y), 1 << (32 - plan.word)
        self.n, self.shift = n, n.bit_length()
        self.row, self.target = np.zeros(n + 1, dtype=np.int64), y * lsb
        self.row[1:n] = r[1:] * lsb
        self.predictor, self.wide = (np.zeros(n + 1, dtype=np.int64) for _ in range(2))
        self.inverse, self.solution, self.blocks = (np.zeros(n, dtype=np.int64) for _ in range(3))
        self.columns = np.zeros((_BLOCK, n), dtype=np.int64)
        # a without its leading 1, the only entry that needs the exponent 1
        self.a, self.g = _Vector(self.predictor[1:], 1), _Vector(self.inverse)
        self.x, self.B = _Vector(self.solution), [_Vector(column) for column in self.columns]
        self.y = _Vector(self.target)
        self.y.exponent = 1
        self.steps, self.positive = 0, 1

    def solve(self) -> None:
        """Run all steps and refinements.

        Raises
        ------
        BreakdownError
            If no block is suitable, if an exponent is outside its range, or if the residual remains too
            large.
        """
        eps, recent, m = ONE, [ONE] * _BLOCK, 0
        self._set_leading_one()
        while m < self.n:
            p, inverse = 1, [[ZERO]]
            if not all(lt(level * _GOOD, abs(eps)) for level in recent):
                p, inverse = self._select_block(m, eps)
            self.positive &= p == 1 and eps > 0
            eps = self._single_step(m, eps) if p == 1 else self._block_step(m, p, inverse)
            if self.a.exponent > _A_EXP_MAX or max(self.g.exponent, self.x.exponent) > _EXP_MAX:
                raise BreakdownError
            m += p
            recent[self.steps % _BLOCK] = abs(eps)
            self.blocks[self.steps] = p
            self.steps += 1
        if lt(self._norm1(self.y) * _ACCEPTED, self._refine()):
            raise BreakdownError

    def alpha(self, plan: Plan) -> Block:
        """Return the solution as integers of the plan."""
        e = max(self.x.exponent, plan.integer("alpha_exp_min"))
        if e > plan.integer("alpha_exp_max"):
            raise BreakdownError
        block = Block(plan.word, e, plan.signals["alpha"].rounding)
        near = exact(self.solution, 31 - self.x.exponent + e)
        block.words = words_of(cast(near, Format(True, plan.word, plan.word - 1), Rounding.HALF_UP))
        return block

    # ---- vectors ----
    def _set_leading_one(self) -> None:
        """Set a_0 = 1."""
        self.predictor[0] = 1 << (31 - self.a.exponent) if self.a.exponent < 31 else 1

    def _full_a(self, count: int) -> list[Fraction]:
        """Return the predictor with its leading 1."""
        return [int(w) * power_of_two(self.a.exponent - 31) for w in self.predictor[:count]]

    def _products(self, left: Iterable[int], right: Iterable[int]) -> int:
        """Return a sum of products, each shifted right by `shift` and floored."""
        return sum(int(u) * int(v) // (1 << self.shift) for u, v in zip(left, right, strict=True))

    def _correlate(self, end: int, v: Words, e: int) -> Wide:
        """Compute ``- sum_i r[end - i] v_i`` over all of v."""
        acc = self._products(self.row[end - len(v) + 1:end + 1][::-1], v)
        return Wide(-acc * power_of_two(e + self.shift - 62), e + self.shift)

    def _normalise_block(self, counts: Sequence[int], e: int, min_exp: int, out: Words) -> int:
        """Convert numbers with LSB 2**(e - 62) to the smallest exponent that fits them."""
        self.wide[:len(counts)] = counts
        longest = max((v if v >= 0 else -v - 1).bit_length() for v in [0, *counts])
        if longest == 0:
            out[:len(counts)] = 0
            return min_exp
        found = max(e - 62 + longest, min_exp)
        words = cast(exact(counts, 62 - e + found), Format(True, 32, 31), Rounding.HALF_UP)
        out[:len(counts)] = np.maximum(words_of(words), -WORD)
        return found

    def _sum_into(self, v: _Vector, terms: Sequence[_Term]) -> None:
        """Sum terms into v.

        Each number is rounded down so far that the sum cannot overflow.
        """
        top = max(term.exponent for term in terms) + _GUARD
        step = power_of_two(62 - top)
        counts = [sum(term.sign * floor(term.numbers[i] * step) for term in terms)
                  for i in range(len(terms[0].numbers))]
        v.exponent = self._normalise_block(counts, top, v.min_exp, v.words)

    def _norm1(self, v: _Vector) -> Fraction:
        """Return the sum of magnitudes."""
        return to_scalar(sum((abs(w) for w in v.first(self.n)), ZERO))

    # ---- one row ----
    def _single_step(self, m: int, eps: Fraction) -> Fraction:
        """Extend m to m + 1; return the new eps."""
        a, x, g = self.a, self.x, self.g
        y = Wide(self.y.first(m + 1)[m], self.y.exponent)
        innov = add_wide(y, self._correlate(m, x.words[:m], x.exponent))
        xi = div(to_scalar(self._correlate(m + 1, self.predictor[:m + 1], a.exponent).value), eps)
        whole = self._full_a(m + 1)
        x.words[m] = 0
        self._sum_into(x, [_Term(1, x.first(m + 1), x.exponent), a.mul(div(innov, eps), whole[::-1])])
        inverse = div(ONE, eps)
        e = exponent(inverse) + 1 + a.exponent
        counts = [floor(inverse * v * power_of_two(62 - e)) for v in whole]
        g.exponent = self._normalise_block(counts, e, ZERO_EXP, g.words)
        longer = _Vector(self.predictor)
        longer.exponent, longer.words[m + 1] = a.exponent, 0
        whole.append(ZERO)
        self._sum_into(longer, [_Term(1, whole, a.exponent), a.mul(xi, whole[::-1])])
        a.exponent = longer.exponent
        return to_scalar(to_scalar(eps * add(ONE, -xi)) * add(ONE, xi))

    # ---- several rows ----
    def _select_block(self, m: int, eps: Fraction) -> tuple[int, Matrix]:
        """Select the best conditioned block, or the shortest of several.

        Return its size and the inverse of its Schur complement.
        """
        max_rows = min(_BLOCK, self.n - m)
        S = self._schur_complement(m, max_rows, eps)
        found = [invert(S, p) for p in range(1, max_rows + 1)]
        best = ZERO
        for _, norm in found:
            best = norm if norm > 0 and (best == 0 or lt(norm, best)) else best
        if best == 0 or not lt(to_scalar(best * _SINGULAR), ONE):
            raise BreakdownError
        return next((p, inverse) for p, (inverse, norm) in enumerate(found, 1)
                    if norm > 0 and not lt(best / _NEAR_BEST, norm))

    def _schur_complement(self, m: int, max_rows: int, eps: Fraction) -> Matrix:
        """Compute B = T_m^-1 C and S = T_p - C'B."""
        B, g = self.B, self.g
        B[0].words[:m], B[0].exponent = -self.predictor[m:0:-1], self.a.exponent
        for j in range(1, max_rows):
            old = B[j - 1].first(m)
            acc = self._products(self.row[1:m + 1], B[j - 1].words[:m])
            e = B[j - 1].exponent + self.shift
            q = add_wide(Wide(self._entry(m + j), 0), Wide(-acc * power_of_two(e - 62), e))
            last = [(old[-1] * v) for v in B[0].first(m)] if m else []
            self._sum_into(B[j], [_Term(1, [ZERO, *old][:m], B[j - 1].exponent),
                              _Term(1, last, B[j - 1].exponent + B[0].exponent), g.mul(q, g.first(m))])
        S = [[ZERO] * max_rows for _ in range(max_rows)]
        for i in range(max_rows):
            for j in range(i + 1):
                down = self._correlate(m + i, B[j].words[:m], B[j].exponent)
                S[i][j] = S[j][i] = add_wide(Wide(self._entry(i - j), 0), down)
        S[0][0] = eps
        return S

    def _entry(self, d: int) -> Fraction:
        """Return entry d of the first row."""
        return Fraction(int(self.row[d]) if d else _ONE_WORD, 1 << 31)

    def _border(self, m: int, v: _Vector, fresh: Sequence[Wide], inverse: Matrix) -> None:
        """Extend the solution v of ``T_m v = c`` to m + p rows.

        `fresh` contains the p additional entries of c.
        """
        p, old = len(fresh), v.first(m)
        rest = [add_wide(c, self._correlate(m + i, v.words[:m], v.exponent)) for i, c in enumerate(fresh)]
        z = []
        for row in inverse:
            total = ZERO
            for u, w in zip(row, rest, strict=True):
                total = add(total, to_scalar(u * w))
            z.append(total)
        terms = [_Term(1, old + [ZERO] * p, v.exponent)]
        for i, q in enumerate(z):
            terms.append(self.B[i].mul(q, self.B[i].first(m) + [ZERO] * p, -1))
            terms.append(_Term(1, [q if j == m + i else ZERO for j in range(m + p)], exponent(q)))
        self._sum_into(v, terms)

    def _block_step(self, m: int, p: int, inverse: Matrix) -> Fraction:
        """Extend m to m + p; return the new eps."""
        a, g, x, rows = self.a, self.g, self.x, range(m, m + p)
        self._border(m, g, [wide(ONE if i == 0 else ZERO) for i in rows], inverse)
        self._border(m, a, [Wide(-self._entry(i + 1), 0) for i in rows], inverse)
        self._border(m, x, [Wide(self.y.first(i + 1)[i], self.y.exponent) for i in rows], inverse)
        m += p
        self._set_leading_one()
        dg, da = self.B[0], self.B[3]
        dg.words[:m], dg.exponent = 0, 1
        dg.words[0] = 1 << 30
        da.words[:m], da.exponent = -self.row[1:m + 1], 0
        self._subtract_product(m, g, dg)
        self._subtract_product(m, a, da)
        self._apply_inverse(m, dg)
        self._apply_inverse(m, da)
        for v, d in ((g, dg), (a, da)):
            self._sum_into(v, [_Term(1, v.first(m), v.exponent), _Term(1, d.first(m), d.exponent)])
        self._set_leading_one()
        acc = self._products(self.row[1:m + 1], a.words[:m])
        e = a.exponent + self.shift
        return add_wide(Wide(ONE, 0), Wide(acc * power_of_two(e - 62), e))

    def _subtract_product(self, m: int, v: _Vector, c: _Vector) -> None:
        """Compute ``c -= T_m v``."""
        T = [_ONE_WORD, *self.row[1:]]
        e = v.exponent + self.shift
        rows = [self._products([T[abs(i - j)] for j in range(m)], v.words[:m]) for i in range(m)]
        self._sum_into(c, [_Term(1, c.first(m), c.exponent),
                       _Term(-1, [acc * power_of_two(e - 62) for acc in rows], e)])

    def _apply_inverse(self, m: int, c: _Vector) -> None:
        """Compute ``c = T_m^-1 c`` from g and a."""
        a, g, words, first, second = self.predictor, self.g.words, c.words, self.B[1], self.B[2]
        a_exp, g_exp = self.a.exponent + self.shift, self.g.exponent + self.shift
        acc = [self._products(a[:m - i], words[i:m]) for i in range(m)]
        first.exponent = self._normalise_block(acc, a_exp + c.exponent, ZERO_EXP, first.words)
        acc = [self._products(g[m - 1:i:-1], words[i + 1:m]) for i in range(m)]
        second.exponent = self._normalise_block(acc, g_exp + c.exponent, ZERO_EXP, second.words)
        left = [self._products(g[:i + 1][::-1], first.words[:i + 1]) for i in range(m)]
        right = [self._products(a[m - i:m + 1], second.words[:i + 1]) for i in range(m)]
        up, down = g_exp + first.exponent, a_exp + second.exponent
        self._sum_into(c, [_Term(1, [v * power_of_two(up - 62) for v in left], up),
                       _Term(-1, [v * power_of_two(down - 62) for v in right], down)])

    def _refine(self) -> Fraction:
        """Refine x while this halves the residual; return the norm of the residual."""
        n, x, rest, candidate = self.n, self.x, self.B[0], self.B[3]

        def residual(v: _Vector) -> Fraction:
            rest.words[:n], rest.exponent = self.target, self.y.exponent
            self._subtract_product(n, v, rest)
            return self._norm1(rest)

        found = residual(x)
        for _ in range(_REFINEMENTS):
            self._apply_inverse(n, rest)
            terms = [_Term(1, x.first(n), x.exponent), _Term(1, rest.first(n), rest.exponent)]
            self._sum_into(candidate, terms)
            left = residual(candidate)
            if not lt(left * 2, found):
                break
            found, x.exponent = left, candidate.exponent
            x.words[:] = candidate.words
        return found
