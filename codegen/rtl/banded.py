"""codegen.rtl: template context and latency of the banded Toeplitz solver."""

from __future__ import annotations

from typing import Any

from ...sim.plan import Plan
from . import ranged
from .common import literal

#: What the solver is made of; below comes before above.
MODULES = ("kc_shift_round", "kc_shift_sticky", "kc_arithmetic_shift", "kc_saturate", "kc_magnitude",
           "kc_bit_length", "kc_requantise", "kc_block_scale", "kc_ram", "kc_rom", "kc_banded", "kc_frame",
           "kc_solution_sender")
#: And with an intercept.
INTERCEPT_MODULES = ("kc_centre", "kc_beat_insert")
# Clocks of an intercept besides those of its words; of its beat.
_CENTRE, _INSERT = 11, 2
# Clocks from a row's last lag to the next row's; around a pass; between the passes; of a value sent.
_ROW, _PASS, _BETWEEN, _SEND = 9, 11, 5, 3


def modules(plan: Plan) -> tuple[str, ...]:
    """List the shared modules of the solver, dependencies first."""
    if plan.ranged:
        return (*(name for name in MODULES if name != "kc_banded"), *ranged.MODULES)
    return (*MODULES, *INTERCEPT_MODULES) if plan.bias else MODULES


def pass_cycles(n: int, band: int) -> int:
    """Return the clock cycles of one pass of the recursion over n rows.

    Block scaling is not included. A row takes one clock cycle per lag. The product with the nearest lag waits
    for the result of the previous row.
    """
    begins, last = 0, -_ROW
    for row in range(n):
        last = max(begins + max(min(row, band), 1) - 1, last + _ROW)
        begins = last + 1
    return last + _PASS


def banded_cycles(plan: Plan) -> int:
    """Return the clock cycles from the last y to the last alpha, without stalls.

    Each increase of a block exponent takes up to :func:`growth_cycles` more clock cycles. At most
    :func:`most_growths` increases occur.
    """
    n = plan.sizes["n"]
    centre = n + _CENTRE + _INSERT if plan.bias else 0
    passes = 2 * pass_cycles(n, plan.integer("band"))
    return centre + ranged.factor_cycles(plan) + passes + _BETWEEN + _SEND * n + 2


def growth_cycles(plan: Plan) -> int:
    """Return the maximum number of clock cycles for one increase of a block exponent.

    The block is rescaled, and the current row is restarted.
    """
    return plan.sizes["n"] + plan.integer("band") + 16


def most_growths(plan: Plan) -> int:
    """Return the maximum number of block exponent increases in one solution."""
    z = plan.integer("z_exp_max") + plan.word - 1
    return z + plan.integer("alpha_exp_max") - plan.integer("alpha_exp_min")


def table(plan: Plan, name: str, bits: int) -> list[str]:
    """Return the literals of a table in reverse order, as required by a packed vector."""
    return [f"{bits}'d{value & ((1 << bits) - 1)}" for value in reversed(plan.tables[name].values)]


def banded_context(plan: Plan) -> dict[str, Any]:
    """Build the template context of the banded solver."""
    limits = {name: literal(plan.integer(name), 64) for name in ("intercept_lo", "intercept_hi")
              if plan.bias}
    return limits | ranged.ranged_context(plan) | {
        "frac": plan.integer("factor_frac") - plan.integer("factor_shift"),
        "weight": table(plan, "weight", 32) if plan.bias else [],
        "factor": [] if plan.ranged else table(plan, "factor", plan.word),
        "pivot": [] if plan.ranged else table(plan, "pivot", 32),
        "z_rounding": plan.signals["z"].rounding.value, "banded_clocks": banded_cycles(plan),
        "growth_clocks": growth_cycles(plan), "most_growths": most_growths(plan)}
