"""sim.planner: what the Schur form of the Toeplitz solver takes beside Levinson's recursion.

``|p_i|, |q_i| <= r_0 = 1`` for a positive semidefinite T, so they are static; and ``|s|_inf <=
|y|_2 sqrt((1 + lambda) / lambda)``, for s is what the best prediction from the rows before leaves
of y.  All three have 32 bits at every word length: 16 would lose up to what Levinson's long sums lose.
"""

from __future__ import annotations

from fractions import Fraction

from ...formats import Format
from ...plan import Signal
from ...spec import Spec
from ..casts import cast_modes
from ..log2 import ceil_log2_sqrt
from .levinson import power

#: Of a generator, and of s at exponent 0.
GENERATOR = Format(True, 32, 31)

#: Multiplications beyond those of Levinson's recursion.
MORE_MULTIPLICATIONS = "(n-1)*(n-4)//2"


def schur_constants(spec: Spec) -> dict[str, int]:
    """The constants that differ from Levinson's, and the range of s."""
    assert spec.toeplitz is not None
    p, frac = power(spec), GENERATOR.frac
    return {"solver_shift": 0, "xi_frac": frac, "innov_frac": frac,
            "eps_min": max(1, int(Fraction(2**frac, 2) / p)),
            "s_exp_max": ceil_log2_sqrt(spec.toeplitz.n * p) + 3}


def schur_signals(spec: Spec) -> dict[str, Signal]:
    """Generators and residual; they are rounded as a is."""
    modes = cast_modes(spec, "a")
    units = {"p": "1 + lambda", "q": "1 + lambda", "s": "full scale of y, its own block exponent"}
    return {name: Signal(GENERATOR, *modes, GENERATOR.lo, GENERATOR.hi, unit)
            for name, unit in units.items()}


def schur_fields() -> list[tuple[str, str, str, str]]:
    """Members of the model structure."""
    return [("p", GENERATOR.c_type, "n", "generator: T a in the following rows"),
            ("q", GENERATOR.c_type, "n", "generator: T b in the following rows, the next one first"),
            ("s", GENERATOR.c_type, "n", "y - T x in the following rows")]
