"""sim.planner.online: a bound on the coefficients, from eta, rho, N and the inputs.

Let S be the sum of all ``|alpha_i|``, and ``q = 1 - eta rho`` the decay.  One sample does three things:

1. *Projection* (a full budget, eq. 16 of Mitchinson, Dodd and Harrison, "Reduction of Kernel Models"): the
   coefficient ``alpha_s`` of the removed vector is
   handed to every other one, ``alpha_j += alpha_s k(v_j, v_s)``.  The removed one is gone, so
   ``S <- S + (kappa - 1) |alpha_s| <= g S`` with ``g = max(1, kappa)``, where kappa bounds the sum of the
   kernel values between one vector and all others.
2. *Prediction*, after the projection and before the decay: ``|f| <= 2`` by its word, and ``|f| <= g S``
   since ``k <= 1``.
3. *Decay*: ``S <- q S``, of what the projection left.
4. *Step* (eq. 4): one coefficient moves by ``eta e``, ``e = y - f``, and ``|y| <= 1`` full scale.

Together ``S <- q g S + eta (1 + min(2, g S))``.  With ``gap = 1 - q g > 0`` the first of the two limits of f
contracts, and with ``gap > eta g`` the second.  From S = 0 on

    |alpha_i| <= S <= 3 eta / gap,  and, where gap > eta g,  |alpha_i| <= S <= eta / (gap - eta g).

*Other reductions.*  What is dropped, and handed to none, only makes S smaller: kappa = 0.  Where a fixed
lambda_max removes the newest vector alone (newest_only, or the metric fklms), its coefficient is projected
after the step: max(1, kappa) times that is added, eta becomes ``eta max(1, kappa)``.  With newest_only f is
of what was there before (g = 1), and the new vector, which takes no slot, hands to N others.  Where it may
remove several at once, each may multiply S by kappa, so that there is a bound for kappa <= 1 only.

Rounding adds at most one lsb for every coefficient in each projection and in the decay, and one in the step:
2 N + 1 lsb a sample for one projection.  Into f go those of a projection, those of the products, no larger,
and one lsb of y: eta times 2 N lsb and that.  All of it is divided by gap, or gap - eta g, with the rest.

*kappa.*  Vectors of a budget differ (a repeated input updates its own coefficient), and their words are
integers, at least one step of the grid apart.  The closest they can lie together is the whole grid, so
that for Gaussian and Laplacian kernels, which are products over the columns, ``1 + kappa <= theta**D`` with
``theta = sum over all integers m of k(m steps)``; never more than N - 1 vectors inherit, with newest_only N.
Where the input has no more than N different words nothing is ever removed, and kappa = 0.

*Where there is none.*  Without forgetting (rho = 0), or with a kernel so wide that kappa exceeds 1 / q, no
bound holds for all streams: a budget of nearly equal vectors hands the removed coefficient to each of the
others, which multiplies it by nearly N - 1 at every sample.  Data or a design range must decide then, and
the status tells what saturated.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from ...plan import Plan
from ...tables import CONTEXT, power_of_two
from ..words import WORD_CLASSES

#: Largest magnitude of f, in full scales of y, by its word.
_F_MOST = 2


def multiplier_bound(plan: Plan) -> Fraction | None:
    """Return the largest ``|alpha_i|`` for any stream, in full scales of y, or None.

    Parameters
    ----------
    plan : Plan
        Of algorithm ``kernel_lms``.

    Returns
    -------
    Fraction or None
        None where nothing bounds the coefficients; see the derivation above.
    """
    eta, decay = _rates(plan)
    before, after, projections = _growth(plan)
    gap = 1 - decay * before
    if gap <= 0 or after is None:
        return None
    lsb, eta, budget = plan.signals["alpha"].format.lsb, eta * after, plan.sizes["N"]
    rounding = ((projections + 1) * budget + 1) * lsb * after
    rounding += eta * (2 * budget * lsb + plan.signals["y"].format.lsb)
    least, tight = (eta * (1 + _F_MOST) + rounding) / gap, gap - eta * before
    return min(least, (eta + rounding) / tight) if tight > 0 else least


def _growth(plan: Plan) -> tuple[Fraction, Fraction | None, int]:
    """Return the factors of S before and after the step, and the projections per sample."""
    one, options = Fraction(1), plan.options
    reduces, newest = "max_deterioration" in options, options["newest_only"] == "1"
    never = _different_inputs(plan) <= plan.sizes["N"] and not reduces
    if options["projection"] == "none" or never:
        return one, one, 0
    factor = max(one, _handed_over(plan, plan.sizes["N"] - (0 if newest else 1)))
    if newest:
        return one, factor, 1
    if not reduces:
        return factor, one, 1
    if options["metric"] == "fklms":
        return factor, factor, 2
    return factor, one if factor == 1 else None, plan.sizes["N"] + 1


def _rates(plan: Plan) -> tuple[Fraction, Fraction]:
    """Return eta and 1 - eta rho as the device's constants."""
    y, alpha = plan.signals["y"].format, plan.signals["alpha"].format
    eta = Fraction(plan.integer("eta")) / Fraction(2) ** (plan.integer("eta_shift") - y.frac + alpha.frac)
    decay = Fraction(plan.integer("decay"), 1 << plan.integer("decay_shift"))
    return eta, decay or Fraction(1)


def _handed_over(plan: Plan, inherit: int) -> Fraction:
    """Return kappa: the sum of kernel values between a vector and up to `inherit` others."""
    others = Fraction(inherit)
    power = {"gaussian": 2, "laplacian": 1}.get(plan.options["kernel"])
    if power is None:
        return others
    step = max(1, min(plan.integers("x_gain")) >> plan.integer("x_shift"))
    frac = WORD_CLASSES[plan.word].t_frac + plan.integer("kernel_shift")
    theta = _theta(Fraction(plan.integer("kernel_c") * step**power, 1 << frac), power, inherit)
    errors = others * plan.signals["kernel"].format.lsb  # of the kernel unit, one lsb each
    return min(others, Fraction(theta) ** plan.sizes["D"] - 1 + errors)


@lru_cache(4096)
def _theta(exponent: Fraction, power: int, inherit: int) -> Decimal:
    """Return the sum of the kernel over a grid: 1 + 2 sum 2^(-exponent m^power)."""
    theta, m, term = Decimal(1), 1, Decimal(1)
    while 2 * m <= inherit + 1 and term > Decimal("1e-30"):
        term = power_of_two(-exponent * m**power)
        theta = CONTEXT.add(theta, 2 * term)
        m += 1
    return theta


def _different_inputs(plan: Plan) -> int:
    """Return the number of different samples, as integers of x."""
    x, raw = plan.signals["x"], plan.signals["x_raw"].format
    different: int = min(x.hi - x.lo + 1, 1 << raw.bits) ** plan.sizes["D"]
    return different
