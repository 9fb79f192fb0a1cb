"""sim.fxp_model: the banded factor of a run-time lambda, in exact fractions.

:mod:`..model.toeplitz.ranged` defines the number of bits of each rounding. Here the generators are numbers,
so that a product needs no shift count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import NamedTuple

from ..formats import Format
from ..plan import Plan
from .arithmetic import quotient
from .base import NotPositiveDefiniteError
from .long_factor import long_factor
from .scalars import WORD, half_up, power_of_two


class FxpFactor(NamedTuple):
    """Columns of L below the diagonal, one after another, and 1 / d_i, as integers.

    `pivot_frac` is the number of fraction bits of 1 / d_i.
    """

    columns: Sequence[int]
    pivots: Sequence[int]
    pivot_frac: int


def _reciprocal(d: int, lsb: Fraction) -> Fraction:
    """Return 1 / (d lsb) with the 31 bits of the device's quotient."""
    mantissa, e = quotient(1, d)
    return mantissa * power_of_two(e - 31) / lsb


def computed_factor(plan: Plan) -> FxpFactor:
    """Compute the factor of a plan with a range of lambda, for its `lambda_word`.

    Raises
    ------
    NotPositiveDefiniteError
        If a generator shows that the matrix is not positive definite, or if a pivot is too small.
    """
    lsb, band = power_of_two(-plan.integer("lambda_frac")), plan.tables["band"].values
    entry = Format(True, plan.word, plan.integer("factor_frac"))
    unit = power_of_two(-plan.integer("pivot_frac"))
    u, v = [(1 << plan.integer("lambda_frac")) + plan.integer("lambda_word"), *band], list(band)
    columns, pivots = list[int](), list[int]()
    for _ in range(plan.integer("rows")):
        if abs(v[0]) >= u[0]:
            raise NotPositiveDefiniteError
        inverse = _reciprocal(u[0], lsb)
        if inverse >= 2 ** 31 * unit:
            raise NotPositiveDefiniteError
        pivots.append(min(half_up(inverse / unit), WORD))
        columns += [entry.fit(half_up(w * lsb * pivots[-1] * unit / entry.lsb)) for w in u[1:]]
        k = floor(v[0] * lsb * inverse * 2 ** 31) * power_of_two(-31)
        u, v = ([w - half_up(k * other) for w, other in zip(u, v, strict=False)] + u[-1:],
                [other - half_up(k * w) for w, other in zip(u[1:], v[1:], strict=False)]
                + [-half_up(k * u[-1])])
    return FxpFactor(columns, pivots, plan.integer("pivot_frac"))


def factor_of(plan: Plan) -> FxpFactor:
    """Return the factor of the plan's tables, or the one computed for its lambda."""
    if plan.ranged:
        return FxpFactor(*long_factor(plan)) if plan.long_factor else computed_factor(plan)
    return FxpFactor(plan.tables["factor"].values, plan.tables["pivot"].values, plan.integer("pivot_frac"))


def lambda_plan(plan: Plan, lam: int) -> Plan:
    """Return the plan with the constants of an integer lambda."""
    least = lam - plan.integer("lambda_loss")
    own = {"lambda_word": lam, "bound_gain": half_up(Fraction(1 << plan.integer("gain_shift"), least)) + 1}
    return replace(plan, constants={**plan.constants, **own, **({"fitted_scale": lam} if plan.fits else {})})
