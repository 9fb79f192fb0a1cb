"""sim.fxp_model: input words, exact distances, the Gaussian kernel and the expansion."""

from __future__ import annotations

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

#: ln 2 as u32f32: the linear term of the 32-bit exponential.
_LN2 = 0xB17217F8


class FxpKernel:
    """Everything of a plan that maps raw words to kernel values and predictions."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.short = plan.word == 16
        self._t_frac = 20 if self.short else 32
        # t = d2 * c * 2**-shift, counted in steps of 2**-t_frac
        self._c = exact(plan.integer("kernel_c"), plan.integer("kernel_shift") + self._t_frac)

    def format(self, signal: str) -> Format:
        """The format of a signal."""
        return self.plan.signals[signal].format

    def rounding(self, signal: str) -> Rounding:
        """The rounding of a signal."""
        return self.plan.signals[signal].rounding

    def x_words(self, x_raw: Words) -> Words:
        """Raw inputs (m, D) to x words (m, D): ``(raw - offset) * gain * 2**-shift``, cast."""
        fmt = self.format("x")
        raw = exact(x_raw, 0) - exact(np.broadcast_to(self.plan.integers("x_offset"), x_raw.shape), 0)
        gain = exact(np.broadcast_to(self.plan.integers("x_gain"), x_raw.shape),
                     self.plan.integer("x_shift"))
        # x words are counted, so their point is taken to be at the right end here.
        return words_of(cast(raw * gain, Format(fmt.signed, fmt.bits, 0), self.rounding("x")))

    def y_numbers(self, y_raw: Words) -> Fxp:
        """Raw targets (m,) to y numbers (m,), in full scales of y."""
        fmt, plan = self.format("y"), self.plan
        gain = exact(plan.integer("y_gain"), plan.integer("y_shift") + fmt.frac)
        return cast((exact(y_raw, 0) - exact(plan.integer("y_offset"), 0)) * gain, fmt, self.rounding("y"))

    def distances(self, v: Words, x: Words) -> Words:
        """Exact squared distances (m,) of x words v (m, D) to x (D,)."""
        difference = exact(v, 0) - exact(np.broadcast_to(x, v.shape), 0)
        squares = integers(difference * difference)
        return np.array([sum(row) for row in squares.tolist()], dtype=np.int64)

    def values(self, d2: Words) -> Fxp:
        """Kernel values (m,) of squared distances (m,): 2**-t, and 0 from the plan's end on."""
        near = d2 < self.plan.integer("kernel_d2_end")
        t = words_of(product_floor(exact(np.where(near, d2, 0), 0), self._c, self._t_frac))
        fmt = self.format("kernel")
        fraction = self._exp2_16(t) if self.short else self._exp2_32(t)
        values = _halved(fraction, t >> self._t_frac, fmt)
        return number(np.where(near, values, 0), fmt)

    def _entries(self, table: str, index: Words) -> Fxp:
        values = np.array(self.plan.tables[table].values, dtype=np.int64)
        return number(values[index], self.plan.tables[table].format)

    def _exp2_16(self, t: Words) -> Fxp:
        """The chord between two of 129 entries at the fraction of t, u37f20; its drop floored to f16."""
        index = (t >> 13) & 0x7F
        left, right = self._entries("exp2", index), self._entries("exp2", index + 1)
        along = exact(t & 0x1FFF, 13)
        return left - floor_at((left - right) * along, 16)

    def _exp2_32(self, t: Words) -> Fxp:
        """Coarse entry x fine entry x (1 - z ln 2) at the fraction of t, u38f32; each floored to f32."""
        coarse = self._entries("exp2_coarse", (t >> 24) & 0xFF)
        fine = self._entries("exp2_fine", (t >> 16) & 0xFF)
        head = floor_at(exact(integers(coarse), 31) * exact(integers(fine), 31), 32)
        tail = floor_at(exact(t & 0xFFFF, 32) * exact(_LN2, 32), 32)
        return head - floor_at(head * tail, 32)

    def expand(self, v: Words, alpha: Fxp, x: Words) -> tuple[int, bool]:
        """The prediction sum_i alpha_i k(v_i, x), a word of f, and whether it saturated."""
        f, saturated = self.weigh(alpha, self.values(self.distances(v, x)))
        return word_of(f), saturated

    def weigh(self, alpha: Fxp, k: Fxp) -> tuple[Fxp, bool]:
        """The sum cast to f, and whether it saturated; `mac_shift` floors each product."""
        products = alpha * k
        whole = total(floor_at(products, products.n_frac - self.plan.integer("mac_shift")))
        signal = self.plan.signals["f"]
        f = cast(whole, signal.format, signal.rounding, signal.overflow)
        if signal.overflow is Overflow.WRAP:
            return f, False
        unbounded = cast(whole, Format(True, 48, signal.format.frac), signal.rounding)
        return f, word_of(f) != word_of(unbounded)


def _halved(values: Fxp, times: Words, fmt: Format) -> Words:
    """``values * 2**-times`` cast to `fmt`, halves up; to halve a number is to move its point."""
    words = np.zeros(len(times), dtype=np.int64)
    for power in np.unique(times):
        chosen = times == power
        part = exact(integers(values)[chosen], values.n_frac + int(power))
        words[chosen] = words_of(cast(part, fmt, Rounding.HALF_UP))
    return words
