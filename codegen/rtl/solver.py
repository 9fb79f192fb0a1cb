"""codegen.rtl: the Toeplitz solver core (Levinson's recursion or banded factor)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ..c.context import context
from . import axi, banded, geometric, intercept, ranged
from .axi import Ports, Stream
from .common import literal, model_tag, primitives, render_files, target_context
from .core import RtlCore
from .predictor import no_candidates

#: Samples of a system that the solver may hold.
MOST_SAMPLES = 2048
#: What the solver is made of; below comes before above.
MODULES = ("kc_shift_round", "kc_shift_sticky", "kc_arithmetic_shift", "kc_saturate", "kc_magnitude",
           "kc_bit_length", "kc_requantise", "kc_mul_shift", "kc_divide", "kc_block_scale", "kc_ram",
           "kc_ram_banked", "kc_ram_banked_reg", "kc_ram_sliding", "kc_sum_tree", "kc_max_tree",
           "kc_levinson_lane", "kc_levinson_scalars", "kc_levinson", "kc_frame", "kc_solution_sender")
# Clocks of the parts: of a division; without it, from the sum of xi to xi and to the new eps; from the sum
# of c to c; from the update of a to c; from words to their sum, and until they are written; of a word sent.
_DIVIDE = 21
_XI, _EPS, _C, _C_AFTER_A = 9, 12, 11, 15
_SUM, _WRITTEN = 8, 10
_SEND = 8


def recursion_cycles(n: int, lanes: int = 1, last_lag: int | None = None) -> int:
    """Return the clock cycles of Levinson's recursion for n samples.

    Step m performs two updates of ``rows = m // lanes + 1`` clock cycles. A dot product over the rows in
    which r is not zero follows each update. A row can be read at the earliest ten clock cycles after its
    update. Two passes overlap with the division for xi or c; short passes wait for the division. A sum or
    maximum over the lanes takes one clock cycle per level of an adder or comparator tree.

    Parameters
    ----------
    n : int
    lanes : int
        Number of hardware multipliers, a power of two.
    last_lag : int, optional
        Last lag at which the first row may be nonzero; by default, n - 1.

    Returns
    -------
    int
        About ``2 n**2 / lanes``, or half of that if `last_lag` is small.
    """
    lag = n - 1 if last_lag is None else last_lag

    def passes(m: int) -> int:
        rows, first = m // lanes + 1, max(0, m + 1 - lag) // lanes
        return max(rows, first + _WRITTEN) + rows - first

    # `last` is the clock of the last words of a sum; at first that of a, of one row.
    last, c_stands, levels = 0, _DIVIDE + _C, lanes.bit_length() - 1
    for m in range(1, n):
        # x of the step before is updated and summed, while xi is divided ...
        xi_begins = max(last + _SUM + levels, c_stands)
        last = max(last, c_stands) + passes(m - 1)
        # ... and a of this one, while c is.
        a_begins = max(last, xi_begins + _DIVIDE + _XI)
        c_begins = max(xi_begins + _DIVIDE + _EPS, last + _SUM + levels)
        c_stands = max(c_begins + _DIVIDE + _C, a_begins + m // lanes + 1 + _C_AFTER_A + levels)
        last = a_begins + passes(m)
    return c_stands + (n - 1) // lanes + 1 + _WRITTEN + levels + 2


def read_lags(plan: Plan) -> int:
    """Return the index of the last element of the first row that the solver reads."""
    return max(1, plan.integer("last_lag"))


def solver_cycles(plan: Plan, lanes: int = 1) -> int:
    """Return the clock cycles from the last input to the last alpha, without stalls."""
    if plan.banded:
        return geometric.geometric_cycles(plan) if plan.geometric else banded.banded_cycles(plan)
    n = plan.sizes["n"]
    recursion = recursion_cycles(n, lanes, read_lags(plan))
    return intercept.intercept_cycles(n, recursion) if plan.bias else recursion + _SEND * n + 2


def solver_overhead(plan: Plan, lanes: int = 1) -> int:
    """Return the clock cycles of :func:`solver_cycles` minus its multiplications.

    One multiplication is counted as one clock cycle of a lane. An update of m elements has m multiplications;
    a dot product has m, or :func:`read_lags` if that is less.
    """
    n, lag = plan.sizes["n"], read_lags(plan)
    products = 2 * (1 + plan.bias) * sum(m + min(m, lag) for m in range(1, n + 1))
    return solver_cycles(plan, lanes) - products // lanes


def worst_cycles(plan: Plan) -> int:
    """Return the clock cycles of a banded solution with all exponent increases."""
    growth = geometric.growth_cycles(plan) if plan.geometric else banded.growth_cycles(plan)
    return solver_cycles(plan) + banded.most_growths(plan) * growth


def refusal(plan: Plan) -> KerncastError | None:
    """Return an error if the solver does not support a plan; else None.

    The plan must have a Toeplitz system that is solved with Levinson's recursion or a banded factor, without
    refinement, and the system must fit the maximum memory of the solver. Several outputs are solved one after
    the other.
    """
    asked = {"solver": (("levinson", "banded"), 'solver = "levinson" or solver = "banded"'),
             "refine": (("0",), "refine = 0")}
    if plan.algorithm != "toeplitz_rls":
        return fail("E307", "the SystemVerilog solver supports only Toeplitz systems",
                    where="[model] algorithm", value=plan.algorithm, allowed="toeplitz_rls",
                    remedy='choose another core, or set algorithm = "toeplitz_rls"')
    if plan.tunes:
        return no_candidates(plan, "solver")
    refused = ranged.refusal(plan, "solver")
    if refused is not None:
        return refused
    if plan.outputs > 1 and plan.bias:
        return fail("E307", "the SystemVerilog solver computes the intercept of one output only",
                    where="[toeplitz] bias", value="true", allowed="false, or one output",
                    remedy="remove `bias` or `outputs`, or train in C")
    for key, (values, allowed) in asked.items():
        if plan.options[key] not in values:
            return fail("E307", "the SystemVerilog solver supports only Levinson's recursion and the banded "
                                "solver, without refinement",
                        where=f"[toeplitz] {key}", value=plan.options[key], allowed=allowed,
                        remedy=f"set {allowed}")
    if plan.sizes["n"] > MOST_SAMPLES:
        return fail("E306", "the system is too large for the SystemVerilog solver", where=plan.size_key,
                    value=plan.sizes["n"], allowed=f"up to {MOST_SAMPLES} samples", remedy="lower n")
    return None


def first_row(plan: Plan) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the first row (n,) of the Toeplitz matrix of a uniform grid.

    The matrix is divided by 1 + lambda. The row is a constant of the plan, in the fixed-point format of r.
    """
    # Here, because the model brings its compiler, a second's start, along.
    from ...sim.model.kernel import cast_of, kernel_constants
    from ...sim.model.ranges import Ranges
    from ...sim.model.toeplitz.first_row import uniform_row

    row = np.zeros(plan.sizes["n"], dtype=np.int64)
    uniform_row(row, plan.integer("last_lag"), plan.integer("x_step"), plan.integer("ridge_scale"),
                kernel_constants(plan), cast_of(plan, "r"), Ranges(plan).log)
    return row


