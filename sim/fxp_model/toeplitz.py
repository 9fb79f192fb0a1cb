"""sim.fxp_model: the Toeplitz regularised-least-squares trainer with fxpmath."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ..backend import Outputs, Raw, in_range, refused_training
from ..candidates import candidate_plan
from ..data import raw
from ..formats import Format, Overflow
from ..plan import Plan
from ..statuses import TRAINED
from .arithmetic import Fxp, Words, cast, exact, number, total, word_of, words_of
from .banded import FxpBanded, FxpBandedRefinement, FxpBandSystem, intercept
from .base import STATUS, FxpModel, NoCandidateError, RefusedError, joined
from .bound import accurate, bound_of, squares
from .geometric import FxpGeometric, FxpGeometricSystem
from .kernel import FxpKernel
from .levinson import Block, FxpLevinson, alpha_numbers
from .lookahead import FxpLookahead
from .ranged import lambda_plan
from .refine import FxpRefinement, FxpToeplitzSystem
from .scalars import half_up, power_of_two
from .schur import FxpSchur
from .tuning import FxpTuning


class FxpToeplitz(FxpModel):
    """The fxpmath model of a plan with algorithm ``toeplitz_rls``."""

    def reset(self) -> None:
        """Reset the model to the untrained state."""
        n, columns = self.plan.sizes["n"], self.plan.sizes["D"]
        self._v = np.zeros((n, columns), dtype=np.int64)
        if self.plan.uniform:
            self._v[:, 0] = [j * self.plan.integer("x_step") for j in range(n)]
        self._state = {}
        self._alone = self.plan  # with the lambda of the training
        self._trainer: tuple[Words, Words, int] | None = None  # y, alpha and alpha_exp

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train with x_raw (n, D), unused on the uniform grid, and y_raw (n,) or (n, C)."""
        given = raw.whole_set(self.plan, x_raw, y_raw)
        if given is None:
            return super().train(x_raw, y_raw)
        found = self._train(*given)
        held = found["status"][0] in TRAINED
        self._trainer = (words_of(self._kernel.y_numbers(given[1].T.ravel())), np.array(self._state["alpha"]),
                         int(self._state["alpha_exp"])) if held else None
        return found

    def train_with(self, lam: int, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train with an integer lambda; see :class:`~kerncast.sim.backend.LambdaBackend`."""
        if not in_range(self.plan, lam):
            return refused_training()
        default, self.plan = self.plan, lambda_plan(self.plan, lam)
        try:
            return self.train(x_raw, y_raw)
        finally:
            self.plan = default

    def _train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train with n samples.

        If the training is rejected, the model is unchanged.
        """
        kept = dict(vars(self))
        self.reset()
        if x_raw is not None:
            self._v = self._kernel.x_words(x_raw)
        if self.plan.banded and not self.plan.refine:
            return self._train_banded(words_of(self._kernel.y_numbers(y_raw.T.ravel())), kept)
        none = number(np.zeros(len(y_raw), dtype=np.int64), Format(True, 32, 31))  # the row is a table
        r = none if self.plan.banded else self._first_row()
        self._state = {"centers": self._v, "r": words_of(r)}
        solve = self._solve_refined if "refine" in self.plan.constants else \
            self._solve_lookahead if self.plan.solver == "lookahead" else self._solve_levinson
        try:
            status = solve(r, self._kernel.y_numbers(y_raw))
        except RefusedError as error:
            vars(self).update(kept)  # the model stays as it was
            return {"status": np.array([STATUS[error.status]])}
        self._state["trained"] = 1
        return {"status": np.array([STATUS[status]])}

    def _train_banded(self, y: Words, kept: dict[str, Any]) -> Outputs:
        """Train the candidate with the largest evidence; or train without candidates."""
        try:
            status, found = self._tuned(y) if self.plan.tunes else self._centred(y) if self.plan.bias \
                else self._with_bound(self.plan, y)
        except RefusedError as error:
            vars(self).update(kept)
            return {"status": np.array([STATUS[error.status]])}
        self._state = found | {"trained": 1}
        return {"status": np.array([STATUS[status]])}

    def _centred(self, y: Words) -> tuple[str, dict[str, Any]]:
        """Train with the targets less their weighted mean, which is the intercept."""
        found = [intercept(self.plan, part) for part in self._each(y)]
        bias = np.array([b for b, _ in found])
        status, members = self._with_bound(self.plan, (self._each(y) - bias[:, np.newaxis]).ravel())
        return "saturated" if any(limited for _, limited in found) else status, members | {"bias": bias}

    def _tuned(self, y: Words) -> tuple[str, dict[str, Any]]:
        """Return the status and the members of the first candidate that is certified.

        The candidates are tried in the order of :class:`.tuning.FxpTuning`.
        """
        for k in FxpTuning(self.plan, y).order():
            try:
                status, found = self._with_bound(candidate_plan(self.plan, k), y)
            except RefusedError:
                continue
            if status == "ok":
                self._select(k)
                return status, found | {"candidate": k}
        raise NoCandidateError

    def _select(self, k: int) -> None:
        """Select candidate k, whose kernel predictions then use."""
        self._kernel = FxpKernel(candidate_plan(self.plan, k))

    def _with_bound(self, plan: Plan, y: Words) -> tuple[str, dict[str, Any]]:
        """Solve with the banded factor, and compute the bound.

        The bound is on the norm over all outputs. Each output is solved alone. Then the coefficients are
        rounded to the largest exponent.
        """
        solve, system = (FxpGeometric, FxpGeometricSystem) if plan.geometric else (FxpBanded, FxpBandSystem)
        solvers = [solve(plan, part) for part in self._each(y)]
        for solver in solvers:
            solver.solve()
        exponent = max(each.exponent for each in solvers)
        words = [[half_up(v * power_of_two(each.exponent - exponent)) for v in each.words]
                 for each in solvers]
        alpha, misses = [v for each in words for v in each], list[int]()
        for part, each in zip(self._each(y), words, strict=True):
            misses += system(plan, part).rows(each, exponent, 0, any(alpha))[1]
        bits = plan.integer("norm_bits")
        bound = bound_of(squares(misses, bits, up=True), plan)
        fine = accurate(bound, squares(map(abs, alpha), bits, up=False), plan)
        return "ok" if fine else "inaccurate", {
            "bound": bound, "alpha": np.array(alpha), "alpha_exp": exponent}

    def _each(self, words: Words) -> Words:
        """Return integers by output, shape (C, n)."""
        return words.reshape(self.plan.outputs, -1)

    def load(self, state: Outputs) -> None:
        """Load a saved state, and select the kernel of its candidate."""
        super().load(state)
        if self.plan.tunes:
            self._select(int(state["candidate"][0]))

    def _solve_levinson(self, r: Fxp, y: Fxp) -> str:
        """Solve once, scale alpha back, and compute its bound."""
        solver = (FxpSchur if self.plan.schur else FxpLevinson)(self.plan, r)
        solver.solve(y)
        fine = self._certify(r, y, solver.x[0])
        self._state |= {"eps": word_of(solver.eps), "a": np.array([0, *solver.a.words]),
                        "a_exp": solver.a.exponent}
        if isinstance(solver, FxpSchur):
            self._state |= {"p": solver.p, "q": solver.q, "s": solver.s}
        return "saturated" if solver.saturated else "ok" if fine else "inaccurate"

    def _solve_lookahead(self, r: Fxp, y: Fxp) -> str:
        """Solve with look-ahead and scale alpha back.

        Compute its bound if T is known to be positive definite.
        """
        solver = FxpLookahead(self.plan, words_of(r), words_of(y))
        solver.solve()
        fine = self._certify(r, y, solver.alpha(self.plan), bool(solver.positive))
        self._state |= {name: getattr(solver, name) for name in (
            "row", "target", "predictor", "inverse", "columns", "solution", "wide", "blocks", "steps",
            "positive")}
        return "ok" if fine else "inaccurate"

    def _certify(self, r: Fxp, y: Fxp, x: Block, positive: bool = True) -> bool:
        """Store alpha from x of the scaled system, and its bound.

        Return whether the bound is within the tolerance.
        """
        alpha, exponent = alpha_numbers(self.plan, x)
        system, words = FxpToeplitzSystem(self.plan, words_of(r), words_of(y)), [int(w) for w in alpha]
        bound = bound_of(system.residual(words, exponent)[1], self.plan) if positive \
            else self.plan.integer("no_bound")
        self._state |= {"bound": bound, "alpha": alpha, "alpha_exp": exponent}
        return accurate(bound, system.norm(words), self.plan)

    def _solve_refined(self, r: Fxp, y: Fxp) -> str:
        """Solve with corrections and compute their bound."""
        kind = FxpBandedRefinement if self.plan.banded else FxpRefinement
        found = kind(self.plan, words_of(r), words_of(y))
        status = found.solve()
        if not self.plan.banded:
            self._state |= {"eps": word_of(found.eps), "a": np.array([0, *found.a.words]),
                            "a_exp": found.a.exponent}
        self._state |= {"bound": found.bound, "bias": found.b}
        self._state |= {name: np.array(getattr(found, name), dtype=np.int64) for name in (
            "r_short", "alpha", "rhs", "z", "eta", "alpha_exp", "z_exp", "eta_exp")}
        return status

    def _first_row(self) -> Fxp:
        """Compute the first row, divided by 1 + lambda.

        Use Lemma 1 on the uniform grid, otherwise Lemma 2; r[0] is the implicit 1.
        """
        signal = self.plan.signals["r"]
        means = [0, *(self._diagonal(j) for j in range(1, len(self._v)))]
        kernel = self.plan.signals["kernel"].format
        over = number(np.array(means, dtype=np.int64), kernel) * exact(self.plan.integer("ridge_scale"), 31)
        return cast(over, signal.format, signal.rounding)

    def _diagonal(self, j: int) -> int:
        """Compute the kernel value of diagonal j.

        For a uniform grid it is exact; otherwise it is the mean of the diagonal, rounded by `divide_round`.
        """
        if self.plan.uniform:
            return word_of(self._kernel.values(self._kernel.distances(self._v[j:j + 1], self._v[0])))
        n = len(self._v)
        d2 = [self._kernel.distances(self._v[i:i + 1], self._v[i + j])[0] for i in range(n - j)]
        terms = n if self.plan.biased_means else n - j
        mean = Fraction(word_of(total(self._kernel.values(np.array(d2, dtype=np.int64)))), terms)
        return half_up(mean)

    def fitted(self) -> Outputs:
        """Return the fitted values of the last training, in fractions.

        The product rounds as f does, and f is cast after the sum.
        """
        if self._trainer is None or not self.plan.fits:
            return {"status": np.array([STATUS["out_of_order"]])}
        y, alpha, exponent = self._trainer
        plan = candidate_plan(self._alone, int(self._state.get("candidate", 0)))
        signal, unit = plan.signals["f"], plan.integer("fitted_scale") * power_of_two(
            exponent - plan.integer("fitted_shift"))
        whole = [int(v) + Format(True, 48, 0).quantise(-unit * int(a), signal.rounding)
                 for v, a in zip(y, alpha, strict=True)]
        f = [signal.format.fit(v, signal.overflow) for v in whole]
        full = signal.overflow is Overflow.SATURATE and f != whole
        values = np.array(f) if self.plan.outputs == 1 else self._each(np.array(f)).T
        return {"status": np.array([STATUS["saturated" if full else "ok"]]), "f": values}

    def stream(self, y_raw: Raw) -> Outputs:
        """Return the values of a new stream, in fractions."""
        plan, signal = self.plan, self.plan.signals["f"]
        taps, y = plan.tables["taps"], words_of(self._kernel.y_numbers(raw.targets(plan, y_raw)))
        count = len(taps.values)
        status, f = [STATUS["pending"]] * min(count - 1, len(y)), [0] * min(count - 1, len(y))
        for i in range(count - 1, len(y)):
            whole = Format(True, 48, 0).quantise(
                sum((taps.format.value(tap) * int(v) for tap, v in zip(
                    taps.values, y[i + 1 - count: i + 1], strict=True)), Fraction(0)), signal.rounding)
            f.append(signal.format.fit(whole, signal.overflow))
            full = signal.overflow is Overflow.SATURATE and f[-1] != whole
            status.append(STATUS["saturated" if full else "ok"])
        return {"status": np.array(status), "f": np.array(f)}

    def predict(self, x_raw: Raw) -> Outputs:
        """Predict for ADC counts (m, D): ``status`` (m,), and ``f`` (m,) in LSBs of y.

        For several outputs, the shape of ``f`` is (m, C).
        """
        if "alpha" not in self._state:
            none = self._predict(x_raw, self._v, None)
            return none if self.plan.outputs == 1 else joined([none] * self.plan.outputs)
        fmt, exponent = self.plan.signals["alpha"].format, int(self._state["alpha_exp"])
        own, bias = Format(True, fmt.bits, fmt.frac - exponent), np.atleast_1d(self._state.get("bias", 0))
        found = [self._predict(x_raw, self._v, number(words, own), int(b)) for words, b in zip(
            self._each(self._state["alpha"]), np.resize(bias, self.plan.outputs), strict=True)]
        return found[0] if self.plan.outputs == 1 else joined(found)
