"""sim.model: integers and arrays of the plan for recursion and refinement."""

from __future__ import annotations

import numpy as np

from ...plan import Plan
from ..kernel import cast_of
from .banded import BandedConstants, BandedTables
from .candidate import banded_constants, banded_tables, certify_constants
from .levinson import LevinsonConstants
from .refine import RefineArrays, RefineConstants

#: For refinement by Levinson's recursion.
_NO_TABLES = BandedTables(np.zeros((1, 1), np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))


def solver_constants(plan: Plan) -> LevinsonConstants:
    """Return the integers of the recursion; zeros for look-ahead."""
    if plan.looks_ahead or plan.banded:
        word = plan.integer("solver_word") if plan.refine else 0  # of the banded solver's corrections
        return LevinsonConstants._make(
            [word, *[0] * (len(LevinsonConstants._fields) - 2), cast_of(plan, "alpha")])
    return LevinsonConstants._make(
        [plan.integer("solver_word"), *(plan.integer(name) for name in LevinsonConstants._fields[1:-2]),
         int(plan.static), cast_of(plan, "a")])


def refine_constants(plan: Plan) -> RefineConstants:
    """Return the integers for refinement and for the intercept."""
    refined = plan.banded and plan.refine > 0
    return RefineConstants(
        plan.refine, int(plan.bias), plan.integer("alpha_exp_min"), plan.integer("alpha_exp_max"),
        cast_of(plan, "alpha"), cast_of(plan, "y"), certify_constants(plan), solver_constants(plan),
        banded_constants(plan) if refined else BandedConstants._make(
            [*[0] * (len(BandedConstants._fields) - 2), cast_of(plan, "alpha"), cast_of(plan, "alpha")]),
        plan.integer("band_head") if refined else 0)


def refine_arrays(plan: Plan) -> RefineArrays:
    """Return the arrays for refinement and the intercept, filled with zeros."""
    n, sides = plan.sizes["n"], 1 + plan.bias
    rhs, found = (np.zeros((sides, n), dtype=np.int64) for _ in range(2))
    return RefineArrays(np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), rhs, found,
                        np.zeros(3 + 2 * sides + n, dtype=np.int64),
                        banded_tables(plan) if plan.banded and plan.refine else _NO_TABLES)
