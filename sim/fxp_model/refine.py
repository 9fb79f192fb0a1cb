"""sim.fxp_model: residual, bound, refinement and bias of a Toeplitz solution.

The values are Python fractions, in multiples of the full scale of y. :mod:`..model.certify` and
:mod:`..model.toeplitz.refine` define the number of bits of each rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

import numpy as np

from ..formats import Format, Rounding
from ..plan import Plan
from .arithmetic import Words, number, quotient
from .bound import accurate, bound_of, squares
from .levinson import Block, FxpLevinson
from .scalars import power_of_two

Values = list[Fraction]


def _steps(value: Fraction, lsb: Fraction, rounding: Rounding) -> int:
    """Return `value` in units of `lsb`, rounded to an integer."""
    whole = floor(value / lsb)
    rest = value / lsb - whole
    if rounding is Rounding.FLOOR:
        return whole
    return whole + (rest >= Fraction(1, 2) if rounding is Rounding.HALF_UP
                    else rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1))


class FxpToeplitzSystem:
    """System ``(T + lambda I) alpha = y - b`` with the fixed-point r.

    All terms are divided by 1 + lambda.

    Parameters
    ----------
    plan : Plan
    r : ndarray of int64, shape (n,)
        First row in fixed point; r[0] is the implicit 1.
    y : ndarray of int64, shape (n,)
        Targets in fixed point.
    """

    def __init__(self, plan: Plan, r: Words, y: Words) -> None:
        self.plan, self.y = plan, [int(v) for v in y]
        one = 1 << (plan.word - 1)
        self.r = [one, *(int(v) for v in r[1:])]
        self.alpha_frac = plan.integer("alpha_frac")

    def lsb(self, alpha_exp: int) -> Fraction:
        """Return the LSB of alpha."""
        return power_of_two(alpha_exp - self.alpha_frac)

    def step(self, alpha_exp: int) -> Fraction:
        """Return the LSB of the residual."""
        return self.lsb(alpha_exp) / (1 << (self.plan.word - 1 - self.plan.integer("residual_shift")))

    def _scaled_target(self, y: int, alpha_exp: int) -> int:
        """Return y / (1 + lambda) in LSBs of the residual."""
        value = Fraction(y * self.plan.integer("ridge_scale"), 2 ** (31 + self.plan.word - 2))
        return floor(value / self.step(alpha_exp))

    def _target_error(self, y: int, alpha_exp: int) -> int:
        """Bound the rounding error of the scaled target, in LSBs of the residual."""
        magnitude = y if y >= 0 else -y - 1
        half_lsb = Fraction(magnitude + 1, 2 ** (32 + self.plan.word - 2))
        return floor(half_lsb / self.step(alpha_exp)) + 2 if y else 0

    def _product(self, alpha: Sequence[int], i: int) -> int:
        """Return row i of T alpha, with each product rounded down to LSBs of the residual."""
        drop = 2 ** self.plan.integer("residual_shift")
        return sum(self.r[abs(i - j)] * word // drop for j, word in enumerate(alpha))

    def residual(self, alpha: Sequence[int], alpha_exp: int, b: int = 0) -> tuple[list[int], tuple[int, int]]:
        """Compute the residual in units of its LSB, and its sum of squares.

        The sum includes the largest possible rounding errors.
        """
        rows, misses = self.rows(alpha, alpha_exp, b, any(alpha))
        return rows, squares(misses, self.plan.integer("norm_bits"), up=True)

    def rows(self, alpha: Sequence[int], alpha_exp: int, b: int, some: bool) -> tuple[list[int], list[int]]:
        """Compute the residual, and its magnitudes with the largest rounding errors.

        `some` is False if the coefficients of all outputs are 0.
        """
        hidden = self.plan.integer("residual_slack") if some else 0
        rows, misses = [], []
        for i, y in enumerate(self.y):
            product = self._product(alpha, i) if some else 0
            rows.append(self._scaled_target(y, alpha_exp) - self._scaled_target(b, alpha_exp) - product)
            misses.append(abs(rows[-1]) + self._target_error(y, alpha_exp) + hidden
                          + self._target_error(b, alpha_exp))
        return rows, misses

    def norm(self, alpha: Sequence[int]) -> tuple[int, int]:
        """Return the sum of squares of alpha in LSBs."""
        return squares([abs(v) for v in alpha], self.plan.integer("norm_bits"), up=False)


def _normalised(rows: list[int], bits: int) -> tuple[list[int], int]:
    """Shift values right to `bits` bits; return them and the exponent of the divisor.

    If a larger value raises the exponent, the values before it are shifted again, rounding half up.
    """
    up = 0
    words: list[int] = []
    for row in rows:
        grow = max((row if row >= 0 else -row - 1).bit_length() - bits - up, 0)
        up += grow
        words = [_steps(Fraction(w), Fraction(2**grow), Rounding.HALF_UP) for w in words]
        words.append(_steps(Fraction(row), Fraction(2**up), Rounding.HALF_UP))
    return words, up


class FxpRefinement:
    """Refinement: alpha as a sum of corrections.

    Attributes are members of the model structure.
    """

    def __init__(self, plan: Plan, r: Words, y: Words) -> None:
        self.plan = plan
        self.system = self._system(r, y)
        self.word = plan.integer("solver_word")
        self.fmt, self.cast = Format(True, plan.word, 0), plan.signals["alpha"].rounding
        self.short = Format(True, self.word, self.word - 1)
        self.biased = plan.bias
        lsb = Fraction(1 << (plan.word - self.word))
        self.r_short = [self.short.fit(_steps(Fraction(v), lsb, self.cast)) for v in [0, *self.system.r[1:]]]
        self.alpha, self.alpha_exp, self.b = [0] * len(y), plan.integer("alpha_exp_min"), 0
        self.eta, self.eta_exp = [0] * len(y), 0

    def _system(self, r: Words, y: Words) -> FxpToeplitzSystem:
        return FxpToeplitzSystem(self.plan, r, y)

    def solve(self) -> str:
        """Run all passes; return a status, or raise NotPositiveDefiniteError."""
        worst = "ok"
        rows, norm = self.system.residual(self.alpha, self.alpha_exp)
        for turn in range(self.plan.integer("refine") + 1):
            largest = max(row if row >= 0 else -row - 1 for row in rows)
            if turn > 0 and largest <= self._residual_floor():
                break
            values, saturated = self._solve_correction(rows, turn == 0)
            moved, db = self._correction(values)
            saturated |= self._apply_correction(moved, db, 1)
            worst = "saturated" if saturated else worst
            rows, after = self.system.residual(self.alpha, self.alpha_exp, self.b)
            self.rhs = _normalised(rows, self.word - 2)[0]
            if turn > 0 and not _at_most(after, norm, 4):
                worst = "stalled" if worst == "ok" else worst
                if not _at_most(after, norm, 1):
                    self._apply_correction(moved, db, -1)
                    break
            norm = after
        self.bound = bound_of(norm, self.plan)
        fine = accurate(self.bound, self.system.norm(self.alpha), self.plan)
        return worst if worst == "saturated" or fine else "inaccurate"

    def _residual_floor(self) -> int:
        """Return the largest residual that the rounding of alpha alone can cause."""
        acc = self.system.r[0] + sum(2 * ((v if v >= 0 else -v - 1) + 1) for v in self.system.r[1:])
        return (acc >> self.plan.integer("residual_shift")) + 1

    def _solve_correction(self, rows: list[int], first: bool) -> tuple[Values, bool]:
        """Solve for the correction; return its LSB, and whether a value saturated."""
        words, up = _normalised(rows, self.word - 2)
        saturated, eta = self._solve_words(words, 1 + (first and self.biased))
        z_lsb = power_of_two(self.z_exp - (self.word - 1))
        scale = self.system.step(self.alpha_exp) * 2**up * 2 ** (self.word - 2)
        values = [int(w) * z_lsb * scale for w in self.z]
        if first:
            lsb = z_lsb * scale  # half of the word length remains for the corrections
            exponent = _log2(lsb) + self.system.alpha_frac + self.word + 1 - self.plan.word
            self.alpha_exp = min(max(exponent, self.plan.integer("alpha_exp_min")),
                                 self.plan.integer("alpha_exp_max"))
            if eta is not None:
                self._store_eta(eta)
        return values, saturated

    def _solve_words(self, words: list[int], count: int) -> tuple[bool, Block | None]:
        """Solve for z; return whether a value saturated, and eta if `count` is 2."""
        y_format = Format(True, self.word, self.word - 2)
        solver = FxpLevinson(self.plan, number(np.array(self.r_short), self.short), count)
        sides = [words, [1 << (self.word - 2)] * len(words)][:count]
        solver.solve(*(number(np.array(side), y_format) for side in sides))
        self.eps, self.a, z = solver.eps, solver.a, solver.x[0]
        self.z, self.z_exp = list(z.words), z.exponent
        return solver.saturated, solver.x[1] if count == 2 else None

    def _store_eta(self, eta: Block) -> None:
        rho = Fraction(self.plan.integer("ridge_scale"), 2**31)
        self.eta = [self.short.fit(_steps(int(w) * rho, Fraction(1), self.cast)) for w in eta.words]
        self.eta_exp = eta.exponent

    def _words(self, values: Values) -> list[int]:
        """Cast numbers in full scales of y to alpha, with saturation."""
        lsb = self.system.lsb(self.alpha_exp)
        return [self.fmt.fit(_steps(v, lsb, self.cast)) for v in values]

    def _correction(self, values: Values) -> tuple[list[int], int]:
        """Return the change of alpha in LSBs, and the change of the bias."""
        words = self._words(values)
        if not self.biased or sum(self.eta) <= 0:
            return words, 0
        plan, word = self.plan, self.plan.word
        q, e = quotient(sum(self.alpha) + sum(words), sum(self.eta))
        eta_lsb = Fraction(2) ** (self.eta_exp - (self.word - 1))
        ratio = q * Fraction(2) ** (e - 31) * self.system.lsb(self.alpha_exp) / eta_lsb
        y_format = Format(True, word, word - 2)
        step = y_format.fit(_steps(ratio, y_format.lsb, plan.signals["y"].rounding))
        db = y_format.fit(self.b + step) - self.b
        share = self._words([db * y_format.lsb * w * eta_lsb for w in self.eta])
        return [w - s for w, s in zip(words, share, strict=True)], db

    def _apply_correction(self, moved: list[int], db: int, sign: int) -> bool:
        whole = [a + sign * w for a, w in zip(self.alpha, moved, strict=True)]
        self.alpha = [self.fmt.fit(w) for w in whole]
        self.b += sign * db
        return self.alpha != whole


def _log2(power: Fraction) -> int:
    """Return the exponent of a power of two."""
    return power.numerator.bit_length() - power.denominator.bit_length()


def _at_most(new: tuple[int, int], old: tuple[int, int], factor: int) -> bool:
    """Return whether `factor` times the new sum of squares is at most the old one.

    The old sum is rounded down to the LSB of the new one.
    """
    return new[0] <= floor(Fraction(old[0]) * Fraction(4) ** (old[1] - new[1]) / factor)
