"""codegen.hls: types, constants and tables of the banded Toeplitz solver."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from ...sim.plan import Plan
from ..rtl.common import shifted
from .widths import both, literal, word

#: Characters of a line of a table at most.
_LINE = 100


def _largest_sums(plan: Plan) -> tuple[int, int]:
    """Return bounds on a group of products, and on the sum of the shifted groups."""
    band, shift, head = (plan.integer(name) for name in ("band", "factor_shift", "factor_head"))
    if plan.ranged:  # what the plan proves for every lambda
        return (1 << 63 if shift else min(band << (2 * plan.word - 2), 1 << 61)), 1 << 61
    entries, rail = plan.tables["factor"].values, 1 << (plan.word - 1)
    bounds = [max(map(abs, entries[lag::band])) * rail for lag in range(band)]
    groups = [*(sum(bounds[lag:lag + 2]) for lag in range(0, min(head, band), 2)), sum(bounds[head:])]
    return max(groups), sum(shifted(group, shift) for group in groups)


def _geometric_types(plan: Plan) -> dict[str, str]:
    """Return the types with a geometric factor; the planner bounds the carry."""
    rail, pivot = 1 << (plan.word - 1), max(plan.tables["pivot"].values)
    full = 8 * rail << plan.integer("state_frac")
    return {"sum_t": both(full), "own_t": both(rail << 31), "coefficient_t": "kc::uint<31>",
            "pivot_t": word(0, pivot), "over_d_t": both(max(rail * pivot, full))}


def banded_types(plan: Plan) -> dict[str, str]:
    """Return the types of sums, pivots and weights."""
    if plan.geometric:
        return _geometric_types(plan)
    rail, frac = 1 << (plan.word - 1), plan.integer("factor_frac") - plan.integer("factor_shift")
    group, total = _largest_sums(plan)
    full = 2 * rail << frac  # y, or z / d, at the LSB of the sum; z starts one exponent below y
    pivot = (1 << 31) - 1 if plan.ranged else max(plan.tables["pivot"].values)
    found = {"group_t": both(group), "sum_t": both(total + full), "pivot_t": word(0, pivot),
             "over_d_t": both(max(rail * pivot, full))}
    if plan.ranged:
        found["generator_t"] = f"kc::sint<{63 if plan.long_factor else 32}>"
    if plan.bias:
        weights = plan.tables["weight"].values
        products = shifted(max(map(abs, weights)) * rail, plan.integer("weight_shift"))
        found |= {"weight_t": both(max(map(abs, weights))), "weighted_t": both(products * plan.sizes["n"])}
    return found


def banded_constants(plan: Plan, lanes: int) -> Iterator[tuple[str, str, str, str]]:
    """Yield the type, name, value and meaning of every constant."""
    if plan.geometric:
        renamed = {"factor_columns": "rows", "sum_frac": "state_frac"}
        for name in (*renamed, "pivot_frac", "alpha_frac", "z_exp_max"):
            meaning = "fraction bits of a sum" if name == "sum_frac" else ""
            yield "int", name, str(plan.integer(renamed.get(name, name))), meaning
        yield "coefficient_t", "rho", str(plan.integer("rho")), "31 fraction bits"
        return
    band = plan.integer("band")
    own = {"band": band, "band_rows": -(-band // lanes), "factor_columns": plan.integer("rows"),
           "sum_frac": plan.integer("factor_frac") - plan.integer("factor_shift")}
    names = ["factor_shift", "factor_head"] if plan.integer("factor_shift") else []
    names += ["pivot_frac", "alpha_frac", "z_exp_max"]
    names += ["factor_frac", "lambda_frac", "lambda_lo", "lambda_hi"] if plan.ranged else []
    names += ["weights", "weight_shift", "intercept_shift"] if plan.bias else []
    for name, value in (own | {name: plan.integer(name) for name in names}).items():
        yield "int", name, str(value), "fraction bits of a sum" if name == "sum_frac" else ""
    for name in ("intercept_lo", "intercept_hi") if plan.bias else ():
        yield "long long", name, literal(plan.integer(name)), ""


def _rows(values: Sequence[int], size: int) -> list[Sequence[int]]:
    """Split values into rows of `size` values."""
    return [values[first:first + size] for first in range(0, len(values), size)]


def banded_context(plan: Plan, lanes: int) -> dict[str, Any]:
    """Return the tables; a row of the factor has one value per lane."""
    if plan.geometric:  # the template reads its tables from the plan
        return {}
    band = plan.integer("band")
    lines: list[str] = []
    for column in _rows(() if plan.ranged else plan.tables["factor"].values, band):
        padded = [*column, *([0] * (-band % lanes))]
        rows = [f"{{{', '.join(map(str, row))}}}" for row in _rows(padded, lanes)]
        lines += textwrap.wrap(", ".join(rows), _LINE)
    return {"factor": [line.rstrip(",") for line in lines], "band_rows": -(-band // lanes),
            "grouped": plan.integer("factor_shift") > 0,
            "weight": [literal(value) for value in plan.tables["weight"].values] if plan.bias else []}
