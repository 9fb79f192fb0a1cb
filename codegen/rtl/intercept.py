"""codegen.rtl: latency and constants of the Toeplitz solver with an intercept."""

from __future__ import annotations

from ...sim.plan import Plan

#: What the solver is made of besides Levinson's recursion; below comes before above.
MODULES = ("kc_intercept", "kc_beat_insert")
# Clocks of a pass beyond those of its words; of the scalars between the passes; of a value sent; around all.
_PASS, _SCALARS, _SEND, _AROUND = 11, 42, 3, 4


def intercept_cycles(n: int, recursion: int) -> int:
    """Return the clock cycles from the last input to the last alpha, without stalls.

    Parameters
    ----------
    n : int
    recursion : int
        Clock cycles of one run of Levinson's recursion.
    """
    # Four passes take a clock per value, the last one takes two.
    return 2 * recursion + 6 * n + 5 * _PASS + _SCALARS + _SEND * n + _AROUND


def target_shift(plan: Plan) -> int:
    """Return the right shift from ``y * ridge_scale`` to the residual at alpha = 0."""
    alpha_frac, exponent = plan.integer("alpha_frac"), plan.integer("alpha_exp_min")
    return 30 + plan.integer("residual_shift") - alpha_frac + exponent
