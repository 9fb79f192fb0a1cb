"""sim.planner.online: the leverage of a sample, from which its novelty follows.

The leverage is z'R^-1 z for the features z of a sample, and R of the samples before it. Without rounding,
each step of the descent on R v = z increases 2 z'v - v'R v, which never exceeds the leverage. So the descent
gives a lower bound whenever it ends.

*Ranges.*  The residual z - R v has 32 bits, of which ``RESIDUAL_FRAC`` are fraction bits; it begins at most
at 1. A step is the power of two above the quotient of a residual and R_ii, or the largest for which a column
of R times the step is below 2^30, by the bound of ``sim.planner.online.rls``. A smaller step increases the
bound, too. If a residual reaches 2^30, the descent ends. So no value leaves 32 bits, for any sample and any
stream. The bound saturates at 2^31 - 1.
"""

from __future__ import annotations

from fractions import Fraction

from ...choices import LEVERAGE_FRAC, RESIDUAL_FRAC
from ...spec.rls import Rls

#: The defaults of [rls] novelty_steps and drift_samples.
_STEPS, _DRIFT_SAMPLES = 16, 16

Rows = list[tuple[str, str, str, str]]


def novelty_steps(rls: Rls) -> int:
    """Return the maximum number of steps of a leverage; 0 without novelty."""
    return 0 if rls.novelty is None else rls.novelty_steps or _STEPS


def novelty_constants(rls: Rls, r_frac: int) -> dict[str, int]:
    """Return the thresholds and shifts of the novelty; empty without it.

    `r_frac` is the number of fraction bits of R.
    """
    if rls.novelty is None:
        return {}
    threshold = round(Fraction(rls.novelty) * 2**LEVERAGE_FRAC)
    release = threshold // 2 if rls.novelty_release is None else round(
        Fraction(rls.novelty_release) * 2**LEVERAGE_FRAC)
    return {"novelty": threshold, "novelty_release": release, "novelty_steps": novelty_steps(rls),
            "novelty_exp": r_frac + LEVERAGE_FRAC - 2 * RESIDUAL_FRAC,
            "drift_samples": rls.drift_samples or _DRIFT_SAMPLES}


def novelty_members(rls: Rls) -> Rows:
    """Return the members of the model structure that the novelty adds."""
    if rls.novelty is None:
        return []
    return [("leverage", "int32_t", "1", "of the last sample learned, before it was learned"),
            ("novel", "uint16_t", "1", "1 if that sample was novel"),
            ("drift", "uint16_t", "1", "1 from many novel samples until as many others"),
            ("novel_count", "uint16_t", "1", "novel samples less the others")]


def novelty_operations(rls: Rls) -> dict[str, str]:
    """Return the operations of a descent as formulas; empty without novelty."""
    return {"shifts_and_additions": f"{novelty_steps(rls)}*2*N"} if rls.novelty is not None else {}
