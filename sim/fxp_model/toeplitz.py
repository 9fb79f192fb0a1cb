"""sim.fxp_model: the Toeplitz regularised-least-squares trainer in plain fxpmath."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np

from .. import raw
from ..backend import ALL_CALLS, STATUSES, Outputs, Raw, field_arrays
from ..formats import Format
from ..plan import Plan
from .arithmetic import Fxp, Words, cast, exact, number, total, word_of, words_of
from .kernel import FxpKernel
from .levinson import FxpLevinson, NotPositiveDefiniteError, alpha_numbers
from .refine import FxpRefinement, FxpToeplitzSystem
from .schur import FxpSchur

_STATUS = {name: code for code, name in enumerate(STATUSES)}


class FxpToeplitz:
    """The second model of a plan whose algorithm is ``toeplitz_rls``.

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
        self._uniform = plan.options["scheme"] == "uniform"
        self.reset()

    def reset(self) -> None:
        """Back to the untrained state."""
        n, columns = self.plan.sizes["n"], self.plan.sizes["D"]
        self._v = np.zeros((n, columns), dtype=np.int64)
        self._state: dict[str, Words | int] = {}

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Outputs:
        """Train from raw words: x_raw (n, D), not used on the uniform grid; y_raw (n,)."""
        n, y_raw = self.plan.sizes["n"], raw.targets(self.plan, y_raw)
        x_raw = None if self._uniform or x_raw is None else raw.inputs(self.plan, x_raw)
        if len(y_raw) != n or (not self._uniform and (x_raw is None or len(x_raw) != n)):
            return {"status": np.array([_STATUS["bad_argument"]])}
        self.reset()
        if self._uniform:
            self._v[:, 0] = [j * self.plan.integer("x_step") for j in range(n)]
        else:
            assert x_raw is not None
            self._v = self._kernel.x_words(x_raw)
        r = self._first_row()
        self._state = {"v": self._v, "r": words_of(r)}
        solve = self._refined if "refine" in self.plan.constants else self._plain
        try:
            status = solve(r, self._kernel.y_numbers(y_raw))
        except NotPositiveDefiniteError:
            return {"status": np.array([_STATUS["not_positive_definite"]])}
        self._state["trained"] = 1
        return {"status": np.array([_STATUS[status]])}

    def _plain(self, r: Fxp, y: Fxp) -> str:
        """One solve, scaled back, and its bound."""
        solver = (FxpSchur if self.plan.options["solver"] == "schur" else FxpLevinson)(self.plan, r)
        solver.solve(y)
        alpha, exponent = alpha_numbers(self.plan, solver.x[0])
        system = FxpToeplitzSystem(self.plan, words_of(r), words_of(y))
        words = [int(w) for w in alpha]
        bound, fine = system.judge(words, system.residual(words, exponent)[1])
        self._state |= {"eps": word_of(solver.eps), "a": np.array([0, *solver.a.words]), "bound": bound,
                        "a_exp": solver.a.exponent, "alpha": alpha, "alpha_exp": exponent}
        if isinstance(solver, FxpSchur):
            self._state |= {"p": solver.p, "q": solver.q, "s": solver.s}
        return ("saturated" if solver.saturated else "ok") if fine else "inaccurate"

    def _refined(self, r: Fxp, y: Fxp) -> str:
        """Corrections, and their bound."""
        found = FxpRefinement(self.plan, words_of(r), words_of(y))
        status = found.solve()
        self._state |= {
            "eps": word_of(found.eps), "a": np.array([0, *found.a.words]), "a_exp": found.a.exponent,
            "bound": found.bound, "bias": found.b}
        self._state |= {name: np.array(getattr(found, name), dtype=np.int64) for name in (
            "r_short", "alpha", "rhs", "z", "eta", "alpha_exp", "z_exp", "eta_exp")}
        return status

    def _first_row(self) -> Fxp:
        """Lemma 1 on the uniform grid, else Lemma 2, over 1 + lambda; r[0] is the implicit 1."""
        signal = self.plan.signals["r"]
        means = [0, *(self._diagonal(j) for j in range(1, len(self._v)))]
        kernel = self.plan.signals["kernel"].format
        over = number(np.array(means, dtype=np.int64), kernel) * exact(self.plan.integer("lambda_rho"), 31)
        return cast(over, signal.format, signal.rounding)

    def _diagonal(self, j: int) -> int:
        """The kernel word of diagonal j: that of the grid, or the rounded mean (`divide_round`)."""
        if self._uniform:
            return word_of(self._kernel.values(self._kernel.distances(self._v[j:j + 1], self._v[0])))
        n = len(self._v)
        d2 = [self._kernel.distances(self._v[i:i + 1], self._v[i + j])[0] for i in range(n - j)]
        terms = n if self.plan.options["scheme"] == "diagonal_mean_biased" else n - j
        mean = Fraction(word_of(total(self._kernel.values(np.array(d2, dtype=np.int64)))), terms)
        return floor(mean + Fraction(1, 2))

    def update(self, x_raw: Raw, y_raw: Raw) -> Outputs:
        """Not an online learner: every sample is refused."""
        return {"status": np.full(len(y_raw), _STATUS["bad_argument"]),
                "f": np.zeros(len(y_raw), dtype=np.int64)}

    def predict(self, x_raw: Raw) -> Outputs:
        """Predictions in y words of raw inputs (m, D): ``status`` (m,) and ``f`` (m,)."""
        x_raw = raw.inputs(self.plan, x_raw)
        if "alpha" not in self._state or len(x_raw) == 0:
            return {"status": np.full(len(x_raw), _STATUS["not_trained"]),
                    "f": np.zeros(len(x_raw), dtype=np.int64)}
        fmt, exponent = self.plan.signals["alpha"].format, int(self._state["alpha_exp"])
        alpha = number(self._state["alpha"], Format(True, fmt.bits, fmt.frac - exponent))
        bias = int(self._state.get("bias", 0))
        found = [self._kernel.expand(self._v, alpha, x, bias) for x in self._kernel.x_words(x_raw)]
        status = [_STATUS["saturated" if saturated else "ok"] for _, saturated in found]
        return {"status": np.array(status, dtype=np.int64),
                "f": np.array([word for word, _ in found], dtype=np.int64)}

    def state(self) -> Outputs:
        """Every member of the device's model structure."""
        return field_arrays(self.plan, self._state)

    def close(self) -> None:
        """Nothing to close."""
