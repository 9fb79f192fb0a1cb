"""sim.planner.online: integer constants of the metrics and the limits of a loss.

The loss lambda of a vector (Mitchinson, Dodd and Harrison, "Reduction of Kernel Models", and its section 5)
is an integer on the device:

``fklms``      the exact distance to the nearest older vector: 1 - k is monotonic in it, so that no kernel
               value is needed.  lambda_max = 1 - exp(-t) becomes the largest distance D with D C <= t
               log2(e), for k = 2^-(D C): from exact fractions and 60 digits.
``fmklms``     alpha^2 kappa, kappa = 1 - k of the nearest vector, older or newer.
``fast_klms``  kappa = 1 - s, s the sum of the squared kernel words over all other vectors.  A square is
               ``k * k >> square_shift``, a fixed integer for each pair, so that adding it on insertion and
               subtracting it on removal is exact.
``fast_mklms`` alpha^2 max(0, kappa).
``magnitude``  |alpha|; with several outputs the sum of their squares, each ``alpha^2 >> norm_shift``.
``age``        the age order: the oldest is removed.

``quantise``, the largest distance at which a sample updates its nearest center, is derived from the kernel
value like lambda_max of ``fklms``, with lambda_max = 1 - quantise.

Nothing overflows: a kernel value is at most ``2^frac``; N - 1 squares of it fit s, u32 at 16 bits (``N <=
2^(2 + square_shift)``), below 2^62 else.  For a product with alpha^2 <= ``2^(2 B - 2)``, where B is the bits
of alpha (larger in a run that measures its range), kappa loses `kappa_shift` bits, so that it is at most
2^30, and the product `metric_shift` bits, so that it is at most 2^62. A limit is the largest integer whose
value does not exceed it.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from math import floor

from ...choices import MATERN
from ...errors import KerncastError, fail
from ...formats import Format
from ...spec import Spec
from ...tables import CONTEXT, LN2, decimal
from ..classes import learner_outputs
from ..kernel import distance_name, exponent_scale
from ..log2 import ceil_log2
from ..matern import argument, profile
from ..words import Affine, WordClass

#: Metrics that store the distance to a neighbour, that store a sum of squares, and that multiply by alpha^2.
NEIGHBOURS = ("fklms", "fmklms")
SUMS = ("fast_klms", "fast_mklms")
WEIGHTED = ("fmklms", "fast_mklms")
#: Larger than every loss below it, and still a word of 64 bits.
_MOST = 1 << 62


def metric_constants(spec: Spec, words: WordClass, x: Affine, y: Affine, alpha: Format) -> dict[str, int]:
    """Return the shifts of the metric, and the limits of loss, coefficient and age.

    Unused limits are omitted.

    Raises
    ------
    KerncastError
        E204 if no two different inputs are as close as max_deterioration requires.
    """
    assert spec.online is not None
    online, (_, metric) = spec.online, spec.online.parts
    found = _shifts(words, metric, spec.online.budget, alpha)
    if online.quantise is not None:
        found["quantise"] = _largest_distance(spec, words, x, "quantise", Fraction(online.quantise))
    full_scale = y.lsb * 2**y.signal.format.frac
    step = full_scale * alpha.lsb  # of alpha, in units of y
    outputs = learner_outputs(spec)
    if outputs > 1 and (metric == "magnitude" or online.truncation is not None):
        found["norm_shift"] = max(0, 2 * (alpha.bits - 1) + ceil_log2(Fraction(outputs)) - 62)
    if online.max_deterioration is not None:
        limit = Fraction(online.max_deterioration)
        if metric == "fklms":
            found["max_deterioration"] = _largest_distance(spec, words, x, "max_deterioration",
                                                           1 - limit)
        else:
            found["max_deterioration"] = _within(_magnitude(limit, found, step) if metric == "magnitude"
                                                 else limit / _unit(metric, found, step))
    if online.truncation is not None:
        found["truncation"] = _within(_magnitude(Fraction(online.truncation), found, step))
    if online.max_age is not None:
        found["max_age"] = online.max_age
    return found


def guard_constants(spec: Spec, words: WordClass) -> dict[str, int]:
    """Return the limit 2 of a sum of squared kernel values, and each square's shift.

    Without a guard the result is empty. The sum of budget squares, each up to 1, fits 63 bits.
    """
    assert spec.online is not None
    if not spec.online.guard:
        return {}
    shift = max(0, ceil_log2(Fraction(spec.online.budget)) + 2 * words.kernel.frac - 62)
    return {"guard_shift": shift, "guard_limit": 2 << (2 * words.kernel.frac - shift)}


def _shifts(words: WordClass, metric: str, budget: int, alpha: Format) -> dict[str, int]:
    """Return the integer that represents 1 in kappa, and the shifts of its products."""
    if metric not in (*NEIGHBOURS, *SUMS) or metric == "fklms":
        return {}
    frac, found = words.kernel.frac, {}
    if metric in SUMS:
        room = 32 if words.distance.bits == 32 else 62
        found["square_shift"] = max(0, ceil_log2(budget) + 2 * frac - room)
        frac = 2 * frac - found["square_shift"]
    found["kappa_one"] = 1 << frac
    if metric in WEIGHTED:
        found["kappa_shift"] = max(0, frac - 30)
        found["metric_shift"] = max(0, 2 * (alpha.bits - 1) + min(frac, 30) - 62)
    return found


def _magnitude(limit: Fraction, shifts: dict[str, int], step: Fraction) -> Fraction:
    """Return a limit of coefficients in LSB of alpha, or of the sum of their squares."""
    if "norm_shift" not in shifts:
        return limit / step
    steps = limit / step
    return steps * steps / (1 << shifts["norm_shift"])


def _unit(metric: str, shifts: dict[str, int], step: Fraction) -> Fraction:
    """Return the LSB of a loss, for the LSB `step` of alpha."""
    if metric == "fast_klms":
        return Fraction(1, shifts["kappa_one"])
    return step**2 * Fraction(2) ** (shifts["kappa_shift"] + shifts["metric_shift"]) / shifts["kappa_one"]


def _within(limit: Fraction) -> int:
    """Return the largest integer up to `limit` in the range of losses."""
    return max(-_MOST, min(floor(limit), _MOST))


def _largest_distance(spec: Spec, words: WordClass, x: Affine, key: str, value: Fraction) -> int:
    """Return the largest distance at which the real kernel is at least `value`."""
    if value == 1:
        return 0  # of different inputs none
    bits = CONTEXT.divide(argument(spec.kernel.type, value), LN2)
    distance = CONTEXT.divide(bits, decimal(exponent_scale(spec, words, x.lsb)))
    if spec.kernel.type in MATERN and distance_name(spec) == "squares":
        distance = CONTEXT.multiply(distance, distance)
    found = int(distance.to_integral_value(ROUND_FLOOR))
    if found < 1:
        raise _too_fine(key, value, _step_loss(spec, words, x))
    # Below the largest value of the type: compilers refuse a comparison that is always true.
    return min(found, words.distance.hi - 1)


def _too_fine(key: str, value: Fraction, step: float) -> KerncastError:
    """Return E204 for a limit below the loss of any two different inputs."""
    if key == "quantise":
        return fail("E204", "even two adjacent input values are too far apart for this value of `quantise`",
                    where="[online] quantise", value=float(value),
                    allowed=f"at most the kernel value of two adjacent input values, 1 - {step:.2g}",
                    remedy="lower quantise, omit it, or give the input a smaller LSB")
    return fail("E204",
                "even two adjacent input values exceed max_deterioration, so no center would ever be evicted",
                where="[online] max_deterioration", value=float(1 - value),
                allowed=f"at least 1 minus the kernel value of two adjacent input values, {step:.2g}",
                remedy="raise max_deterioration, or give the input a smaller LSB")


def _step_loss(spec: Spec, words: WordClass, x: Affine) -> float:
    """Return 1 - k of two inputs at distance 1."""
    nats = CONTEXT.multiply(decimal(exponent_scale(spec, words, x.lsb)), LN2)
    return float(CONTEXT.subtract(Decimal(1), profile(spec.kernel.type, nats)))
