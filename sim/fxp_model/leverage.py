"""sim.fxp_model: the leverage of a sample, computed with exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from ..choices import LEVERAGE_FRAC, RESIDUAL_FRAC
from ..plan import Plan


def leverage_of(plan: Plan, r: Sequence[Sequence[Fraction]], r_lsb: Fraction,
                phi: Sequence[Fraction]) -> int:
    """Return the leverage of the features `phi` in R, in LSBs.

    It is the sum of what the steps of a descent on R v = phi gain: with the step s of v_i, the bound
    2 phi'v - v'R v increases by 2 s g_i - s^2 R_ii, where g is the residual.
    """
    lsb, leverage_lsb = Fraction(1, 1 << RESIDUAL_FRAC), Fraction(1, 1 << LEVERAGE_FRAC)
    first, order = 1 + plan.sizes["M"], len(phi)
    rounded = -(-2 * 2**32 // plan.integer("rls_fading"))
    bits = [(int(r[i][i] / r_lsb) + rounded).bit_length() for i in range(order)]
    scale = input_scale(r, r_lsb, first)
    g, total = list(phi), 0
    for _ in range(plan.integer("novelty_steps")):
        sizes = [floor(abs(v) / lsb) * (scale if i >= first else 1) for i, v in enumerate(g)]
        i = sizes.index(max(sizes))
        if sizes[i] == 0 or max(map(abs, g)) >= lsb * (1 << 30):
            break
        up = -60
        while Fraction(2) ** up * int(r[i][i] / r_lsb) < abs(g[i]) / lsb:
            up += 1
        up = min(up, 30 - (bits[i] + max(bits) + 1) // 2 - 1)
        if up < -32:
            break
        s = Fraction(2) ** up  # LSBs of the residual per LSB of R
        change = [floor((s if g[i] > 0 else -s) * v / r_lsb) * lsb for v in r[i]]
        gained = 2 * abs(g[i]) - floor(s * r[i][i] / r_lsb) * lsb
        total = min(total + floor(s * lsb / r_lsb * gained / leverage_lsb), (1 << 31) - 1)
        g = [a - b for a, b in zip(g, change, strict=True)]
    return total


def input_scale(r: Sequence[Sequence[Fraction]], lsb: Fraction, first: int) -> int:
    """Return the factor of the residuals of the inputs when they are compared.

    The inputs begin at index `first`.
    """
    kinds = [max((int(row[i] / lsb).bit_length() for i, row in enumerate(r) if (i >= first) == inputs),
                 default=0) for inputs in (False, True)]
    return 1 << max(kinds[0] - kinds[1], 0) // 2
