"""codegen.rtl: the core of the fitted values y - lambda alpha.

It has AXI4-Stream ports only, and no registers.
"""

from __future__ import annotations

from ...sim.errors import KerncastError, fail
from ...sim.plan import Plan
from ..c.context import context
from .axi import Ports, Stream
from .common import cast_format, literal, primitives, render_files
from .core import RtlCore
from .predictor import no_candidates
from .solver import SOLVER

#: What the core is made of; below comes before above.
MODULES = ("kc_shift_round", "kc_shift_sticky", "kc_saturate", "kc_mul_signed", "kc_delay", "kc_fitted",
           "kc_ram", "kc_frame", "kc_queue")
# Clocks from a coefficient to its value: memory of y, kc_fitted, and queue.
_VALUE = 1 + 8 + 1


def fitted_cycles(plan: Plan, lanes: int = 1) -> int:
    """Return the clock cycles from the exponent to the last value, without stalls."""
    return plan.bias + plan.sizes["n"] + _VALUE


def _refusal(plan: Plan) -> KerncastError | None:
    """Return an error if the core does not support a plan; else None."""
    if not plan.uniform:
        return fail("E307", "the core of fitted values needs a Toeplitz system on a uniform grid",
                    where="[toeplitz] scheme", value=plan.options.get("scheme", "none"), allowed="uniform",
                    remedy='set [toeplitz] scheme = "uniform", or predict at the training inputs')
    if plan.tunes:
        return no_candidates(plan, "core of fitted values")
    if plan.ranged:
        return fail("E307", "the core of fitted values stores a single lambda",
                    where="[toeplitz] lambda_range", value=plan.options["lambda_range"], allowed="one lambda",
                    remedy="remove `lambda_range`, or compute the fitted values in C")
    if not plan.fits:
        return fail("E307", "an LSB of alpha changes the target by more than an LSB, or by much less, with "
                            "this lambda", where="[toeplitz] lambda", value=plan.options.get("lambda", "?"),
                    allowed="a lambda for which `kerncast plan` lists the fitted values",
                    remedy="predict at the training inputs instead")
    return None


def _ports(plan: Plan) -> Ports:
    """Return the ports of the core."""
    return Ports("fitted", (Stream("y", True, plan.word), Stream("alpha", True, plan.word),
                            Stream("f", False, plan.word, 3)), ("y", "f"),
                 (("error_y", "a frame of a right-hand side has tlast at the wrong beat"),
                  ("error_alpha", "a frame of a solution has tlast at the wrong beat, or a wrong exponent"),
                  ("dropped", "a frame of a right-hand side was dropped because it was wrong")),
                 (("drop", "release the right-hand side, because the solver dropped the system"),))


def _render(plan: Plan) -> dict[str, str]:
    p, f, shift = plan.name, plan.signals["f"], plan.integer("fitted_shift")
    limits = cast_format(plan, "f")
    least, most = plan.integer("alpha_exp_min"), plan.integer("alpha_exp_max")
    values = context(plan, str(plan.evidence.get("spec", "of no file"))) | {
        "W": plan.word, "n": plan.sizes["n"], "modules": MODULES, "tops": ("fitted",),
        "scale": plan.integer("fitted_scale"), "shift": literal(shift, 32),
        "shift_bits": max(4, (shift - least).bit_length()),
        "exp_min": literal(least, plan.word), "exp_max": literal(most, plan.word),
        "f_bits": limits.bits, "f_lo": literal(limits.lo, 64), "f_hi": literal(limits.hi, 64),
        "f_rounding": f.rounding.value, "cycles": fitted_cycles(plan), "solves": SOLVER.fits(plan)}
    return primitives(MODULES) | render_files(
        {f"{p}_fitted.sv": "fitted.sv", f"{p}_fitted.f": "solver.f", "README.md": "fitted.md"}, values)


FITTED = RtlCore("fitted", _refusal, _render, _ports, fitted_cycles)
