"""sim.fxp_model: the banded solver, in Python's exact fractions.

:mod:`..model.toeplitz.banded` defines the number of bits of each rounding. Here L is a matrix, and a block is
a list of integers with the value of their LSB.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

import numpy as np

from ..formats import Format
from ..plan import Plan, Signal
from .arithmetic import Words, cast, exact, words_of
from .base import NotPositiveDefiniteError
from .levinson import Block
from .ranged import factor_of
from .refine import FxpRefinement, FxpToeplitzSystem
from .scalars import power_of_two

#: Fraction bits of the first row.
BAND_BITS = 31


def intercept(plan: Plan, y: Words) -> tuple[int, bool]:
    """Return the weighted mean of the targets in LSB of y, and whether it was limited."""
    table, n = plan.tables["weight"], len(y)
    drop = 1 << plan.integer("weight_shift")
    w = [table.values[min(i, n - 1 - i, len(table.values) - 1)] for i in range(n)]
    mean = Fraction(sum(w_i * int(v) // drop for w_i, v in zip(w, y, strict=True)) * drop) * table.format.lsb
    whole = Format(True, 48, 0).quantise(mean, plan.signals["y"].rounding)
    b = min(max(whole, plan.integer("intercept_lo")), plan.integer("intercept_hi"))
    return b, b != whole


class FxpBandSystem(FxpToeplitzSystem):
    """System whose first row is the table `band`; it has 32 bits at every word length."""

    def __init__(self, plan: Plan, y: Words) -> None:
        band = plan.tables["band"].values
        super().__init__(plan, np.zeros(len(y), dtype=np.int64), y)
        one = (1 << plan.integer("lambda_frac")) + plan.integer("lambda_word") if plan.ranged \
            else 1 << BAND_BITS
        self.r = [one, *band, *[0] * (len(y) - 1 - len(band))]

    def step(self, alpha_exp: int) -> Fraction:
        """Return the LSB of the residual."""
        return self.lsb(alpha_exp) / power_of_two(BAND_BITS - self.plan.integer("residual_shift"))

    def _product(self, alpha: Sequence[int], i: int) -> int:
        """Return row i of T alpha, rounded down to LSBs of the residual.

        The diagonal is ``2**31`` plus an excess. Both products are rounded.
        """
        drop, head, n = 1 << self.plan.integer("residual_shift"), self.plan.integer("band_head"), len(alpha)
        both = [self.r[d] * sum(alpha[j] for j in (i - d, i + d) if 0 <= j < n) for d in range(1, n)]
        one = 1 << BAND_BITS
        diagonal = one * alpha[i] // drop + (self.r[0] - one) * alpha[i] // drop
        return diagonal + sum(v // drop for v in both[:head]) + sum(both[head:]) // drop


class FxpBanded:
    """Forward and backward recursion of the banded solver.

    Attributes
    ----------
    words : list of int
        z, and then alpha.
    exponent : int
        The exponent of `words`.
    """

    def __init__(self, plan: Plan, y: Words) -> None:
        self.plan, self.word = plan, plan.integer("solver_word") if plan.refine else plan.word
        self.band, self.rows = plan.integer("band"), plan.integer("rows")
        self.y = [int(v) for v in y]
        self.factor = factor_of(plan)
        self.fine = plan.integer("factor_frac") - plan.integer("factor_shift")

    def entry(self, i: int, j: int) -> int:
        """Return L[i, j], i > j, as an integer; 0 outside the band."""
        if i - j > self.band:
            return 0
        return self.factor.columns[min(j, self.rows - 1) * self.band + i - j - 1]

    def _sum(self, terms: list[tuple[int, int]]) -> int:
        """Add products, nearest lag first, and round each partial sum down.

        The first `factor_head` products are added in pairs, and the others in one sum.
        """
        drop, head = 1 << self.plan.integer("factor_shift"), self.plan.integer("factor_head")
        products = [u * v for u, v in terms]
        return sum(sum(products[j: min(j + 2, head)]) // drop for j in range(0, head, 2)) \
            + sum(products[head:]) // drop

    def _cast(self, value: int, frac: int, signal: Signal) -> int:
        """Round a sum with `frac` fraction bits to an integer of 48 bits."""
        return int(words_of(cast(exact(value, frac), Format(True, 48, 0), signal.rounding)).item())

    def _place(self, value: int, signal: Signal, max_exponent: int, placed: list[int]) -> int:
        """Return the rounded value; raise the exponent of the block if necessary."""
        whole = self._cast(value, self.fine, signal)
        grow = max((whole if whole >= 0 else -whole - 1).bit_length() - (self.word - 1), 0)
        self.exponent += grow
        if self.exponent > max_exponent:
            raise NotPositiveDefiniteError
        if grow:
            placed[:] = [(v + (1 << (grow - 1))) >> grow for v in placed]
        return Format(True, self.word, 0).fit(self._cast(value, self.fine + grow, signal))

    def solve(self) -> None:
        """Compute alpha.

        Raises
        ------
        NotPositiveDefiniteError
            If an exponent is outside its range.
        """
        self.forward()
        self._backward()

    def forward(self) -> None:
        """Solve L z = y."""
        used = max((v if v >= 0 else -v - 1).bit_length() for v in self.y)
        self.exponent, z = -max(self.word - 1 - used, 0), list[int]()
        for i, y in enumerate(self.y):
            target = floor(Fraction(y) * power_of_two(self.fine + 1 - self.exponent))
            value = target - self._sum([(self.entry(i, j), z[j]) for j in range(i - 1, -1, -1)])
            z.append(self._place(value, self.plan.signals["z"], self.plan.integer("z_exp_max"), z))
        self.words = z

    def _backward(self) -> None:
        """Solve D L' alpha = z."""
        c, n, z_exp = self.plan.integer, len(self.y), self.exponent
        name, frac = ("x", self.word - 1) if self.plan.refine else ("alpha", c("alpha_frac"))
        pivots, max_exponent = self.factor.pivots, c(f"{name}_exp_max")
        pivot_frac = self.factor.pivot_frac
        used = max(v if v >= 0 else -v - 1 for v in self.words)
        top = (used * pivots[-1]).bit_length()
        self.exponent = max(top + z_exp - pivot_frac + frac - 2 * (self.word - 1), c(f"{name}_exp_min"))
        if self.exponent > max_exponent:
            raise NotPositiveDefiniteError
        alpha: list[int] = []  # the last one first
        for i in range(n - 1, -1, -1):
            shift = pivot_frac + self.word - 1 - z_exp + self.exponent - frac - self.fine
            first = floor(self.words[i] * pivots[min(i, self.rows - 1)] * power_of_two(-min(shift, 62)))
            value = first - self._sum([(self.entry(i + j, i), word)
                                       for j, word in enumerate(reversed(alpha), start=1)])
            alpha.append(self._place(value, self.plan.signals["alpha"], max_exponent, alpha))
        self.words = alpha[::-1]


class FxpBandedRefinement(FxpRefinement):
    """Refinement by the banded solver."""

    def _system(self, r: Words, y: Words) -> FxpToeplitzSystem:
        return FxpBandSystem(self.plan, y)

    def _solve_words(self, words: list[int], count: int) -> tuple[bool, Block | None]:
        """Solve for z."""
        solver = FxpBanded(self.plan, np.array(words))
        solver.solve()
        self.z, self.z_exp = solver.words, solver.exponent
        return False, None

    def _residual_floor(self) -> int:
        """Return the largest residual that the rounding of alpha alone can cause."""
        acc = (1 << BAND_BITS) + sum(2 * (v + 1) for v in self.plan.tables["band"].values)
        return (acc >> self.plan.integer("residual_shift")) + 1