def solver_context(plan: Plan) -> dict[str, Any]:
    """Build the template context of the solver."""
    values = context(plan, str(plan.evidence.get("spec", "of no file"))) | target_context(plan) | {
        "W": plan.word, "n": plan.sizes["n"], "tag": f"0x{model_tag(plan):0{plan.word // 4}x}",
        "alpha_lo": literal(plan.signals["alpha"].format.lo, 64),
        "alpha_hi": literal(plan.signals["alpha"].format.hi, 64),
        "alpha_rounding": plan.signals["alpha"].rounding.value}
    if plan.banded:
        return values | (geometric.geometric_context(plan) if plan.geometric
                         else banded.banded_context(plan))
    return values | {
        **({"target_shift": intercept.target_shift(plan)} if plan.bias else {}),
        "a_rounding": plan.signals["a"].rounding.value, "static": int(plan.static),
        "cycles": {lanes: solver_cycles(plan, lanes) for lanes in (1, 2, 4)},
        "overhead": {lanes: solver_overhead(plan, lanes) for lanes in (1, 2, 4)},
        "last_lag": read_lags(plan)}


def solver_modules(plan: Plan) -> tuple[str, ...]:
    """List the shared modules that a plan's solver needs, dependencies first."""
    if plan.geometric:
        return geometric.MODULES
    return banded.modules(plan) if plan.banded else (*MODULES, *intercept.MODULES) if plan.bias else MODULES


def solver_template(plan: Plan) -> str:
    """Return the name of the template of a plan's solver, without file name extension."""
    return "ranged_solver" if plan.ranged else "banded_solver" if plan.banded else "solver"


def _ports(plan: Plan) -> Ports:
    """Return the ports of the solver, with the streams in the order of the template.

    The banded solver has no input for the first row.
    """
    row = () if plan.banded else (Stream("r", True, plan.word),)
    bad_row = () if plan.banded else (("error_r", "a frame of a first row has tlast at the wrong beat"),)
    return Ports("solver", (*row, Stream("y", True, plan.word), Stream("alpha", False, plan.word, 3)),
                 ("y", "alpha"),
                 (*bad_row, ("error_y", "a frame of a right-hand side has tlast at the wrong beat"),
                  ("dropped", "a system was dropped because one of its frames was wrong")),
                 lanes=not plan.banded)


def _render(plan: Plan) -> dict[str, str]:
    p, modules, template = plan.name, (*solver_modules(plan), *axi.MODULES), solver_template(plan)
    values = solver_context(plan) | _ports(plan).context(plan)
    with_memories = {"banded": "banded_memories.sv"} if plan.ranged else {}
    values |= {"modules": modules, "tops": (*with_memories, "solver", "solver_axi")}
    files = primitives(modules) | render_files(
        {f"{p}_{name}.sv": text for name, text in with_memories.items()}
        | {f"{p}_solver.sv": f"{template}.sv", f"{p}_solver_axi.sv": "axi.sv", f"{p}_solver.f": "solver.f",
           "README.md": "banded_solver.md" if plan.banded else "solver.md"} | axi.software_files(p, "solver"),
        values)
    return files | axi.package_files(p, "solver", values, files)


SOLVER = RtlCore("solver", refusal, _render, _ports, solver_cycles)
