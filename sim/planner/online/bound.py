"""sim.planner.online: a bound on the coefficients from eta, rho, N and the inputs.

Let S be the sum of all ``|alpha_i|``, and ``q = 1 - eta rho`` the decay.  One sample has four effects:

1. *Projection* (a full budget, eq. 16 of Mitchinson, Dodd and Harrison, "Reduction of Kernel Models"): the
   coefficient ``alpha_s`` of the removed vector is projected onto all others, ``alpha_j += alpha_s k(v_j,
   v_s)``, and removed, so ``S <- S + (kappa - 1) |alpha_s| <= g S`` with ``g = max(1, kappa)``, where kappa
   bounds the sum of the kernel values between one vector and all others.
2. *Prediction*, after the projection and before the decay: ``|f| <= 2`` by its format, and ``|f| <= g S``
   since ``k <= 1``.
3. *Decay* after the projection: ``S <- q S``.
4. *Step* (eq. 4): one coefficient changes by ``eta e``, ``e = y - f``, and ``|y| <= 1`` full scale.

Together ``S <- q g S + eta (1 + min(2, g S))``.  With ``gap = 1 - q g > 0`` the first of the two bounds of f
contracts, and with ``gap > eta g`` the second.  Starting at S = 0,

    |alpha_i| <= S <= 3 eta / gap,  and, if gap > eta g,   |alpha_i| <= S <= eta / (gap - eta g).

*Other reductions.*  Discarding a coefficient only decreases S: kappa = 0.  If a fixed lambda_max removes only
the newest vector (newest_only, or the metric fklms), its coefficient is projected after the step: the step
adds up to max(1, kappa) times as much, so eta becomes ``eta max(1, kappa)``.  With newest_only f is computed
from the earlier vectors (g = 1), and the new vector, which uses no slot, is projected onto N others.  If
several vectors may be removed at once, each may multiply S by kappa, so a bound exists for kappa <= 1 only.

Rounding adds at most one LSB for every coefficient in each projection and in the decay, and one in the step:
2 N + 1 LSB per sample for one projection.  f contains the errors of a projection, those of the products,
which are not larger, and one LSB of y, so that the step adds eta times (2 N LSB plus one LSB of y).  The
sum of these errors is also divided by gap, or by gap - eta g.

*kappa.*  Vectors of a dictionary differ (a repeated input updates its own coefficient), and are integers, at
least one step of the grid apart.  The densest dictionary is the whole grid.  Gaussian and Laplacian kernels
are products over the columns, so ``1 + kappa <= theta**D`` with ``theta = sum over all integers m of k(m
steps)``; Matern kernels are if D = 1. At most N - 1 vectors, with newest_only N, receive a projection.  If
the input has no more than N different values, nothing is ever removed, and kappa = 0.

*No bound.*  Without forgetting (rho = 0), or with a kernel so wide that kappa exceeds 1 / q, no bound holds
for all streams: in a dictionary of almost equal vectors a projection multiplies the removed coefficient by
almost N - 1 at every sample.  The range must then come from data or a design range, and the status reports
saturation.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from ...choices import MATERN
from ...plan import Plan
from ...tables import CONTEXT, LN2, decimal, power_of_two
from ..matern import profile
from ..words import WORD_CLASSES

#: Largest magnitude of f, in full scales of y, by its word.
_F_MOST = 2


def coefficient_bound(plan: Plan) -> Fraction | None:
    """Return the largest ``|alpha_i|`` for any stream, in full scales of y, or None.

    Parameters
    ----------
    plan : Plan
        Plan of algorithm ``kernel_lms``.

    Returns
    -------
    Fraction or None
        None if the coefficients have no bound; see the derivation above.
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
    # With a linear part |f| <= g S does not hold, but its format bounds f as before.
    return min(least, (eta + rounding) / tight) if tight > 0 and not plan.linear else least


def _growth(plan: Plan) -> tuple[Fraction, Fraction | None, int]:
    """Return the growth of S before and after the step, and projections per sample."""
    one, newest, reduces = Fraction(1), plan.newest_only, "max_deterioration" in plan.options
    never = _different_inputs(plan) <= plan.sizes["N"] and not reduces
    if not plan.projects or never:
        return one, one, 0
    factor = max(one, _handed_over(plan, plan.sizes["N"] - (0 if newest else 1)))
    if newest:
        return one, factor, 1
    if not reduces:
        return factor, one, 1
    if plan.metric == "fklms":
        return factor, factor, 2
    return factor, one if factor == 1 else None, plan.sizes["N"] + 1


def _rates(plan: Plan) -> tuple[Fraction, Fraction]:
    """Return eta and 1 - eta rho as the device's constants."""
    y, alpha = plan.signals["y"].format, plan.signals["alpha"].format
    eta = Fraction(plan.integer("eta")) / Fraction(2) ** (plan.integer("eta_shift") - y.frac + alpha.frac)
    decay = Fraction(plan.integer("decay"), 1 << plan.integer("decay_shift"))
    return eta, decay or Fraction(1)


def _handed_over(plan: Plan, inherit: int) -> Fraction:
    """Return kappa, a bound on a sum of kernel values.

    The sum is over the kernel values between a vector and up to `inherit` others.
    """
    others = Fraction(inherit)
    power = {"squares": 2, "absolutes": 1}.get(plan.distance)
    if power is None or plan.rooted:  # not a product over the columns
        return others
    step = max(1, min(plan.integers("x_gain")) >> plan.integer("x_shift"))
    frac = WORD_CLASSES[plan.word].t_frac + plan.integer("kernel_shift")
    theta = _theta(plan.kernel, Fraction(plan.integer("kernel_c") * step**power, 1 << frac), power, inherit)
    errors = others * plan.signals["kernel"].format.lsb * (3 if plan.matern else 1)  # of the kernel unit
    return min(others, Fraction(theta) ** plan.sizes["D"] - 1 + errors)


@lru_cache(4096)
def _theta(kernel: str, exponent: Fraction, power: int, inherit: int) -> Decimal:
    """Sum the kernel over a grid: 1 + 2 sum k(m).

    The exponential of k(m) is ``2**-(exponent m^power)``.
    """
    theta, m, term = Decimal(1), 1, Decimal(1)
    while 2 * m <= inherit + 1 and term > Decimal("1e-30"):
        term = power_of_two(-exponent * m**power)
        if kernel in MATERN:
            term = profile(kernel, CONTEXT.multiply(LN2, decimal(exponent * m**power)))
        theta = CONTEXT.add(theta, 2 * term)
        m += 1
    return theta


def _different_inputs(plan: Plan) -> int:
    """Return the number of distinct inputs in fixed point."""
    x, raw = plan.signals["x"], plan.signals["x_raw"].format
    different: int = min(x.hi - x.lo + 1, 1 << raw.bits) ** plan.sizes["D"]
    return different
