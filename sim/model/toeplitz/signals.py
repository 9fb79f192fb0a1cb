"""sim.model: several signals on one grid, solved one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...plan import Plan
from ...primitives import Words
from ...statuses import DeviceStatus
from ..outputs import align_outputs
from ..ranges import Ranges
from .banded import banded
from .candidate import candidate_of


class Solution(NamedTuple):
    """Status, exponent and alpha (n,) of one signal; empty if it was not solved."""

    status: int
    exponent: int
    alpha: Words


def solve_signal(plan: Plan, y: Words) -> Solution:
    """Solve for one signal y (n,) without an intercept, as the solver cores do."""
    alpha, exponent, c = np.zeros(len(y), dtype=np.int64), np.zeros(1, dtype=np.int64), candidate_of(plan, 0)
    status = banded(y, alpha, 0, c.tables, exponent, c.constants, Ranges(plan).log)
    return Solution(int(status), int(exponent[0]), alpha) if status == DeviceStatus.OK \
        else Solution(int(status), 0, alpha[:0])


def join_signals(plan: Plan, found: Sequence[Solution]) -> tuple[int, dict[str, object]]:
    """Return the status and the members of the model for all signals.

    The coefficients are rounded to the largest exponent. If a signal was not solved, its status is returned
    without members.
    """
    for each in found:
        if each.status != DeviceStatus.OK:
            return each.status, {}
    alpha, exponents = np.stack([each.alpha for each in found]), np.array([each.exponent for each in found])
    exponent = align_outputs(alpha, exponents, plan.integer("alpha_exp_min"))
    return DeviceStatus.OK, {"trained": 1, "alpha": alpha.ravel(), "alpha_exp": int(exponent)}
