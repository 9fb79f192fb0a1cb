"""sim.reference: the float64 reference behind the back ends' calls, for the error budget.

It takes the same raw words, but computes in real units and answers in units of y.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from .._arrays import Array, Raw
from ..kernels import DistanceKernel, make_kernel
from ..plan import Plan
from .bias import solve_with_bias
from .first_row import kernel_first_row, uniform_first_row
from .online.expansion import expand
from .online.kernel_lms import KernelLMS
from .result import Solution
from .solvers.cg import kernel_cg
from .toeplitz.auto import solve_toeplitz


class FloatReference:
    """What the plan's algorithm gives in float64 arithmetic with unquantised parameters.

    Parameters
    ----------
    plan : Plan

    Attributes
    ----------
    solution : Solution or None
        Of the last training.
    bias : float
        Intercept, in units of y; 0 where the plan has none.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.kernel = make_kernel(plan.options)
        self._x_step = np.array([float(Fraction(s)) for s in plan.units["x_raw"].split()])
        self._y_step = float(Fraction(plan.units["y_raw"]))
        self.solution: Solution | None = None
        self._v: Array = np.zeros((0, plan.sizes["D"]))
        self._alpha: Array = np.zeros(0)
        self.bias = 0.0
        self._learner = self._new_learner() if plan.learns else None
        if plan.fixed:
            trained = plan.evidence["trained"]
            self._v, self._alpha = (np.array(trained[name], dtype=float) for name in ("vectors", "alpha"))
            self.bias = float(trained["bias"])

    def _new_learner(self) -> KernelLMS:
        o = self.plan.options
        assert isinstance(self.kernel, DistanceKernel)
        limits: dict[str, Any] = {name: float(o[name]) for name in ("truncation", "max_deterioration")
                                  if name in o}
        if "max_age" in o:
            limits["max_age"] = int(o["max_age"])
        return KernelLMS(self.plan.sizes["D"], self.kernel, float(o["eta"]), float(o["rho"]),
                         o["reduction"].removesuffix("_f32"), self.plan.sizes["N"],
                         projection=o["projection"], metric=o["metric"],
                         newest_only=o["newest_only"] == "1", **limits)

    def inputs(self, x_raw: Raw) -> Array:
        """Raw words (m, D) in units of x."""
        offset = np.array(self.plan.integers("x_offset"), dtype=np.int64)
        return np.asarray((x_raw - offset) * self._x_step, dtype=np.float64)

    def targets(self, y_raw: Raw) -> Array:
        """Raw words (m,) in units of y."""
        return (y_raw - self.plan.integer("y_offset")).astype(np.float64) * self._y_step

    @property
    def held(self) -> list[int]:
        """Of a model that was trained elsewhere: the vectors that the device holds."""
        return list(self.plan.evidence["trained"]["held"])

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Solution:
        """Solve (T + lambda I) alpha = y, or take the plan's steps towards (K + lambda I) alpha = y."""
        if self.plan.algorithm == "toeplitz_rls":
            self.solution = self._toeplitz(x_raw, self.targets(y_raw))
        else:
            assert x_raw is not None
            self._v = self.inputs(x_raw)
            self.solution = kernel_cg(self.kernel, self._v, self.targets(y_raw),
                                      self.plan.lam, self.plan.integer("steps"))
        self._alpha = self.solution.x
        return self.solution

    def _toeplitz(self, x_raw: Raw | None, y: Array) -> Solution:
        """alpha; with an intercept b, ``(T + lambda I) alpha + b = y`` and sum alpha = 0 (LS-SVM)."""
        ahead = self.plan.looks_ahead
        solve = partial(solve_toeplitz, self.first_column(x_raw), method="lookahead" if ahead else "levinson")
        if not self.plan.bias:
            return solve(y)
        solution = solve_with_bias(solve, y)
        self.bias = float(solution.bias)
        return solution

    def first_column(self, x_raw: Raw | None) -> Array:
        """First column (n,) of T + lambda I for raw inputs (n, D); None on the uniform grid."""
        n = self.plan.sizes["n"]
        scheme = self.plan.scheme
        if scheme == "uniform":
            step = float(Fraction(self.plan.units["x"])) * self.plan.integer("x_step")
            self._v = (np.arange(n, dtype=np.float64) * step)[:, np.newaxis]
            r = uniform_first_row(n, step, self.kernel)
        else:
            assert x_raw is not None
            self._v = self.inputs(x_raw)
            r = kernel_first_row(self._v, self.kernel, scheme)
        r[0] += self.plan.lam
        return r

    def update(self, x_raw: Raw, y_raw: Raw) -> Array:
        """Predictions (m,) before learning from each sample, in units of y."""
        assert self._learner is not None
        return self._learner.learn(self.inputs(x_raw), self.targets(y_raw))

    def predict(self, x_raw: Raw) -> Array:
        """Predictions (m,) in units of y."""
        if self._learner is not None:
            return self._learner.predict(self.inputs(x_raw))
        return expand(self.kernel, self.inputs(x_raw), self._v, self._alpha) + self.bias

    @property
    def alpha(self) -> Array:
        """Multipliers, in units of y."""
        return self._alpha if self._learner is None else self._learner.model.alpha
