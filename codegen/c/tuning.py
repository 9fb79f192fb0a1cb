"""codegen: build the template context of a trainer that tunes hyperparameters.

The trainer compares candidates; each is a pair of sigma and lambda.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...sim.candidates import EVIDENCE_FRAC, NO_EVIDENCE, OWN, TABLES, candidate_pairs
from ...sim.plan import Plan

#: Constants that no C uses, or that have another C type than the smallest one that holds them.
_UNUSED = ("last_lag",)
#: Members of a candidate that point to its tables.
_MEMBERS = {"factor": "factor", "pivot": "pivot", "band": "first_row"}
_TYPES = {"kernel_d2_end": "{p}_distance_t", "bound_gain": "int64_t", "evidence_offset": "int64_t"}
_MEANING = {"band": "last lag of the first row", "rows": "number of distinct columns of L",
            "factor_frac": "fraction bits of L", "pivot_frac": "those of 1 / d",
            "ridge_scale": "1 / (1 + lambda)",
            "evidence_offset": "log2 det (T + lambda I) minus n * pivot_frac, 24 fraction bits"}
#: Constants that the code of loops depends on.
_SHAPE = ("band", "factor_frac", "factor_shift", "factor_head", "band_head", "residual_shift")


def varying(plan: Plan) -> tuple[str, ...]:
    """Return the constants that differ between candidates. The others become macros."""
    each = {name: plan.integers(f"candidate_{name}") for name in OWN
            if f"candidate_{name}" in plan.constants and name not in _UNUSED}
    return tuple(name for name, values in each.items() if len(set(values)) > 1 or name == "evidence_offset")


def _c_type(plan: Plan, name: str) -> str:
    wide = any(not -(1 << 31) <= v < 1 << 31 for v in plan.integers(f"candidate_{name}"))
    return _TYPES.get(name, "int64_t" if wide else "int32_t").format(p=plan.name)


def _shapes(plan: Plan, arguments: list[str]) -> list[tuple[list[int], list[int]]]:
    """Group the candidates for which a loop has the same arguments.

    A separate copy of the loop, with constant arguments, is generated for each group.

    Returns
    -------
    list of (list of int, list of int)
        For each group, the indices of its candidates and the values of the arguments, in order of group size.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for k in range(len(candidate_pairs(plan))):
        found = {name: plan.integers(f"candidate_{name}")[k] for name in _SHAPE}
        found["frac"] = found["factor_frac"] - found["factor_shift"]
        groups.setdefault(tuple(found[name] for name in arguments), []).append(k)
    return sorted(((members, list(key)) for key, members in groups.items()), key=lambda group: len(group[0]))


def _loops(plan: Plan, uses: Callable[..., bool]) -> dict[str, Any]:
    """Group the candidates that share the code of the recursions, and of the residual."""
    wide = plan.word > 16  # products are shifted
    heads = ["factor_head", "factor_shift"] if wide and uses("factor_head", "factor_shift") else []
    solve = ["band", *(["frac"] if uses("factor_frac", "factor_shift") else []), *heads]
    certify = ["band", *(["band_head", "residual_shift"] if wide else [])]
    return {"shapes": _shapes(plan, solve), "row_shapes": _shapes(plan, certify),
            "row_shape_names": ["band", "head", "shift"][:len(certify)]}


def tuning_context(plan: Plan, number: Any) -> dict[str, Any]:
    """Build the template context of a trainer that compares candidates.

    Parameters
    ----------
    plan : Plan
    number : callable
        Formats an integer in C.

    Returns
    -------
    dict
        Three entries are functions: ``own`` returns the C expression of a constant, ``table`` that of a
        table, for the current candidate or the only pair; ``uses`` tests whether any of the named constants
        differs between candidates.
    """
    p, names = plan.name, varying(plan)

    def own(name: str) -> str:
        if plan.ranged and name == "fitted_scale":
            return "(int64_t)t->lambda"
        if plan.long_factor and name == "pivot_frac":
            return "t->pivot_frac"
        return f"c->{name}" if name in names else f"{p.upper()}_{name.upper()}"

    def table(name: str) -> str:
        if plan.ranged and name in ("factor", "pivot"):
            return f"t->{name}"
        return f"c->{_MEMBERS[name]}" if plan.tunes else f"{p}_table_{name}"

    def uses(*wanted: str) -> bool:
        return any(name in names for name in wanted)

    members = [(_c_type(plan, name), name, _MEANING.get(name, "")) for name in names]
    members.sort(key=lambda member: member[0] == "int32_t")
    rows = [[*(f"{p}_table_{name}_{k}" for name in TABLES),
             *(number(plan.integers(f"candidate_{name}")[k]) for _, name, _ in members)]
            for k in range(len(candidate_pairs(plan)))]
    return {"ranged": plan.ranged, "in_factor": "const" if plan.ranged else "KC_TABLE",
            "own_trainer": f"const {p}_trainer_t *t, " if plan.ranged else "",
            "unit_of_row": plan.signals["r"].unit if plan.ranged else "(1 + lambda)", "tuned": plan.tunes,
            "own": own, "table": table, "uses": uses, "long_factor": plan.long_factor,
            "own_kernel": uses("kernel_c", "kernel_shift", "kernel_d2_end"),
            "given": f"KC_TABLE {p}_candidate_t *c, ", "own_bound": uses("bound_gain", "bound_shift"),
            "candidate_members": members,
            "candidate_rows": rows, "candidate_pairs": candidate_pairs(plan), "own_names": names,
            "candidate_tables": [(_MEMBERS[name], plan.tables[f"{name}_0"].format.c_type) for name in TABLES
                                 if plan.tunes],
            "evidence_frac": EVIDENCE_FRAC, "no_evidence": number(NO_EVIDENCE)} | _loops(plan, uses)
