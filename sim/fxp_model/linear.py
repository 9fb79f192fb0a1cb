"""sim.fxp_model: the linear part of the online learner, in Python integers.

The method is square-root RLS by Givens rotations, or NLMS. Every quotient and every root is computed from its
exact value.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, isqrt
from typing import Any

import numpy as np

from ..backend import Outputs
from ..plan import Plan
from .arithmetic import Words
from .last_errors import FxpErrors, gated, quotient

_HI = (1 << 31) - 1
_ONE = 1 << 30
_HALF = Fraction(1, 2)


def _rounded(value: Fraction) -> int:
    """Return the nearest integer, ties up, limited to 32 bits."""
    return min(max(floor(value + _HALF), -_HI), _HI)


def _wrapped(value: Fraction) -> int:
    """Return the nearest integer, ties up, modulo 2^32."""
    return (floor(value + _HALF) + (1 << 31)) % (1 << 32) - (1 << 31)


def _rotation(a: int, b: int) -> tuple[int, int, int]:
    """Return h = sqrt(a^2 + b^2), rounded up, and a / h and b / h, toward zero.

    The reciprocal of the root has 31 bits, rounded down.
    """
    square = min(a * a + b * b, (1 << 62) - 1)
    h = isqrt(square)
    h += h * h < square
    exponent = 30 + (h - 1).bit_length()
    reciprocal = floor(Fraction(1 << exponent, h))
    c, s = (floor(Fraction(abs(v) * reciprocal, 1 << (exponent - 30))) for v in (a, b))
    return h, c, s if b >= 0 else -s


class FxpLinear:
    """State of the linear part: R in full rows, and z, w and gate sums by output."""

    def __init__(self, plan: Plan) -> None:
        self._constants = {name: plan.integer(name) for name in plan.constants
                           if name.startswith(("linear_", "gate_", "error_"))}
        self._word = plan.signals["f"].format
        self._order, self._outputs = plan.sizes["D"] + 1, plan.outputs
        self._columns = np.array([plan.integers("x_offset"), plan.integers("x_gain")], dtype=object)
        self._errors = FxpErrors(plan)
        self.reset()

    def reset(self) -> None:
        """Reset the model to the empty state."""
        order, each = self._order, range(self._outputs)
        self._r, self._next = [[0] * order for _ in range(order)], 0
        self._z, self._w = [[0] * order for _ in each], [[0] * order for _ in each]
        self._sums = [[0, 0] for _ in each]
        self._errors.reset()

    def inputs(self, x: Words, x_raw: Words) -> Words:
        """Return the inputs of the linear part for each sample.

        They are x, or the scaled ADC counts.
        """
        offset, gain = self._columns
        return (x_raw - offset) * gain if "linear_raw_exp" in self._constants else x

    def predict(self, x: Words) -> list[int]:
        """Return w.(1, x) of each output in LSBs of y."""
        return [self._fit(floor(value + _HALF)) for value in self._products(x)]

    def _products(self, x: Words) -> list[Fraction]:
        c, phi = self._constants, self._features(x)
        sums = [sum(v * p >> c["linear_mac_shift"] for v, p in zip(w, phi, strict=True)) for w in self._w]
        return [Fraction(acc, 1 << c["linear_out_shift"]) for acc in sums]

    def _fine(self, x: Words, linear: int, f: int) -> int:
        """Return the gated prediction of one output with more bits.

        They are those that w.(1, x) was rounded by.
        """
        one = 1 << self._constants["error_frac"]
        rest = floor(self._products(x)[0] * one + _HALF) - linear * one
        return self._gated(0, linear, f) * one + min(max(rest, -one), one)

    def corrected(self, x: Words, linear: list[int], f: list[int]) -> list[int]:
        """Return the predictions of both parts, corrected using the last errors."""
        if self._errors:
            return [self._errors.correct(self._fine(x, linear[0], f[0]))]
        return [self._gated(o, *both) for o, both in enumerate(zip(linear, f, strict=True))]

    def learn_errors(self, x: Words, y: int, linear: int, f: int) -> None:
        """Learn the error of a prediction."""
        if self._errors:
            self._errors.learn((y << self._constants["error_frac"]) - self._fine(x, linear, f))

    def learn(self, x: Words, y: list[int]) -> bool:
        """Learn a sample and its targets in LSBs of y; return whether w saturated."""
        c, order = self._constants, self._order
        if "linear_step" in c:
            return self._learn_normalised(self._features(x), y, self.predict(x))
        if self._r[0][0] == 0:
            for i in range(order):
                self._r[i][i] = c["linear_prior_x" if i else "linear_prior_one"]
        root = Fraction(c["linear_root"], _ONE)
        self._r = [[_wrapped(v * root) for v in row] for row in self._r]
        self._z = [[_wrapped(v * root) for v in z] for z in self._z]
        unit = Fraction(2) ** c["linear_y_exp"]
        self._rotate(self._features(x), [_rounded(Fraction(each) / unit) for each in y])
        ridge = [0] * order
        ridge[self._next] = c["linear_ridge_x" if self._next else "linear_ridge_one"]
        self._rotate(ridge, [0] * self._outputs)
        self._next = (self._next + 1) % order
        return any([self._solve(z, w) for z, w in zip(self._z, self._w, strict=True)])

    def _learn_normalised(self, phi: list[int], y: list[int], f: list[int]) -> bool:
        """Update w by NLMS with features and targets; return whether w saturated."""
        c, power, saturated = self._constants, sum(v * v for v in phi), False
        for w, target, now in zip(self._w, y, f, strict=True):
            q, bits = quotient((target - now) * c["linear_step"], power)
            gain = floor(q / Fraction(2) ** min(c["linear_step_exp"] - 31 + bits, 62) + _HALF)
            for j, v in enumerate(phi):
                whole = w[j] + floor(Fraction(gain * v, 1 << c["linear_gain_shift"]) + _HALF)
                w[j] = min(max(whole, -_HI), _HI)
                saturated = saturated or w[j] != whole
        return saturated

    def _fit(self, value: int) -> int:
        """Saturate a value to the format of f."""
        return min(max(value, self._word.lo), self._word.hi)

    def _gated(self, output: int, linear: int, f: int) -> int:
        """Return the prediction of an output with the kernel part scaled by the gate."""
        product, power = self._sums[output]
        if "gate_window" not in self._constants or product >= power > 0:
            return f
        return linear + self._fit(gated(product, power, self._fit(f - linear)))

    def add_to_gate(self, output: int, error: int, part: int) -> None:
        """Add a sample to the sums of the gate of an output."""
        if "gate_window" in self._constants:
            one, window = 1 << self._constants.get("gate_frac", 0), self._constants["gate_window"]
            part = self._fit(part) * one
            for i, factor in enumerate((self._fit(error) * one, part)):
                faded = self._sums[output][i] >> window
                self._sums[output][i] += (factor * part >> self._constants["gate_shift"]) - faded

    def _features(self, x: Words) -> list[int]:
        one, wide = self._constants["linear_one"], "linear_raw_exp" in self._constants
        shift = Fraction(2) ** self._constants["linear_raw_exp" if wide else "linear_x_exp"]
        scaled = [floor(int(v) / shift) for v in x]
        return [one, *(min(max(v, -one), one) if wide else v for v in scaled)]

    def _rotate(self, row: list[int], targets: list[int]) -> None:
        for i in range(self._order):
            if row[i] == 0:
                continue
            diagonal = self._r[i][i]
            h, c, s = _rotation(diagonal if diagonal > 0 else _HI, row[i])
            upper, lower = self._r[i][:], row[:]
            for j in range(i + 1, self._order):
                self._r[i][j] = _wrapped(Fraction(c * upper[j] + s * lower[j], _ONE))
                row[j] = _wrapped(Fraction(c * lower[j] - s * upper[j], _ONE))
            self._r[i][i], row[i] = min(h, _HI), 0
            for o, z in enumerate(self._z):
                above, target = z[i], targets[o]
                z[i] = _wrapped(Fraction(c * above + s * target, _ONE))
                targets[o] = _wrapped(Fraction(c * target - s * above, _ONE))

    def _solve(self, z: list[int], w: list[int]) -> bool:
        """Solve ``R w = z`` in place; return whether w saturated."""
        c, saturated = self._constants, False
        shift = c["linear_sum_shift"]
        for i in reversed(range(self._order)):
            acc = sum(self._r[i][j] * w[j] >> shift for j in range(i + 1, self._order))
            value = Fraction(((z[i] << c["linear_z_shift"]) - acc) << shift, self._r[i][i])
            if abs(value) >= 1 << 31:
                w[i], saturated = _HI if value > 0 else -_HI, True
            else:  # a quotient of 31 bits is rounded down
                w[i] = max(floor(value), -_HI) if abs(value) >= _ONE else _rounded(value)
        return saturated

    def load(self, state: Outputs) -> None:
        """Load the members of a saved state."""
        self.reset()
        self._w = state["linear_w"].reshape(self._outputs, -1).tolist()
        if "linear_r" in state:
            places = [(i, j) for i in range(self._order) for j in range(i, self._order)]
            for (i, j), value in zip(places, state["linear_r"].tolist(), strict=True):
                self._r[i][j] = value
            self._z = state["linear_z"].reshape(self._outputs, -1).tolist()
            self._next = int(state["linear_next"][0])
        if "gate_sums" in state:
            self._sums = state["gate_sums"].reshape(self._outputs, -1).tolist()
        self._errors.load(state)

    def state(self) -> dict[str, Any]:
        """Return the members of the device's model structure."""
        r = [v for i, row in enumerate(self._r) for v in row[i:]]
        return {"linear_r": np.array(r), "linear_z": np.array(self._z).ravel(),
                "linear_w": np.array(self._w).ravel(), "linear_next": self._next,
                "gate_sums": np.array(self._sums).ravel(), **self._errors.state()}
