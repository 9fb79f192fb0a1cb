"""sim.fxp_model: the symmetric Levinson recursion, blocks as numbers with a moving point.

A block with exponent e holds numbers of the format s16f(15 - e) or s32f(31 - e): raising the
exponent is a cast.  Paper 000, appendix, in its symmetric form; what is floored, and to how many
bits, is said in :mod:`..model.levinson`.
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


class NotPositiveDefiniteError(Exception):
    """The recursion was refused."""


@dataclass
class Block:
    """Numbers that share an exponent; words, for fxpmath has no empty arrays."""

    word: int
    exponent: int
    rounding: Rounding
    words: Words = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def format(self) -> Format:
        """The format of its numbers."""
        return Format(True, self.word, self.word - 1 - self.exponent)

    def numbers(self) -> Fxp:
        """Its numbers, in order."""
        return number(self.words, self.format)

    def reversed_numbers(self) -> Fxp:
        """Its numbers, the last one first."""
        return number(self.words[::-1], self.format)

    def uses_guard_bit(self) -> bool:
        """Whether a word lies outside the middle half of the format."""
        half = 1 << (self.word - 2)
        return bool(np.any((self.words >= half) | (self.words < -half)))

    def bits(self) -> int:
        """Bits of the longest word, its sign apart."""
        return max((int(w if w >= 0 else -w - 1).bit_length() for w in self.words), default=0)

    def raise_to(self, exponent: int) -> None:
        """Raise the exponent, rounding halves up whatever the plan's mode."""
        if len(self.words) and exponent != self.exponent:
            fmt = Format(True, self.word, self.word - 1 - exponent)
            self.words = words_of(cast(self.numbers(), fmt, Rounding.HALF_UP))
        self.exponent = exponent

    def set(self, numbers: Fxp) -> None:
        """New numbers, cast to the format of the block."""
        self.words = words_of(cast(numbers, self.format, self.rounding))

    def append(self, last: Fxp) -> None:
        """One number more, cast to the format of the block."""
        self.words = np.append(self.words, word_of(cast(last, self.format, self.rounding)))


class FxpLevinson:
    """The recursion for one right-hand side.

    Parameters
    ----------
    plan : Plan
    r : Fxp
        First row (n,) over 1 + lambda; r[0], the implicit 1, is not looked at.

    Attributes
    ----------
    a, x : Block
        Predictor polynomial without its leading 1, and solution.
    eps : Fxp
        Prediction error power, the leading 1 being that of r.
    """

    def __init__(self, plan: Plan, r: Fxp) -> None:
        rounding = plan.signals["a"].rounding
        self.plan, self.r, self.rounding = plan, r, rounding
        self.a = Block(plan.word, 0, rounding)
        self.x = Block(plan.word, plan.integer("alpha_exp_min"), rounding)
        self.xi_frac, self.mu_frac = plan.integer("xi_frac"), plan.integer("mu_frac")
        self.eps = exact(1 << self.xi_frac, self.xi_frac)

    def solve(self, y: Fxp) -> None:
        """All steps for y (n,).

        Raises
        ------
        NotPositiveDefiniteError
            As soon as |xi| >= 1 or an exponent leaves its range.
        """
        for m in range(len(words_of(y))):
            if m > 0:
                self._lengthen_a(m)
            self._lengthen_x(m, y[m])

    def _correlate(self, block: Block) -> Fxp:
        """sum_i r[m - i] b_i over a block b that ends beside r[1]; each product floored."""
        if not len(block.words):
            return exact(0, 0)
        row = number(words_of(self.r)[len(block.words):0:-1], self.plan.signals["r"].format)
        products = row * block.numbers()
        return total(floor_at(products, products.n_frac - self.plan.integer("mac_shift")))

    def _lengthen_a(self, m: int) -> None:
        """``xi = -(r[m] + sum r[m-i] a_i) / eps;  a_i += xi a_{m-i};  eps *= 1 - xi**2``."""
        a = self.a
        if a.uses_guard_bit():
            if a.exponent == self.plan.integer("a_exp_max"):
                raise NotPositiveDefiniteError
            a.raise_to(a.exponent + 1)
        num = word_at(self.r[m], self.xi_frac) + word_at(self._correlate(a), self.xi_frac)
        eps = word_of(self.eps)
        if abs(num) >= eps:
            raise NotPositiveDefiniteError
        q, e = quotient(-num, eps)
        xi = cast(exact(q, 31 - e), self.plan.signals["xi"].format, self.rounding)
        if m > 1:
            a.set(a.numbers() + xi * a.reversed_numbers())
        a.append(xi)
        lost = product_floor(self.eps, floor_at(xi * xi, 31), self.xi_frac)
        self.eps = exact(integers(self.eps - lost), self.xi_frac)
        if word_of(self.eps) <= 0:
            raise NotPositiveDefiniteError

    def _lengthen_x(self, m: int, y: Fxp) -> None:
        """``mu = y[m] - sum r[m-i] x_i;  c = mu / eps;  x_i += c a_{m-i};  x_m = c``."""
        w, x, a = self.plan.word, self.x, self.a
        mu = word_at(y, self.mu_frac) - word_at(self._correlate(x), self.mu_frac)
        q, e = quotient(mu, word_of(self.eps))
        c_exp = e + self.xi_frac - self.mu_frac
        c = cast(exact(q, 31 - c_exp), Format(True, w, w - 1 - c_exp), self.rounding)
        need = x.exponent + x.uses_guard_bit()
        if word_of(c) != 0:
            # c a_i may use half of the block, so that x, below the other half, has room for it.
            need = max(need, c_exp, c_exp + a.exponent + a.bits() - (w - 2))
        if need > self.plan.integer("alpha_exp_max"):
            raise NotPositiveDefiniteError
        x.raise_to(need)
        if m > 0:
            x.set(x.numbers() + self._aligned(c * a.reversed_numbers()))
        x.append(c)

    def _aligned(self, terms: Fxp) -> Fxp:
        """Terms rounded to the step of x; a shift of more than 62 counts as 62, as in `shift_round`."""
        fmt = self.x.format
        frac = min(terms.n_frac, fmt.frac + 62)
        return cast(exact(integers(terms), frac), Format(True, fmt.bits + 2, fmt.frac), self.rounding)


def alpha_numbers(plan: Plan, x: Block) -> tuple[Words, int]:
    """From the scaled system back to ``(T + lambda I) alpha = y``: words (n,) and their exponent."""
    signal = plan.signals["alpha"]
    finer = signal.format.frac - (plan.word - 1)  # fraction bits that a large lambda adds
    alpha = cast(x.numbers() * exact(plan.integer("alpha_rho"), 31 + finer),
                 Format(True, plan.word, x.format.frac + finer), signal.rounding)
    return words_of(alpha), x.exponent
