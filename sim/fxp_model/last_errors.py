"""sim.fxp_model: correct a prediction using the last errors.

The computation uses Python integers and fractions.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from ..backend import Outputs
from ..plan import Plan

_HI = (1 << 31) - 1
_HALF = Fraction(1, 2)


def gated(product: int, power: int, part: int) -> int:
    """Return part times P / Q, rounded, where P / Q is limited to the range 0 to 1.

    The quotient is rounded down to 31 bits.
    """
    if product <= 0:
        return 0
    if product >= power:
        return part
    ratio = Fraction(product, power >> (cut := max(0, power.bit_length() - 31)) << cut)
    bits = 30
    while ratio * 2**bits < 1 << 30:
        bits += 1
    return floor(Fraction(floor(ratio * 2**bits) * part, 2**min(bits, 62)) + _HALF)


def quotient(num: int, den: int) -> tuple[int, int]:
    """Return the quotient with 31 bits, rounded down, and its shift.

    For a numerator of 0, they are 0 and 31.
    """
    if num == 0:
        return 0, 31
    value, bits = Fraction(num, den >> (cut := max(0, den.bit_length() - 31)) << cut), 31
    while abs(value) * Fraction(2) ** bits >= 1 << 31:
        bits -= 1
    while abs(value) * Fraction(2) ** bits < 1 << 30:
        bits += 1
    return floor(value * Fraction(2) ** bits), bits


class FxpErrors:
    """The last errors, their coefficients, and the sums for their gate.

    They are empty if the plan does not have the option.
    """

    def __init__(self, plan: Plan) -> None:
        self._order = int(plan.options.get("last_errors", 0))
        self._constants = {name: plan.integer(name) for name in plan.constants if name.startswith("error_")}
        word = plan.signals["f"].format
        one = 1 << self._constants.get("error_frac", 0)
        self._lo, self._hi = word.lo * one, word.hi * one
        self.reset()

    def reset(self) -> None:
        """Reset the model to the empty state."""
        self._past, self._w, self._sums = [0] * self._order, [0] * self._order, [0, 0]

    def __bool__(self) -> bool:
        return self._order > 0

    def _fit(self, value: int) -> int:
        """Saturate to the range of an error."""
        return min(max(value, self._lo), self._hi)

    def _part(self) -> int:
        c = self._constants
        acc = sum(w * e >> c["error_shift"] for w, e in zip(self._w, self._past, strict=True))
        return self._fit(floor(Fraction(acc, 1 << c["error_sum_shift"]) + _HALF))

    def correct(self, fine: int) -> int:
        """Return the corrected prediction in LSBs of y.

        `fine` has `error_frac` more bits.
        """
        part = self._fit(gated(self._sums[0], self._sums[1], self._part()))
        return floor(Fraction(fine + part, 1 << self._constants["error_frac"]) + _HALF)

    def learn(self, error: int) -> None:
        """Learn an error, with `error_frac` bits below the LSB of y."""
        c, error, part = self._constants, self._fit(error), self._part()
        for i, factor in enumerate((error, part)):
            self._sums[i] += (factor * part >> c["error_shift"]) - (self._sums[i] >> c["error_window"])
        power = 1 + sum(e * e >> c["error_shift"] for e in self._past)
        step, bits = quotient(error - part, power)
        shift = min(c["error_step_shift"] + bits - 31, 62)
        for i, past in enumerate(self._past):
            change = min(max(floor(step * past / Fraction(2) ** shift + _HALF), -_HI), _HI)
            self._w[i] = min(max(self._w[i] + change, -_HI), _HI)
        self._past = [error, *self._past][:self._order]

    def load(self, state: Outputs) -> None:
        """Load the members of a saved state."""
        self.reset()
        if self:
            self._past, self._w, self._sums = (state[name].tolist()
                                               for name in ("error_past", "error_w", "error_sums"))

    def state(self) -> dict[str, Any]:
        """Return the members of the device's model structure."""
        return {"error_past": np.array(self._past), "error_w": np.array(self._w),
                "error_sums": np.array(self._sums)}
