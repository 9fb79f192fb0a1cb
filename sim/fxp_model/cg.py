"""sim.fxp_model: conjugate gradients on the true kernel matrix in plain fxpmath.

A block with exponent e holds numbers of the format s16f(15 - e), and so on for other words; what is
floored, and to how many bits, is said in :mod:`..model.cg`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .. import raw
from ..backend import ALL_CALLS, STATUSES, Outputs, Raw, field_arrays
from ..formats import Format, Rounding
from ..plan import Plan
from .arithmetic import Fxp, Words, cast, exact, floor_at, integers, number, quotient, total, words_of
from .bound import accurate, bound_of, squares
from .kernel import FxpKernel

_STATUS = {name: code for code, name in enumerate(STATUSES)}
#: Bits of q.
_Q_BITS = 32


@dataclass
class Block:
    """Numbers that share an exponent."""

    words: Words
    exponent: int
    bits: int

    def numbers(self) -> Fxp:
        """Its numbers, in order."""
        return number(self.words, Format(True, self.bits, self.bits - 1 - self.exponent))


@dataclass
class Sums:
    """Integers that count steps of 2**(exponent - 61)."""

    counts: Any
    exponent: int

    def to_block(self, bits: int, rounding: Rounding) -> Block:
        """Words with the least exponent that holds the largest of these, before it is rounded."""
        longest = max(int(v if v >= 0 else -v - 1).bit_length() for v in self.counts)
        exponent = self.exponent - 61 + longest
        fmt = Format(True, bits, bits - 1 - exponent)
        return Block(words_of(cast(exact(self.counts, 61 - self.exponent), fmt, rounding)), exponent, bits)


def _counts(raw_words: Any, frac: int, exponent: int) -> Any:
    """Numbers of `frac` fraction bits in whole steps of 2**(exponent - 61), the rest floored."""
    drop = frac - (61 - exponent)
    return raw_words >> drop if drop >= 0 else raw_words << -drop


class NotPositiveDefiniteError(Exception):
    """A direction shows it, or alpha left its range."""


class FxpCg:
    """The second model of a plan whose algorithm is ``kernel_cg``.

    Parameters
    ----------
    plan : Plan

    Raises
    ------
    KerncastError
        E501 where fxpmath is not installed.
    """

    name = "model:fxpmath"
    calls = ALL_CALLS

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._kernel = FxpKernel(plan)
        # lambda = mantissa * 2**(e - 31), 2**(e - 1) <= lambda < 2**e
        lam, e = Fraction(float(plan.options["lambda"])), -50
        while Fraction(2) ** e <= lam:
            e += 1
        self._lambda_frac = 31 - e
        self.reset()

    def reset(self) -> None:
        """Back to the untrained state."""
        n, columns = self.plan.sizes["n"], self.plan.sizes["D"]
        self._v = np.zeros((n, columns), dtype=np.int64)
        self._alpha: Block | None = None
        self._state: dict[str, Any] = {}

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train from raw words x_raw (n, D) and y_raw (n,)."""
        n, y_raw = self.plan.sizes["n"], raw.targets(self.plan, y_raw)
        x_raw = None if x_raw is None else raw.inputs(self.plan, x_raw)
        if x_raw is None or len(y_raw) != n or len(x_raw) != n:
            return {"status": np.array([_STATUS["bad_argument"]])}
        self.reset()
        self._v = self._kernel.x_words(x_raw)
        y = self._kernel.y_numbers(y_raw)
        self._state = {"v": self._v}
        try:
            alpha, p, taken = self._steps(y)
        except NotPositiveDefiniteError:
            return {"status": np.array([_STATUS["not_positive_definite"]])}
        self._alpha = alpha
        self._state |= {"alpha": alpha.words, "alpha_exp": alpha.exponent, "p": p.words, "taken": taken,
                        "trained": 1}
        return {"status": np.array([_STATUS["ok" if self._certify(y, alpha) else "inaccurate"]])}

    def _cast(self, signal: str, sums: Sums) -> Block:
        return sums.to_block(self.plan.word, self._kernel.rounding(signal))

    def _product(self, b: Block) -> Sums:
        """(K + lambda I) b: row by row, each product floored, and lambda's share beside it."""
        exponent = b.exponent + self.plan.integer("product_exp")
        mantissa, counts = self.plan.integer("lambda_mantissa"), []
        for i, word in enumerate(b.words.tolist()):
            row = self._kernel.values(self._kernel.distances(self._v, self._v[i])) * b.numbers()
            sum_ = total(floor_at(row, row.n_frac - self.plan.integer("mac_shift")))
            b_frac = b.bits - 1 - b.exponent
            counts.append(_counts(integers(sum_).item(), sum_.n_frac, exponent)
                          + _counts(mantissa * word, self._lambda_frac + b_frac, exponent))
        return Sums(np.array(counts, dtype=object), exponent)

    def _dot(self, u: Block, w: Block, shift: str) -> tuple[int, int]:
        """``u . w``, each product floored: an integer and its fraction bits."""
        frac = u.bits - 1 - u.exponent + w.bits - 1 - w.exponent
        drop = self.plan.integer(shift)
        products = u.words.astype(object) * w.words.astype(object)
        return int(sum((products >> drop).tolist())), frac - drop

    def _ratio(self, num: tuple[int, int], den: tuple[int, int]) -> tuple[int, int]:
        """A quotient as (q, e): it is worth q 2**(e - 31)."""
        q, e = quotient(num[0], den[0])
        return q, e + den[1] - num[1]

    def _sum(self, u: Block, q: int, e: int, w: Block) -> Sums:
        """The sum u + q 2**(e - 31) w; the larger exponent of the two counts."""
        exponent = max(u.exponent, e + w.exponent)
        mine = _counts(u.words.astype(object), u.bits - 1 - u.exponent, exponent)
        products = w.words.astype(object) * abs(q)
        theirs = _counts(products, w.bits - 1 - w.exponent + 31 - e, exponent)
        return Sums(mine + theirs if q >= 0 else mine - theirs, exponent)

    def _steps(self, y: Fxp) -> tuple[Block, Block, int]:
        """alpha, the last direction, and the number of steps."""
        w, n = self.plan.word, len(words_of(y))
        r = self._cast("r", Sums(_counts(integers(y), y.n_frac, 1), 1))
        p, alpha = r, Block(np.zeros(n, dtype=np.int64), self.plan.integer("alpha_exp_min"), w)
        rr, taken = self._dot(r, r, "mac_shift"), 0
        while taken < self.plan.integer("steps") and rr[0] > 0:
            q = self._product(p).to_block(_Q_BITS, Rounding.HALF_UP)
            pq = self._dot(p, q, "dot_shift")
            if pq[0] <= 0:
                raise NotPositiveDefiniteError
            step, e = self._ratio(rr, pq)
            if e + p.exponent < alpha.exponent - w:
                break
            r = self._cast("r", self._sum(r, -step, e, q))
            alpha = self._cast("alpha", self._sum(alpha, step, e, p))
            if alpha.exponent > self.plan.integer("alpha_exp_max"):
                raise NotPositiveDefiniteError
            old, rr = rr, self._dot(r, r, "mac_shift")
            p = self._cast("p", self._sum(r, *self._ratio(rr, old), p))
            taken += 1
        return self._within_reach(alpha), p, taken

    def _within_reach(self, alpha: Block) -> Block:
        """The block alpha with an exponent that a prediction can shift into place; halves up."""
        least = self.plan.integer("alpha_exp_min")
        if alpha.exponent >= least:
            return alpha
        fmt = Format(True, alpha.bits, alpha.bits - 1 - least)
        return Block(words_of(cast(alpha.numbers(), fmt, Rounding.HALF_UP)), least, alpha.bits)

    def _certify(self, y: Fxp, alpha: Block) -> bool:
        """The residual afresh, and the bound; whether it is within the tolerance."""
        rows = self._product(alpha)
        exponent, bits = max(1, rows.exponent), self.plan.integer("norm_bits")
        counts = (_counts(integers(y), y.n_frac, exponent)
                  - _counts(rows.counts, 61 - rows.exponent, exponent))
        norm = squares((abs(v) for v in alpha.words.tolist()), bits, up=False)
        slack = self.plan.integer("residual_slack") if norm[0] else 0
        size, s = squares((abs(v) + slack for v in counts.tolist()), bits, up=True)
        bound = bound_of((size, s + exponent - rows.exponent), self.plan)
        r = self._cast("r", Sums(counts, exponent))
        self._state |= {"wide": counts, "r": r.words, "r_exp": r.exponent, "bound": bound}
        return accurate(bound, norm, self.plan)

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Not an online learner: every sample is refused."""
        return {"status": np.full(len(y_raw), _STATUS["bad_argument"]),
                "f": np.zeros(len(y_raw), dtype=np.int64)}

    def predict(self, x_raw: Raw) -> Outputs:
        """Predictions in y words of raw inputs (m, D): ``status`` (m,) and ``f`` (m,)."""
        x_raw = raw.inputs(self.plan, x_raw)
        if self._alpha is None or len(x_raw) == 0:
            return {"status": np.full(len(x_raw), _STATUS["not_trained"]),
                    "f": np.zeros(len(x_raw), dtype=np.int64)}
        alpha = self._alpha.numbers()
        found = [self._kernel.expand(self._v, alpha, x) for x in self._kernel.x_words(x_raw)]
        status = [_STATUS["saturated" if saturated else "ok"] for _, saturated in found]
        return {"status": np.array(status, dtype=np.int64),
                "f": np.array([word for word, _ in found], dtype=np.int64)}

    def state(self) -> Outputs:
        """Every member of the device's model structure."""
        return field_arrays(self.plan, self._state)

    def close(self) -> None:
        """Nothing to close."""
