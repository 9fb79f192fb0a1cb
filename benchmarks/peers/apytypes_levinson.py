"""benchmarks.peers: the symmetric Levinson recursion with APyTypes.

It computes with whole vectors of 32 bits. Values are integers, and the block exponents are separate
variables. Operations that occur once per step use Python integers. These are quotients, because APyTypes
(0.5.1) truncates them towards zero, and the scalars that determine the exponents.
"""

from __future__ import annotations

import numpy as np
from apytypes import APyFixed, APyFixedArray, QuantizationMode

from kerncast.sim._arrays import Words
from kerncast.sim.model.toeplitz.levinson import LevinsonConstants

from .apytypes_fklms import FLOOR, SATURATE, word_of, words_of

HALF_UP = QuantizationMode.TIES_POS
W = 32
LO, HI = -(1 << (W - 1)), (1 << (W - 1)) - 1


def magnitude(v: int) -> int:
    """Return `v` if it is not negative, else -v - 1."""
    return v if v >= 0 else -v - 1


def largest(words: Words) -> int:
    """Return the largest :func:`magnitude` of integers; 0 if there are none."""
    return max(magnitude(int(words.min())), magnitude(int(words.max()))) if len(words) else 0


def divide(num: int, den: int) -> tuple[int, int]:
    """Divide `num` by the 31 most significant bits of `den`.

    Returns the floor of the quotient, and its exponent.
    """
    if num == 0:
        return 0, 0
    up, up_den = 62 - abs(num).bit_length(), 62 - den.bit_length()
    d = den << up_den >> 31
    if abs(num) << up < d << 31:
        return (num << up) // d, up_den - up
    return (num << up >> 1) // d, up_den - up + 1


def align(v: int, s: int) -> int:
    """Return the floor of ``v / 2**s``; `s` may be negative."""
    return v >> s if s >= 0 else v << -s


def half_up(v: int, s: int) -> int:
    """Return ``v / 2**s``, rounded half up."""
    return v << -s if s <= 0 else ((v >> (s - 1)) + 1) >> 1


def fit(v: int) -> int:
    """Saturate `v` to the range of 32 bits."""
    return min(max(v, LO), HI)


def number(word: int, frac: int = 0) -> APyFixed:
    """Return an integer as an APyTypes number with `frac` fraction bits."""
    return APyFixed(word % 2**W, bits=W, frac_bits=frac)


def zeros(n: int) -> APyFixedArray:
    """Return an APyTypes array of zeros."""
    return APyFixedArray(np.zeros(n, dtype=np.int64), bits=W, frac_bits=0)


class ApyLevinson:
    """Levinson's recursion for one right-hand side.

    `k` contains the constants of a plan with block scaling and rounding half up.
    """

    def __init__(self, k: LevinsonConstants) -> None:
        assert k.word == W and k.static == 0
        self.k = k

    def solve(self, y: Words, r: Words) -> tuple[Words, Words, list[int]]:
        """Solve the system with right-hand side y (n,) and first row r (n,).

        Returns x (n,), a (n,) and the list of eps, a_exp and x_exp.
        """
        k, n = self.k, len(y)
        self.back = APyFixedArray(r[::-1].copy(), bits=W, frac_bits=k.solver_shift)
        self.a, self.x = zeros(n), zeros(n)
        self.eps, self.a_exp, self.a_used = 1 << k.xi_frac, k.a_exp_min, 0
        self.x_exp, self.x_used = k.x_exp_min, 0
        for m in range(n):
            if m > 0:
                self._predictor_step(m, int(r[m]))
            self._solution_step(m, int(y[m]))
        return words_of(self.x), words_of(self.a), [self.eps, self.a_exp, self.x_exp]

    def _correlate(self, numbers: APyFixedArray, s: int) -> int:
        """Return ``sum r[m - i] b[i] / 2**s`` for a block b that ends at r[1].

        Each product is rounded down.
        """
        count = len(numbers)
        if count == 0:
            return 0
        last = len(self.back) - 1
        products = self.back[last - count:last] * numbers
        return align(word_of(products.cast(bits=2 * W, frac_bits=0, quantization=FLOOR).sum()), s)

    def _predictor_step(self, m: int, r: int) -> None:
        k = self.k
        frac = 2 * (W - 1) - k.solver_shift - k.xi_frac
        num = align(r, W - 1 - k.xi_frac) + self._correlate(self.a[1:m], frac - self.a_exp)
        quotient, e = divide(-num, self.eps)
        xi = fit(half_up(quotient, min(-e, 62)))
        if self.a_used + (self.a_used * magnitude(xi) >> (W - 1)) + 4 > HI:
            self.a_exp += 1
            if m > 1:
                self.a[1:m] = (self.a[1:m] >> 1).cast(bits=W, frac_bits=0, quantization=HALF_UP)
        self.a_used = 0
        if m > 1:
            held = self.a[1:m]
            whole = held + held[::-1] * number(xi, W - 1)
            whole = whole.cast(bits=W + 2, frac_bits=0, quantization=HALF_UP)
            self.a_used = largest(words_of(whole))
            self.a[1:m] = whole.cast(bits=W, frac_bits=0, overflow=SATURATE)
        last = half_up(xi, self.a_exp)
        self.a[m] = number(last)
        self.a_used = max(self.a_used, magnitude(last))
        self.eps -= self.eps * (xi * xi >> (W - 1)) >> 31

    def _solution_step(self, m: int, y: int) -> None:
        k = self.k
        frac = 2 * (W - 1) - k.solver_shift - k.innov_frac
        mu = align(y, W - 2 - k.innov_frac) - self._correlate(self.x[:m], frac - self.x_exp)
        quotient, e = divide(mu, self.eps)
        c, c_exp = fit(quotient), e + k.xi_frac - k.innov_frac
        need = self.x_exp + (self.x_used >> (W - 2))
        if c == 0:
            c_exp = need - self.a_exp - 1
        need = max(need, c_exp, c_exp + self.a_exp + self.a_used.bit_length() - (W - 2))
        up, self.x_exp = min(need - self.x_exp, 62), need
        if m > 0:
            held = self.x[:m]
            if up > 0:
                held = (held >> up).cast(bits=W, frac_bits=0, quantization=HALF_UP)
            s = min(W - 1 + need - c_exp - self.a_exp, 62)
            terms = self.a[1:m + 1][::-1] * number(c, s)
            whole = held + terms.cast(bits=W + 2, frac_bits=0, quantization=HALF_UP)
            self.x_used = largest(words_of(whole))
            self.x[:m] = whole.cast(bits=W, frac_bits=0, overflow=SATURATE)
        last = half_up(c, min(need - c_exp, 62))
        self.x[m] = number(last)
        self.x_used = max(self.x_used if m > 0 else 0, magnitude(last))
