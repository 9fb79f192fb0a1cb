"""codegen.rtl: context and latency of the solver with a geometric factor."""

from __future__ import annotations

from typing import Any

from ...sim.plan import Plan
from .banded import most_growths, table

#: What the solver is made of; below comes before above.
MODULES = ("kc_shift_round", "kc_shift_sticky", "kc_arithmetic_shift", "kc_saturate", "kc_magnitude",
           "kc_bit_length", "kc_requantise", "kc_block_scale", "kc_mul_pieces", "kc_ram", "kc_rom",
           "kc_geometric", "kc_frame", "kc_solution_sender")
# Clocks of a product besides those of its pieces; of a row until its value is written; before the first row
# of a pass and before the first exponent of alpha, besides those of a word's pieces; of a value sent; around
# all these; of an increase of an exponent besides those of the block.
_PRODUCT, _WRITTEN, _LEAD, _SEND, _AROUND, _GROWTH = 3, 3, 10, 3, 3, 6


def _pieces(plan: Plan) -> int:
    """Return the number of pieces of 16 bits of a running value."""
    return 2 if plan.word == 16 else 4


def row_cycles(plan: Plan) -> int:
    """Return the clock cycles of a row whose generator is that of the next row."""
    return _WRITTEN + 2 * (_pieces(plan) + _PRODUCT)


def geometric_cycles(plan: Plan) -> int:
    """Return the clock cycles from the last y to the last alpha, without stalls.

    Each increase of a block exponent takes up to :func:`growth_cycles` more clock cycles.
    """
    n, pieces = plan.sizes["n"], _pieces(plan)
    rows = 2 * ((n - 1) * row_cycles(plan) + _WRITTEN)
    ratios = (plan.integer("rows") - 1) * (pieces + _PRODUCT)
    return rows + ratios + 3 * (pieces // 2 + _LEAD) + _SEND * n + _AROUND


def growth_cycles(plan: Plan) -> int:
    """Return the maximum number of clock cycles for one increase of a block exponent."""
    return plan.sizes["n"] + _GROWTH


def geometric_context(plan: Plan) -> dict[str, Any]:
    """Build the template context of the solver."""
    return {name: table(plan, name, 32) for name in ("generator", "ratio", "pivot")} | {
        "z_rounding": plan.signals["z"].rounding.value, "banded_clocks": geometric_cycles(plan),
        "growth_clocks": growth_cycles(plan), "most_growths": most_growths(plan),
        "row_clocks": row_cycles(plan), "ratio_clocks": _pieces(plan) + _PRODUCT}
