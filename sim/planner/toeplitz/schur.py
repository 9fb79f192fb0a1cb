"""sim.planner.toeplitz: additional memory and constants of Schur's recursion.

``|p_i|, |q_i| <= r_0 = 1`` for a positive semidefinite T, so they are static; and ``|s|_inf <=
|y|_2 sqrt((1 + lambda) / lambda)``, as s is the error of the best prediction of y from earlier rows.  All
three have 32 bits at every word length: with 16 bits, rounding errors could be as large as those of
Levinson's long sums.
"""

from __future__ import annotations

from fractions import Fraction

from ...formats import Format
from ...plan import Signal
from ...spec import Spec
from ..cast_modes import cast_modes
from ..log2 import ceil_log2_sqrt
from .levinson import power

#: Format of a generator, and of s at exponent 0.
GENERATOR = Format(True, 32, 31)


def schur_constants(spec: Spec) -> dict[str, int]:
    """Return the constants that differ from Levinson's, and the range of s."""
    assert spec.toeplitz is not None
    p, frac = power(spec), GENERATOR.frac
    return {"solver_shift": 0, "xi_frac": frac, "innov_frac": frac,
            "eps_min": max(1, int(Fraction(2**frac, 2) / p)),
            "s_exp_max": ceil_log2_sqrt(spec.toeplitz.n * p) + 3}


def schur_signals(spec: Spec) -> dict[str, Signal]:
    """Return the signals of generators and residual, rounded like signal `a`."""
    modes = cast_modes(spec, "a")
    units = {"p": "1 + lambda", "q": "1 + lambda", "s": "full scale of y, with a separate block exponent"}
    return {name: Signal(GENERATOR, *modes, GENERATOR.lo, GENERATOR.hi, unit)
            for name, unit in units.items()}


def schur_fields() -> list[tuple[str, str, str, str]]:
    """Return the members of the model structure."""
    return [("p", GENERATOR.c_type, "n", "generator: T a in the following rows"),
            ("q", GENERATOR.c_type, "n", "generator: T b in the following rows, the next one first"),
            ("s", GENERATOR.c_type, "n", "y - T x in the following rows")]
