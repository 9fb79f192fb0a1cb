"""sim.fxp_model: Schur's recursion with fxpmath.

:mod:`..model.toeplitz.schur` describes the method. This model computes the values of the remaining rows of T
a, T b and y - T x, and leaves the earlier rows unchanged. The generators have a fixed format, and the
residual has a block exponent.
"""

from __future__ import annotations

import numpy as np

from ..formats import Format, Rounding
from ..plan import Plan
from .arithmetic import Fxp, Words, cast, exact, integers, number, quotient, word_of, words_of
from .base import NotPositiveDefiniteError
from .levinson import FxpLevinson

_BITS = 31
_GENERATOR = Format(True, _BITS + 1, _BITS)


def _bits(words: Words) -> int:
    """Return the bit length of the longest integer, without its sign."""
    return max((int(w if w >= 0 else -w - 1).bit_length() for w in words), default=0)


class FxpSchur(FxpLevinson):
    """Schur recursion for one right-hand side.

    Attributes
    ----------
    p, q, s : ndarray of int64, shape (n,)
        p, q: generators; s: residual y - T x. At step m, row i of q is stored in ``q[i - m]``.
    s_exp : int
        Exponent of s.
    """

    def __init__(self, plan: Plan, r: Fxp) -> None:
        super().__init__(plan, r)
        self.p = words_of(cast(r, _GENERATOR, Rounding.FLOOR)).copy()
        self.p[0] = 0
        self.q = self.p.copy()
        self.s, self.s_exp = np.zeros_like(self.p), 0

    def solve(self, *sides: Fxp) -> None:
        """Run all steps for one right-hand side (n,); see :class:`.levinson.FxpLevinson`."""
        words = words_of(sides[0])
        up = max(_BITS - 1 - _bits(words), 0)
        self.s, self.s_exp = words << up, _BITS - (self.word - 2) - up
        # A shifted integer has several possible originals; the largest magnitude of them counts.
        self._guard = ((max(int(w if w >= 0 else -w - 1) for w in words) + 1) << up) - 1
        for m in range(len(words)):
            if m > 0:
                self._next_generators(m)
            self._next_solution(m)
            self.saturated |= self.a.saturated or self.x[0].saturated

    def _next_generators(self, m: int) -> None:
        """Compute ``xi = -p_m / eps``, eps and the following rows of p and q."""
        num = int(self.p[m])
        xi = self._update_xi(m, num)
        eps = cast(self.eps + xi * number(num, _GENERATOR), Format(True, 40, _BITS), self.rounding)
        self.eps = exact(word_of(eps), _BITS)
        if word_of(self.eps) < self.plan.integer("eps_min"):
            raise NotPositiveDefiniteError
        if m + 1 < len(self.p):
            p, q = number(self.p[m + 1:], _GENERATOR), number(self.q[1:len(self.q) - m], _GENERATOR)
            self.p[m + 1:] = words_of(cast(p + xi * q, _GENERATOR, self.rounding))
            self.q[1:len(self.q) - m] = words_of(cast(q + xi * p, _GENERATOR, self.rounding))

    def _next_solution(self, m: int) -> None:
        """Compute ``c = s_m / eps``; extend x with it and update the following rows of s."""
        w, x = self.word, self.x[0]
        q, e = quotient(int(self.s[m]), word_of(self.eps))
        c_exp = e + self.s_exp
        c = cast(exact(q, 31 - c_exp), Format(True, w, w - 1 - c_exp), self.rounding)
        if word_of(c) != 0:
            self._update_residual(m, c, c_exp)
        x.raise_to(self._required_exp(x, word_of(c), c_exp))
        x.set(x.numbers() + self._align(x, c * self.a.reversed_numbers()) if m > 0 else None, c)

    def _update_residual(self, m: int, c: Fxp, c_exp: int) -> None:
        """Update ``s_i -= c q_i`` below row m, at the smallest exponent that fits both."""
        rows, q = self.s[m + 1:], self.q[1:len(self.q) - m]
        need = max(self.s_exp + (self._guard >> (_BITS - 1)), c_exp + _bits(q) - (_BITS - 1))
        if need > self.plan.integer("s_exp_max"):
            raise NotPositiveDefiniteError
        old, fmt = Format(True, _BITS + 1, _BITS - self.s_exp), Format(True, _BITS + 1, _BITS - need)
        self.s_exp, self._guard = need, 0
        if len(rows):
            rows[:] = words_of(cast(number(rows, old), fmt, Rounding.HALF_UP))
            terms = c * number(q, _GENERATOR)
            terms = exact(integers(terms), min(terms.n_frac, fmt.frac + 62))
            rows[:] = words_of(cast(number(rows, fmt) - cast(terms, fmt, self.rounding), fmt, self.rounding))
            self._guard = max(int(v if v >= 0 else -v - 1) for v in rows)
