"""sim.fxp_model: online kernel RLS with random features, computed exactly.

Every step uses the exact values of the numbers, as Python fractions; fxpmath converts and casts them. R is
stored as a full matrix.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from ..backend import Outputs, Raw, field_arrays
from ..data import raw
from ..formats import Format
from ..plan import Plan
from .arithmetic import Words, cast, exact, word_of, words_of
from .base import STATUS, FxpModel
from .classes import target_columns, with_classes
from .leverage import input_scale, leverage_of

_PHI = Fraction(1, 1 << 15)


def _down(value: Fraction, lsb: Fraction) -> Fraction:
    """Return the largest multiple of `lsb` that does not exceed `value`."""
    return floor(value / lsb) * lsb


class FxpRls(FxpModel):
    """The fxpmath model of a plan with algorithm ``online_kernel_rls``."""

    def __init__(self, plan: Plan) -> None:
        c = {name: plan.integer(name) for name in plan.constants if name.startswith("rls_")}
        self._fading, self._steps = Fraction(c["rls_fading"], 1 << 32), c["rls_steps"]
        self._r_lsb = Fraction(1 << c["rls_product_shift"], 1 << 30)
        y_lsb = Fraction(plan.signals["y"].format.lsb)
        self._w_lsb = y_lsb / (1 << c["rls_out_shift"]) / _PHI
        self._beta_lsb = self._w_lsb * _PHI * (1 << c["rls_error_shift"])
        self._x_unit = Fraction(2) ** c["rls_x_exp"] / _PHI  # the x whose feature is 1
        self._turn = Fraction(1, 1 << (c["rls_phase_shift"] + 20))
        counts = {"one": 1, "cosine": plan.sizes["M"], "x": plan.sizes["N"] - plan.sizes["M"] - 1}
        self._inputs, self._first = counts["x"] > 0, 1 + counts["cosine"]
        self._ridge, self._fade = ([c[f"rls_{name}_{kind}"] * self._r_lsb for kind, count in counts.items()
                                    for _ in range(count)] for name in ("ridge", "fade"))
        self._tables = {name: plan.tables[name].values for name in ("directions", "phases", "cosine")}
        super().__init__(plan)

    def reset(self) -> None:
        """Reset the model to the empty state."""
        order = self.plan.sizes["N"]
        zero = Fraction(0)
        self._r = [[zero] * order for _ in range(order)]
        self._beta, self._w = ([[zero] * order for _ in range(self.plan.outputs)] for _ in range(2))
        self._trained = False
        self._leverage, self._novel, self._drift, self._novel_count = 0, 0, 0, 0

    # ---- features ----
    def _features(self, x: Words) -> list[Fraction]:
        columns, cosine = len(x), self._tables["cosine"]
        inputs = [_down(Fraction(int(v)) / self._x_unit, _PHI) for v in x] if self._inputs else []
        found = [cosine[0] * _PHI]
        for j, phase in enumerate(self._tables["phases"]):
            direction = self._tables["directions"][j * columns:(j + 1) * columns]
            turns = sum(int(v) * d for v, d in zip(x, direction, strict=True)) * self._turn
            angle = (_down(turns, Fraction(1, 1 << 20)) + Fraction(phase, 1 << 16)) % 1 * 256
            index = floor(angle)
            left, right = cosine[index], cosine[index + 1]
            found.append(_down((left + (right - left) * (angle - index)) * _PHI, _PHI))
        return found + inputs

    def _prediction(self, total: Fraction) -> tuple[int, bool]:
        """Convert w.phi to the integer of f; return it and whether it saturated.

        The integer is clipped to the range of y.
        """
        signal = self.plan.signals["f"]
        value = exact(int(total / (self._w_lsb * _PHI)), int(1 / (self._w_lsb * _PHI)).bit_length() - 1)
        # 48 bits are enough to saturate, and to wrap: wrapping twice gives the same value.
        whole = word_of(cast(value, Format(True, 48, signal.format.frac), signal.rounding, signal.overflow))
        word = word_of(cast(exact(whole, signal.format.frac), signal.format, signal.rounding,
                            signal.overflow))
        saturated = word != whole and signal.overflow.name == "SATURATE"
        return min(max(word, self.plan.integer("f_lo")), self.plan.integer("f_hi")), saturated

    # ---- the rule ----
    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Learn the samples in order; return ``status`` (m,), and ``f`` (m,) or (m, C).

        The targets have the shape (m,), or (m, C) for several outputs; those of classes are labels (m,).
        """
        x_raw, y_raw = raw.samples(self.plan, x_raw, y_raw)
        if len(y_raw) == 0:  # fxpmath does not support empty arrays
            return self._answer([])
        columns = [words_of(y) for y in target_columns(self.plan, self._kernel, y_raw)]
        value = self.plan.signals["y"].format.value
        return self._answer([self._learn(x, [Fraction(value(int(word))) for word in y])
                             for x, *y in zip(self._kernel.x_words(x_raw), *columns, strict=True)])

    def _answer(self, found: list[tuple[list[int], bool]]) -> Outputs:
        """Return the predictions of all samples, and their labels if the plan has classes."""
        status = [STATUS["saturated" if saturated else "ok"] for _, saturated in found]
        f = np.array([words for words, _ in found], dtype=np.int64).reshape(len(found), self.plan.outputs)
        return with_classes(self.plan, {"status": np.array(status, dtype=np.int64),
                                        "f": f if "C" in self.plan.sizes else f[:, 0]})

    def _sums(self, phi: list[Fraction]) -> list[Fraction]:
        """Return the exact w.phi of every output."""
        return [sum((w * p for w, p in zip(each, phi, strict=True)), Fraction(0)) for each in self._w]

    def _predictions(self, sums: list[Fraction]) -> tuple[list[int], bool]:
        """Return the words of all outputs, and whether one saturated."""
        found = [self._prediction(total) for total in sums]
        return [word for word, _ in found], any(saturated for _, saturated in found)

    def _learn(self, x: Words, y: list[Fraction]) -> tuple[list[int], bool]:
        order, mu = self.plan.sizes["N"], self._fading
        if not self._trained:
            for i in range(order):
                self._r[i][i] = self._ridge[i]
            self._trained = True
        phi = self._features(x)
        if self.plan.novelty:
            self._set_novelty(leverage_of(self.plan, self._r, self._r_lsb, phi))
        sums = self._sums(phi)
        f, saturated = self._predictions(sums)
        for i in range(order):
            for j in range(order):
                product = _down(phi[i] * phi[j], self._r_lsb)
                self._r[i][j] += product - _down(mu * self._r[i][j], self._r_lsb)
            self._r[i][i] += self._fade[i]
        scale = input_scale(self._r, self._r_lsb, self._first)
        for target, total, beta, w in zip(y, sums, self._beta, self._w, strict=True):
            self._add_error(_down(target - total, self._beta_lsb), phi, beta, w)
            saturated |= self._descend(beta, w, scale)
        return f, saturated

    def _add_error(self, error: Fraction, phi: list[Fraction], beta: list[Fraction],
                   w: list[Fraction]) -> None:
        """Forget, and add the error of one output to its residual beta."""
        for i, feature in enumerate(phi):
            faded = _down(self._fading * abs(beta[i]), self._beta_lsb)
            beta[i] -= faded if beta[i] >= 0 else -faded
            beta[i] += _down(error * feature, self._beta_lsb) - _down(self._fade[i] * w[i], self._beta_lsb)

    def _is_novel(self, leverage: int) -> int:
        """Return 1 if the leverage is at least the threshold.

        The threshold is lower after a novel sample.
        """
        return int(leverage >= self.plan.integer("novelty_release" if self._novel else "novelty"))

    def _set_novelty(self, leverage: int) -> None:
        """Set the flags from the leverage of a sample."""
        limit = self.plan.integer("drift_samples")
        self._leverage, self._novel = leverage, self._is_novel(leverage)
        self._novel_count = min(max(self._novel_count + (1 if self._novel else -1), 0), limit)
        self._drift = {0: 0, limit: 1}.get(self._novel_count, self._drift)

    def leverage(self, x_raw: Raw) -> Outputs:
        """Compute leverages; see :class:`~kerncast.sim.backend.NoveltyBackend`."""
        x_raw = raw.inputs(self.plan, x_raw)
        found = np.zeros(len(x_raw), dtype=np.int64)
        for m, x in enumerate(self._kernel.x_words(x_raw) if self._trained and len(x_raw) else ()):
            found[m] = leverage_of(self.plan, self._r, self._r_lsb, self._features(x))
        status = np.full(len(x_raw), STATUS["ok" if self._trained else "not_trained"], dtype=np.int64)
        novel = [self._is_novel(int(v)) if self._trained else 0 for v in found]
        return {"status": status, "leverage": found, "novel": np.array(novel, dtype=np.int64)}

    def _descend(self, beta: list[Fraction], w: list[Fraction], scale: int) -> bool:
        """Change coefficients by powers of two; return whether one reached its limit."""
        for _ in range(self._steps):
            sizes = [abs(b) * (scale if i >= self._first else 1) for i, b in enumerate(beta)]
            i = sizes.index(max(sizes))
            if sizes[i] == 0:
                return False
            ratio, step = abs(beta[i]) / self._r[i][i], self._w_lsb * (1 << 30)
            while step > self._w_lsb / 4 and step / 2 >= ratio:
                step /= 2
            if step < self._w_lsb:
                return False
            step = step if beta[i] > 0 else -step
            if abs(w[i] + step) >= self._w_lsb * (1 << 31):
                return True
            w[i] += step
            for j in range(len(sizes)):
                beta[j] -= _down(step * self._r[i][j], self._beta_lsb)
        return False

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for ADC counts (m, D), as :meth:`~kerncast.sim.backend.Backend.predict`."""
        x_raw = raw.inputs(self.plan, x_raw)
        if len(x_raw) == 0:
            return self._answer([])
        if not self._trained:
            found = self._answer([([0] * self.plan.outputs, False)] * len(x_raw))
            return {**found, "status": np.full(len(x_raw), STATUS["not_trained"])}
        return self._answer([self._predictions(self._sums(self._features(x)))
                             for x in self._kernel.x_words(x_raw)])

    # ---- state ----
    def load(self, state: Outputs) -> None:
        """Load a saved state."""
        self.reset()
        order = self.plan.sizes["N"]
        places = [(i, j) for i in range(order) for j in range(i, order)]
        for (i, j), value in zip(places, state["rls_r"].tolist(), strict=True):
            self._r[i][j] = self._r[j][i] = value * self._r_lsb
        shape = (self.plan.outputs, order)
        self._beta = [[v * self._beta_lsb for v in row] for row in state["rls_beta"].reshape(shape).tolist()]
        self._w = [[v * self._w_lsb for v in row] for row in state["rls_w"].reshape(shape).tolist()]
        self._trained = bool(state["trained"][0])
        if self.plan.novelty:
            self._leverage, self._novel, self._drift, self._novel_count = (
                int(state[name][0]) for name in ("leverage", "novel", "drift", "novel_count"))

    def state(self) -> Outputs:
        """Return every member of the device's model structure."""
        triangle = [v for i, row in enumerate(self._r) for v in row[i:]]
        beta, w = ([v for each in rows for v in each] for rows in (self._beta, self._w))
        parts: dict[str, tuple[list[Fraction], Fraction]] = {
            "rls_r": (triangle, self._r_lsb), "rls_beta": (beta, self._beta_lsb), "rls_w": (w, self._w_lsb)}
        members: dict[str, Any] = {name: np.array([int(v / lsb) for v in values], dtype=np.int64)
                                   for name, (values, lsb) in parts.items()}
        novelty = {"leverage": self._leverage, "novel": self._novel, "drift": self._drift,
                   "novel_count": self._novel_count}
        return field_arrays(self.plan, members | novelty | {"trained": int(self._trained)})
