"""sim.planner: how large the multipliers of FKLMS can become, from eta, rho, N and the input range.

Let S be the sum of all ``|alpha_i|``, and ``q = 1 - eta rho`` the decay.  One sample does three things:

1. *Projection* (a full budget, eq. 16 of report 836): the multiplier ``alpha_s`` of the removed vector is
   handed to every other one, ``alpha_j += alpha_s k(v_j, v_s)``.  The removed one is gone, so
   ``S <- S + (kappa - 1) |alpha_s| <= max(1, kappa) S``, where kappa bounds the sum of the kernel values
   between one vector and all others.
2. *Decay*: ``S <- q S``.
3. *Step* (eq. 4): one multiplier moves by ``eta e``, ``e = y - f``.  ``|y| <= 1`` full scale; ``|f| <= 2``
   by its word, and ``|f| <= S`` since ``k <= 1``: ``S <- S + eta (1 + min(2, S))``.

With ``gap = 1 - q max(1, kappa) > 0`` this contracts, and from S = 0 on

    S <= eta (1 + min(2, S)) / gap,  so that  |alpha_i| <= S <= 3 eta / gap,  and, where gap > eta,
    |alpha_i| <= eta / (gap - eta).

Rounding adds at most one lsb for every multiplier in projection and decay, and one in the step: 2 N + 1
lsb a sample, divided by gap with the rest.

*kappa.*  Vectors of a budget differ (a repeated input updates its own multiplier), and their words are
integers, at least one step of the grid apart.  The closest they can lie together is the whole grid, so
that for Gaussian and Laplacian kernels, which are products over the columns, ``1 + kappa <= theta**D`` with
``theta = sum over all integers m of k(m steps)``; never more than N - 1 vectors hand over.  Where the input
has no more than N different words nothing is ever removed, and kappa = 0.

*Where there is none.*  Without forgetting (rho = 0), or with a kernel so wide that kappa exceeds 1 / q, no
bound holds for all streams: a budget of nearly equal vectors hands the removed multiplier to each of the
others, which multiplies it by nearly N - 1 at every sample.  Data or a design range must decide then, and
the status tells what saturated.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from ..plan import Plan
from ..tables import CONTEXT, power_of_two
from .inputs import WORD_CLASSES

#: Largest magnitude of f, in full scales of y, by its word.
_F_MOST = 2


def multiplier_bound(plan: Plan) -> Fraction | None:
    """The largest ``|alpha_i|`` that any stream of raw words can give, in full scales of y.

    Parameters
    ----------
    plan : Plan
        Of algorithm ``kernel_lms``.

    Returns
    -------
    Fraction or None
        None where nothing bounds the multipliers; see the derivation above.
    """
    eta, decay = _rates(plan)
    gap = 1 - decay * max(Fraction(1), _handed_over(plan))
    if gap <= 0:
        return None
    lsb = plan.signals["alpha"].format.lsb
    rounding = (2 * plan.sizes["N"] + 1) * lsb
    least = (eta * (1 + _F_MOST) + rounding) / gap
    return min(least, (eta + rounding) / (gap - eta)) if gap > eta else least


def _rates(plan: Plan) -> tuple[Fraction, Fraction]:
    """The words of eta and 1 - eta rho as the device has them."""
    y, alpha = plan.signals["y"].format, plan.signals["alpha"].format
    eta = Fraction(plan.integer("eta")) / Fraction(2) ** (plan.integer("eta_shift") - y.frac + alpha.frac)
    decay = Fraction(plan.integer("decay"), 1 << plan.integer("decay_shift"))
    return eta, decay or Fraction(1)


def _handed_over(plan: Plan) -> Fraction:
    """kappa: the sum of the kernel values between one vector and all others of a budget."""
    others = Fraction(plan.sizes["N"] - 1)
    if _different_inputs(plan) <= plan.sizes["N"]:
        return Fraction(0)
    power = {"gaussian": 2, "laplacian": 1}.get(plan.options["kernel"])
    if power is None:
        return others
    step = max(1, min(plan.integers("x_gain")) >> plan.integer("x_shift"))
    frac = WORD_CLASSES[plan.word].t_frac + plan.integer("kernel_shift")
    exponent = Fraction(plan.integer("kernel_c") * step**power, 1 << frac)
    theta, m, term = Decimal(1), 1, Decimal(1)
    while 2 * m <= others + 1 and term > Decimal("1e-30"):
        term = power_of_two(-exponent * m**power)
        theta = CONTEXT.add(theta, 2 * term)
        m += 1
    errors = others * plan.signals["kernel"].format.lsb  # of the kernel unit, one lsb each
    return min(others, Fraction(theta) ** plan.sizes["D"] - 1 + errors)


def _different_inputs(plan: Plan) -> int:
    """How many samples differ, as words of x."""
    x, raw = plan.signals["x"], plan.signals["x_raw"].format
    different: int = min(x.hi - x.lo + 1, 1 << raw.bits) ** plan.sizes["D"]
    return different
