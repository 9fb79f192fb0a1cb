"""sim: the pairs of sigma and lambda that a self-tuning trainer compares.

The plan of such a trainer contains the constants and tables of every candidate. :func:`candidate_plan`
returns the plan of a trainer that has only one candidate.
"""

from __future__ import annotations

from dataclasses import replace

from .backend import Outputs
from .plan import Plan

#: Constants with one integer per candidate: ``candidate_band`` and so on.
OWN = ("band", "rows", "factor_frac", "factor_shift", "factor_head", "band_head", "pivot_frac", "ridge_scale",
       "residual_shift", "residual_slack", "bound_gain", "bound_shift", "fitted_scale", "fitted_shift",
       "kernel_c", "kernel_shift", "kernel_d2_end", "last_lag", "z_exp_max", "alpha_exp_max",
       "evidence_offset")
#: Tables of each candidate: ``factor_0`` and so on.
TABLES = ("factor", "pivot", "band")
#: Fraction bits of an evidence.
EVIDENCE_FRAC = 24
#: The evidence of a candidate that is refused.
NO_EVIDENCE = 1 << 62


def pairs_text(pairs: tuple[tuple[float, float], ...]) -> str:
    """Return pairs of sigma and lambda as text, for the options of a plan."""
    return " ".join(f"{sigma!r}:{lam!r}" for sigma, lam in pairs)


def candidate_pairs(plan: Plan) -> list[tuple[str, str]]:
    """Return sigma and lambda of each candidate as text.

    The list is empty if the plan has no candidates.
    """
    found = [pair.split(":") for pair in plan.options.get("candidates", "").split()]
    return [(sigma, lam) for sigma, lam in found]


def chosen_plan(plan: Plan, state: Outputs) -> Plan:
    """Return the plan of the candidate that the training chose."""
    return candidate_plan(plan, int(state["candidate"][0])) if plan.tunes else plan


def candidate_plan(plan: Plan, k: int) -> Plan:
    """Return the plan of a trainer that has only candidate k.

    A plan without candidates is returned unchanged.
    """
    if not plan.tunes:
        return plan
    sigma, lam = candidate_pairs(plan)[k]
    constants = {name: value for name, value in plan.constants.items() if not name.startswith("candidate_")}
    constants |= {name: plan.integers(f"candidate_{name}")[k] for name in OWN
                  if f"candidate_{name}" in plan.constants}
    tables = {name: table for name, table in plan.tables.items() if name.rpartition("_")[0] not in TABLES}
    tables |= {name: plan.tables[f"{name}_{k}"] for name in TABLES}
    options = {name: text for name, text in plan.options.items() if name != "candidates"}
    return replace(plan, constants=constants, tables=tables,
                   options=options | {"sigma": sigma, "lambda": lam})
