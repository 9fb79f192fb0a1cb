"""sim.model: the Toeplitz regularised-least-squares trainer of the device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...backend import Outputs, in_range, refused_training
from ...candidates import NO_EVIDENCE, candidate_plan
from ...data import raw
from ...jit import jit
from ...plan import Plan
from ...primitives import Words
from ...window import window
from .. import trace_hooks as at
from ..base import BatchModel, convert_inputs
from ..bound import bound_from_norm
from ..certify import accurate, certify
from ..kernel import Cast, KernelConstants, cast_of
from ..outputs import align_outputs, predict_outputs, target_words, trained_outputs, untrained_outputs
from ..ranges import ALPHA, cast
from ..statuses import (
    BAD_ARGUMENT,
    INACCURATE,
    NO_CANDIDATE,
    NOT_POSITIVE_DEFINITE,
    OK,
    OUT_OF_ORDER,
    SATURATED,
    TRAINED,
)
from ..trace_hooks import Log, trace, trace_all
from .banded import banded, certify_band, eliminate_forward
from .candidate import (
    Candidate,
    candidate_of,
    certify_constants,
    intercept_constants,
    ranged_candidate,
)
from .corrections import refine_arrays, refine_constants, solver_constants
from .first_row import diagonal_row, row_of, uniform_entry, uniform_row
from .fitted import fitted
from .geometric import GeometricSolver
from .intercept import intercept
from .levinson import LevinsonConstants, levinson, levinson_begin, levinson_steps
from .lookahead import Lookahead
from .lookahead_f32 import Lookahead as LookaheadF32
from .ranged import band_of, diagonal_excess, empty_factor, factor_of, lambda_plan
from .refine import compute_residual, refine
from .schur import SchurConstants, schur
from .stream import stream
from .tuning import best_of, evidence, quadratic_form


@jit
def _grid_steps(y: Words, r: Words, a: Words, x: Words, out: Words, first: int, last: int, x_step: int,
                rho: int, kernel: KernelConstants, row: Cast, k: LevinsonConstants, log: Log) -> int:
    """Process samples `first` to `last` - 1 of a grid.

    For each sample, compute an entry of the first row, and run a step of the recursion.
    """
    saturated = False
    for step in range(first, last):
        if 0 < step <= k.last_lag:
            uniform_entry(r, step, x_step, rho, kernel, row, log)
        status = levinson_steps(y, r, a, x, out, step, step + 1, k, log)
        if status == NOT_POSITIVE_DEFINITE:
            return status
        saturated |= status == SATURATED
    return SATURATED if saturated else OK


@jit
def _scale_alpha(x: Words, rho: int, rounding: int, lo: int, hi: int, log: Log) -> None:
    """Compute alpha = x / (1 + lambda) from the solution x of the scaled system.

    alpha solves ``(T + lambda I) alpha = y``.
    """
    for i in range(x.shape[0]):
        x[i] = cast(x[i] * rho, 31, rounding, lo, hi, log, ALPHA)
    trace_all(log, at.TRAIN_ALPHA, 0, x, 0, x.shape[0])


#: Look-ahead, by the solver's name.
LOOKAHEADS: dict[str, type[Lookahead | LookaheadF32]] = {
    "lookahead": Lookahead, "lookahead_f32": LookaheadF32}
#: Scalars of the model structure, in the order in which the solvers leave them.
SCALARS = ("eps", "a_exp", "alpha_exp", "eta_exp", "bias", "bound", "z_exp", "candidate")
_ALPHA_EXP, _BIAS, _BOUND, _CANDIDATE = (
    SCALARS.index(name) for name in ("alpha_exp", "bias", "bound", "candidate"))


def certified_bound(plan: Plan, y: Words, state: Outputs) -> int:
    """Return the bound of a trained model in LSBs of alpha.

    The bound applies to the system with the fixed-point targets y (n,), and with an intercept if the plan has
    one. For several outputs, y (C, n) is flat, and the bound is on the norm over all outputs.
    """
    alpha, alpha_exp = state["alpha"], int(state["alpha_exp"][0])
    if plan.geometric:
        return GeometricSolver(plan).bound(y, alpha, alpha_exp)
    if plan.banded:
        each = plan.outputs, plan.sizes["n"]
        centred = y.reshape(each) - (state["bias"][:, np.newaxis] if plan.bias else 0)
        return certify_band(centred, band_of(plan), alpha.reshape(each), alpha_exp,
                            plan.integer("band_head"), certify_constants(plan), diagonal_excess(plan))
    k, arrays = refine_constants(plan), refine_arrays(plan)
    k = k._replace(levinson=k.levinson._replace(word=plan.word))  # of the right-hand side, which is not used
    arrays.r[:], intercept = row_of(plan, state), int(state["bias"][0]) if plan.bias else 0
    found = compute_residual(y, intercept, alpha, alpha_exp, True, arrays, k)
    return bound_from_norm(found.squares, found.shift, k.certify.bound)


def certified_accurate(plan: Plan, y: Words, state: Outputs) -> bool:
    """Return whether :func:`certified_bound` is within the tolerance of the plan."""
    return bool(accurate(state["alpha"], certified_bound(plan, y, state), certify_constants(plan)))


class ToeplitzModel(BatchModel):
    """Integer model of a plan with algorithm ``toeplitz_rls``."""

    def __init__(self, plan: Plan) -> None:
        self._solver = solver_constants(plan)
        self._certify = certify_constants(plan)
        self._schur = plan.schur
        self._lookahead: Lookahead | LookaheadF32 | None = None
        self._geometric = GeometricSolver(plan) if plan.geometric else None
        self._candidates = [candidate_of(plan, k) for k in range(
            0 if plan.ranged or plan.geometric else plan.sizes.get("K", int(plan.banded)))]
        self._alone, self._lambda = plan, plan.integer("lambda_word") if plan.ranged else 0
        self._used, self._factor = np.array([self._lambda]), empty_factor(plan)
        self._refine = refine_constants(plan)
        self._centre = (np.array(plan.tables["weight"].values), intercept_constants(plan)) \
            if plan.banded and plan.bias else None
        super().__init__(plan)

    def reset(self) -> None:
        """Reset the model to the untrained state."""
        n, columns, outputs = self.plan.sizes["n"], self.plan.sizes["D"], self.plan.outputs
        self._a, self._alpha = np.zeros(n, dtype=np.int64), np.zeros(outputs * n, dtype=np.int64)
        self._arrays = refine_arrays(self.plan)
        self._r = self._arrays.r
        if self.plan.looks_ahead:
            self._lookahead = LOOKAHEADS[self.plan.solver](n)
        self._generators = np.zeros((3 if self._schur else 0, n), dtype=np.int64)
        self._v, self._y = np.zeros((n, columns), dtype=np.int64), np.zeros(outputs * n, dtype=np.int64)
        if self.uniform:
            self._v[:, 0] = np.arange(n, dtype=np.int64) * self.plan.integer("x_step")
        self._scalars = np.zeros(len(SCALARS), dtype=np.int64)
        self._own_exp = np.zeros(outputs, dtype=np.int64)
        self._bias = self._scalars[_BIAS:_BIAS + 1] if outputs == 1 else np.zeros(outputs, dtype=np.int64)
        self._evidence = np.zeros(len(self._candidates), dtype=np.int64)
        self._trainer: tuple[Words, Words, int, Plan] | None = None  # y, alpha, alpha_exp, plan
        super().reset()

    @property
    def _unset(self) -> frozenset[str]:
        """Return members of the trainer structure that this model does not compute."""
        return frozenset({"eps", "a_exp"} if self.plan.looks_ahead else {"z_exp"}
                         if self.plan.banded and not self.corrected else ()) | {"carry"}

    @property
    def corrected(self) -> bool:
        """Return whether the training uses refinement or an intercept."""
        return self._refine.passes > 0 or (self._refine.bias == 1 and not self.plan.banded)

    @property
    def eager(self) -> bool:
        """Return whether the trainer extends the solution with each sample it receives."""
        return self.plan.eager

    @property
    def uniform(self) -> bool:
        """Return whether the inputs are a uniform grid, which is not stored."""
        return self.plan.uniform

    def train(self, x_raw: NDArray[np.int64] | None, y_raw: NDArray[np.int64]) -> Outputs:
        """Train, and keep the values from which the fitted values are computed.

        These values are not changed if a saved state is loaded.
        """
        found = super().train(x_raw, y_raw)
        if found["status"][0] != BAD_ARGUMENT:
            plan = candidate_plan(self._alone, int(self._scalars[_CANDIDATE]))
            y = self._y  # less the intercept
            y = (self._each(y) + self._bias[:, np.newaxis]).ravel() if plan.banded else y
            self._trainer = (y, self._alpha.copy(), int(self._scalars[_ALPHA_EXP]),
                             plan) if self._solved else None
        return found

    def train_with(self, lam: int, x_raw: NDArray[np.int64] | None, y_raw: NDArray[np.int64]) -> Outputs:
        """Train with an integer lambda; see :class:`~kerncast.sim.backend.LambdaBackend`."""
        if not in_range(self.plan, lam):
            return refused_training()
        default, self._lambda = self._lambda, lam
        try:
            return self.train(x_raw, y_raw)
        finally:
            self._lambda = default

    def _each(self, words: Words) -> Words:
        """Return a view of words by output, shape (C, n)."""
        return words.reshape(self.plan.outputs, -1)

    def _targets(self, y_raw: Words) -> Words:
        """Convert target ADC counts (n,) to y; for (n, C), the outputs follow one another."""
        return super()._targets(y_raw) if self.plan.outputs == 1 else \
            target_words(self.plan, y_raw, self._input, self.ranges.log).T.ravel()

    def _solve(self, x_raw: NDArray[np.int64] | None, y: Words) -> int:
        log, n, c = self.ranges.log, len(y), cast_of(self.plan, "alpha")
        self._y = y
        if self.plan.tunes:
            return self._tune(y)
        if self.plan.ranged:
            self._alone, self._used[0] = lambda_plan(self.plan, self._lambda), self._lambda
            self._factor = factor_of(self.plan, self._lambda)
            if self._factor.status != OK:
                return self._factor.status
            return self._solve_banded(y, ranged_candidate(self._alone, self._factor))
        if self._geometric is not None:
            scalars = self._scalars[_ALPHA_EXP:], self._scalars[_BOUND:]
            return self._geometric.solve(y, self._alpha, *scalars, log)
        if self._candidates and not self.corrected:
            return self._solve_banded(y, self._candidates[0])
        if not self.eager and not self.plan.banded:
            self._first_row(x_raw)
        if self.corrected:
            return refine(y, self._alpha, self._a, self._arrays, self._scalars, self._refine, log)
        solver = self._arrays.solver
        system = y.reshape(1, n), self._r, self._a, self._alpha.reshape(1, n)
        if self._lookahead is not None:
            status, solver[2] = self._lookahead.solve_words(self._r, y, self._alpha, self.plan, log)
        elif self._schur:
            room = np.zeros((2, 1), dtype=np.int64)
            g = SchurConstants(self.plan.integer("s_exp_max"), cast_of(self.plan, "p"))
            status = schur(*system, self._generators, room, solver, self._solver, g, log)
        elif self.eager:
            levinson_begin(solver, 1, self._solver)
            status = _grid_steps(*system, solver, 0, n, self.plan.integer("x_step"),
                                 self.plan.integer("ridge_scale"), self._kernel, cast_of(self.plan, "r"),
                                 self._solver, log)
        else:
            status = levinson(*system, solver, self._solver, log)
        if status not in TRAINED:
            return status
        self._scalars[:3] = solver[:3]
        _scale_alpha(self._alpha, self.plan.integer("alpha_scale"), c.rounding, c.lo, c.hi, log)
        bound = self.plan.integer("no_bound")
        if self._lookahead is None or self._lookahead.positive:
            bound = certify(y, self._r, self._alpha, self._scalars[2], self._certify)
            trace(log, at.CERTIFY_BOUND, 0, 0, bound)
        self._scalars[SCALARS.index("bound")] = bound
        return INACCURATE if status == OK and not accurate(self._alpha, bound, self._certify) else status

    def _solve_banded(self, y: Words, c: Candidate) -> int:
        """Compute alpha from y with the banded factor, and its bound; return a status.

        The outputs share the factor. With an intercept, it is first subtracted from the targets; the status
        is SATURATED if it was limited.
        """
        log, alpha, limited = self.ranges.log, self._each(self._alpha), False
        self._y = y.copy()
        each = self._each(self._y)
        for o, own in enumerate(each):
            if self._centre is not None:
                self._bias[o], beyond = intercept(own, o, *self._centre, log)
                own -= self._bias[o]
                limited |= beyond
            status = banded(own, alpha[o], o * len(own), c.tables, self._own_exp[o:], c.constants, log)
            if status != OK:
                return status
        exponent = align_outputs(alpha, self._own_exp, c.constants.alpha_exp_min)
        self._scalars[_ALPHA_EXP] = exponent
        bound = certify_band(each, c.tables.band, alpha, exponent, c.constants.band_head, c.certify,
                             c.excess)
        trace(log, at.CERTIFY_BOUND, 0, 0, bound)
        self._scalars[_BOUND] = bound
        if limited:
            return SATURATED
        return OK if accurate(self._alpha, bound, c.certify) else INACCURATE

    def _tune(self, y: Words) -> int:
        """Train the candidate with the best evidence among those with a certified bound."""
        log, n = self.ranges.log, len(y)
        for k, c in enumerate(self._candidates):
            z_exp = eliminate_forward(y, self._alpha, 0, c.tables.factor, c.constants, log)
            self._evidence[k] = NO_EVIDENCE
            if z_exp <= c.constants.z_exp_max:
                total = quadratic_form(self._alpha, c.tables.pivot, c.evidence)
                trace(log, at.TUNE_SUM, k, 0, total)
                self._evidence[k] = evidence(total, z_exp, n, c.evidence)
            trace(log, at.TUNE_EVIDENCE, k, 0, self._evidence[k])
        while (best := best_of(self._evidence)) >= 0:
            trace(log, at.TUNE_CANDIDATE, 0, 0, best)
            if self._solve_banded(y, self._candidates[best]) == OK:
                self._scalars[_CANDIDATE], self._kernel = best, self._candidates[best].kernel
                return OK
            self._evidence[best] = NO_EVIDENCE
        return NO_CANDIDATE

    def load(self, state: Outputs) -> None:
        """Load a saved state, and select the kernel of its candidate."""
        super().load(state)
        if self.plan.tunes:
            self._kernel = self._candidates[int(self._scalars[_CANDIDATE])].kernel

    def _first_row(self, x_raw: NDArray[np.int64] | None) -> None:
        rho, r, log = self.plan.integer("ridge_scale"), cast_of(self.plan, "r"), self.ranges.log
        if self.uniform:
            uniform_row(self._r, self.plan.integer("last_lag"), self.plan.integer("x_step"), rho,
                        self._kernel, r, log)
            return
        assert x_raw is not None
        convert_inputs(x_raw, self._input, self._v, log)
        biased = self.plan.biased_means
        diagonal_row(self._r, self._v, biased, rho, self._kernel, r, log)

    def fitted(self) -> Outputs:
        """Return the fitted values of the last training.

        See :class:`~kerncast.sim.backend.FittedBackend`.
        """
        if self._trainer is None or not self.plan.fits:
            return {"status": np.array([OUT_OF_ORDER], dtype=np.int64)}
        y, alpha, alpha_exp, plan = self._trainer
        f = np.zeros_like(y)
        saturated = fitted(y, alpha, plan.integer("fitted_scale"), plan.integer("fitted_shift") - alpha_exp,
                           cast_of(self.plan, "f"), f, self.ranges.log)
        return {"status": np.array([SATURATED if saturated else OK], dtype=np.int64),
                "f": f if self.plan.outputs == 1 else self._each(f).T}

    def stream(self, y_raw: NDArray[np.int64]) -> Outputs:
        """Return the values of a new stream.

        See :class:`~kerncast.sim.backend.StreamBackend`.
        """
        y = self._targets(raw.targets(self.plan, y_raw))
        taps = np.array(self.plan.tables["taps"].values, dtype=np.int64)
        status, f = stream(y, taps, self.plan.integer("stream_shift"), cast_of(self.plan, "f"),
                           self.ranges.log)
        return {"status": status, "f": f}

    def predict(self, x_raw: NDArray[np.int64]) -> Outputs:
        """Predict for ADC counts (m, D): ``status`` (m,), and ``f`` (m,) in LSBs of y.

        For several outputs, the shape of ``f`` is (m, C).
        """
        f_shift = self.plan.integer("f_shift") - int(self._scalars[_ALPHA_EXP])
        if self.plan.outputs > 1 and self._trained:
            to = trained_outputs(self.plan, self._each(self._alpha), f_shift)._replace(bias=self._bias)
            return predict_outputs(raw.inputs(self.plan, x_raw), self._input, self._v, to, self._kernel,
                                   self.ranges.log, window(self.plan))
        found = self._predict(x_raw, self._v, self._alpha, len(self._v) if self._trained else 0, f_shift,
                              int(self._bias[0]))
        return untrained_outputs(self.plan, found) if self.plan.outputs > 1 else found

    def _members(self) -> dict[str, NDArray[Any]]:
        arrays = {"r_short": self._arrays.r_short, "rhs": self._arrays.rhs[0], "z": self._arrays.sides[0],
                  "eta": self._arrays.sides[-1]}
        arrays |= dict(zip("pqs", self._generators, strict=False))
        arrays |= dict(zip(SCALARS, self._scalars.reshape(-1, 1), strict=True))
        arrays |= self._lookahead.fields() if self._lookahead is not None else {}
        arrays |= {} if self._geometric is None else {"after": self._geometric.after}
        arrays |= self._factor.members() | {"lambda": self._used}
        last_lag = max((j for j, word in enumerate(self._r) if word), default=0)
        arrays |= {"evidence": self._evidence, "own_exp": self._own_exp, "bias": self._bias,
                   "output": np.zeros(1, dtype=np.int64)}
        arrays["last_lag"] = np.array([last_lag], dtype=np.int64)
        return arrays | {"y": self._y, "r": self._r, "a": self._a, "alpha": self._alpha, "centers": self._v}
