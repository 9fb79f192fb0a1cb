"""sim.fxp_model: the kernel LMS learner with fxpmath.

The learning rule (2)-(6), the projection (16), the metrics (17), (18) and those of section 5, and truncation
are those of B. Mitchinson, T. J. Dodd and R. F. Harrison, "Reduction of Kernel Models" (2003). The quantities
of a metric, such as the nearest vector or a sum of squares, are not updated: they are computed from the
vectors whenever they are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np

from ..backend import Outputs, Raw, field_arrays
from ..data import raw
from ..formats import Format, Overflow
from ..plan import Plan
from .arithmetic import Fxp, Words, cast, exact, floor_at, integers, number, word_of, words_of
from .base import STATUS, FxpModel
from .classes import with_classes
from .linear import FxpLinear


@dataclass(eq=False)
class Center:
    """Center of the dictionary.

    It consists of x, integer coefficients of all outputs, and the index of its sample.
    """

    x: Words
    alpha: list[int]
    born: int


class FxpLms(FxpModel):
    """The fxpmath model of a plan with algorithm ``kernel_lms``."""

    def __init__(self, plan: Plan) -> None:
        self._alpha_format = plan.signals["alpha"].format
        self._rounding, self._overflow = plan.signals["alpha"].rounding, plan.signals["alpha"].overflow
        # Format of the terms added to alpha: much wider, so that only the sum saturates.
        self._wide = Format(True, 48, self._alpha_format.frac)
        y_frac = plan.signals["y"].format.frac
        self._eta = exact(plan.integer("eta"), plan.integer("eta_shift") + self._alpha_format.frac - y_frac)
        self._decay = exact(plan.integer("decay"), plan.integer("decay_shift"))
        self._metric, self._projects = plan.metric, plan.projects
        self._limits = {name: plan.integer(name) for name in ("max_deterioration", "truncation", "max_age",
                                                           "quantise", "guard_limit")
                        if name in plan.constants}
        self._outputs = plan.outputs
        self._known: dict[int, int] = {}
        self._newest_only = plan.newest_only
        self._linear = FxpLinear(plan) if plan.linear else None
        self._joint = plan.options.get("joint") == "1"
        super().__init__(plan)

    def reset(self) -> None:
        """Reset the model to the empty state."""
        self._slots: list[Center] = []
        self._row: Words = np.zeros(self.plan.sizes["N"], dtype=np.int64)
        self._learned = 0  # samples
        self._status = ""
        if self._linear is not None:
            self._linear.reset()

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn from the samples in order; return the prediction before each update."""
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        status, f = [], []
        if len(y_raw):  # fxpmath does not support empty arrays
            for (x, seen), y in zip(self._samples(x_raw), self._targets(y_raw), strict=True):
                self._status = "ok"
                f.append(self._learn(x, y, seen))
                status.append(STATUS[self._status])
        found = np.array(f, dtype=np.int64).reshape(len(y_raw), self._outputs)
        return with_classes(self.plan, {"status": np.array(status, dtype=np.int64),
                                        "f": found if "C" in self.plan.sizes else found[:, 0]})

    def _samples(self, x_raw: Raw) -> zip[tuple[Words, Words]]:
        """Return x of every sample, and the inputs of the linear part."""
        x = self._kernel.x_words(x_raw)
        return zip(x, x if self._linear is None else self._linear.inputs(x, x_raw), strict=True)

    def _targets(self, y_raw: Raw) -> list[list[Fxp]]:
        """Return the targets of every output, by sample."""
        plan, fmt = self.plan, self.plan.signals["y"].format
        if not plan.decision:
            return [[number(word_of(y), fmt) for y in self._kernel.y_numbers(np.atleast_1d(row))]
                    for row in y_raw]
        hit, other = (number(plan.integer(name), fmt) for name in ("y_class", "y_other"))
        stands_for = range(self._outputs) if self._outputs > 1 else (1,)
        return [[hit if label == each else other for each in stands_for] for label in y_raw.tolist()]

    # ---- the rule ----
    def _learn(self, x: Words, y: list[Fxp], seen: Words) -> list[int]:
        """Learn one sample; return the predicted f of every output as an integer.

        `seen` are the inputs of the linear part.
        """
        row = self._distances(x, self._slots)
        # A distance may be rounded to 0; of several vectors at the minimum distance the oldest is selected.
        duplicates = sorted((i for i, d in enumerate(row) if d <= self._limits.get("quantise", 0)),
                            key=lambda i: (row[i], i if self._newest_only else self._slots[i].born))
        self._row[:len(row)] = row
        victim = None
        if not duplicates and len(row) == self.plan.sizes["N"] and not self._newest_only:
            victim = self._select_victim()
            self._project_slot(victim)
            self._slots[victim].alpha = [0] * self._outputs
        linear = [0] * self._outputs if self._linear is None else self._linear.predict(seen)
        f = self._prediction(row, linear)
        self._learned += 1
        if self.plan.integer("decay") != 0 and self._slots:
            for o in range(self._outputs):
                held = self._column(o)
                for v, word in zip(self._slots, words_of(cast(held * self._decay, self._alpha_format,
                                                              self._rounding)), strict=True):
                    v.alpha[o] = int(word)
        steps = [word_of(cast((to - now) * self._eta, self._wide, self._rounding))
                 for to, now in zip(y, f, strict=True)]
        before = self._slots[duplicates[0]].alpha if duplicates else [0] * self._outputs
        new = Center(x, [self._fit(step + held) for step, held in zip(steps, before, strict=True)],
                     self._learned)
        if duplicates:
            self._slots[duplicates[0]].alpha = new.alpha
        elif victim is not None:
            self._slots[victim] = new
        elif not self._newest_only:
            self._slots.append(new)
        stays = not duplicates and not self._is_expired(new)
        for v in [v for v in self._slots if self._is_expired(v)]:
            self._remove_center(self._slots.index(v))
        if not self._newest_only:
            self._reduce()
        elif stays:
            self._insert_newest(new)
        return self._learn_linear(seen, y, f, linear)

    def _column(self, output: int) -> Fxp:
        """Return the coefficients of all centers for one output."""
        return number([v.alpha[output] for v in self._slots], self._alpha_format)

    def _learn_linear(self, x: Words, y: list[Fxp], f: list[Fxp], linear: list[int]) -> list[int]:
        """Train the linear part, if any; return the clipped predictions."""
        words, targets = [word_of(each) for each in f], [word_of(each) for each in y]
        if self._linear is None:
            return words
        found = [self._clip(word) for word in self._linear.corrected(x, linear, words)]
        self._linear.learn_errors(x, targets[0], linear[0], words[0])
        for o, (to, now, part) in enumerate(zip(targets, words, linear, strict=True)):
            self._linear.add_to_gate(o, to - part, now - part)
            targets[o] = to - now + part if self._joint else to
        self._note_saturation(self._linear.learn(x, targets))
        return found

    def _clip(self, word: int) -> int:
        """Clip a prediction to the range of y."""
        return min(max(word, self.plan.integer("f_lo")), self.plan.integer("f_hi"))

    def _prediction(self, row: list[int], linear: list[int]) -> list[Fxp]:
        """Predict f (1) of every output from the distances to all slots.

        The linear part is included. As on the device, a sum metric stores the kernel values in the row.
        """
        if not row:  # the dictionary is empty
            return [number(part, self.plan.signals["f"].format) for part in linear]
        k = self._values(row)
        if self._metric in ("fast_klms", "fast_mklms"):
            self._row[:len(row)] = words_of(k)
        found = [self._kernel.kernel_expansion(self._column(o), k, linear[o]) for o in range(self._outputs)]
        self._note_saturation(any(saturated for _, saturated in found))
        return [f for f, _ in found]

    def _note_saturation(self, happened: bool) -> None:
        if happened:
            self._status = "saturated"

    def _fit(self, word: int) -> int:
        """Cast to alpha; record whether the value saturated."""
        fitted = self._alpha_format.fit(word, self._overflow)
        self._note_saturation(fitted != word and self._overflow is Overflow.SATURATE)
        return fitted

    # ---- eviction ----
    def _is_expired(self, v: Center) -> bool:
        """Return whether a vector has expired: its coefficient is small, or it is old."""
        return (("truncation" in self._limits and self._magnitude(v) <= self._limits["truncation"])
                or self._learned - v.born >= self._limits.get("max_age", self._learned + 1))

    def _magnitude(self, v: Center) -> int:
        """Return |alpha|; for several outputs, the sum of the rounded squares."""
        if self._outputs == 1:
            return abs(v.alpha[0])
        shift = self.plan.integer("norm_shift")
        return sum(floor(Fraction(alpha**2, 1 << shift)) for alpha in v.alpha)

    def _reduce(self) -> None:
        """Remove vectors by the strategy of fixed lambda_max."""
        least = 2 if self._metric in ("fklms", "fmklms") else 1
        while "max_deterioration" in self._limits and len(self._slots) >= least:
            slot = self._select_victim()
            if self._loss(self._slots[slot], self._others(slot)) > self._limits["max_deterioration"]:
                break
            self._project_slot(slot)
            self._remove_center(slot)

    def _insert_newest(self, new: Center) -> None:
        """Apply fixed lambda_max to the newest vector, which does not have a slot yet."""
        alone = self._metric in ("fklms", "fmklms") and not self._slots
        cheap = not alone and self._loss(new, self._slots) <= self._limits["max_deterioration"]
        if not cheap and len(self._slots) < self.plan.sizes["N"]:
            self._slots.append(new)
            return
        self._project_removed(new, self._slots)
        if not cheap and self._status != "saturated":
            self._status = "full"

    def _others(self, slot: int) -> list[Center]:
        return self._slots[:slot] + self._slots[slot + 1:]

    def _select_victim(self) -> int:
        """Return the slot with the smallest loss; in a tie, the slot of the newest vector."""
        oldest = min(v.born for v in self._slots)
        losses = {i: self._loss(v, self._others(i)) for i, v in enumerate(self._slots)
                  if self._metric != "fklms" or v.born != oldest}
        least = min(losses.values())
        return max((i for i, lam in losses.items() if lam == least), key=lambda i: self._slots[i].born)

    def _loss(self, v: Center, others: list[Center]) -> int:
        """Return a vector's lambda as an integer, to compare with the plan's limit."""
        if self._metric == "age":
            return v.born
        if self._metric == "magnitude":
            return self._magnitude(v)
        if self._metric == "fklms":
            return self._nearest(v, [o for o in others if o.born < v.born])[1]
        one = self.plan.integer("kappa_one")
        if self._metric == "fmklms":
            kappa = one - int(integers(self._values([self._nearest(v, others)[1]]))[0])
        else:
            kappa = one - self._sum(v, others)
        if self._metric == "fast_klms":
            return kappa
        kappa = max(kappa, 0) >> self.plan.integer("kappa_shift")
        return floor(Fraction(v.alpha[0]**2 * kappa, 1 << self.plan.integer("metric_shift")))

    # ---- relations between vectors ----
    def _distances(self, x: Words, others: list[Center]) -> list[int]:
        return [int(d) for d in self._kernel.distances(np.array([o.x for o in others]), x)] if others else []

    def _values(self, d2: list[int]) -> Fxp:
        """Compute kernel values of distances; they are cached."""
        new = sorted({d for d in d2 if d not in self._known})
        if new:
            self._known.update(zip(new, words_of(self._kernel.values(np.array(new))), strict=True))
        return number([self._known[d] for d in d2], self._kernel.format("kernel"))

    def _nearest(self, v: Center, others: list[Center]) -> tuple[int, int]:
        """Return the sample index of the nearest of `others`, and its distance.

        If several are equally near, the oldest is selected. If there are no others, the result is -1 and 0.
        """
        found = [(d, o.born) for d, o in zip(self._distances(v.x, others), others, strict=True)]
        return (min(found)[1], min(found)[0]) if found else (-1, 0)

    def _sum(self, v: Center, others: list[Center]) -> int:
        """Sum the squared kernel values over `others`, rounded to the LSB of the sum.

        Each square is rounded down.
        """
        d2 = self._distances(v.x, others)
        if not d2:
            return 0
        k = self._values(d2)
        return int(sum(integers(floor_at(k * k, 2 * k.n_frac - self.plan.integer("square_shift")))))

    def _project_slot(self, slot: int) -> None:
        self._project_removed(self._slots[slot], self._others(slot))

    def _project_removed(self, v: Center, others: list[Center]) -> None:
        """Add alpha k to the coefficient of every other vector (16).

        If the plan has no projection, nothing changes. The guard stops the projection when the sum of the
        squared kernel values exceeds its limit.
        """
        if not self._projects or not others:
            return
        k = self._values(self._distances(v.x, others))
        if "guard_limit" in self._limits:
            shift, total = self.plan.integer("guard_shift"), 0
            sums = [total := total + floor(Fraction(int(word)**2, 1 << shift)) for word in words_of(k)]
            within = sum(s <= self._limits["guard_limit"] for s in sums)
            if within < len(others) and (self._outputs > 1 or v.alpha != [0]) and self._status == "ok":
                self._status = "inaccurate"
            if within == 0:
                return
            others, k = others[:within], k[:within]
        for output, alpha in enumerate(v.alpha):
            moved = words_of(cast(number(alpha, self._alpha_format) * k, self._wide, self._rounding))
            for o, word in zip(others, moved, strict=True):
                o.alpha[output] = self._fit(o.alpha[output] + int(word))

    def _remove_center(self, slot: int) -> None:
        """Remove the vector of a slot, and move the vector of the last slot there."""
        last = len(self._slots) - 1
        self._row[slot], self._row[last] = self._row[last], 0
        moved = self._slots.pop()
        if slot < last:
            self._slots[slot] = moved

    # ---- the state ----
    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for ADC counts (m, D), as :meth:`~kerncast.sim.backend.Backend.predict`."""
        if self._outputs == 1 and (self._linear is None or not self._slots or len(x_raw) == 0):
            v, alpha = np.array([held.x for held in self._slots]), self._column(0) if self._slots else None
            return with_classes(self.plan, self._predict(x_raw, v, alpha))
        found = self._each_output(x_raw)
        return with_classes(self.plan, found if "C" in self.plan.sizes else found | {"f": found["f"][:, 0]})

    def _each_output(self, x_raw: Raw) -> Outputs:
        """Predict every output separately: ``status`` (m,) and ``f`` (m, C)."""
        v, x_raw = np.array([held.x for held in self._slots]), raw.inputs(self.plan, x_raw)
        f = np.zeros((len(x_raw), self._outputs), dtype=np.int64)
        status = np.full(len(x_raw), STATUS["ok" if self._slots else "not_trained"], dtype=np.int64)
        for m, (x, seen) in enumerate(self._samples(x_raw) if self._slots and len(x_raw) else ()):
            linear = [0] * self._outputs if self._linear is None else self._linear.predict(seen)
            found = [self._kernel.expand(v, self._column(o), x, part) for o, part in enumerate(linear)]
            status[m] = STATUS["saturated"] if any(lost for _, lost in found) else status[m]
            f[m] = [word for word, _ in found]
            if self._linear is not None:
                f[m] = [self._clip(word) for word in self._linear.corrected(seen, linear, f[m].tolist())]
        return {"status": status, "f": f}

    def load(self, state: Outputs) -> None:
        """Load a saved state."""
        if self._linear is not None:
            self._linear.load(state)
        count = int(state["count"][0])
        self._row[:] = state["scratch_row"]
        self._learned = int(state["clock"][0]) if "clock" in state else count
        v = state["centers"].reshape(-1, self.plan.sizes["D"])
        born = np.arange(count)
        if "born" in state:
            born = self._learned - (self._learned - state["born"][:count]) % (1 << 32)
        elif "age_order" in state:
            born = state["age_order"][:count]
        alpha = state["alpha"].reshape(-1, self._outputs).tolist()
        self._slots = [Center(v[i].copy(), alpha[i], int(born[i])) for i in range(count)]

    def state(self) -> Outputs:
        """Return every member of the device's model structure; free slots are 0."""
        held, budget = self._slots, self.plan.sizes["N"]
        order = sorted(v.born for v in held)
        slot_of = {v.born: i for i, v in enumerate(held)}
        words = {name: np.zeros(budget, dtype=np.int64)
                 for name in ("age_order", "born", "nearest_d2", "nearest_idx", "sums")}
        alpha = np.zeros((budget, self._outputs), dtype=np.int64)
        x = np.zeros((budget, self.plan.sizes["D"]), dtype=np.int64)
        members = {field.name for field in self.plan.memory}
        for i, v in enumerate(held):
            x[i] = v.x
            alpha[i], words["age_order"][i] = v.alpha, order.index(v.born)
            words["born"][i] = v.born % (1 << 32)
            if "nearest_idx" in members:
                others = [o for o in self._others(i) if self._metric == "fmklms" or o.born < v.born]
                born, words["nearest_d2"][i] = self._nearest(v, others)
                words["nearest_idx"][i] = slot_of.get(born, i)
            if "sums" in members:
                words["sums"][i] = self._sum(v, self._others(i))
        return field_arrays(self.plan,
            {**words, **({} if self._linear is None else self._linear.state()),
             "alpha": alpha, "scratch_row": self._row, "centers": x, "clock": self._learned % (1 << 32),
                                        "count": len(held), "pending": 0})
