"""sim.reference: the float reference of a plan, with the calls of a back end.

The error budget compares the float reference with the integer model. The inputs of the reference are the same
ADC counts, but it computes in float64, and its predictions are in units of y.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from .._arrays import Array, Raw
from ..decisions import members, spread
from ..kernels import DistanceKernel, make_kernel
from ..plan import Plan
from .bias import solve_with_bias
from .first_row import kernel_first_row, uniform_first_row
from .online.expansion import expand
from .online.kernel_lms import KernelLMS
from .online.kernel_rls import OnlineKernelRLS
from .online.linear import LinearPart, NormalisedLMS, SquareRootRLS
from .result import Solution
from .solvers.cg import kernel_cg
from .toeplitz.auto import solve_toeplitz


class FloatReference:
    """Algorithm of a plan in float64, with parameters that are not quantised.

    Parameters
    ----------
    plan : Plan
        The plan whose algorithm and parameters are used.

    Attributes
    ----------
    solution : Solution or None
        Solution of the last training.
    bias : float or ndarray of float64, shape (C,)
        Intercept of each output, in units of y; 0 if the model has no intercept.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.kernel = make_kernel(plan.options)
        self._x_step = np.array([float(Fraction(s)) for s in plan.units["x_raw"].split()])
        self._y_step = float(Fraction(plan.units["y_raw"]))
        self.solution: Solution | None = None
        self._v: Array = np.zeros((0, plan.sizes["D"]))
        self._alpha: Array = np.zeros(0)
        self.bias: float | Array = 0.0
        self._learner = self._new_learner() if plan.learns else None
        if plan.fixed:
            trained = plan.evidence["trained"]
            self._v, alpha = (np.array(trained[name], dtype=float) for name in ("vectors", "alpha"))
            self._alpha = spread(alpha, tuple(trained.get("groups", ())))
            self.bias = trained["bias"] if plan.outputs == 1 else np.array(trained["bias"], dtype=float)

    def _new_learner(self) -> KernelLMS | OnlineKernelRLS:
        o = self.plan.options
        outputs = (self.plan.outputs,) if "C" in self.plan.sizes else ()
        if self.plan.second_order:
            return OnlineKernelRLS(self.plan.sizes["D"], float(o["sigma"]), self.plan.sizes["M"],
                                   float(o["forgetting"]), float(o["ridge"]), o["inputs"] == "1",
                                   int(o["steps"]), int(o["seed"]), outputs)
        assert isinstance(self.kernel, DistanceKernel)
        limits: dict[str, Any] = {name: float(o[name]) for name in ("truncation", "max_deterioration",
                                                                   "quantise")
                                  if name in o}
        if "max_age" in o:
            limits["max_age"] = int(o["max_age"])
        return KernelLMS(self.plan.sizes["D"], self.kernel, float(o["eta"]), float(o["rho"]),
                         o["reduction"].removesuffix("_f32"), self.plan.sizes["N"], outputs,
                         projection=o["projection"], metric=o["metric"],
                         newest_only=o["newest_only"] == "1", linear=self._linear_part(outputs),
                         joint=o.get("joint") == "1", gate=o.get("gate") == "1",
                         last_errors=int(o["last_errors"]) if "last_errors" in o else None, **limits)

    def _linear_part(self, outputs: tuple[int, ...]) -> LinearPart | None:
        """Return an empty linear part; the device scales inputs by a power of two of x."""
        o, x = self.plan.options, self.plan.signals["x"]
        if "linear_step" in o:
            top = (max(abs(x.lo), abs(x.hi)) - 1).bit_length()
            scale = float(Fraction(self.plan.units["x"]) * 2**top)
            return NormalisedLMS(self.plan.sizes["D"], outputs, float(o["linear_step"]), scale)
        return SquareRootRLS(self.plan.sizes["D"], outputs, float(o["linear_forgetting"]),
                             float(o["linear_ridge"])) if self.plan.linear else None

    def inputs(self, x_raw: Raw) -> Array:
        """Convert ADC counts (m, D) to units of x."""
        offset = np.array(self.plan.integers("x_offset"), dtype=np.int64)
        return np.asarray((x_raw - offset) * self._x_step, dtype=np.float64)

    def targets(self, y_raw: Raw) -> Array:
        """Convert targets to units of y, shape (m,), or (m, C) for several outputs.

        Class labels become 1 in the output of the class and -1 in the others.
        """
        if self.plan.decision:
            of_class = members(self.plan.decision, y_raw, len(self.plan.class_names))
            signs = np.where(of_class, 1.0, -1.0)
            return signs if "C" in self.plan.sizes else signs[:, 0]
        return (y_raw - self.plan.integer("y_offset")).astype(np.float64) * self._y_step

    @property
    def held(self) -> list[int]:
        """Return the indices of the vectors of an imported model that the device stores."""
        return list(self.plan.evidence["trained"]["held"])

    def train(self, x_raw: Raw | None, y_raw: Raw) -> Solution:
        """Train a batch trainer, and return the solution alpha.

        A Toeplitz trainer solves (T + lambda I) alpha = y. Otherwise conjugate gradients run on (K + lambda
        I) alpha = y, with the number of steps in the plan.
        """
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
        """Solve (T + lambda I) alpha = y.

        With an intercept b, the equations are ``(T + lambda I) alpha + b = y`` and sum alpha = 0.
        """
        ahead = self.plan.looks_ahead
        solve = partial(solve_toeplitz, self.first_column(x_raw), method="lookahead" if ahead else "levinson")
        if not self.plan.bias:
            return solve(y)
        solution = solve_with_bias(solve, y)
        self.bias = float(solution.bias)
        return solution

    def smooth(self, y_raw: Raw) -> Array:
        """Return the fitted values (m,) of a whole record of any length m, in units of y."""
        y, step = self.targets(y_raw), float(Fraction(self.plan.units["x"])) * self.plan.integer("x_step")
        r = uniform_first_row(len(y), step, self.kernel)
        r[0] += self.plan.lam
        return y - self.plan.lam * solve_toeplitz(r, y).x

    def evidence(self, y_raw: Raw) -> float:
        """Return ``n log2 q + log2 det(T + lambda I)``, where q is y'alpha.

        A smaller value means a larger evidence. It is infinite if a pivot of the banded factor is not
        positive.
        """
        y = self.targets(y_raw)
        solution = solve_toeplitz(self.first_column(None), y, method="banded")
        q = float(y @ solution.x)
        if not solution.ok or not q > 0:
            return float("inf")
        return float((len(y) * np.log(q) + solution.log_det) / np.log(2))

    def first_column(self, x_raw: Raw | None) -> Array:
        """Return the first column (n,) of T + lambda I.

        The inputs are ADC counts (n, D), or None for a uniform grid.
        """
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
        """Learn the samples in order; return the prediction before each is learned."""
        assert self._learner is not None
        return self._in_range(self._learner.learn(self.inputs(x_raw), self.targets(y_raw)))

    def _in_range(self, f: Array) -> Array:
        """Clip predictions to the range of y, if the device does so.

        The device clips the predictions of models with a linear part or with random features.
        """
        if "f_lo" not in self.plan.constants:
            return f
        lsb = float(Fraction(self.plan.units["y"]))
        return np.clip(f, self.plan.integer("f_lo") * lsb, self.plan.integer("f_hi") * lsb)

    def predict(self, x_raw: Raw) -> Array:
        """Return predictions (m,), or (m, C) for several outputs, in units of y."""
        if self._learner is not None:
            return self._in_range(self._learner.predict(self.inputs(x_raw)))
        return expand(self.kernel, self.inputs(x_raw), self._v, self._alpha) + self.bias

    @property
    def alpha(self) -> Array:
        """Return the coefficients, in units of y."""
        if isinstance(self._learner, OnlineKernelRLS):
            return self._learner.w
        return self._alpha if self._learner is None else self._learner.model.alpha
