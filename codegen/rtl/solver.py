"""codegen.rtl: Levinson's recursion as a core, and the trainer on a uniform grid that is built around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ..context import context
from .common import literal, model_tag, primitives, rendered, signed_bits
from .core import Core

#: Samples of a system that the solver may hold.
MOST_SAMPLES = 2048
#: What the solver is made of; below comes before above.
_MODULES = ("kc_shift_round", "kc_align", "kc_saturate", "kc_magnitude", "kc_bit_length", "kc_normalise",
            "kc_narrow", "kc_mul_shift", "kc_divide", "kc_block_scale", "kc_ram", "kc_lane_ram",
            "kc_window_ram", "kc_levinson_lane", "kc_levinson_scalars", "kc_levinson", "kc_frame",
            "kc_solution_sender")
#: What the trainer is made of besides.
_TRAINER_MODULES = ("kc_rom", "kc_rom_sender", "kc_affine", "kc_affine_stream", "kc_model_sender",
                    "kc_registers")

# Clocks: of step 0; from the issue of xi's sum to xi, beside its rows; from xi to c, or from the update of a,
# beside its rows, where that is longer; of the end of an update; from one word sent to the next.
_FIRST, _XI, _C, _C_AFTER_A, _UPDATE, _SEND = 49, 50, 47, 14, 9, 6


def recursion_cycles(n: int, lanes: int = 1) -> int:
    """Clocks of Levinson's recursion over n samples in so many lanes.

    A step of m words takes four passes of ``rows = ceil(m / lanes)`` clocks.  While xi is divided the second
    one runs, while c is divided the third: where they are short, the division is waited for.

    Parameters
    ----------
    n : int
    lanes : int
        Multipliers, a power of two.

    Returns
    -------
    int
        About ``2 n**2 / lanes``.
    """
    steps = (-(-m // lanes) for m in range(1, n))
    return _FIRST + sum(max(2 * rows + 1, rows + _XI) + max(rows + _C_AFTER_A, _C) + rows + _UPDATE
                        for rows in steps)


def solver_cycles(plan: Plan, lanes: int = 1) -> int:
    """Clocks from the last beat of the two frames to the last beat of alpha, when no stream waits."""
    n = plan.sizes["n"]
    return recursion_cycles(n, lanes) + _SEND * n + 2


def solver_overhead(plan: Plan, lanes: int = 1) -> int:
    """Clocks of :func:`solver_cycles` beyond the ``2 n**2 / lanes`` of the multiplications."""
    return solver_cycles(plan, lanes) - 2 * plan.sizes["n"] ** 2 // lanes


def _refusal(plan: Plan) -> KerncastError | None:
    """Only the plain recursion, of a system that the memories hold."""
    asked = {"solver": ("levinson", 'solver = "levinson"'), "refine": ("0", "refine = 0"),
             "bias": ("0", "bias = false")}
    if plan.algorithm != "toeplitz_rls":
        return fail("E307", "the solver in SystemVerilog is Levinson's", where="[model] algorithm",
                    value=plan.algorithm, allowed="toeplitz_rls", remedy="take another core, or toeplitz_rls")
    for key, (value, allowed) in asked.items():
        if plan.options[key] != value:
            return fail("E307", "the solver in SystemVerilog is the plain recursion",
                        where=f"[toeplitz] {key}", value=plan.options[key], allowed=allowed,
                        remedy=f"set {allowed}")
    if plan.sizes["n"] > MOST_SAMPLES:
        return fail("E306", "the system is too large for the solver in SystemVerilog", where=plan.size_key,
                    value=plan.sizes["n"], allowed=f"up to {MOST_SAMPLES} samples", remedy="lower n")
    return None


def _trainer_refusal(plan: Plan) -> KerncastError | None:
    """The solver, on a uniform grid."""
    refusal = _refusal(plan)
    if refusal is None and plan.options["scheme"] != "uniform":
        refusal = fail("E307", "the trainer in SystemVerilog knows the uniform grid only",
                       where="[toeplitz] scheme", value=plan.options["scheme"], allowed="uniform",
                       remedy="set scheme = \"uniform\", or send the first row to the solver")
    return refusal


def first_row(plan: Plan) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The first row (n,) of a uniform grid over 1 + lambda, in words of r: a constant of the plan."""
    # Here, because the model brings its compiler, a second's start, along.
    from ...sim.model.first_row import uniform_row
    from ...sim.model.kernel import cast_of, kernel_constants
    from ...sim.model.ranges import Ranges

    row = np.zeros(plan.sizes["n"], dtype=np.int64)
    uniform_row(row, plan.integer("x_step"), plan.integer("lambda_rho"), kernel_constants(plan),
                cast_of(plan, "r"), Ranges(plan).log)
    return row


def _context(plan: Plan) -> dict[str, Any]:
    """What the templates see: the names of the C templates, and literals."""
    a, alpha, y = (plan.signals[name] for name in ("a", "alpha", "y"))
    offset, gain = plan.integer("y_offset"), plan.integer("y_gain")
    widths = {"offset_bits": signed_bits([offset]), "gain_bits": signed_bits([gain])}
    return context(plan, str(plan.evidence.get("spec", "of no file"))) | widths | {
        "W": plan.word, "n": plan.sizes["n"], "raw": plan.signals["y_raw"].format,
        "y_lo": literal(y.lo, 64), "y_hi": literal(y.hi, 64), "y_rounding": y.rounding.value,
        "offset": literal(offset, widths["offset_bits"]), "gain": literal(gain, widths["gain_bits"]),
        "a_rounding": a.rounding.value, "alpha_rounding": alpha.rounding.value,
        "alpha_lo": literal(alpha.format.lo, 64), "alpha_hi": literal(alpha.format.hi, 64),
        "cycles": {lanes: solver_cycles(plan, lanes) for lanes in (1, 2, 4)},
        "overhead": {lanes: solver_overhead(plan, lanes) for lanes in (1, 2, 4)},
        "static": int(plan.options["scaling"] == "static"),
        "tag": f"0x{model_tag(plan):0{plan.word // 4}x}",
    }


def _render(plan: Plan) -> dict[str, str]:
    p = plan.name
    return primitives(_MODULES) | rendered(
        {f"{p}_solver.sv": "solver.sv", f"{p}_solver.f": "solver.f", "README.md": "solver.md"},
        _context(plan) | {"modules": _MODULES, "tops": ("solver",)})


def _render_trainer(plan: Plan) -> dict[str, str]:
    p, modules = plan.name, (*_MODULES, *_TRAINER_MODULES)
    row = [f"{plan.word}'d{word}" for word in reversed(first_row(plan).tolist())]
    return primitives(modules) | rendered({f"{p}_solver.sv": "solver.sv"}, _context(plan)) | rendered(
        {f"{p}_trainer.sv": "trainer.sv", f"{p}_trainer_axi.sv": "trainer_axi.sv",
         f"{p}_trainer.f": "solver.f", "README.md": "trainer.md"},
        _context(plan) | {"modules": modules, "tops": ("solver", "trainer", "trainer_axi"), "row": row})


def trainer_cycles(plan: Plan, lanes: int = 1) -> int:
    """Clocks from the first beat of y to the last one of the model, when no stream waits."""
    n = plan.sizes["n"]
    return 6 * n + solver_cycles(plan, lanes)


SOLVER = Core("solver", _refusal, _render, solver_cycles)
TRAINER = Core("trainer", _trainer_refusal, _render_trainer, trainer_cycles)
