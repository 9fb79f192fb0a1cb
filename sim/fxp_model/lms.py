"""sim.fxp_model: the FKLMS learner with a fixed budget in plain fxpmath.

Report 836: learning rule (2)-(6), projection (16), metric (17) taken as the exact distance.
"""

from __future__ import annotations

import numpy as np

from .. import raw
from ..backend import Outputs, Raw, field_arrays
from ..formats import Format, Overflow
from ..plan import Plan
from .arithmetic import Fxp, Words, cast, exact, number, word_of, words_of
from .base import STATUS, FxpModel


class FxpLms(FxpModel):
    """The second model of a plan whose algorithm is ``kernel_lms``."""

    def __init__(self, plan: Plan) -> None:
        self._alpha_format = plan.signals["alpha"].format
        self._rounding, self._overflow = plan.signals["alpha"].rounding, plan.signals["alpha"].overflow
        # What is added to alpha: much wider, so that only the sum saturates.
        self._wide = Format(True, 48, self._alpha_format.frac)
        y_frac = plan.signals["y"].format.frac
        self._eta = exact(plan.integer("eta"), plan.integer("eta_shift") + self._alpha_format.frac - y_frac)
        self._decay = exact(plan.integer("decay"), plan.integer("decay_shift"))
        super().__init__(plan)

    def reset(self) -> None:
        """Back to the empty model."""
        budget, columns = self.plan.sizes["N"], self.plan.sizes["D"]
        self._alpha: Words = np.zeros(budget, dtype=np.int64)
        self._v: Words = np.zeros((budget, columns), dtype=np.int64)
        self._row: Words = np.zeros(budget, dtype=np.int64)
        self._dist: Words = np.zeros(budget, dtype=np.int64)
        self._nearest: Words = np.zeros(budget, dtype=np.int64)
        self._ages: list[int] = []  # slots, the oldest first
        self._saturated = False

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn from raw samples (m, D), (m,) in order: ``status`` (m,) and ``f`` (m,)."""
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        status, f = [], []
        if len(y_raw) == 0:  # fxpmath has no empty arrays
            return {"status": np.zeros(0, dtype=np.int64), "f": np.zeros(0, dtype=np.int64)}
        for x, y in zip(self._kernel.x_words(x_raw), self._kernel.y_numbers(y_raw), strict=True):
            self._saturated = False
            f.append(self._learn(x, y))
            status.append(STATUS["saturated" if self._saturated else "ok"])
        return {"status": np.array(status, dtype=np.int64), "f": np.array(f, dtype=np.int64)}

    def _learn(self, x: Words, y: Fxp) -> int:
        """One step of the rule; the prediction's word comes back."""
        count = len(self._ages)
        if count == 0:
            return self._first(x, y)
        self._row[:count] = self._kernel.distances(self._v[:count], x)
        twins = [i for i in range(count) if self._row[i] == 0]
        slot = twins[-1] if twins else count
        if not twins and count == len(self._alpha):
            slot = self._closest()
            self._project(slot)
            self._alpha[slot] = 0
            self._remove(slot)
        held = number(self._alpha[:count], self._alpha_format)
        f, saturated = self._kernel.weigh(held, self._kernel.values(self._row[:count]))  # (1)
        self._saturated |= saturated
        if self.plan.integer("decay") != 0:
            self._alpha[:count] = words_of(cast(held * self._decay, self._alpha_format, self._rounding))
        self._alpha[slot] = self._fitted(self._step(y - f) + (int(self._alpha[slot]) if twins else 0))
        if not twins:
            self._v[slot] = x
            self._insert(slot)
        return word_of(f)

    def _first(self, x: Words, y: Fxp) -> int:
        """The first vector: nothing is held, so that f = 0 and the error is y."""
        self._v[0] = x
        self._alpha[0] = self._fitted(self._step(y))
        self._insert(0)
        return 0

    def _step(self, error: Fxp) -> int:
        """The step ``eta e``, rounded to the step of alpha."""
        return word_of(cast(error * self._eta, self._wide, self._rounding))

    def _fitted(self, word: int) -> int:
        """A word of alpha; whether it saturated is remembered."""
        fitted = self._alpha_format.fit(word, self._overflow)
        self._saturated |= fitted != word and self._overflow is Overflow.SATURATE
        return fitted

    def _closest(self) -> int:
        """The slot nearest to one of its elders; of equals the newest (17)."""
        nearest = min(self._dist[slot] for slot in self._ages[1:])
        return next(slot for slot in reversed(self._ages[1:]) if self._dist[slot] == nearest)

    def _project(self, slot: int) -> None:
        """alpha_j += alpha_slot k(v_j, v_slot) for all others (16)."""
        k = self._kernel.values(self._kernel.distances(self._v, self._v[slot]))
        moved = words_of(cast(number(self._alpha[slot], self._alpha_format) * k, self._wide, self._rounding))
        for j in self._ages:
            if j != slot:
                self._alpha[j] = self._fitted(int(self._alpha[j]) + int(moved[j]))

    def _elder(self, slot: int, elders: list[int], d2: Words) -> None:
        """Note the nearest of `elders` (the oldest of equals) as the neighbour of `slot`."""
        self._nearest[slot], self._dist[slot] = 0, 0
        if elders:
            self._nearest[slot] = min(elders, key=lambda j: d2[j])
            self._dist[slot] = d2[self._nearest[slot]]

    def _remove(self, slot: int) -> None:
        """Take `slot` out, and look again for the neighbours of those that it was nearest to."""
        age = self._ages.index(slot)
        self._ages.remove(slot)
        for later in self._ages[age:]:
            if self._nearest[later] == slot:
                elders = self._ages[:self._ages.index(later)]
                self._elder(later, elders, self._kernel.distances(self._v, self._v[later]))

    def _insert(self, slot: int) -> None:
        """The vector in `slot` is the newest now; `row` holds its distances."""
        self._elder(slot, self._ages, self._row)
        self._ages.append(slot)

    def predict(self, x_raw: Raw) -> Outputs:
        """Predictions in y words of raw inputs (m, D): ``status`` (m,) and ``f`` (m,)."""
        count = len(self._ages)
        alpha = number(self._alpha[:count], self._alpha_format) if count else None
        return self._predict(x_raw, self._v[:count], alpha)

    def state(self) -> Outputs:
        """Every member of the device's model structure."""
        rank = np.zeros(len(self._alpha), dtype=np.int64)
        rank[self._ages] = np.arange(len(self._ages))
        return field_arrays(self.plan, {
            "row": self._row, "dist": self._dist, "alpha": self._alpha, "v": self._v, "near": self._nearest,
            "rank": rank, "count": len(self._ages)})
