"""sim.fxp_model: distances and products of samples, and the polynomial kernels."""

from __future__ import annotations

import numpy as np

from ..formats import Format, Rounding
from ..plan import Plan
from .arithmetic import Fxp, Words, cast, exact, floor_at, integers, number, product_floor, words_of

#: pi as u32f30.
_PI = 0xC90FDAA2
#: Long enough for any cast on the way.
_WIDE = Format(True, 48, 31)


def distances(plan: Plan, v: Words, x: Words) -> Words:
    """Compute the exact integer arguments (m,) of the kernel: distances or products.

    The inputs are the fixed-point vectors v (m, D) and x (D,).
    """
    other = np.broadcast_to(x, v.shape)
    kind = plan.distance
    if kind == "products":
        terms = integers(exact(v, 0) * exact(other, 0))
    else:
        difference = exact(v, 0) - exact(other, 0)
        size = np.abs(integers(difference))
        if kind == "sines":
            terms = integers(_squared_sines(plan, size))
        else:
            terms = size if kind == "absolutes" else integers(difference * difference)
    return np.array([sum(row) for row in terms.tolist()], dtype=np.int64)


def _squared_sines(plan: Plan, size: Words) -> Fxp:
    """Compute ``sin^2`` of pi times `size` (m, D) in periods.

    The results are rounded down to the format of a distance.
    """
    part = exact(plan.integer("kernel_turn"), plan.integer("kernel_turn_shift") + 32)
    low = words_of(product_floor(exact(size, 0), part, 32)) % (1 << 32)
    s = _sine(plan, np.minimum(low, (1 << 32) - low))
    return product_floor(s, s, plan.signals["distance"].format.frac)


def _sine(plan: Plan, turn: Words) -> Fxp:
    """Compute ``sin(pi turn / 2**32)`` for at most a quarter wave.

    The sine is computed as sin(a + b), where sin a is in the table.
    """
    table = plan.tables["sine"]
    entries = np.array(table.values, dtype=np.int64)
    index = turn // (1 << 23)
    s, c = number(entries[index], table.format), number(entries[256 - index], table.format)
    b = product_floor(exact(turn % (1 << 23), 32), exact(_PI, 30), 38)
    half = product_floor(b, b, 38 + 38)
    half = floor_at(exact(integers(half), half.n_frac + 1), 38)
    sixth = floor_at(product_floor(b, half, 38) * exact(0x5555, 16), 38)
    turned = product_floor(c, b - sixth, 31 + 38) - product_floor(s, half, 31 + 38)
    return exact(integers(s) + integers(cast(turned, _WIDE, Rounding.HALF_UP)), 31)


def polynomial(plan: Plan, dot: Words) -> Fxp:
    """Compute ``(gamma u.v + coef0)**degree`` of products (m,).

    Base and powers are rounded to f31.
    """
    c = exact(plan.integer("kernel_c"), plan.integer("kernel_shift") + 31)
    scaled = exact(dot >> plan.integer("kernel_dot_shift"), 0) * c
    base = exact(integers(cast(scaled, _WIDE, Rounding.HALF_UP)) + plan.integer("kernel_coef0"), 31)
    power = base
    for _ in range(1, plan.integer("kernel_degree")):
        power = cast(product_floor(power, base, 62), _WIDE, Rounding.HALF_UP)
    fmt = plan.signals["kernel"].format
    return cast(exact(integers(power), plan.integer("kernel_out_shift") + fmt.frac), fmt, Rounding.HALF_UP)
