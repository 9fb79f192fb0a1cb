"""sim.fxp_model: self-tuning of sigma and lambda, in Python's exact fractions.

:mod:`..model.toeplitz.tuning` defines each rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor

from ..candidates import EVIDENCE_FRAC, candidate_plan
from ..plan import Plan
from .arithmetic import Words
from .banded import FxpBanded
from .base import RefusedError
from .scalars import power_of_two


def log2(value: int) -> int:
    """Return log2(value) in steps of ``2**-24``.

    The mantissa, in steps of ``2**-30``, is squared 24 times.
    """
    whole = value.bit_length() - 1
    step = power_of_two(-30)
    mantissa = floor(Fraction(value) * power_of_two(-whole) / step) * step
    digits = 0
    for _ in range(EVIDENCE_FRAC):
        mantissa = floor(mantissa * mantissa / step) * step
        digits = 2 * digits + (mantissa >= 2)
        mantissa = floor(mantissa / 2 / step) * step if mantissa >= 2 else mantissa
    return (whole << EVIDENCE_FRAC) + digits


class FxpTuning:
    """Evidence of all candidates.

    Attributes
    ----------
    evidence : list of int or None
        ``n log2 q + log2 det`` of each candidate, where a smaller value is better; None for a candidate that
        the forward recursion rejects.
    """

    def __init__(self, plan: Plan, y: Words) -> None:
        self.evidence = [self._of(candidate_plan(plan, k), y) for k in range(plan.sizes["K"])]

    @staticmethod
    def _of(plan: Plan, y: Words) -> int | None:
        """Return n log2 q + log2 det of one candidate, in steps of ``2**-24``."""
        solver = FxpBanded(plan, y)
        try:
            solver.forward()
        except RefusedError:
            return None
        pivots, last = plan.tables["pivot"].values, plan.integer("rows") - 1
        square, drop = (power_of_two(-plan.integer(name)) for name in ("square_shift", "evidence_shift"))
        total = sum(floor(floor(z * z * square) * pivots[min(i, last)] * drop)
                    for i, z in enumerate(solver.words))
        doubled = (2 * solver.exponent) << EVIDENCE_FRAC
        return len(y) * (log2(max(total, 1)) + doubled) + plan.integer("evidence_offset")

    def order(self) -> Iterator[int]:
        """Yield the candidates, the best first."""
        known = [(value, k) for k, value in enumerate(self.evidence) if value is not None]
        yield from (k for _, k in sorted(known))
