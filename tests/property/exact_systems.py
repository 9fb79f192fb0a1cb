"""Answers of the batch trainers held against residuals and solutions in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from kerncast.sim.model.cg import CgModel
from kerncast.sim.model.kernel import distance, kernel
from kerncast.sim.model.toeplitz.trainer import SCALARS, ToeplitzModel

Words = NDArray[np.int64]


def solve(rows: Sequence[Sequence[int]], y: Sequence[int]) -> tuple[list[int], int] | None:
    """The solution of ``rows x = y`` as numerators and their denominator; None for a singular matrix.

    Fraction-free elimination (Bareiss, 1968): every division comes out even.
    """
    table, last = [[*row, right] for row, right in zip(rows, y, strict=True)], 1
    for k in range(len(y)):
        pivot = next((i for i in range(k, len(y)) if table[i][k]), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        if pivot != k:
            table[k] = [-v for v in table[k]]
        head = table[k]
        for i, row in enumerate(table):
            if i != k:
                factor = row[k]
                table[i] = [(head[k] * v - factor * w) // last for v, w in zip(row, head, strict=True)]
        last = head[k]
    return [row[-1] for row in table], last


def squares(vector: Sequence[Fraction]) -> Fraction:
    """The square of the Euclidean norm."""
    return sum((v * v for v in vector), Fraction(0))


@dataclass(frozen=True)
class System:
    """A system ``(T + lambda I) alpha = y`` in the words of a model, with the answer found.

    Parameters
    ----------
    rows : list of list of int
        ``T + lambda I`` in steps of `step`.
    step : Fraction
    y : list of int
        Targets less the bias, in steps of `y_lsb`.
    y_lsb : Fraction
    alpha : list of int
        In steps of `lsb`.
    lsb : Fraction
    lam : Fraction
    bound : Fraction or None
        What the answer states; None where it states nothing.
    least : Fraction
        The least eigenvalue of ``T + lambda I`` that the bound takes for granted; 0 where there is none.
    """

    rows: list[list[int]]
    step: Fraction
    y: list[int]
    y_lsb: Fraction
    alpha: list[int]
    lsb: Fraction
    lam: Fraction
    bound: Fraction | None
    least: Fraction

    @property
    def residual(self) -> Fraction:
        """``|y - (T + lambda I) alpha|_2``, squared."""
        share = self.step * self.lsb
        return squares([self.y_lsb * right - share * sum(v * a for v, a in zip(row, self.alpha, strict=True))
                        for row, right in zip(self.rows, self.y, strict=True)])

    @property
    def error(self) -> Fraction | None:
        """``|alpha - alpha*|_2``, squared; None where there is no one solution."""
        found = solve(self.rows, self.y)
        if found is None:
            return None
        unit = self.y_lsb / self.step / found[1]
        return squares([self.lsb * a - unit * v for a, v in zip(self.alpha, found[0], strict=True)])

    @property
    def eigenvalue(self) -> float:
        """The least eigenvalue of ``T + lambda I``, in float64."""
        matrix = np.array([[float(v * self.step) for v in row] for row in self.rows])
        return float(np.linalg.eigvalsh(matrix)[0])


def toeplitz_system(model: ToeplitzModel, y: Words) -> System:
    """The system whose y words a Toeplitz model was trained on."""
    plan, scalars = model._alone, dict(zip(SCALARS, (int(v) for v in model._scalars), strict=True))
    lam, frac = Fraction(float(plan.options["lambda"])), plan.signals["r"].format.frac
    words, unit = [1 << frac, *(int(v) for v in model._r[1:])], 1 + lam
    if plan.ranged:
        one = 1 << plan.integer("lambda_frac")
        lam, unit = Fraction(plan.integer("lambda_word"), one), Fraction(1 << frac, one)
        words[0] = one + plan.integer("lambda_word")
    if plan.banded:
        band = plan.tables["band"].values
        words[1: 1 + len(band)] = band
    gain, up = plan.integer("bound_gain"), plan.integer("bound_shift") - frac + plan.integer("residual_shift")
    lsb = Fraction(2) ** (scalars["alpha_exp"] - plan.signals["alpha"].format.frac)
    return System(
        [[words[abs(i - j)] for j in range(len(words))] for i in range(len(words))], unit / 2**frac,
        [int(v) - scalars["bias"] for v in y], plan.signals["y"].format.lsb, [int(v) for v in model._alpha],
        lsb, lam, stated(scalars["bound"], plan.integer("no_bound"), lsb),
        unit * Fraction(2) ** up / gain if gain else Fraction(0))


def cg_system(model: CgModel, y: Words) -> System:
    """The system of one output whose y words (1, n) a model of conjugate gradients was trained on."""
    plan, (alpha_exp, bound) = model.plan, (int(v) for v in model._shared)
    lam, one = Fraction(float(plan.options["lambda"])), Fraction(2) ** plan.signals["kernel"].format.frac
    step = Fraction(1, max(one, lam.denominator))

    def word(u: Words, v: Words) -> int:
        return int(kernel(distance(u, v, model._kernel), model._kernel, model.ranges.log) / (one * step))

    v = model._state.centers
    rows = [[word(a, b) + (int(lam / step) if i == j else 0) for j, b in enumerate(v)]
            for i, a in enumerate(v)]
    lsb = Fraction(2) ** (alpha_exp - plan.signals["alpha"].format.frac)
    return System(rows, step, [int(w) for w in y[0]], plan.signals["y"].format.lsb,
                  [int(w) for w in model._state.alpha[0]], lsb, lam,
                  stated(bound, plan.integer("no_bound"), lsb), Fraction(0))


def stated(bound: int, nothing: int, lsb: Fraction) -> Fraction | None:
    """A bound in words as a number, or None."""
    return None if bound == nothing else bound * lsb
