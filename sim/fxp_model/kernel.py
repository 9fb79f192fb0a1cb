"""sim.fxp_model: convert inputs, evaluate kernels of a distance, and predict."""

from __future__ import annotations

from math import isqrt

import numpy as np

from ..formats import Format, Overflow, Rounding
from ..plan import Plan
from .arithmetic import (
    Fxp,
    Words,
    cast,
    exact,
    floor_at,
    integers,
    number,
    product_floor,
    total,
    word_of,
    words_of,
)
from .distance import distances, polynomial

#: ln 2 as u32f32: the linear term of the 32-bit exponential.
_LN2 = 0xB17217F8
#: ln 2 and 1/3 with 31 fraction bits: of the Matern kernels.
LN2, THIRD = 1488522236, 715827883
_U32F31 = Format(False, 32, 31)


class FxpKernel:
    """Kernel and prediction of a plan, from ADC counts to values of f."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.short = plan.word == 16
        self._t_frac = 20 if self.short else 32
        # t = d2 * c * 2**-shift, with LSB 2**-t_frac; random features have no kernel values
        c, shift = (0 if plan.second_order else plan.integer(name) for name in ("kernel_c", "kernel_shift"))
        self._c = exact(c, shift + self._t_frac)

    def format(self, signal: str) -> Format:
        """Return the format of a signal."""
        return self.plan.signals[signal].format

    def rounding(self, signal: str) -> Rounding:
        """Return the rounding mode of a signal."""
        return self.plan.signals[signal].rounding

    def x_words(self, x_raw: Words) -> Words:
        """Convert inputs (m, D) from ADC counts to x (m, D).

        The formula is ``(raw - offset) * gain * 2**-shift``, with a cast.
        """
        fmt = self.format("x")
        raw = exact(x_raw, 0) - exact(np.broadcast_to(self.plan.integers("x_offset"), x_raw.shape), 0)
        gain = exact(np.broadcast_to(self.plan.integers("x_gain"), x_raw.shape),
                     self.plan.integer("x_shift"))
        # x is an integer here: its binary point is at the right end.
        return words_of(cast(raw * gain, Format(fmt.signed, fmt.bits, 0), self.rounding("x")))

    def y_numbers(self, y_raw: Words) -> Fxp:
        """Convert targets (m,) from ADC counts to y (m,), in full scales of y."""
        fmt, plan = self.format("y"), self.plan
        gain = exact(plan.integer("y_gain"), plan.integer("y_shift") + fmt.frac)
        return cast((exact(y_raw, 0) - exact(plan.integer("y_offset"), 0)) * gain, fmt, self.rounding("y"))

    def distances(self, v: Words, x: Words) -> Words:
        """Compute the exact distances (m,) of v (m, D) to x (D,)."""
        return distances(self.plan, v, x)

    def values(self, d2: Words) -> Fxp:
        """Evaluate the kernel at distances (m,).

        The value is 2**-t, and 0 from the largest distance of the plan on. For a polynomial kernel, it is a
        polynomial of the argument.
        """
        if "kernel_degree" in self.plan.constants:
            return polynomial(self.plan, d2)
        near = d2 < self.plan.integer("kernel_d2_end")
        t = self._exponents(np.where(near, d2, 0))
        fmt = self.format("kernel")
        bits, whole = self.plan.integer("exp2_bits"), t >> self._t_frac
        if self.plan.matern:
            values = self._matern(t)
        elif self.short:
            values = _halved(self._exp2_16(t, bits), whole, fmt)
        else:
            long = number(_halved(self._exp2_32(t, bits), whole, _U32F31), _U32F31)
            values = words_of(cast(long, fmt, Rounding.HALF_UP))
        return number(np.where(near, values, 0), fmt)

    def _exponents(self, d2: Words) -> Words:
        """Return the exponents t of distances (m,), or of their roots, rounded down."""
        if not self.plan.rooted:
            return words_of(product_floor(exact(d2, 0), self._c, self._t_frac))
        found = []
        for d in d2.tolist():
            up = (62 - d.bit_length()) // 2 if d else 0
            root = isqrt((d << 2 * up) - 1) + 1 if d else 0  # rounded up
            found.append(word_of(product_floor(exact(root, up), self._c, self._t_frac)))
        return np.array(found, dtype=np.int64)

    def _matern(self, t: Words) -> Words:
        """Return the kernel values for exponents (m,), one integer part at a time."""
        frac, values = self._t_frac, np.zeros(len(t), dtype=np.int64)
        for whole in np.unique(t >> frac):
            chosen = t >> frac == whole
            values[chosen] = self._matern_part(t[chosen], int(whole))
        return values

    def _matern_part(self, t: Words, whole: int) -> Words:
        """Return the kernel values for exponents (m,) with the same integer part.

        It is (1 + x + x^2 / 3) 2**-whole times the exponential of the rest, the square for matern52 only.
        """
        plan, frac, half, fmt = self.plan, self._t_frac, whole // 2, self.format("kernel")
        x = product_floor(exact(t, frac), exact(LN2, 31), frac)
        p = floor_at(exact(integers(x) + (1 << frac), frac + half), frac)
        if plan.matern == 2:
            third = floor_at(exact(integers(product_floor(x, exact(THIRD, 31), frac)), frac + half), frac)
            p = exact(integers(p) + words_of(product_floor(x, third, frac)), frac)
        rounded = Format(True, 48, frac - plan.integer("matern_cut"))
        p = cast(exact(integers(p), frac + whole - half), rounded, Rounding.HALF_UP)
        rest, bits = t % (1 << frac), plan.integer("exp2_bits")
        e = self._exp2_16(rest, bits) if self.short else self._exp2_32(rest, bits)
        power = cast(e, Format(False, 16, 15) if self.short else _U32F31, Rounding.HALF_UP)
        product = exact(integers(power) * integers(p), power.n_frac + p.n_frac)
        values = cast(product, Format(True, 48, fmt.frac), Rounding.HALF_UP)
        return np.minimum(words_of(values), 1 << fmt.frac)

    def _entries(self, table: str, index: Words) -> Fxp:
        values = np.array(self.plan.tables[table].values, dtype=np.int64)
        return number(values[index], self.plan.tables[table].format)

    def _exp2_16(self, t: Words, bits: int) -> Fxp:
        """Interpolate 2**-t linearly between two table entries, for t in u36f20.

        Only the fraction of t is used. The decrement is rounded down to 21 fraction bits.
        """
        rest = 20 - bits
        index = (t >> rest) & ((1 << bits) - 1)
        left, right = self._entries("exp2", index), self._entries("exp2", index + 1)
        along = exact(t & ((1 << rest) - 1), rest)
        return left - floor_at((left - right) * along, 21)

    def _exp2_32(self, t: Words, bits: int) -> Fxp:
        """Compute 2**-t from two tables and a polynomial, for t in u37f32.

        Only the fraction of t is used. The result is (1 + head) / 2 * (1 - step) * (1 - tail). The first
        product is rounded down to 33 fraction bits. The tail is 1 - 2**-z to first order, or to second order
        if the tables have fewer than 256 entries.
        """
        mask, rest, frac = (1 << bits) - 1, 32 - 2 * bits, 30 + bits
        head, step = self._entries("exp2_coarse", (t >> (32 - bits)) & mask), \
            self._entries("exp2_fine", (t >> rest) & mask)
        tail = floor_at(exact(t & ((1 << rest) - 1), 32) * exact(_LN2, 32), frac)
        if bits < 8:
            tail = tail - floor_at(tail * tail * exact(1, 1), frac)
        fall = step + tail - floor_at(step * tail, frac)
        coarse = exact(integers(head) + (1 << 32), 33)
        return coarse - product_floor(coarse, fall, 33)

    def expand(self, v: Words, alpha: Fxp, x: Words, bias: int = 0) -> tuple[int, bool]:
        """Compute the prediction sum_i alpha_i k(v_i, x) + bias.

        Return the integer of f, and whether it saturated.
        """
        f, saturated = self.kernel_expansion(alpha, self.values(self.distances(v, x)), bias)
        return word_of(f), saturated

    def kernel_expansion(self, alpha: Fxp, k: Fxp, bias: int = 0) -> tuple[Fxp, bool]:
        """Return the integer of f with bias, and whether it saturated.

        Each product is rounded down by `mac_shift` bits.
        """
        products = alpha * k
        whole = total(floor_at(products, products.n_frac - self.plan.integer("mac_shift")))
        signal = self.plan.signals["f"]
        # 48 bits are enough to saturate, and to wrap: wrapping twice gives the same value.
        rounded = cast(whole, Format(True, 48, signal.format.frac), signal.rounding, signal.overflow)
        f = cast(exact(word_of(rounded) + bias, signal.format.frac), signal.format, signal.rounding,
                 signal.overflow)
        return f, signal.overflow is Overflow.SATURATE and word_of(f) != word_of(rounded) + bias


def _halved(values: Fxp, times: Words, fmt: Format) -> Words:
    """Cast ``values * 2**-times`` to `fmt`, rounding half up.

    The division moves the binary point, so it is exact.
    """
    words = np.zeros(len(times), dtype=np.int64)
    for power in np.unique(times):
        chosen = times == power
        part = exact(integers(values)[chosen], values.n_frac + int(power))
        words[chosen] = words_of(cast(part, fmt, Rounding.HALF_UP))
    return words
