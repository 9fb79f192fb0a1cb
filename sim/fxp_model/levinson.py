"""sim.fxp_model: the symmetric Levinson recursion.

The algorithm is the symmetric form of the recursion in the appendix of S. Decherchi, P. Gastaldo and R.
Zunino, "Efficient Approximate Regularized Least Squares by Toeplitz Matrix". A block is an array of numbers
with a common exponent e, and its format is s16f(15 - e) or s32f(31 - e), so that a larger exponent means a
cast. :mod:`..model.toeplitz.levinson` defines the number of bits of each rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..formats import Format, Rounding
from ..plan import Plan
from .arithmetic import (
    Fxp,
    Words,
    cast,
    exact,
    floor_at,
    integers,
    number,
    product_floor,
    quotient,
    total,
    word_at,
    word_of,
    words_of,
)
from .base import NotPositiveDefiniteError


@dataclass
class Block:
    """Numbers that share an exponent, stored as integers.

    They are integers because fxpmath does not support empty arrays. `used` is the largest magnitude, before
    the cast, since all numbers were last set.
    """

    word: int
    exponent: int
    rounding: Rounding
    words: Words = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    used: int = 0

    @property
    def format(self) -> Format:
        """Return the format of the numbers."""
        return Format(True, self.word, self.word - 1 - self.exponent)

    @property
    def saturated(self) -> bool:
        """Return whether a number did not fit."""
        return self.used > self.format.hi

    def numbers(self) -> Fxp:
        """Return the numbers in order."""
        return number(self.words, self.format)

    def reversed_numbers(self) -> Fxp:
        """Return the numbers in reverse order."""
        return number(self.words[::-1], self.format)

    def raise_to(self, exponent: int) -> None:
        """Raise the exponent, rounding half up in every mode of the plan."""
        if len(self.words) and exponent != self.exponent:
            fmt = Format(True, self.word, self.word - 1 - exponent)
            self.words = words_of(cast(self.numbers(), fmt, Rounding.HALF_UP))
        self.exponent = exponent

    def set(self, numbers: Fxp | None, last: Fxp) -> None:
        """Cast new numbers, and one more at the end, to the format of the block."""
        wide = Format(True, self.word + 8, self.format.frac)
        parts = [numbers, last] if numbers is not None else [last]
        whole = np.concatenate([words_of(cast(part, wide, self.rounding)).reshape(-1) for part in parts])
        self.used = int(max(w if w >= 0 else -w - 1 for w in whole))
        self.words = np.clip(whole, self.format.lo, self.format.hi)


class FxpLevinson:
    """Symmetric Levinson recursion.

    Parameters
    ----------
    plan : Plan
    r : Fxp
        First row (n,) divided by 1 + lambda, in the solver's word length; r[0], the implicit 1, is not used.
    sides : int
        Number of right-hand sides.

    Attributes
    ----------
    a, x : Block, list of Block
        Predictor polynomial without its leading 1, and a solution for each right-hand side.
    eps : Fxp
        Prediction error power, relative to r[0] = 1.
    saturated : bool
        Whether a value saturated with static scaling.
    """

    def __init__(self, plan: Plan, r: Fxp, sides: int = 1) -> None:
        rounding = plan.signals["a"].rounding
        self.plan, self.r, self.rounding = plan, r, rounding
        self.word, self.static = plan.integer("solver_word"), plan.static
        self.a = Block(self.word, plan.integer("a_exp_min"), rounding)
        self.x = [Block(self.word, plan.integer("x_exp_min"), rounding) for _ in range(sides)]
        self.xi_frac, self.innov_frac = plan.integer("xi_frac"), plan.integer("innov_frac")
        self.eps = exact(1 << self.xi_frac, self.xi_frac)
        self.saturated = False

    def solve(self, *sides: Fxp) -> None:
        """Run all steps of the recursion for right-hand sides (n,).

        Raises
        ------
        NotPositiveDefiniteError
            If |xi| >= 1, if eps becomes too small, or if an exponent is outside its range.
        """
        for m in range(len(words_of(sides[0]))):
            if m > 0:
                self._predictor_step(m)
            for x, y in zip(self.x, sides, strict=True):
                self._solution_step(m, x, y[m])
                self.saturated |= self.a.saturated or x.saturated

    def _correlate(self, block: Block) -> Fxp:
        """Compute sum_i r[m - i] b_i over a block b, with each product rounded down.

        The last entry of the block is multiplied by r[1].
        """
        if not len(block.words):
            return exact(0, 0)
        row = number(words_of(self.r)[len(block.words):0:-1], Format(True, self.word, self.word - 1))
        products = row * block.numbers()
        return total(floor_at(products, products.n_frac - self.plan.integer("solver_shift")))

    def _predictor_step(self, m: int) -> None:
        """Update ``xi = -(r[m] + sum r[m-i] a_i) / eps; a_i += xi a_{m-i}``.

        Then ``eps *= 1 - xi**2``.
        """
        num = word_at(self.r[m], self.xi_frac) + word_at(self._correlate(self.a), self.xi_frac)
        xi = self._update_xi(m, num)
        lost = product_floor(self.eps, floor_at(xi * xi, 31), self.xi_frac)
        self.eps = exact(integers(self.eps - lost), self.xi_frac)
        if word_of(self.eps) < self.plan.integer("eps_min"):
            raise NotPositiveDefiniteError

    def _update_xi(self, m: int, num: int) -> Fxp:
        """Update ``xi = -num / eps; a_i += xi a_{m-i}``; return xi."""
        a, eps = self.a, word_of(self.eps)
        if abs(num) >= eps:
            raise NotPositiveDefiniteError
        q, e = quotient(-num, eps)
        fmt = Format(True, self.word, self.word - 1)
        xi = cast(exact(q, 31 - e), fmt, self.rounding)
        size = word_of(xi) if word_of(xi) >= 0 else -word_of(xi) - 1
        if not self.static and a.used + (a.used * size >> (self.word - 1)) + 4 > fmt.hi:
            if a.exponent == self.plan.integer("a_exp_max"):
                raise NotPositiveDefiniteError
            a.raise_to(a.exponent + 1)
        a.set(a.numbers() + xi * a.reversed_numbers() if m > 1 else None, xi)
        return xi

    def _solution_step(self, m: int, x: Block, y: Fxp) -> None:
        """Update ``innov = y[m] - sum r[m-i] x_i; c = innov / eps``.

        Then ``x_i += c a_{m-i}; x_m = c``.
        """
        w, a, before = self.word, self.a, x.used
        innov = word_at(y, self.innov_frac) - word_at(self._correlate(x), self.innov_frac)
        q, e = quotient(innov, word_of(self.eps))
        c_exp = e + self.xi_frac - self.innov_frac
        if self.static:
            c_exp = min(c_exp, x.exponent)  # larger values saturate
        fmt = Format(True, w, w - 1 - c_exp)
        c = cast(exact(q, 31 - e - self.xi_frac + self.innov_frac), fmt, self.rounding)
        if self.static:
            over = 31 - (e + self.xi_frac - self.innov_frac) < 31 - x.exponent and q != 0
            c = number(fmt.hi if q > 0 else fmt.lo, fmt) if over else c
            before = fmt.hi + 1 if over else before
        else:
            x.raise_to(self._required_exp(x, word_of(c), c_exp))
        x.set(x.numbers() + self._align(x, c * a.reversed_numbers()) if m > 0 else None, c)
        x.used = max(x.used, before) if self.static else x.used

    def _required_exp(self, x: Block, c: int, c_exp: int) -> int:
        """Return the smallest exponent that fits x, c and every c a_i."""
        need = x.exponent + (x.used >> (self.word - 2))
        if c != 0:
            # c a_i and x may each use half of the range of the block.
            need = max(need, c_exp, c_exp + self.a.exponent + self.a.used.bit_length() - (self.word - 2))
        if need > self.plan.integer("x_exp_max"):
            raise NotPositiveDefiniteError
        return need

    def _align(self, x: Block, terms: Fxp) -> Fxp:
        """Round terms to the LSB of x.

        Shifts are limited to 62 bits, as in `shift_round`.
        """
        fmt = x.format
        frac = min(terms.n_frac, fmt.frac + 62)
        return cast(exact(integers(terms), frac), Format(True, fmt.bits + 2, fmt.frac), self.rounding)


def alpha_numbers(plan: Plan, x: Block) -> tuple[Words, int]:
    """Compute alpha from the solution of the scaled system.

    alpha solves ``(T + lambda I) alpha = y``. Return its integers (n,) and their exponent.
    """
    signal = plan.signals["alpha"]
    finer = signal.format.frac - (plan.word - 1)  # fraction bits that a large lambda adds
    alpha = cast(x.numbers() * exact(plan.integer("alpha_scale"), 31 + finer),
                 Format(True, plan.word, x.format.frac + finer), signal.rounding)
    return words_of(alpha), x.exponent
