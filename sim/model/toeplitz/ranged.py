"""sim.model: the factor of a banded matrix with lambda at run time, in integers.

Schur's recursion on the generators u and v of ``T + lambda I`` gives column i of L as ``u / u_0``, and
``d_i = u_0`` (:mod:`...reference.toeplitz.banded`):

    k = v_1 / u_0;    (u_j, v_j) <- (u_j - k v_{j+1}, v_{j+1} - k u_j)

u and v have 32 bits with F fraction bits (:mod:`...planner.toeplitz.ranged`), as have lambda and the first
row of T; k has 31. Each step rounds each entry once, and the recursion is weakly stable, so the error of the
factor is far below the LSB of 16-bit words. Longer words need longer generators (:mod:`.long_factor`).

PYTEST_DONT_REWRITE: see :mod:`...primitives`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...backend import in_range
from ...jit import jit
from ...plan import Plan
from ...primitives import HALF_UP, Words, arithmetic_shift, divide, divide_round, requantise, shift_round
from ..statuses import NOT_POSITIVE_DEFINITE, OK
from .long_factor import factorise_long

#: Fraction bits of k.
K_FRAC = 31
#: The largest reciprocal of a pivot.
_INT32_MAX = (1 << 31) - 1


class FactorConstants(NamedTuple):
    """Constants of the plan."""

    rows: int
    factor_frac: int
    pivot_frac: int
    lambda_frac: int


@jit
def advance(u: Words, v: Words, inverse: int, shift: int) -> None:
    """Advance the generators u (b + 1,) and v (b,) by one column.

    ``v[j]`` is v_{j+1}, and ``inverse / 2**shift`` is ``2**K_FRAC / u_0``.
    """
    b: int = v.shape[0]
    k = arithmetic_shift(v[0] * inverse, shift)
    for j in range(b):
        own, other = u[j], v[j]
        u[j] = own - shift_round(k * other, K_FRAC, HALF_UP)
        if j > 0:
            v[j - 1] = other - shift_round(k * own, K_FRAC, HALF_UP)
    v[b - 1] = -shift_round(k * u[b], K_FRAC, HALF_UP)


@jit
def factorise(row: Words, lam: int, factor: Words, pivot: Words, u: Words, v: Words, lo: int, hi: int,
              k: FactorConstants) -> int:
    """Compute the columns of L (rows, b) and 1 / d_i (rows,); return a status.

    `row` (b,) is the first row of T from lag 1. `lo` and `hi` limit the entries of L.
    """
    b, scale = row.shape[0], k.lambda_frac + k.pivot_frac
    u[0] = (1 << k.lambda_frac) + lam
    for j in range(b):
        u[j + 1] = row[j]
        v[j] = row[j]
    for i in range(k.rows):
        if abs(v[0]) >= u[0]:
            return NOT_POSITIVE_DEFINITE
        inverse, e = divide(1, u[0])
        if 31 - e < scale:  # 1 / d has 32 bits
            return NOT_POSITIVE_DEFINITE
        pivot[i] = requantise(inverse, 31 - e - scale, HALF_UP, 0, _INT32_MAX)
        for j in range(b):
            factor[i, j] = requantise(u[j + 1] * pivot[i], scale - k.factor_frac, HALF_UP, lo, hi)
        if i < k.rows - 1:
            advance(u, v, inverse, -e)
    return OK


class Ranged(NamedTuple):
    """A status, the factor for a lambda, and the generators of its last column.

    `pivot_frac` has the fraction bits of 1 / d.
    """

    status: int
    factor: Words
    pivot: Words
    u: Words
    v: Words
    pivot_frac: Words

    def members(self) -> dict[str, Words]:
        """Return the members of the trainer structure."""
        return {"factor": self.factor, "pivot": self.pivot, "u": self.u, "v": self.v,
                "pivot_frac": self.pivot_frac}


def empty_factor(plan: Plan) -> Ranged:
    """Return a factor of zeros; without a range of lambda, its arrays are empty."""
    b, rows = (plan.integer("band"), plan.integer("rows")) if plan.ranged else (0, 0)
    shapes = ((rows, b), rows, b + 1 if plan.ranged else 0, b, 1)
    return Ranged(OK, *(np.zeros(shape, dtype=np.int64) for shape in shapes))


def band_of(plan: Plan) -> Words:
    """Return the first row from lag 1."""
    return np.array(plan.tables["band"].values, dtype=np.int64)


def factor_of(plan: Plan, lam: int) -> Ranged:
    """Return the factor of a plan for an integer lambda."""
    found, full_scale = empty_factor(plan), 1 << (plan.word - 1)
    k = FactorConstants._make(plan.integer(name) for name in FactorConstants._fields)
    if plan.long_factor:
        rest = np.array(plan.tables["band_rest"].values, dtype=np.int64)
        frac = factorise_long(band_of(plan), rest, lam, *found[1:5], -full_scale, full_scale - 1, *k)
        status = OK if frac > 0 else NOT_POSITIVE_DEFINITE
    else:
        frac = k.pivot_frac
        status = factorise(band_of(plan), lam, *found[1:5], -full_scale, full_scale - 1, k)
    found.pivot_frac[0] = frac
    return found._replace(status=int(status))


def lambda_plan(plan: Plan, lam: int) -> Plan:
    """Return the plan with the constants of an integer lambda."""
    gain = divide_round(1 << plan.integer("gain_shift"), lam - plan.integer("lambda_loss")) + 1
    fitted = {"fitted_scale": lam} if plan.fits else {}
    return replace(plan, constants={**plan.constants, "lambda_word": lam, "bound_gain": gain, **fitted})


def asked_plan(plan: Plan, lam: int) -> Plan:
    """Return the plan with which a core is trained for an integer lambda.

    A lambda outside the range is kept: the core must reject it.
    """
    if in_range(plan, lam):
        return lambda_plan(plan, lam)
    return replace(plan, constants={**plan.constants, "lambda_word": lam})


def unit_of(plan: Plan) -> float:
    """Return the unit of the first row divided by 1 + lambda; 1 without a range."""
    if not plan.ranged:
        return 1.0
    one = 1 << plan.integer("lambda_frac")
    return float(2**31) / (one + plan.integer("lambda_word"))


def diagonal_excess(plan: Plan) -> int:
    """Return the diagonal of the fixed-point matrix less ``2**31``.

    Without a range of lambda, the diagonal is ``2**31``.
    """
    if not plan.ranged:
        return 0
    return plan.integer("lambda_word") - plan.integer("diagonal_lack")
