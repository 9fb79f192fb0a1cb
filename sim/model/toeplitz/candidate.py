"""sim.model: integers and tables of the plan for the banded solver and its bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...candidates import candidate_plan
from ...plan import Plan
from ..bound import BoundConstants
from ..certify import CertifyConstants
from ..kernel import Cast, KernelConstants, cast_of, kernel_constants
from .banded import BandedConstants, BandedTables
from .intercept import InterceptConstants
from .ranged import Ranged, band_of, diagonal_excess
from .tuning import EvidenceConstants


def certify_constants(plan: Plan) -> CertifyConstants:
    """Return the integer constants of the certified bound."""
    return CertifyConstants._make(
        [plan.word, *(plan.integer(name) for name in CertifyConstants._fields[1:-1]),
         BoundConstants._make(plan.integer(name) for name in BoundConstants._fields)])


def banded_constants(plan: Plan) -> BandedConstants:
    """Return the integers of the banded solver.

    With refinement, they are those for corrections of alpha.
    """
    z, alpha = cast_of(plan, "z"), cast_of(plan, "alpha")
    found = BandedConstants._make(
        [plan.word, *(plan.integer(name) for name in BandedConstants._fields[1:-2]), z, alpha])
    if plan.refine == 0:
        return found
    word = plan.integer("solver_word")
    return found._replace(word=word, alpha_frac=word - 1, alpha_exp_min=plan.integer("x_exp_min"),
                          alpha_exp_max=plan.integer("x_exp_max"), alpha=Cast(alpha.rounding, z.lo, z.hi))


def banded_tables(plan: Plan) -> BandedTables:
    """Return the tables of the banded solver."""
    factor, pivot, band = (np.array(plan.tables[name].values, dtype=np.int64)
                           for name in BandedTables._fields)
    return BandedTables(factor.reshape(plan.integer("rows"), plan.integer("band")), pivot, band)


def intercept_constants(plan: Plan) -> InterceptConstants:
    """Return the integers of the banded solver's intercept."""
    return InterceptConstants._make(
        [*(plan.integer(name) for name in InterceptConstants._fields[:-1]), plan.signals["y"].rounding.value])


class Candidate(NamedTuple):
    """Integers of the plan for training with one pair of sigma and lambda."""

    constants: BandedConstants
    tables: BandedTables
    certify: CertifyConstants
    evidence: EvidenceConstants
    kernel: KernelConstants
    excess: int


def ranged_candidate(plan: Plan, found: Ranged) -> Candidate:
    """Return the candidate of a plan with a run-time lambda, whose factor is `found`."""
    constants = banded_constants(plan)._replace(pivot_frac=int(found.pivot_frac[0]))
    return Candidate(constants, BandedTables(found.factor, found.pivot, band_of(plan)),
                     certify_constants(plan), EvidenceConstants(0, 0, 0, 0), kernel_constants(plan),
                     diagonal_excess(plan))


def candidate_of(plan: Plan, k: int) -> Candidate:
    """Return candidate k of a plan; k is 0 if the plan has no candidates."""
    alone = candidate_plan(plan, k)
    own = [alone.integer(name) if plan.tunes else 0 for name in
           ("rows", "square_shift", "evidence_shift", "evidence_offset")]
    return Candidate(banded_constants(alone), banded_tables(alone), certify_constants(alone),
                     EvidenceConstants(*own), kernel_constants(alone), 0)
