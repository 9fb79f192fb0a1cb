"""sim.fxp_model: the solver of a geometric first row, in Python's exact fractions.

:mod:`..model.toeplitz.geometric` defines the number of bits of each rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

import numpy as np

from ..plan import Plan, Signal
from .arithmetic import Words
from .banded import BAND_BITS, FxpBanded
from .ranged import FxpFactor
from .refine import FxpToeplitzSystem
from .scalars import half_up, power_of_two


class FxpGeometricSystem(FxpToeplitzSystem):
    """System whose first row is a geometric sequence."""

    def __init__(self, plan: Plan, y: Words) -> None:
        super().__init__(plan, np.zeros(len(y), dtype=np.int64), y)
        self._found: tuple[list[int], list[int]] = [], []  # alpha, and its product

    def step(self, alpha_exp: int) -> Fraction:
        """Return the LSB of the residual."""
        return self.lsb(alpha_exp) / power_of_two(BAND_BITS - self.plan.integer("residual_shift"))

    def _sums(self, alpha: Sequence[int]) -> list[int]:
        """Return the sums over the entries before each one, in LSBs of the residual."""
        c, value, sums = self.plan.integer, 0, list[int]()
        for word in alpha:
            sums.append(value)
            own = floor(Fraction(word * c("ridge_scale"), 1 << c("residual_shift")))
            value = floor(table_value(self.plan, "rho", 31) * (value + own))
        return sums

    def _product(self, alpha: Sequence[int], i: int) -> int:
        """Return row i of T alpha in LSBs of the residual."""
        if self._found[0] != list(alpha):
            drop = 1 << self.plan.integer("residual_shift")
            after = self._sums(alpha[::-1])[::-1]
            self._found = list(alpha), [
                before + behind + floor(Fraction(word << BAND_BITS, drop)) for before, behind, word in
                zip(self._sums(alpha), after, alpha, strict=True)]
        return self._found[1][i]


def table_value(plan: Plan, name: str, frac: int, i: int = 0) -> Fraction:
    """Return entry i of a table, whose last entry repeats, or a constant."""
    values = plan.tables[name].values if name in plan.tables else (plan.integer(name),)
    return Fraction(values[min(i, len(values) - 1)], 1 << frac)


class FxpGeometric(FxpBanded):
    """Forward and backward recursion, each with one running value."""

    def __init__(self, plan: Plan, y: Words) -> None:
        self.plan, self.word, self.rows = plan, plan.word, plan.integer("rows")
        self.y = [int(v) for v in y]
        self.factor = FxpFactor((), plan.tables["pivot"].values, plan.integer("pivot_frac"))
        self.fine = plan.integer("state_frac")
        self._running = 0

    def _sum(self, terms: list[tuple[int, int]]) -> int:
        """Return the running value, which is the sum of all terms."""
        return self._running

    def entry(self, i: int, j: int) -> int:
        """Return 0: no entry of L is computed."""
        return 0

    def _place(self, value: int, signal: Signal, most: int, placed: list[int]) -> int:
        """Return the rounded value; advance the running value by its row."""
        before, n, done = self.exponent, len(self.y), len(placed)
        word = super()._place(value, signal, most, placed)
        self._running = half_up(self._running / power_of_two(self.exponent - before))
        backward = signal is self.plan.signals["alpha"]
        row = n - 1 - done if backward else done
        own = half_up(table_value(self.plan, "generator", 31, row) * word * power_of_two(self.fine))
        self._running = floor(table_value(self.plan, "rho", 31) * (self._running + own))
        if backward and 0 < row < self.rows:
            self._running = floor(table_value(self.plan, "ratio", 30, row - 1) * self._running)
        return word

    def solve(self) -> None:
        """Compute alpha."""
        self.forward()
        self._running = 0
        self._backward()
