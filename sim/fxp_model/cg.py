"""sim.fxp_model: conjugate gradients on the full kernel matrix with fxpmath.

A block with exponent e contains numbers of the format s16f(15 - e) at a word length of 16 bits, and
corresponding formats at other word lengths. :mod:`..model.cg` defines the number of bits of each rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..backend import Outputs, Raw
from ..data import raw
from ..formats import Format, Rounding
from ..plan import Plan
from .arithmetic import Fxp, Words, cast, exact, floor_at, integers, number, quotient, total, words_of
from .base import STATUS, FxpModel, NotPositiveDefiniteError, RefusedError, joined
from .bound import accurate, bound_of, squares
from .classes import target_columns, with_classes

#: Bits of q.
_Q_BITS = 32


@dataclass
class Block:
    """Numbers that share an exponent."""

    words: Words
    exponent: int
    bits: int

    def numbers(self) -> Fxp:
        """Return the numbers of the block in order."""
        return number(self.words, Format(True, self.bits, self.bits - 1 - self.exponent))


@dataclass
class Sums:
    """Integers with the LSB 2**(exponent - 61)."""

    counts: Any
    exponent: int

    def to_block(self, bits: int, rounding: Rounding) -> Block:
        """Cast to a block with the smallest exponent that fits the largest entry.

        The exponent is determined before rounding.
        """
        longest = max(int(v if v >= 0 else -v - 1).bit_length() for v in self.counts)
        exponent = self.exponent - 61 + longest
        fmt = Format(True, bits, bits - 1 - exponent)
        return Block(words_of(cast(exact(self.counts, 61 - self.exponent), fmt, rounding)), exponent, bits)


def _counts(raw_words: Any, frac: int, exponent: int) -> Any:
    """Convert numbers with `frac` fraction bits to the LSB 2**(exponent - 61).

    The values are rounded down.
    """
    drop = frac - (61 - exponent)
    return raw_words >> drop if drop >= 0 else raw_words << -drop


class FxpCg(FxpModel):
    """Fxpmath model of a plan with algorithm ``kernel_cg``."""

    def __init__(self, plan: Plan) -> None:
        # lambda = mantissa * 2**(e - 31), 2**(e - 1) <= lambda < 2**e
        lam, e = Fraction(plan.lam), -50
        while Fraction(2) ** e <= lam:
            e += 1
        self._lambda_frac = 31 - e
        super().__init__(plan)

    def reset(self) -> None:
        """Reset the model to the untrained state."""
        n, columns = self.plan.sizes["n"], self.plan.sizes["D"]
        self._v = np.zeros((n, columns), dtype=np.int64)
        self._state = {}

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train with inputs x_raw (n, D) in ADC counts, and counts or labels y_raw.

        Each output is solved separately; then the coefficients of all outputs are aligned to one exponent.
        """
        given = raw.whole_set(self.plan, x_raw, y_raw)
        if given is None or given[0] is None:
            return super().train(x_raw, y_raw)
        kept = dict(vars(self))
        self.reset()
        self._v, y = self._kernel.x_words(given[0]), target_columns(self.plan, self._kernel, given[1])
        self._state = {"centers": self._v}
        try:
            solved = [self._steps(each) for each in y]
        except RefusedError as error:
            vars(self).update(kept)  # the model stays as it was
            return {"status": np.array([STATUS[error.status]])}
        exponent = max(self.plan.integer("alpha_exp_min"), *(block.exponent for block in solved))
        alpha = [self._raised(block, exponent).words for block in solved]
        self._state |= {"alpha": np.concatenate(alpha), "alpha_exp": exponent, "trained": 1}
        return {"status": np.array([STATUS["ok" if self._certify(y) else "inaccurate"]])}

    def _cast(self, signal: str, sums: Sums) -> Block:
        return sums.to_block(self.plan.word, self._kernel.rounding(signal))

    def _product(self, b: Block) -> Sums:
        """Compute (K + lambda I) b row by row; each product is rounded down."""
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
        """Compute ``u . w`` with each product rounded down.

        Return an integer and its number of fraction bits.
        """
        frac = u.bits - 1 - u.exponent + w.bits - 1 - w.exponent
        drop = self.plan.integer(shift)
        products = u.words.astype(object) * w.words.astype(object)
        return int(sum((products >> drop).tolist())), frac - drop

    def _ratio(self, num: tuple[int, int], den: tuple[int, int]) -> tuple[int, int]:
        """Return a quotient as (q, e), with the value q 2**(e - 31)."""
        q, e = quotient(num[0], den[0])
        return q, e + den[1] - num[1]

    def _sum(self, u: Block, q: int, e: int, w: Block) -> Sums:
        """Compute u + q 2**(e - 31) w at the larger exponent of the two."""
        exponent = max(u.exponent, e + w.exponent)
        mine = _counts(u.words.astype(object), u.bits - 1 - u.exponent, exponent)
        products = w.words.astype(object) * abs(q)
        theirs = _counts(products, w.bits - 1 - w.exponent + 31 - e, exponent)
        return Sums(mine + theirs if q >= 0 else mine - theirs, exponent)

    @property
    def _alpha(self) -> list[Block]:
        """Return the coefficients of each output; an untrained model has none."""
        words, exponent = self._state.get("alpha", ()), int(self._state.get("alpha_exp", 0))
        return [Block(part, exponent, self.plan.word)
                for part in np.split(words, self.plan.outputs)] if len(words) else []

    def _steps(self, y: Fxp) -> Block:
        """Return alpha of one output."""
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
        return alpha

    def _raised(self, alpha: Block, exponent: int) -> Block:
        """Return alpha with a common exponent, rounding half up."""
        if alpha.exponent >= exponent:
            return alpha
        fmt = Format(True, alpha.bits, alpha.bits - 1 - exponent)
        return Block(words_of(cast(alpha.numbers(), fmt, Rounding.HALF_UP)), exponent, alpha.bits)

    def _certify(self, y: list[Fxp]) -> bool:
        """Recompute the residuals and the bound; return whether it is in the tolerance."""
        bits, counts = self.plan.integer("norm_bits"), []
        rows = [self._product(block) for block in self._alpha]
        exponent = max(1, rows[0].exponent)
        for target, row in zip(y, rows, strict=True):
            counts.append(_counts(integers(target), target.n_frac, exponent)
                          - _counts(row.counts, 61 - row.exponent, exponent))
        norm = squares((abs(v) for v in self._state["alpha"].tolist()), bits, up=False)
        slack = self.plan.integer("residual_slack") if norm[0] else 0
        size, s = squares((abs(v) + slack for each in counts for v in each.tolist()), bits, up=True)
        bound = bound_of((size, s + exponent - rows[0].exponent), self.plan)
        self._state |= {"bound": bound}
        return accurate(bound, norm, self.plan)

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for ADC counts (m, D), as :meth:`~kerncast.sim.backend.Backend.predict`."""
        every = [alpha.numbers() for alpha in self._alpha] or [None] * self.plan.outputs
        found = [self._predict(x_raw, self._v, alpha) for alpha in every]
        if self.plan.outputs == 1:
            return with_classes(self.plan, found[0])
        return with_classes(self.plan, joined(found))
